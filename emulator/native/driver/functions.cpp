// Kernels: attributes, occupancy and launches.

#include <algorithm>

#include "api/device_model.h"
#include "driver/call.h"
#include "driver/modules.h"
#include "exec/launch.h"

using namespace emu;

namespace {

cudaError_t get_attribute(int *value, CUfunction_attribute which, const void *handle) {
    if (!value) return fail(cudaErrorInvalidValue);
    cudaFuncAttributes all;
    if (cudaError_t error = cudaFuncGetAttributes(&all, handle)) return error;
    const Function &function = *find_function(handle);
    switch (which) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = all.maxThreadsPerBlock; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(all.sharedSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = static_cast<int>(all.constSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(all.localSizeBytes); break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = all.numRegs; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = all.ptxVersion; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = all.binaryVersion; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = all.cacheModeCA; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: *value = all.maxDynamicSharedSizeBytes; break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = all.preferredShmemCarveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = static_cast<int>(function.info.cluster[0]); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = static_cast<int>(function.info.cluster[1]); break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = static_cast<int>(function.info.cluster[2]); break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED: *value = function.allows_large_clusters; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE: *value = 0; break;
    default: return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
}

cudaError_t check(const void *handle) {
    return find_function(handle) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
}

// The arguments of a launch, as pointers or as one buffer.
Arguments arguments_of(void **params, void **extra) {
    if (params || !extra) return params;
    const void *buffer = nullptr;
    size_t bytes = 0;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
        if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<size_t *>(extra[1]);
    }
    return {buffer, bytes};
}

// The attributes have the runtime's numbers and layout.
cudaLaunchConfig_t config_of(const CUlaunchConfig &it) {
    static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute), "one layout");
    cudaLaunchConfig_t config = {};
    config.gridDim = {it.gridDimX, it.gridDimY, it.gridDimZ};
    config.blockDim = {it.blockDimX, it.blockDimY, it.blockDimZ};
    config.dynamicSmemBytes = it.sharedMemBytes;
    config.stream = it.hStream;
    config.attrs = reinterpret_cast<cudaLaunchAttribute *>(it.attrs);
    config.numAttrs = it.numAttrs;
    return config;
}

// The largest block that gives the most resident threads, and the blocks that fill the device.
cudaError_t best_block(int *grid, int *block, CUfunction function, CUoccupancyB2DSize shared_of, size_t shared,
                       int limit) {
    if (!grid || !block) return fail(cudaErrorInvalidValue);
    int most = 0;
    if (cudaError_t error = get_attribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function)) return error;
    if (limit > 0) most = std::min(most, limit);
    int best_threads = 0, unit = device_model::warp_size;
    for (int threads = (most + unit - 1) / unit * unit; threads > 0; threads -= unit) {
        int size = std::min(threads, most), blocks = 0;
        size_t dynamic = shared_of ? shared_of(size) : shared;
        if (cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, size, dynamic))
            return error;
        if (blocks * size <= best_threads) continue;
        best_threads = blocks * size;
        *block = size;
        *grid = blocks * device_model::size().multiprocessors;
    }
    return best_threads ? cudaSuccess : fail(cudaErrorInvalidValue);
}

}  // namespace

EMU_API CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function) {
    return in_context([=] { return get_attribute(value, which, function); });
}

// The numbers of those that can be set are the runtime's.
EMU_API CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute which, int value) {
    return in_context([=] { return cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(which), value); });
}

EMU_API CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
    return in_context([=] { return check(function); });
}

EMU_API CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
    return in_context([=] { return check(function); });
}

// For the launches of CUDA 3 alone, which are refused; PyCUDA calls it before the others.
EMU_API CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    return in_context([=] { return x > 0 && y > 0 && z > 0 ? check(function) : fail(cudaErrorInvalidValue); });
}

EMU_API CUresult cuFuncGetName(const char **name, CUfunction function) {
    return in_context([=] { return cudaFuncGetName(name, function); });
}

EMU_API CUresult cuFuncGetModule(CUmodule *out, CUfunction handle) {
    return in_context([=] {
        Function *function = find_function(handle);
        CUmodule module = function && out ? module_with(*function) : nullptr;
        if (!module) return fail(out ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
        *out = module;
        return cudaSuccess;
    });
}

EMU_API CUresult cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction function) {
    return in_context([=] {
        if (!state) return fail(cudaErrorInvalidValue);
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
        return check(function);
    });
}

EMU_API CUresult cuFuncLoad(CUfunction function) {
    return in_context([=] { return check(function); });
}

// A kernel of a library is its function.

EMU_API CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
    return in_context([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        *out = reinterpret_cast<CUfunction>(kernel);
        return check(kernel);
    });
}

EMU_API CUresult cuKernelGetLibrary(CUlibrary *out, CUkernel kernel) {
    return cuFuncGetModule(reinterpret_cast<CUmodule *>(out), reinterpret_cast<CUfunction>(kernel));
}

EMU_API CUresult cuKernelGetName(const char **name, CUkernel kernel) {
    return in_context([=] { return cudaFuncGetName(name, kernel); });
}

EMU_API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute which, CUkernel kernel, CUdevice) {
    return in_context([=] { return get_attribute(value, which, kernel); });
}

EMU_API CUresult cuKernelSetAttribute(CUfunction_attribute which, int value, CUkernel kernel, CUdevice) {
    return in_context([=] { return cudaFuncSetAttribute(kernel, static_cast<cudaFuncAttribute>(which), value); });
}

EMU_API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache, CUdevice) {
    return in_context([=] { return check(kernel); });
}

EMU_API CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared, CUstream stream,
                                void **params, void **extra) {
    return in_context([=] {
        LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
        return launch(function, shape, stream, arguments_of(params, extra), false);
    });
}

EMU_API CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                           CUstream stream, void **params) {
    return in_context([=] {
        LaunchShape shape{{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared};
        return launch(function, shape, stream, params, true);
    });
}

EMU_API CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params, void **extra) {
    return in_context([=] {
        if (!config) return fail(cudaErrorInvalidValue);
        return launch_configured(config_of(*config), function, arguments_of(params, extra));
    });
}

EMU_PER_THREAD_STREAM(cuLaunchKernel, _ptsz);
EMU_PER_THREAD_STREAM(cuLaunchCooperativeKernel, _ptsz);
EMU_PER_THREAD_STREAM(cuLaunchKernelEx, _ptsz);

EMU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                             size_t shared) {
    return in_context([=] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared); });
}

EMU_API CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                                      size_t shared, unsigned) {
    return in_context([=] { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared); });
}

EMU_API CUresult cuOccupancyMaxPotentialBlockSize(int *grid, int *block, CUfunction function,
                                                  CUoccupancyB2DSize shared_of, size_t shared, int limit) {
    return in_context([=] { return best_block(grid, block, function, shared_of, shared, limit); });
}

EMU_API CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, CUfunction function,
                                                           CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                           unsigned) {
    return in_context([=] { return best_block(grid, block, function, shared_of, shared, limit); });
}

EMU_API CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks, int threads) {
    return in_context([=] { return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, threads); });
}

EMU_API CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config) {
    return in_context([=] {
        if (!config) return fail(cudaErrorInvalidValue);
        cudaLaunchConfig_t same = config_of(*config);
        return cudaOccupancyMaxActiveClusters(clusters, function, &same);
    });
}

EMU_API CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config) {
    return in_context([=] {
        if (!config) return fail(cudaErrorInvalidValue);
        cudaLaunchConfig_t same = config_of(*config);
        return cudaOccupancyMaxPotentialClusterSize(size, function, &same);
    });
}
