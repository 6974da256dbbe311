// The container of device code; emulator/runtime/fatbinary.py reads it.
#pragma once

#include <cstdint>
#include <vector>

namespace emu {

// What a program registers.
struct FatBinaryWrapper {
    int magic, version;
    const void *data;
    void *filename_or_objects;  // version 2 (nvcc -rdc=true): the fat binaries that were linked, ended by a null pointer
};

// The objects of a program that was linked from several, as the entries of one fat binary: they have kind 0x4c4f.
std::vector<uint8_t> joined(const void *const *objects);

}  // namespace emu
