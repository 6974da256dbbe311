// The driver's formats of texels, which are a type and a number of channels.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace emu {

// False, and explained, where there is no such format here.
bool channels_of(CUarray_format format, unsigned count, cudaChannelFormatDesc *out);
// The other way.
CUarray_format format_of(const cudaChannelFormatDesc &channels);
unsigned count_of(const cudaChannelFormatDesc &channels);

}  // namespace emu
