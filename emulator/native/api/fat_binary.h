// The container of device code; emulator/runtime/fatbinary.py reads it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace emu {

// What a program registers.
struct FatBinaryWrapper {
    int magic, version;
    const void *data;
    void
        *filename_or_objects;  // version 2 (nvcc -rdc=true): the fat binaries that were linked, ended by a null pointer
};

// The objects of a program that was linked from several, as the entries of one fat binary: they have kind 0x4c4f.
std::vector<uint8_t> joined(const void *const *objects);

// Device code that a program hands over while it runs: a fat binary, what wraps one, or the text of PTX.
enum class ImageKind { fat_binary, wrapper, machine_code, text };
ImageKind kind_of_image(const void *image);

// A copy of the fat binary that begins at `image`; empty where there is none.
std::vector<uint8_t> fat_binary_at(const void *image);
// A fat binary of this text.
std::vector<uint8_t> fat_binary_of(std::string_view ptx);

}  // namespace emu
