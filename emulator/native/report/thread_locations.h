// Where the threads of a block are, for reports of divergent barriers, deadlocks and endless loops.
#pragma once

#include <cstdint>
#include <string>

struct BlockContext;

namespace emu {

// Reports that barrier `id` completes without some threads of the block: they have ended, or wait elsewhere.
void report_divergence(BlockContext &block, uint32_t id);
// Reports that no thread can go on. Returns the message.
std::string report_deadlock(BlockContext &block);
// Reports the loop in which a launch is stopped for `reason`, most likely an endless one. Returns the message.
// `most_at_once` is the number of blocks that the device holds while others wait for one of them to end; 0 if none
// waits.
std::string report_endless_loop(BlockContext &block, const std::string &reason, uint64_t most_at_once);

}  // namespace emu
