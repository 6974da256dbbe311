// initcheck: reads of memory that nothing has written: shared memory, allocations, and local arrays.
//
// What a load reads is reported when it is used (emulator/jit/origins.py): compilers and libraries read some early, and
// drop the value. A store of it to shared memory leaves that unwritten, too. Such reads of local arrays are noted only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "exec/observe.h"
#include "report/report.h"

namespace emu {

// Checks one launch. All of its blocks run on one thread.
class InitCheck : public Observer {
public:
    explicit InitCheck(Launch &launch) : launch_(launch) {}
    std::unique_ptr<BlockObserver> watch(BlockContext &block) override;
    void finish(Launch &launch) override;

    enum class Where { shared, local, global };
    void report_read(const WarpContext &warp, uint32_t site, uint32_t lane, uint64_t address, uint64_t unwritten,
                     Where where);

private:
    Launch &launch_;
    std::map<std::pair<uint32_t, Where>, Fault> first_reads_;  // by site
};

}  // namespace emu
