// Makes the work of a graph's nodes from the parameters that programs give. Checks the parameters at once and returns
// their errors, for the caller to record.
#pragma once

#include <cuda_runtime_api.h>

#include "api/graphs.h"
#include "api/streams.h"

namespace emu {

// The launch that a node makes: `function` is a stub or handle.
cudaError_t kernel_params(cudaGraphNode_t node, cudaKernelNodeParams *out);
cudaError_t kernel_work(const cudaKernelNodeParams *params, Work *out);
cudaError_t flat_copy_work(void *to, const void *from, size_t size, cudaMemcpyKind kind, Work *out);
cudaError_t box_copy_work(const cudaMemcpy3DParms &params, Work *out);
cudaError_t fill_work(const cudaMemsetParams *params, Work *out);
cudaError_t host_work(const cudaHostNodeParams *params, Work *out);
// Of the graph as it is now.
cudaError_t child_work(const std::shared_ptr<Graph> &child, Work *out);

}  // namespace emu
