#include "api/device_model.h"

#include <algorithm>

namespace emu::device_model {

namespace {

// Registers are handed out to warps, 256 at a time.
constexpr int register_unit = 256;

int registers_of_warp(uint32_t of_thread) {
    int of_warp = warp_size * (of_thread ? static_cast<int>(of_thread) : assumed_registers);
    return (of_warp + register_unit - 1) / register_unit * register_unit;
}

Size current;

}  // namespace

const Size &size() { return current; }
const Size &usual() {
    static const Size it;
    return it;
}

void set_size(const Size &given) { current = given; }

int max_threads(uint32_t registers) {
    return std::min(threads_per_block, registers_per_multiprocessor / registers_of_warp(registers) * warp_size);
}

int resident_blocks(int threads, size_t shared, uint32_t registers, const Size &of) {
    if (threads < 1 || threads > threads_per_block) return 0;
    int warps = (threads + warp_size - 1) / warp_size;
    int by_threads = of.threads_per_multiprocessor / (warps * warp_size);
    int by_registers = registers_per_multiprocessor / registers_of_warp(registers) / warps;
    size_t of_block = shared + of.shared_reserved_per_block;
    int by_shared = of_block ? static_cast<int>(of.shared_per_multiprocessor / of_block) : by_threads;
    return std::min({of.blocks_per_multiprocessor, by_threads, by_registers, by_shared});
}

}  // namespace emu::device_model
