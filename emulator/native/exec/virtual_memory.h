// Virtual memory management: address ranges that a program reserves, and memory that it maps there.
//
// Memory is a file (exec/backing_file.h), so that it can lie at several addresses. What a kernel may touch enters the
// table of all memory (exec/memory.h): each longest run of mapped pieces with the same access, as one allocation, since
// programs use such runs as one. Nobody tells which bytes of it have been written: initcheck takes all for written.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "exec/backing_file.h"
#include "exec/memory.h"

namespace emu {

// What cuMemCreate makes.
struct PhysicalMemory {
    std::shared_ptr<BackingFile> file;
    CUmemAllocationProp properties;
    std::string label;
    uint64_t handle;
    bool is_imported = false;  // another process's, whose capacity it takes
    unsigned handles = 1;      // that the program has not released
    unsigned mappings = 0;

    uint64_t size() const { return file->size(); }
    ~PhysicalMemory();
};

// Its functions explain their errors, but do not note them. Work that uses the memory is over, and no kernel runs.
class VirtualMemory {
public:
    // Of sizes and addresses, and what they are rounded to, on the GPUs that are modelled.
    static constexpr uint64_t granularity = 2 << 20;

    cudaError_t reserve(uint64_t size, uint64_t alignment, uint64_t at, uint64_t *out);
    cudaError_t unreserve(uint64_t address, uint64_t size);

    cudaError_t create(uint64_t size, const CUmemAllocationProp &properties, uint64_t *handle);
    cudaError_t import(int descriptor, uint64_t *handle);
    cudaError_t release(uint64_t handle);
    // A further handle of what is mapped at the address.
    cudaError_t retain(uint64_t address, uint64_t *handle);
    // Null for what is no handle.
    std::shared_ptr<PhysicalMemory> physical(uint64_t handle);

    cudaError_t map(uint64_t address, uint64_t size, uint64_t handle);
    cudaError_t unmap(uint64_t address, uint64_t size);
    cudaError_t set_access(uint64_t address, uint64_t size, CUmemAccess_flags access);
    cudaError_t access_of(uint64_t address, CUmemAccess_flags *out);

    // Why nobody may use an address that is reserved: "byte 12 of cuMemAddressReserve #1, where nothing is mapped".
    // Empty for other addresses, and for those that may be used.
    std::string reason_against(uint64_t address);
    // The memory behind a handle as leaks have it; empty: it has gone.
    std::string describe(uint64_t handle, uint64_t *size);

private:
    struct Piece {
        uint64_t end;
        std::shared_ptr<PhysicalMemory> memory;
        CUmemAccess_flags access;
        std::string label;
    };
    struct Reservation {
        uint64_t end;
        std::string label;
        std::map<uint64_t, Piece> pieces;  // by address
    };
    using Reservations = std::map<uint64_t, Reservation>;
    using Pieces = std::map<uint64_t, Piece>;

    Reservations::iterator holder(uint64_t address);
    // The pieces that fill this range exactly; false, and explained, where there are none.
    bool find_pieces(uint64_t address, uint64_t size, Reservation **in, std::vector<Pieces::iterator> *out);
    uint64_t keep(std::shared_ptr<PhysicalMemory> made);
    void drop_unless_used(const PhysicalMemory &it);
    void update_table(uint64_t begin, const Reservation &reservation);
    void remove(uint64_t begin, Reservation &reservation, const std::vector<Pieces::iterator> &pieces);

    std::mutex mutex_;
    Reservations reservations_;  // by address
    std::map<uint64_t, std::shared_ptr<PhysicalMemory>> handles_;
    uint64_t last_handle_ = 0;
};

VirtualMemory &virtual_memory();

}  // namespace emu
