#include "driver/modules.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/streams.h"
#include "checks/call_errors.h"
#include "driver/call.h"
#include "driver/images.h"
#include "exec/scheduler.h"

using namespace emu;

namespace {

struct LoadedModule {
    uint64_t number;  // as api/modules.h has it
};

std::mutex loaded_mutex;
std::map<const void *, std::unique_ptr<LoadedModule>> loaded;

// 0 for what is none.
uint64_t number_of(const void *handle) {
    std::lock_guard lock(loaded_mutex);
    auto found = loaded.find(handle);
    if (found != loaded.end()) return found->second->number;
    explain("invalid handle", "no module has this handle: it may have been unloaded");
    return 0;
}

template <class Handle>
cudaError_t load(Handle *out, const void *image, JitLogs logs) {
    std::vector<uint8_t> binary;
    if (cudaError_t error = read_image(image, &binary)) return fail(error);
    uint64_t number = register_image(std::move(binary));
    if (cudaError_t error = load_module(number)) {
        unregister_image(number);
        logs.write(failure_reason());
        explain("", failure_reason());
        return fail(error);
    }
    logs.write("");
    auto module = std::make_unique<LoadedModule>(LoadedModule{number});
    *out = reinterpret_cast<Handle>(module.get());
    std::lock_guard lock(loaded_mutex);
    loaded[*out] = std::move(module);
    return cudaSuccess;
}

template <class Handle>
cudaError_t load_from_memory(Handle *out, const void *image, JitLogs logs = {}) {
    EMU_REQUIRE_DEVICE();
    if (!out || !image) return fail(cudaErrorInvalidValue);
    return load(out, image, logs);
}

template <class Handle>
cudaError_t load_from_file(Handle *out, const char *path, JitLogs logs = {}) {
    EMU_REQUIRE_DEVICE();
    if (!out || !path) return fail(cudaErrorInvalidValue);
    std::string content;
    if (cudaError_t error = read_file(path, &content)) return fail(error);
    return load(out, content.c_str(), logs);
}

cudaError_t unload(const void *handle) {
    EMU_REQUIRE_DEVICE();
    uint64_t number = number_of(handle);
    if (!number) return fail(cudaErrorInvalidResourceHandle);
    wait_for_device();
    LaunchPause pause;  // a launch on another host thread uses it until its end
    unregister_image(number);
    std::lock_guard lock(loaded_mutex);
    loaded.erase(handle);
    return cudaSuccess;
}

template <class Kernel>
cudaError_t find_kernel(Kernel *out, const void *handle, const char *name) {
    EMU_REQUIRE_DEVICE();
    if (!out || !name) return fail(cudaErrorInvalidValue);
    uint64_t number = number_of(handle);
    if (!number) return fail(cudaErrorInvalidResourceHandle);
    Function *function = kernel_named(number, name);
    if (!function) {
        explain("", std::string("the module has no kernel ") + name);
        return fail(cudaErrorSymbolNotFound);
    }
    *out = reinterpret_cast<Kernel>(function);
    return cudaSuccess;
}

cudaError_t find_global(CUdeviceptr *out, size_t *size, const void *handle, const char *name) {
    EMU_REQUIRE_DEVICE();
    if (!name) return fail(cudaErrorInvalidValue);
    uint64_t number = number_of(handle);
    if (!number) return fail(cudaErrorInvalidResourceHandle);
    SymbolLocation variable = variable_of(number, name);
    if (!variable.address) {
        explain("", std::string("the module has no variable ") + name);
        return fail(cudaErrorSymbolNotFound);
    }
    if (out) *out = variable.address;
    if (size) *size = variable.size;
    return cudaSuccess;
}

}  // namespace

CUmodule emu::module_with(const Function &function) {
    std::lock_guard lock(loaded_mutex);
    for (const auto &[handle, module] : loaded) {
        if (module->number == module_number(function)) return reinterpret_cast<CUmodule>(module.get());
    }
    return nullptr;
}

EMU_API CUresult cuModuleLoad(CUmodule *out, const char *path) {
    return in_context([=] { return load_from_file(out, path); });
}

EMU_API CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return in_context([=] { return load_from_memory(out, image); });
}

EMU_API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned count, CUjit_option *options,
                                    void **values) {
    return in_context([=] { return load_from_memory(out, image, JitLogs(count, options, values)); });
}

EMU_API CUresult cuModuleLoadFatBinary(CUmodule *out, const void *image) {
    return in_context([=] { return load_from_memory(out, image); });
}

EMU_API CUresult cuModuleUnload(CUmodule module) {
    return in_context([=] { return unload(module); });
}

EMU_API CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    return in_context([=] { return find_kernel(out, module, name); });
}

EMU_API CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *size, CUmodule module, const char *name) {
    return in_context([=] { return find_global(out, size, module, name); });
}

EMU_API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode) {
    return initialized([=] {
        if (!mode) return fail(cudaErrorInvalidValue);
        *mode = CU_MODULE_EAGER_LOADING;
        return cudaSuccess;
    });
}

EMU_API CUresult cuLibraryLoadData(CUlibrary *out, const void *code, CUjit_option *options, void **values,
                                   unsigned count, CUlibraryOption *, void **, unsigned) {
    return in_context([=] { return load_from_memory(out, code, JitLogs(count, options, values)); });
}

EMU_API CUresult cuLibraryLoadFromFile(CUlibrary *out, const char *path, CUjit_option *options, void **values,
                                       unsigned count, CUlibraryOption *, void **, unsigned) {
    return in_context([=] { return load_from_file(out, path, JitLogs(count, options, values)); });
}

EMU_API CUresult cuLibraryUnload(CUlibrary library) {
    return in_context([=] { return unload(library); });
}

EMU_API CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
    return in_context([=] { return find_kernel(out, library, name); });
}

EMU_API CUresult cuLibraryGetGlobal(CUdeviceptr *out, size_t *size, CUlibrary library, const char *name) {
    return in_context([=] { return find_global(out, size, library, name); });
}

EMU_API CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library) {
    return in_context([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        if (!number_of(library)) return fail(cudaErrorInvalidResourceHandle);
        *out = reinterpret_cast<CUmodule>(library);
        return cudaSuccess;
    });
}
