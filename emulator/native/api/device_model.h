// The device that programs see: the limits of compute capability 8.0, with the size and speed of the GPU whose times are modelled, since
// programs choose their grids by them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emu::device_model {

constexpr const char *name = "gpujudge emulator (sm_80)";
constexpr int major = 8, minor = 0;
constexpr int warp_size = 32;
constexpr int threads_per_block = 1024;
constexpr int threads_per_multiprocessor = 2048;
constexpr int blocks_per_multiprocessor = 32;
constexpr int block_dimensions[3] = {1024, 1024, 64};
constexpr int grid_dimensions[3] = {2147483647, 65535, 65535};
constexpr int registers_per_multiprocessor = 65536;
// Of a thread, where nothing tells them.
constexpr int assumed_registers = 32;
constexpr size_t shared_per_block = 48 << 10;
constexpr size_t shared_per_block_opt_in = 163 << 10;
constexpr size_t shared_per_multiprocessor = 164 << 10;
constexpr size_t shared_reserved_per_block = 1 << 10;
constexpr size_t constant_bytes = 64 << 10;
constexpr size_t stack_bytes = 512 << 10;  // of a thread, at most
constexpr int memory_bus_bits = 5120;
constexpr int runtime_version = 13000;

// Those of an H200, unless another GPU is named.
struct Size {
    int multiprocessors = 132, clock_khz = 1980000, memory_clock_khz = 3750000;
    size_t l2_bytes = 60 << 20;
};
const Size &size();
void set_size(const Size &);

// Blocks of `threads` threads with so many registers each (0: not known) and `shared` bytes (static and dynamic) that fit on one
// multiprocessor at a time.
int resident_blocks(int threads, size_t shared, uint32_t registers = 0);

// Threads of a block for which there are so many registers each (0: not known): whole warps.
int max_threads(uint32_t registers);

}  // namespace emu::device_model
