// Which bytes of shared memory each source line reaches. Where the source gives names to parts of an array in shared
// memory, the report's reader can tell a line that leaves its part (emulator/shared_parts.py).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "exec/observe.h"

namespace emu {

// Of one launch, all blocks of which run on one thread.
class SharedExtents : public Observer {
public:
    // The bytes that one access site reaches, as offsets in the block's shared memory, and who reaches the outermost.
    struct Reach {
        uint64_t begin = ~uint64_t{0}, end = 0;
        uint32_t first_thread = 0, last_thread = 0;
        uint64_t first_block = 0, last_block = 0;

        void add(const Reach &other);
    };

    explicit SharedExtents(Launch &launch);
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

private:
    std::vector<Reach> reaches_;  // by site
};

}  // namespace emu
