// Observers of kernels that are compiled with Options::observe: the profile, and the checks that are too expensive to
// be always on.
//
// An Observer belongs to one launch; its BlockObserver to one block.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "abi.h"

namespace emu {

struct Launch;
struct LaunchPoint;  // checks/child_races.h

// One lane's copy by cp.async. `from` is 0 where fewer bytes than `size` were read.
struct LandedCopy {
    uint64_t to, from;
    uint32_t size, load_site;
};

// What a bulk copy does, when: global memory is read and written where it is issued; shared memory is written between
// the issue and a test of the mbarrier that counts it, and read until its group is waited for, as far as anybody can
// know.
enum class BulkStage : uint8_t { global_read, global_write, shared_write_begins, shared_write_ends, shared_read_ends };
struct BulkAccess {
    uint32_t site;
    uint64_t address;
    uint32_t size;
    BulkStage stage;
    uint64_t mbarrier = 0;
    bool begins = true;  // a copy comes in several accesses, of which this is the first
};

// What the lanes of a warp store: `count` elements of `size` bytes each, the low ones of registers of `width` bytes.
struct StoredValues {
    const uint8_t *values;  // of each element, 32 registers
    uint32_t count, width, size;

    bool differ(uint32_t lane, uint32_t other) const;
};

// Called on the thread that runs the block, in the order in which things happen there. It serves one block after
// another.
class BlockObserver {
public:
    virtual ~BlockObserver() = default;
    // A block begins: nothing has been written to its shared memory, nobody waits at its barriers.
    virtual void start(uint64_t /*number*/) {}
    // All of its warps have ended. Not called when the launch was stopped before.
    virtual void finish() {}
    // `mask` is not 0. `address` has the host addresses that those lanes mean, before the access and before any check
    // of them.
    virtual void access(const WarpContext &, uint32_t /*site*/, uint32_t /*mask*/, const uint64_t * /*address*/) {}
    // The lanes use what they read at the sites before these, which had not been written (WarpContext::unwritten).
    virtual void use(const WarpContext &, uint32_t /*mask*/, const uint16_t * /*origin*/) {}
    // Follows access() of a store to shared memory: the lanes have stored such values, in `size` bytes there.
    virtual void pass(const WarpContext &, uint32_t /*mask*/, const uint16_t * /*origin*/, const uint64_t * /*address*/,
                      uint32_t /*size*/) {}
    // Follows access() of a store whose lanes may share an address.
    virtual void store(const WarpContext &, uint32_t /*site*/, uint32_t /*mask*/, const uint64_t * /*address*/,
                       const StoredValues &) {}
    // The lanes have met at a .sync instruction: a warp barrier, a shuffle, a vote, …
    virtual void warp_sync(const WarpContext &, uint32_t /*mask*/) {}
    virtual void fence(const WarpContext &, bool /*of_device*/) {}
    // malloc() has given a lane memory that another thread may have used and freed: the heap's lock orders the two.
    virtual void allocate(uint64_t /*address*/, uint64_t /*size*/) {}
    // Lanes have come to a barrier of the block; `waits`: they go on when it is released.
    virtual void arrive(const WarpContext &, uint32_t /*barrier*/, uint32_t /*lanes*/, bool /*waits*/) {}
    virtual void release(uint32_t /*barrier*/) {}
    // Lanes arrive at mbarriers (with the copies of cp.async that they have issued, for cp.async.mbarrier.arrive);
    // lanes have seen that a phase of them is complete.
    virtual void mbarrier_arrive(const WarpContext &, uint32_t /*lanes*/, const uint64_t * /*address*/) {}
    virtual void mbarrier_pass(const WarpContext &, uint32_t /*lanes*/, const uint64_t * /*address*/) {}
    // The warp has waited for products of its warpgroup. `ends`: nobody had waited for some of these, whose reads were
    // the last accesses.
    virtual void warpgroup_wait(const WarpContext &, bool /*ends*/) {}
    // What a lane has copied by cp.async has landed: since it waited for its copies, or because the mbarrier at which
    // it arrived with them was tested.
    virtual void land(const WarpContext &, uint32_t /*lane*/, const LandedCopy &, bool /*waited*/) {}
    // A part of a bulk copy that the lane has issued: as accesses of 16 bytes by all lanes of its warp, but for what
    // ends only.
    virtual void bulk(const WarpContext &, uint32_t lane, const BulkAccess &);
    // fence.proxy.tensormap: lanes acquire the maps at these addresses; null: they release what they know of.
    virtual void fence_maps(const WarpContext &, uint32_t /*lanes*/, const uint64_t * /*maps*/) {}
    // fence.proxy.async: what was written to shared memory before it may be read asynchronously behind it.
    virtual void fence_async(const WarpContext &) {}
    // The lane issues what will read shared memory there asynchronously: a bulk copy, or a product of its warpgroup.
    virtual void read_async(const WarpContext &, uint32_t /*site*/, uint32_t /*lane*/, uint64_t /*address*/,
                            uint32_t /*size*/) {}
    // The lane issues a copy through the tensor map at this address.
    virtual void use_map(const WarpContext &, uint32_t /*site*/, uint32_t /*lane*/, uint64_t /*map*/) {}
    // Another block of the cluster writes to this one's shared memory.
    virtual void written_from_outside(uint64_t /*address*/, uint32_t /*size*/) {}
    // Lanes have seen that a phase of mbarriers is not complete yet.
    virtual void mbarrier_wait(const WarpContext &) {}
    // A lane launches a kernel, which comes after what the lane knows now.
    virtual void launch(const WarpContext &, uint32_t /*lane*/, LaunchPoint &) {}
    // An atomic, or an mbarrier that is made, has changed memory.
    virtual void change(const WarpContext &) {}
    // Of kernels with loops that poll: the warp stops running for now, where a loop begins, at a barrier, or since it
    // has ended. Returns whether all it does is wait for others.
    virtual bool pause(WarpContext &, bool /*at_loop_head*/) { return false; }
};

class Observer {
public:
    virtual ~Observer() = default;
    // For blocks that will run in this context. Called on any thread of the launch.
    virtual std::unique_ptr<BlockObserver> watch(BlockContext &) = 0;
    // The launch has ended, by itself or stopped.
    virtual void finish(Launch &) {}
};

struct alignas(4) ObserveSettings {  // atomic without a lock
    bool check_full = false, profile = false;
    bool tell_silent = false;  // also races with stores that change nothing
    EmuObserved extent() const { return check_full ? EMU_FOLLOWED : profile ? EMU_OBSERVED : EMU_NOT_OBSERVED; }
};

// Those of launches from now on.
void set_observe(const ObserveSettings &);
ObserveSettings observe_settings();

// The observers that the settings ask for, for a launch of an observed kernel.
std::vector<std::unique_ptr<Observer>> make_observers(Launch &);

// Whether words of `size` bytes are no longer what they were before the lanes' atomics.
bool has_changed(uint32_t lanes, const uint64_t *address, const void *before, uint32_t size);
// Tells a block's observers that a warp has changed memory by atomics.
void observe_change(const WarpContext &);

}  // namespace emu
