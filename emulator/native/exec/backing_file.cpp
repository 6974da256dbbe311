#include "exec/backing_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "exec/arena.h"
#include "exec/round_up.h"

namespace emu {

namespace {

constexpr char memory_file[] = "gpujudge-device-memory";

std::string target_of(int descriptor) {
    char target[256];
    ssize_t size = readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), target, sizeof target);
    return std::string(target, static_cast<size_t>(std::max<ssize_t>(size, 0)));
}

bool is_ours(int descriptor) { return target_of(descriptor).rfind(std::string("/memfd:") + memory_file, 0) == 0; }

}  // namespace

BackingFile::BackingFile(int descriptor) : descriptor_(descriptor) {
    struct stat about = {};
    if (fstat(descriptor, &about)) return;
    size_ = static_cast<uint64_t>(about.st_size);
    number_ = about.st_ino;
}

BackingFile::~BackingFile() { close(descriptor_); }

std::shared_ptr<BackingFile> BackingFile::create(uint64_t size) {
    int descriptor = memfd_create(memory_file, MFD_CLOEXEC);
    if (descriptor < 0) return nullptr;
    if (!ftruncate(descriptor, static_cast<off_t>(size)))
        return std::shared_ptr<BackingFile>(new BackingFile(descriptor));
    close(descriptor);
    return nullptr;
}

std::shared_ptr<BackingFile> BackingFile::open(int descriptor) {
    int own = is_ours(descriptor) ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    return own < 0 ? nullptr : std::shared_ptr<BackingFile>(new BackingFile(own));
}

std::shared_ptr<BackingFile> BackingFile::open_of_process(int process, int descriptor, uint64_t number) {
    std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
    int own = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (own < 0) return nullptr;
    auto file = std::shared_ptr<BackingFile>(new BackingFile(own));
    return is_ours(own) && file->number() == number ? file : nullptr;
}

bool BackingFile::map(uint64_t address, uint64_t size) const {
    void *at = reinterpret_cast<void *>(address);
    return mmap(at, round_up(size, Arena::page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor_, 0) == at;
}

template <class Use>
bool BackingFile::use(uint64_t size, Use use) const {
    void *at = size > size_ ? MAP_FAILED : mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (at == MAP_FAILED) return false;
    use(at);
    munmap(at, size);
    return true;
}

bool BackingFile::write(const void *bytes, uint64_t size) const {
    return use(size, [=](void *at) { std::memcpy(at, bytes, size); });
}

bool BackingFile::fill(unsigned char byte, uint64_t size) const {
    return use(size, [=](void *at) { std::memset(at, byte, size); });
}

bool BackingFile::read(void *bytes, uint64_t size) const {
    return use(size, [=](void *at) { std::memcpy(bytes, at, size); });
}

}  // namespace emu
