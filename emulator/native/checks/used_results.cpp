#include "checks/used_results.h"

#include <dlfcn.h>

#include <cstdint>

namespace emu {

namespace {

enum class Use { none, here, by_caller };

#ifdef __x86_64__

// The second byte of an instruction that names two operands, with the bits that a prefix adds to them.
struct Operands {
    uint8_t byte, prefix;

    bool names_memory() const { return byte >> 6 != 3; }
    // The result lies in register 0.
    bool first_is_result() const { return !(byte & 7) && !(prefix & 1); }
    bool second_is_result() const { return !(byte >> 3 & 7) && !(prefix & 4); }
};

// Whether the instruction at `code` reads eax.
bool reads_result(const uint8_t *code) {
    uint8_t prefix = (*code & 0xf0) == 0x40 ? *code++ : 0, opcode = *code++;
    Operands operands{*code, prefix};
    switch (opcode) {
    case 0x01:  // add, or, and, sub, xor, cmp, test: both operands
    case 0x03:
    case 0x09:
    case 0x0b:
    case 0x21:
    case 0x23:
    case 0x29:
    case 0x2b:
    case 0x39:
    case 0x3b:
    case 0x85: return operands.second_is_result() || (!operands.names_memory() && operands.first_is_result());
    case 0x89: return operands.second_is_result();  // mov to anywhere
    case 0x63:                                      // movsxd
    case 0x8b:                                      // mov to a register
    case 0x81:                                      // with a constant
    case 0x83: return !operands.names_memory() && operands.first_is_result();
    case 0x8d: return operands.names_memory() && operands.first_is_result();  // lea
    case 0x05:                                                                // add, sub, cmp with a constant
    case 0x2d:
    case 0x3d:
    case 0x98: return true;           // cdqe
    case 0x50: return !(prefix & 1);  // push
    default: return false;
    }
}

// Bytes of the operands at `code`: the byte that names them, and what an address takes.
uint32_t size_of_operands(const uint8_t *code) {
    uint32_t mode = *code >> 6, base = *code & 7, size = 1;
    if (mode == 3) return size;
    if (base == 4) {
        base = code[1] & 7;
        ++size;
    }
    return size + (mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0);
}

// Bytes of an instruction that neither reads nor changes eax, as come first where a compiler makes the next call's
// arguments ready; 0 for any other.
uint32_t size_of_preparation(const uint8_t *code) {
    const uint8_t *start = code;
    uint8_t prefix = (*code & 0xf0) == 0x40 ? *code++ : 0, opcode = *code++;
    auto before = static_cast<uint32_t>(code - start);
    Operands operands{*code, prefix};
    switch (opcode) {
    case 0x8b:
    case 0x8d: return operands.second_is_result() ? 0 : before + size_of_operands(code);
    case 0x31: {
        bool clears = !operands.names_memory() && (*code & 7) == (*code >> 3 & 7);
        return clears && !operands.second_is_result() ? before + 1 : 0;
    }
    case 0x89: return operands.names_memory() ? before + size_of_operands(code) : 0;
    case 0xc7: return operands.names_memory() ? before + size_of_operands(code) + 4 : 0;
    default: break;
    }
    bool is_constant = opcode >= 0xb8 && opcode <= 0xbf && !(prefix & 8);
    return is_constant && (opcode != 0xb8 || prefix & 1) ? before + 4 : 0;
}

Use use_behind(const uint8_t *code) {
    for (int left = 4; left; --left) {
        if (reads_result(code)) return Use::here;
        uint32_t size = size_of_preparation(code);
        if (!size) break;
        code += size;
    }
    for (int left = 12; left; --left) {  // the end of a function
        bool has_prefix = (*code & 0xf0) == 0x40;
        uint8_t opcode = code[has_prefix];
        if (*code == 0xc3 || (*code == 0xf3 && code[1] == 0xc3)) return Use::by_caller;
        if (*code == 0xc9)  // leave
            code += 1;
        else if (opcode >= 0x59 && opcode <= 0x5f)  // pop
            code += 1 + has_prefix;
        else if (*code == 0x48 && opcode == 0x83 && code[2] == 0xc4)  // add to rsp
            code += 4;
        else if (*code == 0x48 && opcode == 0x81 && code[2] == 0xc4)
            code += 7;
        else
            return Use::none;
    }
    return Use::none;
}

#else

Use use_behind(const uint8_t *) { return Use::none; }

#endif

}  // namespace

bool uses_result(const Frames &walk) {
    Dl_info own, info;
    if (!dladdr(reinterpret_cast<const void *>(&uses_result), &own)) return false;
    for (size_t i = 0; i < walk.count; ++i) {
        if (!dladdr(reinterpret_cast<void *>(walk.addresses[i]), &info) || info.dli_fbase == own.dli_fbase) continue;
        Use use = use_behind(reinterpret_cast<const uint8_t *>(walk.addresses[i] + 1));
        if (use != Use::by_caller) return use == Use::here;
    }
    return false;
}

}  // namespace emu
