// The functions of the CUDA device runtime, as generated code calls them: for each argument an array with an element
// per lane. `site` is of stores through the lanes' pointers, 4 bytes at a time.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "api/conditionals.h"
#include "api/copy.h"
#include "api/device_model.h"
#include "api/errors.h"
#include "api/graphs.h"
#include "api/limits.h"
#include "api/modules.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/child_launches.h"
#include "exec/device_heap.h"
#include "exec/semantics.h"
#include "report/symbol_names.h"

using namespace emu;

namespace {

// Of a whole number of words, to the memory of a lane; bad addresses are reported as those of any store.
void store_words(const Caller &by, uint64_t address, const void *data, size_t size) {
    for (size_t at = 0; at < size; at += 4) {
        uint64_t to[32] = {};
        uint32_t words[32] = {};
        to[by.lane] = address + at;
        std::memcpy(&words[by.lane], static_cast<const uint8_t *>(data) + at, 4);
        for (auto &observer : by.warp->block->observers) observer->access(*by.warp, by.site, 1u << by.lane, to);
        emu_store(by.warp, by.site, to, 1u << by.lane, 4 | 1 << 8, words);
    }
}

template <class Value>
void store_words(const Caller &by, uint64_t address, Value value) {
    static_assert(sizeof(Value) % 4 == 0);
    store_words(by, address, &value, sizeof value);
}

ChildLaunches &launches_of(const Caller &by) { return child_launches(by.warp->block->launch); }

// `answer` gives a lane's result.
template <class Answer>
void each_lane(WarpContext *warp, uint32_t site, uint32_t lanes, uint64_t *result, Answer answer) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t lane = static_cast<uint32_t>(__builtin_ctz(left));
        result[lane] = static_cast<uint64_t>(answer(Caller{warp, site, lane}));
    }
}

// What a call of the host's API answers, with its value stored where the lane wants it.
template <class Value, class Call>
cudaError_t asked(const Caller &by, uint64_t address, const char *name, Call call) {
    Value value{};
    cudaError_t error = call(&value);
    if (error) return launches_of(by).fail(by, error, std::string(name) + " failed");
    store_words(by, address, value);
    return cudaSuccess;
}

// A string that kernels can print.
uint64_t device_string(const char *text) {
    static std::mutex mutex;
    static std::map<const char *, uint64_t> known;
    std::lock_guard lock(mutex);
    auto [found, is_new] = known.try_emplace(text, 0);
    if (is_new) {
        size_t size = std::strlen(text) + 1;
        found->second = memory().allocate(size, 16, MemoryKind::variable, "an error's text", "");
        if (found->second) std::memcpy(reinterpret_cast<void *>(found->second), text, size);
    }
    return found->second;
}

cudaError_t submit_copy(const Caller &by, const char *name, Plane to, Plane from, Box box, uint64_t kind,
                        uint64_t stream) {
    auto direction = static_cast<cudaMemcpyKind>(kind);
    if (cudaError_t error = check_copy(to, from, box, direction)) {
        return launches_of(by).fail(by, error, std::string(name) + " of bytes that no allocation has");
    }
    return launches_of(by).submit(by, stream, name, [=] {
        copy_box(to, from, box);
        return cudaSuccess;
    });
}

cudaError_t submit_fill(const Caller &by, const char *name, Plane to, uint64_t value, Box box, uint64_t stream) {
    if (cudaError_t error = check_fill(to, box))
        return launches_of(by).fail(by, error, std::string(name) + " of bytes that no allocation has");
    return launches_of(by).submit(by, stream, name, [=] {
        fill_box(to, static_cast<uint8_t>(value), box);
        return cudaSuccess;
    });
}

char *bytes_at(uint64_t address) { return reinterpret_cast<char *>(address); }

}  // namespace

#define DEVICE_CALL(name, ...)                                                                                        \
    EMU_SEMANTICS void emu_device_##name(WarpContext *warp, uint32_t site, uint32_t lanes __VA_OPT__(, ) __VA_ARGS__, \
                                         uint64_t *result)
using Lanes = const uint64_t *;

DEVICE_CALL(GetParameterBufferV2, Lanes kernel, Lanes gx, Lanes gy, Lanes gz, Lanes bx, Lanes by, Lanes bz,
            Lanes shared) {
    each_lane(warp, site, lanes, result, [=](Caller caller) {
        uint32_t l = caller.lane;
        auto shape = [l](Lanes x, Lanes y, Lanes z) {
            return dim3(static_cast<uint32_t>(x[l]), static_cast<uint32_t>(y[l]), static_cast<uint32_t>(z[l]));
        };
        return launches_of(caller).parameter_buffer(
            caller, kernel[l], {shape(gx, gy, gz), shape(bx, by, bz), static_cast<uint32_t>(shared[l])});
    });
}

DEVICE_CALL(LaunchDeviceV2, Lanes buffer, Lanes stream) {
    each_lane(warp, site, lanes, result,
              [=](Caller by) { return launches_of(by).launch(by, buffer[by.lane], stream[by.lane]); });
}

DEVICE_CALL(GetLastError) {
    each_lane(warp, site, lanes, result, [](Caller by) { return launches_of(by).last_error(by, true); });
}

DEVICE_CALL(PeekAtLastError) {
    each_lane(warp, site, lanes, result, [](Caller by) { return launches_of(by).last_error(by, false); });
}

DEVICE_CALL(GetErrorString, Lanes error) {
    each_lane(warp, site, lanes, result,
              [=](Caller by) { return device_string(error_text(static_cast<int>(error[by.lane]))); });
}

DEVICE_CALL(GetErrorName, Lanes error) {
    each_lane(warp, site, lanes, result,
              [=](Caller by) { return device_string(error_name(static_cast<int>(error[by.lane]))); });
}

DEVICE_CALL(GetDevice, Lanes out) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        store_words(by, out[by.lane], int{0});
        return cudaSuccess;
    });
}

DEVICE_CALL(GetDeviceCount, Lanes out) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        store_words(by, out[by.lane], int{1});
        return cudaSuccess;
    });
}

DEVICE_CALL(DeviceGetAttribute, Lanes out, Lanes attribute, Lanes device) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        return asked<int>(by, out[by.lane], "cudaDeviceGetAttribute", [=](int *value) {
            return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(attribute[by.lane]),
                                          static_cast<int>(device[by.lane]));
        });
    });
}

DEVICE_CALL(DeviceGetLimit, Lanes out, Lanes limit) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        return asked<size_t>(by, out[by.lane], "cudaDeviceGetLimit", [=](size_t *value) {
            *value = device_limit(static_cast<cudaLimit>(limit[by.lane]));
            return *value ? cudaSuccess : cudaErrorUnsupportedLimit;
        });
    });
}

DEVICE_CALL(RuntimeGetVersion, Lanes out) {
    each_lane(warp, site, lanes, result,
              [=](Caller by) { return asked<int>(by, out[by.lane], "cudaRuntimeGetVersion", cudaRuntimeGetVersion); });
}

DEVICE_CALL(FuncGetAttributes, Lanes out, Lanes kernel) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (!kernel_at(kernel[by.lane]))
            return launches_of(by).fail(by, cudaErrorInvalidDeviceFunction,
                                        "cudaFuncGetAttributes of what is no kernel");
        return asked<cudaFuncAttributes>(by, out[by.lane], "cudaFuncGetAttributes", [=](cudaFuncAttributes *value) {
            return cudaFuncGetAttributes(value, kernel_at(kernel[by.lane]));
        });
    });
}

DEVICE_CALL(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, Lanes out, Lanes kernel, Lanes threads, Lanes shared,
            Lanes) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        uint32_t l = by.lane;
        if (!kernel_at(kernel[l]))
            return launches_of(by).fail(by, cudaErrorInvalidDeviceFunction, "the occupancy of what is no kernel");
        return asked<int>(by, out[l], "cudaOccupancyMaxActiveBlocksPerMultiprocessor", [=](int *value) {
            return cudaOccupancyMaxActiveBlocksPerMultiprocessor(value, kernel_at(kernel[l]),
                                                                 static_cast<int>(threads[l]), shared[l]);
        });
    });
}

DEVICE_CALL(OccupancyMaxActiveBlocksPerMultiprocessor, Lanes out, Lanes kernel, Lanes threads, Lanes shared) {
    emu_device_OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(warp, site, lanes, out, kernel, threads, shared,
                                                                  shared, result);
}

DEVICE_CALL(StreamCreateWithFlags, Lanes out, Lanes flags) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (flags[by.lane] != cudaStreamNonBlocking) {
            return launches_of(by).fail(by, cudaErrorInvalidValue,
                                        "streams of kernels are made with cudaStreamNonBlocking only");
        }
        store_words(by, out[by.lane], launches_of(by).create_stream());
        return cudaSuccess;
    });
}

DEVICE_CALL(StreamDestroy, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (launches_of(by).destroy_stream(stream[by.lane])) return cudaSuccess;
        return launches_of(by).fail(by, cudaErrorInvalidResourceHandle,
                                    "cudaStreamDestroy of what is no stream of this grid's");
    });
}

DEVICE_CALL(EventCreateWithFlags, Lanes out, Lanes flags) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (flags[by.lane] != cudaEventDisableTiming) {
            return launches_of(by).fail(by, cudaErrorInvalidValue,
                                        "events of kernels are made with cudaEventDisableTiming only");
        }
        store_words(by, out[by.lane], launches_of(by).create_event());
        return cudaSuccess;
    });
}

DEVICE_CALL(EventDestroy, Lanes event) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (launches_of(by).destroy_event(event[by.lane])) return cudaSuccess;
        return launches_of(by).fail(by, cudaErrorInvalidResourceHandle,
                                    "cudaEventDestroy of what is no event of this grid's");
    });
}

DEVICE_CALL(EventRecord, Lanes event, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        cudaError_t error = launches_of(by).record(by, event[by.lane], stream[by.lane]);
        return error ? launches_of(by).fail(by, error,
                                            "cudaEventRecord with an event or a stream that this grid does not have")
                     : error;
    });
}

DEVICE_CALL(EventRecordWithFlags, Lanes event, Lanes stream, Lanes) {
    emu_device_EventRecord(warp, site, lanes, event, stream, result);
}

DEVICE_CALL(StreamWaitEvent, Lanes stream, Lanes event, Lanes) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        cudaError_t error = launches_of(by).wait(by, stream[by.lane], event[by.lane]);
        return error ? launches_of(by).fail(
                           by, error, "cudaStreamWaitEvent with an event or a stream that this grid does not have")
                     : error;
    });
}

DEVICE_CALL(Malloc, Lanes out, Lanes size) {
    uint64_t given[32] = {};
    emu_device_malloc(warp, site, lanes, size, given);
    each_lane(warp, site, lanes, result, [&](Caller by) {
        if (!given[by.lane])
            return launches_of(by).fail(by, cudaErrorMemoryAllocation, "cudaMalloc found the device heap full");
        store_words(by, out[by.lane], given[by.lane]);
        return cudaSuccess;
    });
}

DEVICE_CALL(Free, Lanes address) {
    emu_device_free(warp, site, lanes, address);
    each_lane(warp, site, lanes, result, [](Caller) { return cudaSuccess; });
}

DEVICE_CALL(MemcpyAsync, Lanes to, Lanes from, Lanes size, Lanes kind, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        uint32_t l = by.lane;
        return submit_copy(by, "cudaMemcpyAsync", {bytes_at(to[l])}, {bytes_at(from[l])}, {size[l]}, kind[l],
                           stream[l]);
    });
}

DEVICE_CALL(Memcpy2DAsync, Lanes to, Lanes to_pitch, Lanes from, Lanes from_pitch, Lanes width, Lanes height,
            Lanes kind, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        uint32_t l = by.lane;
        return submit_copy(by, "cudaMemcpy2DAsync", {bytes_at(to[l]), to_pitch[l]}, {bytes_at(from[l]), from_pitch[l]},
                           {width[l], height[l]}, kind[l], stream[l]);
    });
}

DEVICE_CALL(MemsetAsync, Lanes to, Lanes value, Lanes size, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        uint32_t l = by.lane;
        return submit_fill(by, "cudaMemsetAsync", {bytes_at(to[l])}, value[l], {size[l]}, stream[l]);
    });
}

DEVICE_CALL(Memset2DAsync, Lanes to, Lanes pitch, Lanes value, Lanes width, Lanes height, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        uint32_t l = by.lane;
        return submit_fill(by, "cudaMemset2DAsync", {bytes_at(to[l]), pitch[l]}, value[l], {width[l], height[l]},
                           stream[l]);
    });
}

DEVICE_CALL(GraphSetConditional, Lanes handle, Lanes value) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        if (!set_condition(handle[by.lane], static_cast<uint32_t>(value[by.lane]))) {
            Fault fault = fault_at({by.warp, &by.warp->kernel->sites[by.site], by.lane, 0});
            by.warp->block->launch.doom(cudaErrorInvalidValue,
                                        "cudaGraphSetConditional at " + where(fault) +
                                            ": the handle is none of cudaGraphConditionalHandleCreate");
        }
        return cudaSuccess;
    });
}

DEVICE_CALL(GraphLaunch, Lanes graph, Lanes stream) {
    each_lane(warp, site, lanes, result, [=](Caller by) {
        auto executable = executable_of(reinterpret_cast<cudaGraphExec_t>(graph[by.lane]));
        if (!executable || !executable->is_for_device) {
            return launches_of(by).fail(
                by, cudaErrorInvalidValue,
                executable
                    ? "cudaGraphLaunch of a graph that was not instantiated with cudaGraphInstantiateFlagDeviceLaunch"
                    : "cudaGraphLaunch of what is no executable graph");
        }
        uint64_t on = stream[by.lane];
        if (on != graph_tail_stream && on != graph_free_stream && on != graph_sibling_stream) {
            return launches_of(by).fail(
                by, cudaErrorInvalidValue,
                "cudaGraphLaunch into another stream than cudaStreamGraphTailLaunch and cudaStreamGraphFireAndForget");
        }
        bool is_tail = on == graph_tail_stream;  // of the graph that runs, and not of this grid
        return launches_of(by).submit(by, free_stream, "cudaGraphLaunch",
                                      [=] { return is_tail ? launch_behind(executable) : executable->launch(); });
    });
}

EMU_SEMANTICS uint64_t emu_current_graph(const WarpContext *warp) { return warp->block->launch.graph; }
