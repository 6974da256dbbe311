#include "api/fat_binary.h"

#include <cstring>

namespace emu {

namespace {

struct Header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;  // of the entries
};

struct Entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint8_t rest[48];
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64, "fat binary");

constexpr uint32_t magic = 0xba55ed50;
constexpr uint16_t object_kind = 0x4c4f;
constexpr uint64_t largest = uint64_t{1} << 30;

void append(std::vector<uint8_t> &to, const void *data, size_t size) {
    const uint8_t *from = static_cast<const uint8_t *>(data);
    to.insert(to.end(), from, from + size);
}

}  // namespace

std::vector<uint8_t> joined(const void *const *objects) {
    std::vector<uint8_t> image(sizeof(Header));
    for (; *objects; ++objects) {
        Header header;
        std::memcpy(&header, *objects, sizeof header);
        if (header.magic != magic || header.size > largest) continue;
        Entry entry{object_kind, 1, sizeof(Entry), header.header_size + header.size, {}};
        append(image, &entry, sizeof entry);
        append(image, *objects, entry.size);
    }
    Header header{magic, 1, sizeof(Header), image.size() - sizeof(Header)};
    std::memcpy(image.data(), &header, sizeof header);
    return image;
}

}  // namespace emu
