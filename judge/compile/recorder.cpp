// Writes down what a submission asks of the CUDA runtime. Linked into it with --wrap, so that each call that it makes
// to one of the functions below comes here first. judge/runner/cuda/recording_reader.py reads what is written.
//
// The process says where to: the environment variable holds the address of a Target. Without it nothing is written.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace {

struct Target {
    uint64_t most_bytes;
    const uint8_t *data;  // here and in the next, what was written so far
    uint64_t size;
    const char *refused;  // the name of a function that cannot be recorded
};

enum Step : uint32_t { allocate = 1, release, variable, kernel, attribute, launch, fill, copy, write, read };
enum Memory : uint32_t { device_memory, host_memory };

struct Parameter {
    uint64_t offset, size;
};

struct Kernel {
    std::string name;
    uint32_t number = 0;  // from 1 on; 0: not written yet
    std::vector<Parameter> parameters;
    uint64_t bytes = 0;
};

struct Recorder {
    Target *target = nullptr;
    std::vector<uint8_t> data;
    std::map<const void *, Kernel> kernels;         // by the host's stub
    std::map<const void *, const void *> stubs;     // by the runtime's handle
    std::map<const void *, std::string> variables;  // by the host's shadow
    std::map<const void *, uint64_t> addresses;     // of those that were written
    uint32_t numbers = 0;

    Recorder() {
        if (const char *text = std::getenv("GPUJUDGE_RECORDING")) {
            target = reinterpret_cast<Target *>(std::strtoull(text, nullptr, 16));
        }
    }
    void refuse(const char *name) {
        if (target && !target->refused) target->refused = name;
    }
};

// Made at its first use: kernels are registered by constructors.
Recorder &recorder() {
    static Recorder *made = new Recorder;
    return *made;
}

class Line {
public:
    explicit Line(Step step) : step_(step) {}
    Line &u32(uint32_t value) { return raw(&value, sizeof value); }
    Line &u64(uint64_t value) { return raw(&value, sizeof value); }
    Line &address(const void *value) { return u64(reinterpret_cast<uint64_t>(value)); }
    Line &raw(const void *bytes, size_t size) {
        auto *begin = static_cast<const uint8_t *>(bytes);
        data_.insert(data_.end(), begin, begin + size);
        return *this;
    }
    void end() {
        Recorder &to = recorder();
        if (!to.target) return;
        if (to.data.size() + data_.size() + 8 > to.target->most_bytes) return to.refuse("more than can be recorded");
        const uint32_t head[2] = {step_, static_cast<uint32_t>(data_.size())};
        auto *begin = reinterpret_cast<const uint8_t *>(head);
        to.data.insert(to.data.end(), begin, begin + sizeof head);
        to.data.insert(to.data.end(), data_.begin(), data_.end());
        to.target->data = to.data.data();
        to.target->size = to.data.size();
    }

private:
    Step step_;
    std::vector<uint8_t> data_;
};

// With its parameters, written when it is first used.
Kernel *find(const void *function) {
    Recorder &all = recorder();
    auto stub = all.stubs.find(function);
    const void *key = stub == all.stubs.end() ? function : stub->second;
    auto found = all.kernels.find(key);
    if (found == all.kernels.end()) {
        all.refuse("a kernel that was not registered");
        return nullptr;
    }
    Kernel &kernel_found = found->second;
    if (!kernel_found.number) {
        kernel_found.number = ++all.numbers;
        Parameter parameter;
        for (size_t i = 0; cudaFuncGetParamInfo(key, i, &parameter.offset, &parameter.size) == cudaSuccess; i++) {
            kernel_found.parameters.push_back(parameter);
            if (parameter.offset + parameter.size > kernel_found.bytes)
                kernel_found.bytes = parameter.offset + parameter.size;
        }
        cudaGetLastError();  // that of the parameter after the last
        Line line(kernel);
        line.u32(kernel_found.number).u32(static_cast<uint32_t>(kernel_found.parameters.size()));
        for (const Parameter &each : kernel_found.parameters) line.u32(each.offset).u32(each.size);
        line.raw(kernel_found.name.data(), kernel_found.name.size()).end();
    }
    return &kernel_found;
}

void note_launch(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared, cudaStream_t stream,
                 bool cooperative, const cudaLaunchAttribute *attributes = nullptr, unsigned count = 0) {
    Kernel *used = find(function);
    if (!used) return;
    std::vector<uint8_t> bytes(used->bytes);
    for (size_t i = 0; i < used->parameters.size(); i++) {
        std::memcpy(&bytes[used->parameters[i].offset], arguments[i], used->parameters[i].size);
    }
    Line line(launch);
    line.u32(used->number).u32(grid.x).u32(grid.y).u32(grid.z).u32(block.x).u32(block.y).u32(block.z);
    line.u32(static_cast<uint32_t>(shared)).u32(cooperative).address(stream).u32(count);
    for (unsigned i = 0; i < count; i++) line.u32(attributes[i].id).raw(&attributes[i].val, sizeof attributes[i].val);
    line.raw(bytes.data(), bytes.size()).end();
}

void note_allocation(const void *pointer, size_t size, Memory memory) {
    Line(allocate).address(pointer).u64(size).u32(memory).end();
}

void note_release(const void *pointer) { Line(release).address(pointer).end(); }

void note_copy(void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    if (kind == cudaMemcpyDefault) {
        cudaPointerAttributes there{}, here{};
        cudaPointerGetAttributes(&there, to);
        cudaPointerGetAttributes(&here, from);
        const bool to_device = there.type == cudaMemoryTypeDevice, from_device = here.type == cudaMemoryTypeDevice;
        kind = static_cast<cudaMemcpyKind>(2 * from_device + to_device);
    }
    if (kind == cudaMemcpyDeviceToDevice) {
        Line(copy).address(to).address(from).u64(size).address(stream).end();
    } else if (kind == cudaMemcpyHostToDevice) {
        Line(write).address(to).address(stream).raw(from, size).end();
    } else if (kind == cudaMemcpyDeviceToHost) {
        Line(read).address(from).u64(size).address(stream).end();
    }
}

void note_fill(void *to, int value, size_t size, cudaStream_t stream) {
    Line(fill).address(to).u64(size).address(stream).u32(static_cast<uint32_t>(value) & 0xff).end();
}

// Where a variable lies; null where that cannot be said.
char *note_variable(const void *symbol, void *known = nullptr) {
    Recorder &all = recorder();
    void *address = known;
    size_t size = 0;
    if ((!address && cudaGetSymbolAddress(&address, symbol)) || cudaGetSymbolSize(&size, symbol)) return nullptr;
    auto found = all.variables.find(symbol);
    if (found == all.variables.end()) {
        all.refuse("a variable that was not registered");
    } else if (all.addresses.emplace(symbol, reinterpret_cast<uint64_t>(address)).second) {
        Line(variable).address(address).u64(size).raw(found->second.data(), found->second.size()).end();
    }
    return static_cast<char *>(address);
}

}  // namespace

// The function itself, and what is called in its place.
#define WRAP(type, name, ...)                   \
    extern "C" type __real_##name(__VA_ARGS__); \
    extern "C" type __wrap_##name(__VA_ARGS__)

WRAP(void, __cudaRegisterFunction, void **binary, const char *stub, char *device, const char *name, int threads,
     uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp) {
    recorder().kernels[stub].name = name;
    __real___cudaRegisterFunction(binary, stub, device, name, threads, tid, bid, block, grid, warp);
}

WRAP(void, __cudaRegisterVar, void **binary, char *host, char *device, const char *name, int ext, size_t size,
     int constant, int global) {
    recorder().variables[host] = name;
    __real___cudaRegisterVar(binary, host, device, name, ext, size, constant, global);
}

#if CUDART_VERSION >= 13000
WRAP(cudaError_t, __cudaGetKernel, cudaKernel_t *kernel, const void *stub) {
    cudaError_t error = __real___cudaGetKernel(kernel, stub);
    if (!error) recorder().stubs[*kernel] = stub;
    return error;
}

WRAP(cudaError_t, __cudaLaunchKernel, cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
     cudaStream_t stream) {
    note_launch(kernel, grid, block, arguments, shared, stream, false);
    return __real___cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
#endif

WRAP(cudaError_t, cudaLaunchKernel, const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
     cudaStream_t stream) {
    note_launch(kernel, grid, block, arguments, shared, stream, false);
    return __real_cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}

WRAP(cudaError_t, cudaLaunchCooperativeKernel, const void *kernel, dim3 grid, dim3 block, void **arguments,
     size_t shared, cudaStream_t stream) {
    note_launch(kernel, grid, block, arguments, shared, stream, true);
    return __real_cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared, stream);
}

WRAP(cudaError_t, cudaLaunchKernelExC, const cudaLaunchConfig_t *config, const void *kernel, void **arguments) {
    note_launch(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream, false,
                config->attrs, config->numAttrs);
    return __real_cudaLaunchKernelExC(config, kernel, arguments);
}

WRAP(cudaError_t, cudaFuncSetAttribute, const void *kernel, cudaFuncAttribute which, int value) {
    cudaError_t error = __real_cudaFuncSetAttribute(kernel, which, value);
    Kernel *used = error ? nullptr : find(kernel);
    if (used) Line(attribute).u32(used->number).u32(which).u32(static_cast<uint32_t>(value)).end();
    return error;
}

WRAP(cudaError_t, cudaMalloc, void **out, size_t size) {
    cudaError_t error = __real_cudaMalloc(out, size);
    if (!error) note_allocation(*out, size, device_memory);
    return error;
}

WRAP(cudaError_t, cudaMallocAsync, void **out, size_t size, cudaStream_t stream) {
    cudaError_t error = __real_cudaMallocAsync(out, size, stream);
    if (!error) note_allocation(*out, size, device_memory);
    return error;
}

WRAP(cudaError_t, cudaMallocPitch, void **out, size_t *pitch, size_t width, size_t height) {
    cudaError_t error = __real_cudaMallocPitch(out, pitch, width, height);
    if (!error) note_allocation(*out, *pitch * height, device_memory);
    return error;
}

WRAP(cudaError_t, cudaMallocHost, void **out, size_t size) {
    cudaError_t error = __real_cudaMallocHost(out, size);
    if (!error) note_allocation(*out, size, host_memory);
    return error;
}

WRAP(cudaError_t, cudaHostAlloc, void **out, size_t size, unsigned flags) {
    cudaError_t error = __real_cudaHostAlloc(out, size, flags);
    if (!error) note_allocation(*out, size, host_memory);
    return error;
}

WRAP(cudaError_t, cudaFree, void *pointer) {
    note_release(pointer);
    return __real_cudaFree(pointer);
}

WRAP(cudaError_t, cudaFreeAsync, void *pointer, cudaStream_t stream) {
    note_release(pointer);
    return __real_cudaFreeAsync(pointer, stream);
}

WRAP(cudaError_t, cudaFreeHost, void *pointer) {
    note_release(pointer);
    return __real_cudaFreeHost(pointer);
}

WRAP(cudaError_t, cudaMemset, void *to, int value, size_t size) {
    note_fill(to, value, size, nullptr);
    return __real_cudaMemset(to, value, size);
}

WRAP(cudaError_t, cudaMemsetAsync, void *to, int value, size_t size, cudaStream_t stream) {
    note_fill(to, value, size, stream);
    return __real_cudaMemsetAsync(to, value, size, stream);
}

WRAP(cudaError_t, cudaMemcpy, void *to, const void *from, size_t size, cudaMemcpyKind kind) {
    note_copy(to, from, size, kind, nullptr);
    return __real_cudaMemcpy(to, from, size, kind);
}

WRAP(cudaError_t, cudaMemcpyAsync, void *to, const void *from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
    note_copy(to, from, size, kind, stream);
    return __real_cudaMemcpyAsync(to, from, size, kind, stream);
}

WRAP(cudaError_t, cudaGetSymbolAddress, void **out, const void *symbol) {
    cudaError_t error = __real_cudaGetSymbolAddress(out, symbol);
    if (!error) note_variable(symbol, *out);
    return error;
}

WRAP(cudaError_t, cudaMemcpyToSymbol, const void *symbol, const void *from, size_t size, size_t offset,
     cudaMemcpyKind kind) {
    if (char *to = note_variable(symbol)) note_copy(to + offset, from, size, kind, nullptr);
    return __real_cudaMemcpyToSymbol(symbol, from, size, offset, kind);
}

WRAP(cudaError_t, cudaMemcpyToSymbolAsync, const void *symbol, const void *from, size_t size, size_t offset,
     cudaMemcpyKind kind, cudaStream_t stream) {
    if (char *to = note_variable(symbol)) note_copy(to + offset, from, size, kind, stream);
    return __real_cudaMemcpyToSymbolAsync(symbol, from, size, offset, kind, stream);
}

WRAP(cudaError_t, cudaMemcpyFromSymbol, void *to, const void *symbol, size_t size, size_t offset, cudaMemcpyKind kind) {
    if (char *from = note_variable(symbol)) note_copy(to, from + offset, size, kind, nullptr);
    return __real_cudaMemcpyFromSymbol(to, symbol, size, offset, kind);
}

WRAP(cudaError_t, cudaMemcpyFromSymbolAsync, void *to, const void *symbol, size_t size, size_t offset,
     cudaMemcpyKind kind, cudaStream_t stream) {
    if (char *from = note_variable(symbol)) note_copy(to, from + offset, size, kind, stream);
    return __real_cudaMemcpyFromSymbolAsync(to, symbol, size, offset, kind, stream);
}

// What cannot be done again: it goes on to the function itself with all of its arguments, and the recording is of no
// use. None of these has arguments of floating point.
extern "C" __attribute__((visibility("hidden"))) void recorder_refuses(const char *name) { recorder().refuse(name); }

// clang-format off: a line of the assembler on each line
#define REFUSE(name)                                                              \
    __asm__(".pushsection .text\n"                                                \
            ".globl __wrap_" #name "\n.hidden __wrap_" #name "\n"                 \
            ".type __wrap_" #name ", @function\n__wrap_" #name ":\n"              \
            "  push %rdi\n  push %rsi\n  push %rdx\n  push %rcx\n  push %r8\n  push %r9\n  sub $8, %rsp\n" \
            "  lea 1f(%rip), %rdi\n  call recorder_refuses\n"                     \
            "  add $8, %rsp\n  pop %r9\n  pop %r8\n  pop %rcx\n  pop %rdx\n  pop %rsi\n  pop %rdi\n"       \
            "  jmp __real_" #name "@PLT\n"                                        \
            "1: .string \"" #name "\"\n.popsection\n")
// clang-format on

REFUSE(cudaGraphLaunch);
REFUSE(cudaStreamBeginCapture);
REFUSE(cudaLaunchHostFunc);
REFUSE(cudaStreamAddCallback);
REFUSE(cudaMallocManaged);
REFUSE(cudaHostRegister);
REFUSE(cudaHostGetDevicePointer);
REFUSE(cudaMallocFromPoolAsync);
REFUSE(cudaMalloc3D);
REFUSE(cudaMallocArray);
REFUSE(cudaMalloc3DArray);
REFUSE(cudaCreateTextureObject);
REFUSE(cudaCreateSurfaceObject);
REFUSE(cudaMemset2D);
REFUSE(cudaMemset2DAsync);
REFUSE(cudaMemset3D);
REFUSE(cudaMemset3DAsync);
REFUSE(cudaMemcpy2D);
REFUSE(cudaMemcpy2DAsync);
REFUSE(cudaMemcpy3D);
REFUSE(cudaMemcpy3DAsync);
REFUSE(cudaMemcpyPeer);
REFUSE(cudaMemcpyPeerAsync);
REFUSE(cudaFuncSetCacheConfig);
REFUSE(cudaDeviceSetCacheConfig);
REFUSE(cudaDeviceSetLimit);
REFUSE(cudaStreamSetAttribute);
REFUSE(cudaLibraryLoadData);
// The forms that name the stream of a thread of the host: of code that was compiled for it.
#if CUDART_VERSION >= 13000
REFUSE(__cudaLaunchKernel_ptsz);
#endif
REFUSE(cudaLaunchKernel_ptsz);
REFUSE(cudaLaunchKernelExC_ptsz);
REFUSE(cudaLaunchCooperativeKernel_ptsz);
