#include "device_model.h"

#include <algorithm>

namespace emu::device_model {

int resident_blocks(int threads, size_t shared) {
    if (threads < 1 || threads > threads_per_block) return 0;
    int warps = (threads + warp_size - 1) / warp_size;
    int by_threads = threads_per_multiprocessor / (warps * warp_size);
    int by_registers = registers_per_multiprocessor / (warps * warp_size * assumed_registers);
    int by_shared = static_cast<int>(shared_per_multiprocessor / (shared + shared_reserved_per_block));
    return std::min({blocks_per_multiprocessor, by_threads, by_registers, by_shared});
}

}  // namespace emu::device_model
