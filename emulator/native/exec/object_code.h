// Loads machine code from an ELF relocatable object, as LLVM writes it for kernels: maps it, binds it to the library's
// helpers, makes it executable.
//
// Objects may come from a file, so that nothing in them is trusted: offsets and indices are checked, and anything
// unexpected is refused. (The code itself is not checked.)
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
