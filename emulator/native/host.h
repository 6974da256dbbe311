// The interface for the process that hosts the emulator (Python, through ctypes). emulator/runtime/library.py mirrors
// it.
#pragma once

#include <cstdint>

#define EMU_HOST extern "C" __attribute__((visibility("default")))

struct EmuKernel;  // abi.h
namespace emu {
struct Counters;
struct LaunchCounters;
}  // namespace emu

extern "C" {

struct EmuReport {
    uint64_t warp_instructions, fault_count;
    uint32_t launches, faults;
    uint64_t omitted_sites;
    const char *unchecked;            // a line each
    const char *limit, *unsupported;  // empty: none
    const char *printf_output;
    uint64_t printf_size;
    uint32_t extents;
};

// As SharedExtent in report/report.h.
struct EmuExtent {
    const char *kernel, *file;
    uint64_t launch, begin, end;
    uint32_t line, is_write;
    uint32_t first_thread[3], first_block[3], last_thread[3], last_block[3];
};

struct EmuLaunch {
    const char *kernel;
    uint32_t grid[3], block[3];
    uint64_t warp_instructions;
    double wall_s;
};

// Of a profiled launch; emulator/profile/counters.py says what the counters mean.
struct EmuProfile {
    const emu::Counters *totals, *busiest_block, *busiest_warp;
    const emu::LaunchCounters *launch;
    uint32_t lines;
};

struct EmuProfileLine {
    const char *file;
    const emu::Counters *counters;
    uint32_t line;
};

struct EmuFault {
    const char *kind, *message, *kernel, *file, *allocation;
    uint64_t address;
    uint32_t line, size;
    uint32_t thread[3], block[3];
    uint32_t is_write, has_other;
    uint64_t count;
    const char *other_file;
    uint32_t other_thread[3], other_block[3];
    uint32_t other_line, other_is_write;
    const char *host_frames;
};

struct EmuSettings {
    uint64_t memory_bytes;       // 0: what the machine has
    uint64_t warp_instructions;  // for each launch; 0: no limit
    double wall_s;               // for each launch; 0: no limit
    uint32_t threads;            // at least 1; created at once
    uint32_t order;  // in which warps run: 0 of their numbers, 1 drawn from `seed`, 2 drawn, and one may run ahead of
                     // the others
    uint64_t seed;
    uint32_t check_full, profile;  // see emu_set_observe
    uint32_t tell_silent;          // races with stores that change nothing are told, too
    uint64_t l2_bytes;             // of the profile's L2
    // Of the GPU that programs see; 0 multiprocessors: none is named. The limits are those of a multiprocessor.
    uint32_t multiprocessors, clock_khz, memory_clock_khz, bus_bits, major, minor;
    uint32_t resident_threads, resident_blocks, shared_bytes, reserved_shared_bytes;
    uint32_t model_events;  // the time between events is the modelled one of that GPU, in a session
    char gpu_name[64];
};

// The rest of a report; strings as in EmuReport.
struct EmuEndings {
    uint64_t call_error_count, leak_count, leaked_bytes;
    uint32_t call_errors, leaks;
    const char *failure;  // what broke the context
    // Of a program under `python -m emulator`:
    const char *program, *crash, *crash_frames, *kernel;
    uint32_t process, is_regular;
    uint64_t launch_count;
};

struct EmuCallError {
    const char *kind, *message, *call, *frames;
    int32_t code;
    uint32_t was_queried;
};

// The transfers of a recorded program: from the host, to the host, and on the device.
struct EmuTransfers {
    uint64_t writes, written_bytes, reads, read_bytes, copies, copied_bytes, fills, filled_bytes;
    uint64_t shared;                       // allocations and variables that the host can read and write as it likes
    uint64_t registered;                   // by cudaHostRegister()
    uint64_t host_ns, overlapped_host_ns;  // processor time of the program's own code, alone and beside the device
};

struct EmuLeak {
    const char *allocation, *frames;
    uint64_t size;
};

// The properties of a kernel that are known before it is compiled.
struct EmuKernelInfo {
    uint32_t static_shared_bytes, local_bytes, constant_bytes;
    uint32_t max_threads;  // of a block: from __launch_bounds__, else 1024
    uint32_t cluster[3];   // from __cluster_dims__; zeros: none
    uint32_t param_bytes;
};

enum EmuCodeWanted : uint32_t {
    EMU_WANT_UNIFORM = 0,
    EMU_WANT_MASKED = 1,  // the function of this number, before make_code() returns
    EMU_WANT_BETTER = 2,  // the kernel is hot: better code, at some time or never; returns at once
};

// Each returns 0, or a cudaError code after it has said why by emu_set_reason() (and emu_set_unsupported(), if that is
// why).
struct EmuCallbacks {
    // Reads the fat binary at `image` and defines its variables by emu_define_variable().
    int (*load_module)(uint64_t module, const void *image);
    int (*describe_kernel)(uint64_t module, const char *name, EmuKernelInfo *info);
    // Registers of a thread, 0 when nothing tells them: machine code in the program, or else, where `ask_ptxas`, ptxas
    // (it takes long).
    int (*count_registers)(uint64_t module, const char *name, uint32_t ask_ptxas, uint32_t *registers);
    // `*kernel` stays valid for the rest of the process. `observed` is an EmuObserved.
    int (*compile_kernel)(uint64_t module, const char *name, const uint32_t *block, uint32_t observed,
                          const EmuKernel **kernel);
    // Code for a kernel that compile_kernel() gave, to be had by emu_install_code(). Called on any thread.
    int (*make_code)(const EmuKernel *kernel, EmuCodeWanted wanted);
};

// Warps that enter the kernel's function number `which` from now on run this code.
EMU_HOST void emu_install_code(const EmuKernel *kernel, uint32_t which, void *code);
}
