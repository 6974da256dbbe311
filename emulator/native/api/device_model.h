// The device that programs see: the GPU whose times are modelled, since programs choose their grids by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu::device_model {

// Of the PTX that programs are compiled to.
constexpr int ptx_version = 80;
constexpr int warp_size = 32;
constexpr int threads_per_block = 1024;
constexpr int block_dimensions[3] = {1024, 1024, 64};
constexpr int grid_dimensions[3] = {2147483647, 65535, 65535};
constexpr int registers_per_multiprocessor = 65536;
// Of a thread, where nothing tells them.
constexpr int assumed_registers = 32;
constexpr size_t shared_per_block = 48 << 10;
constexpr size_t constant_bytes = 64 << 10;
constexpr size_t stack_bytes = 512 << 10;  // of a thread, at most
constexpr int portable_cluster_blocks = 8;
constexpr int runtime_version = 13000;

// What differs between GPUs. Unless one is named: the limits of compute capability 8.0, and the size and speed of an
// H200.
struct Size {
    std::string name = "gpujudge emulator (sm_80)";
    int major = 8, minor = 0;
    int multiprocessors = 132, clock_khz = 1980000, memory_clock_khz = 3750000, memory_bus_bits = 5120;
    size_t l2_bytes = 60 << 20;
    int threads_per_multiprocessor = 2048, blocks_per_multiprocessor = 32;
    size_t shared_per_multiprocessor = 164 << 10, shared_reserved_per_block = 1 << 10;

    // The most of the L2 cache that programs may ask to keep data in. Asking changes nothing here.
    size_t persisting_l2_bytes() const { return major >= 8 ? l2_bytes / 4 * 3 : 0; }
    size_t access_window_bytes() const { return major >= 8 ? 128 << 20 : 0; }
    // The most shared memory of a block, once a program has asked for it.
    size_t shared_per_block_opt_in() const { return shared_per_multiprocessor - shared_reserved_per_block; }
};
const Size &size();
// What it is where none is named: profiles are made with its limits, as the model was calibrated with them.
const Size &usual();
void set_size(const Size &);

// Blocks of `threads` threads with so many registers each (0: not known) and `shared` bytes (static and dynamic) that
// fit on one multiprocessor at a time.
int resident_blocks(int threads, size_t shared, uint32_t registers = 0, const Size &of = size());

// Threads of a block for which there are so many registers each (0: not known): whole warps.
int max_threads(uint32_t registers);

}  // namespace emu::device_model
