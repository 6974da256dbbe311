// A memory access that is looked at closely, and what is decided about it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "abi.h"

namespace emu {

// Bytes that an access may touch.
struct Range {
    uint64_t begin = 0, end = 0;
    bool writable = true;

    bool contains(uint64_t address) const { return address - begin < end - begin; }
    bool contains(uint64_t address, uint32_t size) const { return contains(address) && size <= end - address; }
};

// One lane's.
struct Access {
    const WarpContext *warp;
    const EmuSite *site;
    uint32_t lane;
    uint64_t address;

    bool is_write() const { return site->kind != EMU_LOAD; }
};

enum class Miss { misaligned, read_only, shared, local, global };

struct Ruling {
    Miss miss;
    cudaError_t error = cudaSuccess;  // what the launch fails with, if it does
    bool perform = false;             // the bytes are mapped and may be read
    bool far = false;                 // from every allocation
};

// Tells the report, and the launch when it is to fail. `range` is the one that the access should have stayed in, if known.
void tell(const Access &access, const Range &range, const Ruling &ruling);

}  // namespace emu
