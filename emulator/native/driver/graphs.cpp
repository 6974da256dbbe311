// Nodes of graphs that the runtime's API has made.

#include <cuda.h>

#include "api/graph_work.h"
#include "api/modules.h"
#include "driver/call.h"

using namespace emu;

namespace {

// The two forms of the parameters differ by what follows.
template <class Params>
cudaError_t get_params(CUgraphNode node, Params *out) {
    if (!out) return fail(cudaErrorInvalidValue);
    cudaKernelNodeParams found;
    if (cudaError_t error = kernel_params(node, &found)) return fail(error);
    *out = {};
    out->func = reinterpret_cast<CUfunction>(find_function(found.func));
    out->gridDimX = found.gridDim.x;
    out->gridDimY = found.gridDim.y;
    out->gridDimZ = found.gridDim.z;
    out->blockDimX = found.blockDim.x;
    out->blockDimY = found.blockDim.y;
    out->blockDimZ = found.blockDim.z;
    out->sharedMemBytes = found.sharedMemBytes;
    out->kernelParams = found.kernelParams;
    return cudaSuccess;
}

}  // namespace

EMU_API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *out) {
    return in_context([=] { return get_params(node, out); });
}

extern "C" __attribute__((visibility("default"))) CUresult
old_kernel_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out) __asm__("cuGraphKernelNodeGetParams");
CUresult old_kernel_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out) {
    return in_context([=] { return get_params(node, out); });
}
