// Where the threads of a block are: what is told of barriers that only some of them reach, and of loops that never end.
#pragma once

#include <cstdint>
#include <string>

struct BlockContext;

namespace emu {

// The threads that wait at barrier `id` are about to go on, and others are not with them: some have ended, or wait elsewhere.
void tell_divergence(BlockContext &block, uint32_t id);
// No thread can go on. Returns the story.
std::string tell_deadlock(BlockContext &block);
// The launch is about to be stopped for `reason`; most likely it would never have ended. Returns the story.
std::string tell_endless(BlockContext &block, const std::string &reason);

}  // namespace emu
