#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>

// Overwrites the start of a function with a jump to another; `original` runs the function as it was. One thread only.
struct Detour {
    unsigned char* target = nullptr;
    unsigned char before[12] = {}, jump[12] = {};

    bool set(void* function, void* replacement) {
        uintptr_t page = (uintptr_t)function & ~uintptr_t{4095};
        size_t size = (uintptr_t)function + sizeof jump - page;
        if (!function || mprotect((void*)page, size, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
        target = (unsigned char*)function;
        memcpy(before, target, sizeof before);
        unsigned char code[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // mov rax, replacement; jmp rax
        memcpy(code + 2, &replacement, 8);
        memcpy(jump, code, sizeof jump);
        memcpy(target, jump, sizeof jump);
        return true;
    }

    template <class Result, class... Arguments>
    Result original(Arguments... arguments) {
        memcpy(target, before, sizeof before);
        Result result = ((Result(*)(Arguments...))target)(arguments...);
        memcpy(target, jump, sizeof jump);
        return result;
    }
};
