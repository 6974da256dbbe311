// CUDA arrays. Their rows lie in device memory one behind the other, and their slices or layers behind each other.
#pragma once

#include <cuda_runtime_api.h>

#include "api/copy.h"
#include "exec/images.h"

namespace emu {

// One array, or a mipmapped array with all its levels.
struct Array {
    cudaChannelFormatDesc format;
    cudaExtent extent;  // as it was asked for: 0 for what there is not
    unsigned flags;
    Image image;
    uint64_t address;  // of the allocation; 0 for a level of another array
};

// What a handle means; null where it is of no array that exists.
const Array *array_of(cudaArray_const_t handle);
const Array *mipmapped_of(cudaMipmappedArray_const_t handle);
// Forgets them all.
void forget_arrays();

// An image of this format without levels. False where hardware has no such format.
bool set_format(const cudaChannelFormatDesc &format, Image *image);
// Explains that; returns the error.
cudaError_t refuse_format();

// `box` of the array from texel x, y, z on, whose width is in bytes; an error if it does not lie in it.
cudaError_t part_of_array(cudaArray_const_t array, size_t x_bytes, size_t y, size_t z, Box box, Plane *out);

// Both ends of a copy as cudaMemcpy3D is given it.
cudaError_t ends_of(const cudaMemcpy3DParms &params, Plane *to, Plane *from, Box *box);

}  // namespace emu
