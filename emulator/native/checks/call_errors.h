// Failed calls of the runtime API: why each failed, which call in the program it was, whether the program looked at the
// result or ever asked about the error. Also leaks: allocations that the program never freed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu {

// Explains the error of this thread's current call, before it is passed to fail(). `kind` is e.g. "copy past the end",
// a static string; empty for what is no misuse where the program looks at the error.
void explain(const char *kind, std::string message);

// Called by fail().
void note_error(cudaError_t error);

// The program queried this thread's last error, or the name or description of `error`.
void note_error_query();
void note_error_query(cudaError_t error);
// It asked for the name or description of a result of the driver's.
void note_result_query(int result);

// Forgets the errors so far: the same ones are told again.
void forget_call_errors();

// Leak check: records which call made each allocation, while it is on.
void watch_leaks(bool on);
// `address`: where it is, or a handle of virtual memory (exec/virtual_memory.h).
void note_allocation(uint64_t address);
void note_release(uint64_t address);
// Reports every allocation of the program that was not freed.
void report_leaks();
// The same before all memory goes with the context.
void end_of_leak_check();

// Return addresses, innermost first; of a frame that a signal has interrupted, the instruction itself.
struct Frames {
    static constexpr size_t most = 32;
    uintptr_t addresses[most];
    size_t count = 0;
};
Frames walk_frames();

// Returns the call stack outside this library, innermost first: a line each, of the file, the offset in it in
// hexadecimal, and the function's name if it is exported, separated by tabs. `*entry` receives the function of this
// library that was called.
std::string program_frames(std::string *entry);
std::string program_frames(const Frames &of, std::string *entry);

// Describes what the program's host code may have meant by `address`: "cudaMalloc #1", "8 bytes behind cudaMalloc #1",
// ...
std::string describe_address(uint64_t address);

}  // namespace emu
