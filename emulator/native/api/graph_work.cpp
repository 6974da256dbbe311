#include "api/graph_work.h"

#include "api/arrays.h"
#include "api/copy.h"
#include "api/stream_queue.h"
#include "replay/host_clock.h"
#include "exec/launch.h"

namespace emu {

cudaError_t kernel_work(const cudaKernelNodeParams *params, Work *out) {
    if (!params) return cudaErrorInvalidValue;
    if (params->extra) return cudaErrorInvalidValue;
    LaunchShape shape{params->gridDim, params->blockDim, params->sharedMemBytes};
    return prepare_launch(params->func, shape, params->kernelParams, false, out);
}

cudaError_t kernel_params(cudaGraphNode_t node, cudaKernelNodeParams *out) {
    const void *function = nullptr;
    LaunchShape shape;
    void **arguments = nullptr;
    if (!node || !out || node_of(node)->type != cudaGraphNodeTypeKernel) return cudaErrorInvalidValue;
    if (!launch_of(node_of(node)->work, &function, &shape, &arguments)) return cudaErrorInvalidValue;
    *out = {const_cast<void *>(function),
            shape.grid,
            shape.block,
            static_cast<unsigned>(shape.dynamic_shared),
            arguments,
            nullptr};
    return cudaSuccess;
}

namespace {

cudaError_t copy_work(Plane to, Plane from, Box box, cudaMemcpyKind kind, Work *out) {
    if (cudaError_t error = check_copy(to, from, box, kind)) return error;
    *out = [=] {
        copy_box(to, from, box);
        return cudaSuccess;
    };
    return cudaSuccess;
}

}  // namespace

cudaError_t flat_copy_work(void *to, const void *from, size_t size, cudaMemcpyKind kind, Work *out) {
    return copy_work({static_cast<char *>(to)}, {static_cast<char *>(const_cast<void *>(from))}, {size}, kind, out);
}

cudaError_t fill_work(const cudaMemsetParams *params, Work *out) {
    if (!params || (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4)) {
        return cudaErrorInvalidValue;
    }
    Plane to{static_cast<char *>(params->dst), params->pitch};
    Box box{0, params->height};
    if (__builtin_mul_overflow(params->width, params->elementSize, &box.width)) return cudaErrorInvalidValue;
    if (cudaError_t error = check_fill(to, box)) return error;
    unsigned value = params->value, element = params->elementSize;
    *out = [=] {
        fill_box(to, value, box, element);
        return cudaSuccess;
    };
    return cudaSuccess;
}

cudaError_t host_work(const cudaHostNodeParams *params, Work *out) {
    if (!params || !params->fn) return cudaErrorInvalidValue;
    *out = [function = params->fn, data = params->userData] {
        HostFunction on_host;
        host_hears(current_task()->before);
        host_hears({{current_task()->line, current_task()->number}});
        function(data);
        return cudaSuccess;
    };
    return cudaSuccess;
}

cudaError_t box_copy_work(const cudaMemcpy3DParms &params, Work *out) {
    Plane to, from;
    Box box;
    if (cudaError_t error = ends_of(params, &to, &from, &box)) return error;
    return copy_work(to, from, box, params.kind, out);
}

cudaError_t child_work(const std::shared_ptr<Graph> &child, Work *out) {
    cudaError_t error = cudaSuccess;
    auto executable = instantiate(child, &error);
    if (!executable) return error;
    *out = [executable] { return executable->run(); };
    return cudaSuccess;
}

}  // namespace emu
