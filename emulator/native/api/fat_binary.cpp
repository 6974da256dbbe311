#include "api/fat_binary.h"

#include <cstring>
#include <utility>

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
    uint32_t compressed_size, unknown;
    uint16_t minor, major;
    uint32_t architecture;
    uint8_t rest[32];
};
static_assert(sizeof(Header) == 16 && sizeof(Entry) == 64, "fat binary");

constexpr uint32_t magic = 0xba55ed50;
constexpr uint32_t wrapper_magic = 0x466243b1, elf_magic = 0x464c457f;
constexpr uint16_t ptx_kind = 1, object_kind = 0x4c4f;
constexpr uint64_t largest = uint64_t{1} << 30;

void append(std::vector<uint8_t> &to, const void *data, size_t size) {
    const uint8_t *from = static_cast<const uint8_t *>(data);
    to.insert(to.end(), from, from + size);
}

// `image` begins with room for it.
std::vector<uint8_t> with_header(std::vector<uint8_t> image) {
    Header header{magic, 1, sizeof(Header), image.size() - sizeof(Header)};
    std::memcpy(image.data(), &header, sizeof header);
    return image;
}

// The number in `.target sm_80`.
uint32_t architecture_of(std::string_view ptx) {
    constexpr std::string_view before = "sm_";
    size_t at = ptx.find(".target");
    if (at != ptx.npos) at = ptx.find(before, at);
    uint32_t number = 0;
    if (at == ptx.npos) return number;
    for (at += before.size(); at < ptx.size() && ptx[at] >= '0' && ptx[at] <= '9'; ++at) {
        number = 10 * number + static_cast<uint32_t>(ptx[at] - '0');
    }
    return number;
}

}  // namespace

std::vector<uint8_t> joined(const void *const *objects) {
    std::vector<uint8_t> image(sizeof(Header));
    for (; *objects; ++objects) {
        Header header;
        std::memcpy(&header, *objects, sizeof header);
        if (header.magic != magic || header.size > largest) continue;
        Entry entry{object_kind, 1, sizeof(Entry), header.header_size + header.size, 0, 0, 0, 0, 0, {}};
        append(image, &entry, sizeof entry);
        append(image, *objects, entry.size);
    }
    return with_header(std::move(image));
}

ImageKind kind_of_image(const void *image) {
    uint32_t first = 0;
    // A text may be shorter, and ends with a zero.
    for (int i = 0; i < 4; ++i) {
        uint8_t byte = static_cast<const uint8_t *>(image)[i];
        first |= uint32_t{byte} << 8 * i;
        if (!byte) break;
    }
    switch (first) {
    case magic: return ImageKind::fat_binary;
    case wrapper_magic: return ImageKind::wrapper;
    case elf_magic: return ImageKind::machine_code;
    default: return ImageKind::text;
    }
}

std::vector<uint8_t> fat_binary_at(const void *image) {
    Header header;
    std::memcpy(&header, image, sizeof header);
    if (header.magic != magic || header.size > largest) return {};
    std::vector<uint8_t> copy;
    append(copy, image, header.header_size + header.size);
    return copy;
}

std::vector<uint8_t> fat_binary_of(std::string_view ptx) {
    Entry entry{ptx_kind, 0x101, sizeof(Entry), ptx.size(), 0, 0, 0, 0, architecture_of(ptx), {}};
    std::vector<uint8_t> image(sizeof(Header));
    append(image, &entry, sizeof entry);
    append(image, ptx.data(), ptx.size());
    return with_header(std::move(image));
}

}  // namespace emu
