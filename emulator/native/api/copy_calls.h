// Copies as the program asks for them.
#pragma once

#include "api/copy.h"
#include "api/streams.h"

namespace emu {

// Checks a copy and gives it to the stream; waits as long as the memory of the host makes it.
cudaError_t copy(Plane to, Plane from, Box box, cudaMemcpyKind kind, cudaStream_t stream, Manner manner);

// One end of a copy of bytes: a place in an array, from which rows follow each other; or memory, where `array` is null.
struct Flat {
    cudaArray_const_t array;
    size_t x_bytes, y;
    const void *memory;

    // Bytes of the array's rows; 0 where it does not exist.
    size_t row() const;
};
cudaError_t copy_flat(Flat to, Flat from, size_t count, cudaMemcpyKind kind, cudaStream_t stream, Manner manner);

}  // namespace emu
