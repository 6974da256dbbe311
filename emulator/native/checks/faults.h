// One access that fails a check, and what is reported of it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "abi.h"
#include "report/report.h"

namespace emu {

struct Launch;

// Bytes that an access may touch.
struct Range {
    uint64_t begin = 0, end = 0;
    bool writable = true;

    bool contains(uint64_t address) const { return address - begin < end - begin; }
    bool contains(uint64_t address, uint32_t size) const { return contains(address) && size <= end - address; }
};

// The access of one lane.
struct Access {
    const WarpContext *warp;
    const EmuSite *site;
    uint32_t lane;
    uint64_t address;

    bool is_write() const { return site->kind != EMU_LOAD; }
};

// An address as users read it: "byte 12 of output (4000 bytes)". `name` is that of the allocation or array.
struct Location {
    std::string text, name;
};
Location shared_location(const WarpContext &warp, uint64_t address);
Location global_location(const Launch &launch, uint64_t address);

// Returns a fault with the access's location; the caller adds what is wrong.
Fault fault_at(const Access &access);
// Who makes the access, and where.
Party party_at(const Access &access);
// "f.cu:12 in kernel, thread (0,0,0) of block (0,0,0)".
std::string where(const Fault &fault);
std::string triple(const uint32_t values[3]);
std::string bytes(uint64_t count);
// The x, y and z of number `index` in a shape.
void split_index(uint64_t index, const uint32_t shape[3], uint32_t out[3]);

enum class Miss { misaligned, read_only, shared, local, parameter, constant, global };

struct Ruling {
    Miss miss;
    cudaError_t error = cudaSuccess;  // what the launch fails with, if it does
    bool perform = false;             // the bytes are mapped and may be read
    bool far = false;                 // from every allocation
};

// Adds the access to the report, and fails the launch if the ruling says so. `range`: the bytes that it should have
// stayed in, if known.
void report_access(const Access &access, const Range &range, const Ruling &ruling);

}  // namespace emu
