// Checked copies: a range of device memory must lie within one allocation, as the driver demands.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "api/streams.h"

namespace emu {

// A box of rows: `width` bytes, `height` rows at `pitch`, `depth` slices at `slice`.
struct Box {
    size_t width, height = 1, depth = 1;
};

struct Plane {
    char *at;
    size_t pitch = 0, slice = 0;
};

// Bytes from one slice to the next; the most there can be where that does not fit.
size_t slice_of(const cudaPitchedPtr &whole);
Plane part_of(const cudaPitchedPtr &whole, const cudaPos &from);

// Whether kernels and the device's copy engines may touch every byte of it.
bool on_device(const void *pointer, size_t size);

cudaError_t check_copy(Plane to, Plane from, Box box, cudaMemcpyKind kind);
void copy_box(Plane to, Plane from, Box box);

cudaError_t check_fill(Plane to, Box box);
// With an element of 1, 2 or 4 bytes of `value`, again and again.
void fill_box(Plane to, uint32_t value, Box box, uint32_t element = 1);

// The same as work of a stream.
cudaError_t fill(Plane to, uint32_t value, Box box, uint32_t element, cudaStream_t stream, Manner manner);

}  // namespace emu
