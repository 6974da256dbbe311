// Machine code from an ELF relocatable object, as LLVM writes it for kernels: mapped, bound to the library's helpers, made executable.
//
// Objects may come from a file, so that nothing in them is taken on trust: offsets and indices are checked, and what is not
// expected is refused. (Code that passes can do whatever it likes, of course.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace emu {

struct BadObject : std::runtime_error {
    using std::runtime_error::runtime_error;
};

// The address of the function `entry` of the object. It stays for the rest of the process. Throws BadObject.
void *load_object(const uint8_t *object, size_t size, const char *entry);

}  // namespace emu
