// Contexts. There is one device with one memory: contexts say what threads may call, and what all of them have goes
// with the last.

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/context.h"
#include "api/device_model.h"
#include "driver/call.h"
#include "report/session.h"

using namespace emu;

namespace {

struct Context {
    unsigned flags = 0;
    unsigned long long id = 0;
};

std::atomic<bool> has_started{false};  // cuInit() succeeded, the program's or the runtime's
std::recursive_mutex contexts_mutex;
std::map<CUcontext, std::unique_ptr<Context>> created;
Context primary_context;
unsigned long long contexts_so_far = 0;
unsigned primary_retained = 0;
bool runtime_has_primary = false;
thread_local std::vector<CUcontext> entered;  // the last is current

CUcontext primary_handle() { return reinterpret_cast<CUcontext>(&primary_context); }

CUcontext current_context() { return entered.empty() ? nullptr : entered.back(); }

bool primary_is_active() { return primary_retained || runtime_has_primary; }

Context *context_of(CUcontext handle) {
    std::lock_guard lock(contexts_mutex);
    if (handle == primary_handle()) return primary_is_active() ? &primary_context : nullptr;
    auto found = created.find(handle);
    return found == created.end() ? nullptr : found->second.get();
}

// All memory, streams and so on belong to whatever contexts there are.
void release_unless_in_use() {
    if (created.empty() && !primary_is_active()) cudaDeviceReset();
}

cudaError_t create(CUcontext *out, unsigned flags, CUdevice device) {
    if (!out || flags & ~static_cast<unsigned>(CU_CTX_FLAGS_MASK)) return fail(cudaErrorInvalidValue);
    if (device) return fail(cudaErrorInvalidDevice);
    if (sticky()) return fail(sticky());
    std::lock_guard lock(contexts_mutex);
    auto context = std::make_unique<Context>(Context{flags, ++contexts_so_far});
    *out = reinterpret_cast<CUcontext>(context.get());
    created[*out] = std::move(context);
    entered.push_back(*out);
    return cudaSuccess;
}

cudaError_t check_device(CUdevice device) { return device ? fail(cudaErrorInvalidDevice) : cudaSuccess; }

}  // namespace

void emu::begin_driver() {
    if (in_session()) has_started = true;
}

void emu::enter_context() {
    if (!entered.empty() || DriverCall::is_under_way()) return;
    std::lock_guard lock(contexts_mutex);
    if (!runtime_has_primary && !primary_retained) primary_context.id = ++contexts_so_far;
    runtime_has_primary = true;
    begin_driver();
    entered.push_back(primary_handle());
}

void emu::leave_primary_context() { runtime_has_primary = false; }

cudaError_t emu::refusal(bool needs_context) {
    if (!has_started) return cudaErrorInitializationError;
    if (!needs_context) return cudaSuccess;
    CUcontext current = current_context();
    if (!current) return cudaErrorDeviceUninitialized;
    return context_of(current) ? cudaSuccess : cudaErrorContextIsDestroyed;
}

// Within the judge's runner a submission has the runtime's API, as it is told.
EMU_API CUresult cuInit(unsigned flags) {
    DriverCall call;
    if (flags) return result_of(fail(cudaErrorInvalidValue));
    if (sticky()) return result_of(fail(sticky()));
    if (!in_session()) return result_of(unsupported_call("cuInit: the driver's API, but under `python -m emulator`"));
    has_started = true;
    return CUDA_SUCCESS;
}

EMU_API CUresult cuDriverGetVersion(int *version) {
    if (!version) return CUDA_ERROR_INVALID_VALUE;
    *version = device_model::runtime_version;
    return CUDA_SUCCESS;
}

extern "C" __attribute__((visibility("default"))) CUresult cuCtxCreate_v2(CUcontext *out, unsigned flags,
                                                                          CUdevice device) {
    return initialized([=] { return create(out, flags, device); });
}
EMU_ALSO(cuCtxCreate_v2, cuCtxCreate);

extern "C" __attribute__((visibility("default"))) CUresult cuCtxCreate_v3(CUcontext *out, CUexecAffinityParam *,
                                                                          int count, unsigned flags, CUdevice device) {
    return initialized(
        [=] { return count ? unsupported_call("cuCtxCreate with execution affinity") : create(out, flags, device); });
}

EMU_API CUresult cuCtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags, CUdevice device) {
    return initialized([=] {
        bool is_special = params && (params->numExecAffinityParams || params->cigParams);
        return is_special ? unsupported_call("cuCtxCreate with parameters") : create(out, flags, device);
    });
}

EMU_API CUresult cuCtxDestroy_v2(CUcontext handle) {
    return initialized([=] {
        std::lock_guard lock(contexts_mutex);
        if (!created.count(handle)) return fail(handle ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue);
        created.erase(handle);
        if (current_context() == handle) entered.pop_back();
        release_unless_in_use();
        return cudaSuccess;
    });
}
EMU_ALSO(cuCtxDestroy_v2, cuCtxDestroy);
EMU_ALSO(cuCtxDestroy_v2, cuCtxDetach);

EMU_API CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    return initialized([=] {
        if (!context_of(handle)) return fail(handle ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue);
        entered.push_back(handle);
        return cudaSuccess;
    });
}
EMU_ALSO(cuCtxPushCurrent_v2, cuCtxPushCurrent);

EMU_API CUresult cuCtxPopCurrent_v2(CUcontext *out) {
    return initialized([=] {
        if (entered.empty()) return fail(cudaErrorDeviceUninitialized);
        if (out) *out = entered.back();
        entered.pop_back();
        return cudaSuccess;
    });
}
EMU_ALSO(cuCtxPopCurrent_v2, cuCtxPopCurrent);

EMU_API CUresult cuCtxSetCurrent(CUcontext handle) {
    return initialized([=] {
        if (handle && !context_of(handle)) return fail(cudaErrorDeviceUninitialized);
        if (!entered.empty()) entered.pop_back();
        if (handle) entered.push_back(handle);
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxGetCurrent(CUcontext *out) {
    return initialized([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        *out = current_context();
        return cudaSuccess;
    });
}

extern "C" __attribute__((visibility("default"))) CUresult cuCtxGetDevice(CUdevice *out) {
    return in_context([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        *out = 0;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxGetDevice_v2(CUdevice *out, CUcontext handle) {
    return initialized([=] {
        if (!out || !context_of(handle)) return fail(out ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue);
        *out = 0;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxGetFlags(unsigned *flags) {
    return in_context([=] {
        if (!flags) return fail(cudaErrorInvalidValue);
        *flags = context_of(current_context())->flags;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxSetFlags(unsigned flags) {
    return in_context([=] {
        context_of(current_context())->flags = flags;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxGetId(CUcontext handle, unsigned long long *id) {
    return initialized([=] {
        Context *context = context_of(handle ? handle : current_context());
        if (!id || !context) return fail(id ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue);
        *id = context->id;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
    return initialized([=] {
        if (!version || (handle && !context_of(handle)))
            return fail(version ? cudaErrorDeviceUninitialized : cudaErrorInvalidValue);
        *version = 3020;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxSynchronize(void) {
    return in_context([] { return cudaDeviceSynchronize(); });
}

EMU_API CUresult cuCtxSynchronize_v2(CUcontext handle) {
    return initialized(
        [=] { return context_of(handle) ? cudaDeviceSynchronize() : fail(cudaErrorDeviceUninitialized); });
}

EMU_API CUresult cuDevicePrimaryCtxRetain(CUcontext *out, CUdevice device) {
    return initialized([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        if (cudaError_t error = check_device(device)) return error;
        if (sticky()) return fail(sticky());
        std::lock_guard lock(contexts_mutex);
        if (!primary_is_active()) primary_context.id = ++contexts_so_far;
        ++primary_retained;
        *out = primary_handle();
        return cudaSuccess;
    });
}

EMU_API CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    return initialized([=] {
        if (cudaError_t error = check_device(device)) return error;
        std::lock_guard lock(contexts_mutex);
        if (!primary_retained) return fail(cudaErrorDeviceUninitialized);
        if (--primary_retained == 0) release_unless_in_use();
        return cudaSuccess;
    });
}
EMU_ALSO(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease);

EMU_API CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    return initialized([=] {
        if (cudaError_t error = check_device(device)) return error;
        std::lock_guard lock(contexts_mutex);
        return created.empty() ? cudaDeviceReset() : cudaSuccess;
    });
}
EMU_ALSO(cuDevicePrimaryCtxReset_v2, cuDevicePrimaryCtxReset);

EMU_API CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    return initialized([=] {
        primary_context.flags = flags;
        return check_device(device);
    });
}
EMU_ALSO(cuDevicePrimaryCtxSetFlags_v2, cuDevicePrimaryCtxSetFlags);

EMU_API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    return initialized([=] {
        if (!flags || !active) return fail(cudaErrorInvalidValue);
        *flags = primary_context.flags;
        *active = primary_is_active();
        return check_device(device);
    });
}

EMU_API CUresult cuCtxGetLimit(size_t *value, CUlimit which) {
    return in_context([=] { return cudaDeviceGetLimit(value, static_cast<cudaLimit>(which)); });
}

EMU_API CUresult cuCtxSetLimit(CUlimit which, size_t value) {
    return in_context([=] { return cudaDeviceSetLimit(static_cast<cudaLimit>(which), value); });
}

EMU_API CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    return in_context([=] { return cudaDeviceGetStreamPriorityRange(least, greatest); });
}

EMU_API CUresult cuCtxGetCacheConfig(CUfunc_cache *config) {
    return in_context([=] { return cudaDeviceGetCacheConfig(reinterpret_cast<cudaFuncCache *>(config)); });
}

EMU_API CUresult cuCtxSetCacheConfig(CUfunc_cache) {
    return in_context([] { return cudaSuccess; });
}

EMU_API CUresult cuCtxGetSharedMemConfig(CUsharedconfig *config) {
    return in_context([=] {
        if (!config) return fail(cudaErrorInvalidValue);
        *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
        return cudaSuccess;
    });
}

EMU_API CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
    return in_context([] { return cudaSuccess; });
}

EMU_API CUresult cuCtxResetPersistingL2Cache(void) {
    return in_context([] { return cudaSuccess; });
}
