// System calls that read or write memory of the program's, as the C library has them. The system cannot touch a page
// that is protected so that accesses of the host are noted (checks/host_accesses.h): the call would fail with EFAULT.
// So these functions stand before the library's own, note what the call is about to touch, and open it meanwhile.
//
// That needs this library to come before the C library, as in a program that runs under `gpujudge emulate`.
#undef _FORTIFY_SOURCE  // its inline functions have these names
#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "checks/host_accesses.h"
#include "exec/memory.h"

namespace {

class Opened {
public:
    Opened(const void *begin, size_t size, bool writes, const void *caller) { add(begin, size, writes, caller); }
    Opened(const iovec *parts, int count, bool writes, const void *caller) {
        for (int i = 0; i < count; ++i) add(parts[i].iov_base, parts[i].iov_len, writes, caller);
    }
    ~Opened() {
        if (!is_open_) return;
        int error = errno;
        emu::memory().close();
        errno = error;
    }
    Opened(const Opened &) = delete;

private:
    void add(const void *begin, size_t size, bool writes, const void *caller) {
        auto at = reinterpret_cast<uint64_t>(begin);
        if (is_open_ || !emu::host_accesses().note_call(at, size, reinterpret_cast<uint64_t>(caller), writes)) return;
        emu::memory().open();
        is_open_ = true;
    }

    bool is_open_ = false;
};

template <class Function>
Function *next(const char *name) {
    return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The C library's function of this name, and what it touches.
#define NEXT(name) static auto *const behind = next<decltype(name)>(#name)
#define OPEN(begin, size, writes) Opened opened(begin, size, writes, __builtin_return_address(0))
#define SYSTEM extern "C" __attribute__((visibility("default")))

SYSTEM ssize_t read(int file, void *to, size_t size) {
    NEXT(read);
    OPEN(to, size, true);
    return behind(file, to, size);
}

SYSTEM ssize_t write(int file, const void *from, size_t size) {
    NEXT(write);
    OPEN(from, size, false);
    return behind(file, from, size);
}

SYSTEM ssize_t pread(int file, void *to, size_t size, off_t at) {
    NEXT(pread);
    OPEN(to, size, true);
    return behind(file, to, size, at);
}

SYSTEM ssize_t pread64(int file, void *to, size_t size, off64_t at) {
    NEXT(pread64);
    OPEN(to, size, true);
    return behind(file, to, size, at);
}

SYSTEM ssize_t pwrite(int file, const void *from, size_t size, off_t at) {
    NEXT(pwrite);
    OPEN(from, size, false);
    return behind(file, from, size, at);
}

SYSTEM ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) {
    NEXT(pwrite64);
    OPEN(from, size, false);
    return behind(file, from, size, at);
}

SYSTEM ssize_t readv(int file, const iovec *to, int count) {
    NEXT(readv);
    OPEN(to, count, true);
    return behind(file, to, count);
}

SYSTEM ssize_t writev(int file, const iovec *from, int count) {
    NEXT(writev);
    OPEN(from, count, false);
    return behind(file, from, count);
}

SYSTEM ssize_t recv(int socket, void *to, size_t size, int flags) {
    NEXT(recv);
    OPEN(to, size, true);
    return behind(socket, to, size, flags);
}

SYSTEM ssize_t send(int socket, const void *from, size_t size, int flags) {
    NEXT(send);
    OPEN(from, size, false);
    return behind(socket, from, size, flags);
}

SYSTEM size_t fread(void *to, size_t size, size_t count, FILE *file) {
    NEXT(fread);
    OPEN(to, size * count, true);
    return behind(to, size, count, file);
}

SYSTEM size_t fwrite(const void *from, size_t size, size_t count, FILE *file) {
    NEXT(fwrite);
    OPEN(from, size * count, false);
    return behind(from, size, count, file);
}
