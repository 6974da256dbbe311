// Uses of what kernels' malloc() gave, after free(). The memory stays mapped, so that nothing else sees them.
#pragma once

#include <memory>

#include "exec/observe.h"

namespace emu {

class HeapUses : public Observer {
public:
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
};

}  // namespace emu
