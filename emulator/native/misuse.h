// Misuse of the runtime's functions: what a call failed with and why, where in the program it was, whether the program ever
// asked, and what it never freed.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

namespace emu {

// What is wrong with the call that this thread is in, of which the error is about to be given to fail(). `kind` is such as
// "copy past the end", and lives for ever.
void explain(const char *kind, std::string message);

// By fail().
void note_error(cudaError_t error);

// The program asked for this thread's last error, or for what `error` means.
void note_look();
void note_look(cudaError_t error);

// For reports of leaks: which call made the allocation. Kept only where leaks are looked for.
void watch_leaks(bool on);
void note_allocation(uint64_t address);
void note_release(uint64_t address);
// Tells of every allocation of the program that is still there.
void tell_leaks();

// The calls that led here, innermost first, without those inside this library: each a line of file, offset in it in hexadecimal,
// and the function's name where it is exported, with tabs between. `*entry` is the function of this library that was called.
std::string program_frames(std::string *entry);

// What the program's host code may have meant by `address`: "cudaMalloc #1", "8 bytes behind cudaMalloc #1", ...
std::string describe_address(uint64_t address);

}  // namespace emu
