// The contract between generated code (emulator/jit), the scheduler and the helper functions
// (emulator/native/**/*.cpp).
//
// One warp at a time. A kernel is two functions: one for warps whose lanes run together, one for the others (EmuMode).
// Each runs one warp until it has finished, waits at a barrier, has used up its fuel, traps, or is to go on in the
// other function, and returns one of EmuStatus. Everything that lives across a return is in the WarpContext and in the
// memory it points to, so the scheduler may run warps in any order, on any thread, one thread per block at a time.
//
// Device memory is host memory: a global (and a generic) address is a host address. Shared addresses are 32-bit offsets
// from `shared`; local addresses are host addresses inside `local`; generic = host address for all of them.
//
// emulator/jit/abi.py mirrors what Python fills in, emulator/jit/warp_context.py the offsets in WarpContext: change
// them together.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "profile/counter_table.h"

enum EmuStatus : int32_t {
    EMU_DONE = 0,     // every lane has exited
    EMU_BARRIER = 1,  // no lane can run: all live lanes wait at barriers (see emu_barrier_arrive)
    EMU_YIELD = 2,    // `fuel` used up; call run() again when others had their turn (put new fuel in first)
    EMU_TRAP = 3,  // trap, failed assert, or a helper asked for the end (see WarpContext::trap_site); the launch fails
    EMU_SWITCH = 4,         // `mode` has changed: call the other function
    EMU_BARRIER_QUIET = 5,  // as EMU_BARRIER, and no memory is touched on the way to the next loop head
};

enum EmuSpace : uint8_t {
    EMU_GLOBAL = 0,
    EMU_SHARED = 1,
    EMU_LOCAL = 2,
    EMU_CONST = 3,
    EMU_GENERIC = 4,
    EMU_PARAM = 5
};
enum EmuAccess : uint8_t {
    EMU_LOAD = 0,
    EMU_STORE = 1,
    EMU_ATOMIC = 2,
    EMU_NO_ACCESS = 3 /* a trap, an assert or a call: only for its line */
};

// What an access means to other threads, as bits: how the checks of races and of what nobody wrote understand it.
enum EmuOrder : uint16_t {
    EMU_STRONG = 1,     // atomic, volatile or relaxed: it may meet others that are strong
    EMU_RELEASE = 2,    // what came before is known to whoever reads what it wrote
    EMU_BLIND = 4,      // an atomic that does not care what was there (exch)
    EMU_LATER = 8,      // it is done some time after the instruction (cp.async)
    EMU_GUESS = 16,     // a load whose thread goes on with an atomic there, which sees by itself what others have done
    EMU_CONSTANT = 32,  // a store of what does not depend on the data: those who set a flag agree on it
    EMU_SYSTEM = 64,    // strong for the host, too: volatile, or of system scope
    EMU_BLOCK = 128,    // strong for its own block only
    EMU_READ_ONLY = 256,  // a load by a cache that need not see what its launch writes (ld.global.nc)
};

// What machine code makes of an atomic, as bits: what it costs depends on it.
enum EmuAtomicForm : uint8_t {
    EMU_AWAITED = 1,    // its result is used
    EMU_FLOAT = 2,      // floating-point: not combined for the lanes of a warp that meet
    EMU_SWAP_LOOP = 4,  // shared memory has no such instruction: a loop of compare-and-swap
    EMU_COUNT = 8,      // plus one, result not used: shared memory counts all lanes that meet at once
    EMU_ADDS = 16,      // a sum of integers, or of floats of 4 or 8 bytes
};

// A line of the source; `line` is 0 when unknown.
struct EmuLine {
    const char *file;
    uint32_t line;
};

// A variable in shared memory: its offset in the window, and bytes (0: up to the window's end).
struct EmuSharedArray {
    const char *name;  // mangled
    uint32_t offset, size;
};

// A place in the source that touches memory (or traps). `size` is in bytes, all elements of a vector access together
// (1..32, a power of two).
struct EmuSite {
    const char *file;  // as in the PTX .file table; "" when compiled without -lineinfo
    uint32_t line;     // 0 when unknown
    uint8_t size;
    uint16_t order;        // EmuOrder
    uint8_t kind;          // EmuAccess
    uint8_t space;         // EmuSpace
    uint32_t block;        // the basic block that it is in; EMU_NO_BLOCK: none
    uint32_t atomic_form;  // EmuAtomicForm
    uint32_t shared_begin,
        shared_end;         // of the variable in shared memory that is meant; the end 0 is that of the window
    uint32_t element_size;  // of a vector; that of all else is its size
    uint32_t copied;        // bit i: what a load reads as element i is only stored again, or left alone
};
constexpr uint32_t EMU_NO_BLOCK = 0xffffffffu;

// What of one basic block is of one source line: instructions by class and operations by type, as
// emulator/profile/counters.py numbers them.
struct EmuContent {
    const char *file;
    uint32_t line, block;
    uint32_t instructions[EMU_CLASS_COUNT];
    uint32_t flops[EMU_FLOP_TYPES];
    uint32_t dependent_steps;  // of the block's longest chain of arithmetic
    uint32_t dependent_loads;  // of its longest chain of loads
};

struct BlockContext;  // the scheduler's own; generated code never looks inside

// lane_pc values: the number of a block, or of a further segment of one (emulator/jit/segments.py), possibly with these
// bits.
constexpr uint32_t EMU_EXITED = 0x7fffffffu;  // the lane has exited, or never existed
constexpr uint32_t EMU_AT_BARRIER =
    0x40000000u;  // waits at barrier lane_barrier[lane]; the scheduler clears the bit to release the lane
constexpr uint32_t EMU_AT_WARP_SYNC = 0x20000000u;  // waits for other lanes of its warp (exec/warp_meeting.h)
constexpr uint32_t EMU_HAS_MET =
    0x10000000u;  // goes on with `met_value` and `met_flags` as the results of the .sync instruction there

enum EmuMode : uint32_t {
    EMU_UNIFORM = 0,
    EMU_MASKED = 1 /* generated code uses further values that mean masked, too */
};

// What a kernel reports to its observers (exec/observe.h).
enum EmuObserved : uint32_t {
    EMU_NOT_OBSERVED = 0,
    EMU_OBSERVED = 1,  // accesses, and how often its basic blocks run
    EMU_FOLLOWED = 2,  // also uses of what a load has read where nobody has written
};

struct alignas(64) WarpContext {
    static constexpr uint32_t looked_at_count = 4;
    // -- set for every block by the scheduler before the first run(), then owned by generated code
    uint32_t pc;    //   0  set to 0 (block to enter in uniform mode)
    uint32_t mode;  //   4  set to EMU_UNIFORM when lane_count == 32, else EMU_MASKED
    int32_t fuel;   //   8  loop heads left before EMU_YIELD; set before every run(). 0 = yield at the first one: code
                    //      that relies on hardware's order of warps wants that after a barrier that is not quiet. A
                    //      helper sets 0 to get the warp back soon.
    uint32_t trap_site;     //  12  valid after EMU_TRAP: index into EmuKernel::sites
    uint64_t instructions;  //  16  warp instructions executed since the block's start; generated code adds
    // -- set once per worker or block
    uint8_t
        *registers;   //  24  EmuKernel::register_bytes, 64-byte aligned; cleared for each block of an observed kernel
    uint8_t *shared;  //  32  host address of the block's shared window, 256-byte aligned
    uint8_t *local;   //  40  lane l's local memory is local + l * EmuKernel::local_bytes; 64-byte aligned
    const uint8_t *params;    //  48  the launch's parameters laid out as in EmuKernel
    uint64_t *site_cache;     //  56  2 * site_count words, shared by all warps of a worker thread; cleared to 0 for a
                              //  launch (see emu_check_access)
    const uint64_t *symbols;  //  64  = EmuKernel::symbols
    BlockContext *block;      //  72
    uint32_t ctaid[3];        //  80
    uint32_t nctaid[3];       //  92
    uint32_t shared_bytes;    // 104  static + dynamic: accesses at or beyond it are reported
    uint32_t dynamic_shared_bytes;  // 108
    uint32_t warp_id;               // 112  threads warp_id * 32 .. of the block
    uint32_t lane_count;            // 116  lanes that exist (32 except in a last, partial warp)
    uint32_t grid_id;               // 120  %gridid; any number
    uint32_t reserved;              // 124  which of a warp's diverged lanes go first: generated code's own
    uint32_t lane_pc[32];           // 128  masked mode: set to 0 for existing lanes, EMU_EXITED for others
    uint32_t tid[3][32];        // 256  thread index per lane: x[32], y[32], z[32]; anything for lanes that do not exist
    uint32_t lane_barrier[32];  // 640  which barrier (0..15) a lane with EMU_AT_BARRIER waits at
    const struct EmuKernel *kernel;  // 768  what runs (for helpers: names, sites)
    uint64_t grid_workspace;  // 776  %envreg1 is its upper half, %envreg2 its lower: cooperative_groups' grid barrier
                              // lies there; 0 unless launched cooperatively
    uint64_t *tally;  // 784  of observed kernels: for each basic block how often it ran, and with how many lanes in
                      // all; shared by all warps of a worker thread
    uint64_t stack_bytes;  // 792  of a lane's stack; lane l's begins at local + 32 * EmuKernel::local_bytes + l *
                           // stack_bytes. 0 in kernels that use none
    alignas(64) uint32_t met_value[32];  // 832  of lanes with EMU_HAS_MET
    uint32_t met_flags;                  // 960  a bit per lane: their predicates
    uint32_t ahead;  // 964  of observed kernels, in masked mode: the lanes that go first wherever they can; 0: none
    uint32_t looks;  // 968  how often it has looked where it looked the last time, at global memory that others may
                     //      change: by volatile loads, and by atomics that changed nothing
    uint64_t looked_at[looked_at_count];  // 976  where the lanes looked last, added up; by the site's number modulo 4
    uint32_t *unwritten;  // during emu_observe_load: for each element, the lanes that read bytes that nobody has
                          // written; else null
    // The scheduler may derive from this struct to keep more behind it.
};
static_assert(offsetof(WarpContext, instructions) == 16, "abi");
static_assert(offsetof(WarpContext, registers) == 24, "abi");
static_assert(offsetof(WarpContext, symbols) == 64, "abi");
static_assert(offsetof(WarpContext, ctaid) == 80, "abi");
static_assert(offsetof(WarpContext, shared_bytes) == 104, "abi");
static_assert(offsetof(WarpContext, lane_pc) == 128, "abi");
static_assert(offsetof(WarpContext, tid) == 256, "abi");
static_assert(offsetof(WarpContext, lane_barrier) == 640, "abi");
static_assert(offsetof(WarpContext, kernel) == 768, "abi");
static_assert(offsetof(WarpContext, grid_workspace) == 776, "abi");
static_assert(offsetof(WarpContext, tally) == 784, "abi");
static_assert(offsetof(WarpContext, stack_bytes) == 792, "abi");
static_assert(offsetof(WarpContext, met_value) == 832, "abi");
static_assert(offsetof(WarpContext, met_flags) == 960, "abi");
static_assert(offsetof(WarpContext, ahead) == 964, "abi");
static_assert(offsetof(WarpContext, looks) == 968, "abi");
static_assert(offsetof(WarpContext, looked_at) == 976, "abi");

using EmuFunction = int32_t (*)(WarpContext *);

// A compiled (kernel, block shape): filled in by emulator/jit/loader.py, kept alive by its CompiledKernel.
struct EmuKernel {
    // By what EMU_UNIFORM is, and what is not. Null until it is needed; better code may take its place at any time,
    // since between two calls all that a warp has is in its WarpContext, in a form that depends on the kernel and the
    // block shape only.
    mutable std::atomic<EmuFunction> functions[2];
    const char *name;                // mangled
    uint32_t block[3];               // the block shape it was compiled for
    uint32_t register_bytes;         // per warp
    uint32_t shared_bytes;           // static, a multiple of 16; dynamic shared memory begins there
    uint32_t reserved_shared_bytes;  // of these the first, which the system has: zero when a block begins
    uint32_t local_bytes;            // per lane, a multiple of 16
    uint32_t param_bytes;
    uint32_t param_count;
    const uint32_t *param_offsets;
    const uint32_t *param_sizes;
    uint32_t site_count;
    const EmuSite *sites;
    const uint64_t *symbols;     // host addresses of the module-scope variables it uses
    const EmuLine *block_lines;  // for each basic block, then for each further segment, the line it begins at, and that
                                 // of its last instruction
    const EmuSharedArray *shared_arrays;
    uint32_t shared_array_count;
    uint32_t max_threads;        // .maxntid product, 0 = none: a larger block fails with cudaErrorInvalidValue
    uint32_t uses_stack;         // recursion or alloca
    uint32_t uses_barriers;      // 0: no barrier in it: warps of a block may run one after the other
    uint32_t uses_grid_barrier;  // it reads where cooperative_groups has the barrier of the whole grid
    uint32_t block_count;        // basic blocks: half the words of WarpContext::tally
    uint32_t observed;           // it calls emu_observe and emu_observe_sync, and keeps the tally
    uint32_t content_count;      // of an observed kernel
    const EmuContent *contents;
    uint32_t polling_count;   // of an observed kernel: loops that look at what others may change
    const uint32_t *polling;  // the basic blocks where they begin
    const uint32_t
        *live_ends;        // where there are such loops, for each basic block: how many ranges there are up to its last
    const uint32_t *live;  // offset and size of each: what is live in the register file when the block begins, but for
                           // registers that only count a loop's rounds
    uint32_t waiting_count;
    const uint32_t *waiting;  // the basic blocks of loops that end by an mbarrier alone (jit/waiting.py), sorted
    uint64_t hot_after;       // warp instructions after which better code is worth making; 0: there is none
    mutable std::atomic<uint64_t> work;  // warp instructions so far
};
static_assert(sizeof(std::atomic<EmuFunction>) == 8 && sizeof(std::atomic<uint64_t>) == 8, "abi");

extern "C" {

// ---------------------------------------------------------------------------------------------------- written by the
// runtime

// Slow path of the check of an access. Generated code checks inline, per site s, size 1 << k:
//     ror64(address - site_cache[2*s], k) < site_cache[2*s + 1]          (so a misaligned address fails, too)
// and for EMU_SHARED sites  ror32(offset, k) < shared_bytes >> k.  Where that fails for any active lane it calls one of
// the helpers of semantics*.cpp, which call this with the host addresses of all 32 lanes, `mask` saying which are
// active. The function decides lane by lane: a good address stays; a bad one is reported, and either stays (a read of
// padding, say) or is replaced by an address of at least 32 scratch bytes (dropped write; read of unmapped memory). It
// then puts the interval hit into site_cache: [2*s] = lo, [2*s + 1] = (hi - lo) >> k, lo 256-byte aligned, exact bytes
// [lo, hi) allowed for this kind of access. Generic addresses may also lie in the windows of shared memory, parameters
// and the warp's local memory; local ones in the lane's own part of that.
void emu_check_access(WarpContext *, uint32_t site, uint32_t mask, uint64_t address[32]);

// Lanes `lanes` of this warp arrive at barrier `id`. expected: threads, 0 = every live thread of the block.
// op: how to reduce `predicate` (bit per lane) over the threads for bar.red. EMU_ARRIVE does not wait; for the others
// generated code then sets EMU_AT_BARRIER on those lanes (masked mode), or returns EMU_BARRIER at once (uniform mode:
// all 32 wait). `id` is below 16. In uniform mode too lane_barrier of all lanes is `id`.
enum EmuBarrierOp : uint32_t { EMU_SYNC = 0, EMU_ARRIVE = 1, EMU_RED_AND = 2, EMU_RED_OR = 3, EMU_RED_POPC = 4 };
void emu_barrier_arrive(WarpContext *, uint32_t id, uint32_t expected, uint32_t lanes, uint32_t op, uint32_t predicate);
// Of lanes `lanes`, before the arrival: not 0 where there is no barrier `id`; records the error. Generated code then
// returns EMU_TRAP.
uint32_t emu_barrier_check(WarpContext *, uint32_t site, uint32_t lanes, uint32_t id);
// The reduction of the last completed phase of barrier `id` (called right after release): 0/1 for and/or, a count for
// popc.
uint32_t emu_barrier_result(WarpContext *, uint32_t id);

// printf from a kernel: per active lane the address of the format string and of its packed arguments (varargs laid out
// as vprintf's CUDA buffer: each at its natural alignment, float promoted to double). result[lane] = number of
// arguments or -1.
void emu_vprintf(WarpContext *, uint32_t site, uint32_t mask, const uint64_t format[32], const uint64_t arguments[32],
                 int32_t result[32]);
// assert: message, file, function are addresses of strings. Records cudaErrorAssert; generated code then returns
// EMU_TRAP.
void emu_assert_fail(WarpContext *, uint32_t site, uint32_t mask, const uint64_t message[32], const uint64_t file[32],
                     const uint32_t line[32], const uint64_t function[32]);
// The lanes whose stack would end beyond its end, at `top`; records the error, if any. Generated code then returns
// EMU_TRAP.
uint32_t emu_stack_check(WarpContext *, uint32_t site, uint32_t mask, const uint64_t top[32]);
// Device-side heap: 0 on failure.
void emu_device_malloc(WarpContext *, uint32_t site, uint32_t mask, const uint64_t size[32], uint64_t result[32]);
void emu_device_free(WarpContext *, uint32_t site, uint32_t mask, const uint64_t address[32]);

// At a .sync instruction where some lane's mask names others that are not there: the lanes `lanes` wait at segment
// `number`; those in `active` execute the instruction, with these operands.
enum EmuMeetingKind : uint32_t {
    EMU_MEET_SYNC = 0,  // bar.warp.sync
    EMU_MEET_SHUFFLE = 1
        << 8,                  // | 0 up, 1 down, 2 bfly, 3 idx: `value` from the lane by `second` and the clamp `third`
    EMU_MEET_VOTE = 2 << 8,    // | 0 all, 1 any, 2 uni, 3 ballot
    EMU_MEET_MATCH = 3 << 8,   // | 1 all | 2 of 64 bits
    EMU_MEET_REDUCE = 4 << 8,  // | as emu_redux has it
    EMU_MEET_FAMILY = 0xff << 8,
};
void emu_warp_wait(WarpContext *, uint32_t site, uint32_t kind, uint32_t number, uint32_t lanes, uint32_t active,
                   const uint32_t mask[32], const uint64_t value[32], const uint64_t second[32],
                   const uint64_t third[32]);
// No lane can run, and some wait for others of the warp. Returns EMU_EXITED where lanes go on since what they waited
// for has ended; EMU_AT_BARRIER where only a barrier of the block, if anything, can help; else the block at which lanes
// go on without the others.
uint32_t emu_warp_blocked(WarpContext *);
// The lanes `lanes` read lanes `source` by a shuffle that those do not execute, or that `mask` does not name: `value`
// becomes undefined numbers, which follow from the schedule's seed.
void emu_shuffle_absent(WarpContext *, uint32_t site, uint32_t lanes, const uint32_t source[32],
                        const uint32_t mask[32], uint32_t value[32]);
// A .sync instruction with a mask (one per lane) that does not name the lane itself (`strangers`), or that names lanes
// which may never come. `here`: the lanes that have met.
void emu_warp_sync_fault(WarpContext *, uint32_t site, uint32_t here, uint32_t strangers, const uint32_t mask[32]);

// Of observed kernels: before the access, the addresses as the kernel meant them (host addresses, those of lanes not in
// `mask` anything); and where lanes have met at a .sync instruction.
void emu_observe(WarpContext *, uint32_t site, uint32_t mask, const uint64_t address[32]);
// The same for a load whose results are followed. It sets the lanes that read unwritten bytes in `unwritten`, a word
// for each element.
void emu_observe_load(WarpContext *, uint32_t site, uint32_t mask, const uint64_t address[32], uint32_t *unwritten);
// The lanes `mask` use such a result: `origin` is one more than the number of the site that has read it.
void emu_observe_use(WarpContext *, uint32_t mask, const uint16_t origin[32]);
// After emu_observe() of a store to shared memory: the lanes `mask` have stored such results in `size` bytes, `offset`
// bytes behind these addresses.
void emu_observe_pass(WarpContext *, uint32_t mask, const uint16_t origin[32], const uint64_t address[32],
                      uint32_t offset, uint32_t size);
// After emu_observe() of a store whose lanes may share an address: `count` times 32 registers of `width` bytes, of
// which the low bytes are stored.
void emu_observe_store(WarpContext *, uint32_t site, uint32_t mask, const uint64_t address[32], const uint8_t *values,
                       uint32_t count, uint32_t width);
// `masks`: those of the lanes, which have met only with those that they name; null: all with all.
void emu_observe_sync(WarpContext *, uint32_t lanes, const uint32_t masks[32]);
// fence.proxy.tensormap, before emu_observe_fence(): the lanes acquire the maps there; null: they release.
void emu_observe_map_fence(WarpContext *, uint32_t lanes, const uint64_t maps[32]);
// fence.proxy.async of shared memory, before emu_observe_fence().
void emu_observe_async_fence(WarpContext *);
// A fence; device: for more than the block.
void emu_observe_fence(WarpContext *, uint32_t scope /* 0: the block, 1: the device, 2: the host, too */);

// ------------------------------------------------------------------------ instruction semantics: written by the JIT
// (semantics*.cpp) Their prototypes are in exec/semantics.h; generated code finds every emu_* function by name in the
// library.
}
