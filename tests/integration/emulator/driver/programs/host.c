// Uses the driver API alone: host IMAGE WHAT.

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { count = 1000, bytes = count * sizeof(float) };

static CUcontext context;
static CUmodule module;
static CUdeviceptr arrays[3];

static void check(CUresult result) {
    if (result == CUDA_SUCCESS) return;
    const char *name;
    cuGetErrorName(result, &name);
    printf("%s\n", name);
    exit(1);
}

static void begin(const char *image) {
    CUdevice device;
    check(cuInit(0));
    check(cuDeviceGet(&device, 0));
    check(cuCtxCreate(&context, NULL, 0, device));
    check(cuModuleLoad(&module, image));
    for (int i = 0; i < 3; ++i) {
        check(cuMemAlloc(&arrays[i], bytes));
        check(cuMemsetD32(arrays[i], 0x40000000, count));  // 2.0
    }
}

static void end(void) {
    for (int i = 0; i < 3; ++i) check(cuMemFree(arrays[i]));
    check(cuModuleUnload(module));
    check(cuCtxDestroy(context));
}

static CUfunction kernel(const char *name) {
    CUfunction function;
    check(cuModuleGetFunction(&function, module, name));
    return function;
}

static int wrong(float expected) {
    float *values = malloc(bytes);
    check(cuMemcpyDtoH(values, arrays[2], bytes));
    int found = 0;
    for (int i = 0; i < count; ++i) found += values[i] != expected;
    free(values);
    return found;
}

static void add(void) {
    int n = count;
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2], &n};
    check(cuLaunchKernel(kernel("add"), 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
    check(cuCtxSynchronize());
    printf("%d wrong\n", wrong(4));

    float factor = 3;
    CUdeviceptr variable;
    size_t size;
    check(cuModuleGetGlobal(&variable, &size, module, "factor"));
    check(cuMemcpyHtoD(variable, &factor, size));
    struct {
        CUdeviceptr arrays[3];
        int n;
    } packed = {{arrays[0], arrays[1], arrays[2]}, count};
    size_t packed_bytes = sizeof packed;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &packed_bytes, CU_LAUNCH_PARAM_END};
    CUstream stream;
    check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    check(cuLaunchKernel(kernel("add"), 4, 1, 1, 256, 1, 1, 0, stream, NULL, extra));
    check(cuStreamSynchronize(stream));
    check(cuStreamDestroy(stream));
    printf("%d wrong\n", wrong(12));
}

static void bounds(void) {
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2]};
    cuLaunchKernel(kernel("add_all"), 4, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL);  // never asked
}

static void leak(void) {
    CUdeviceptr kept;
    check(cuMemAlloc(&kept, 1234));  // never freed
}

static void misuse(void) {
    static char host[2 * bytes];
    int n = count;
    void *arguments[] = {&arrays[0], &arrays[1], &arrays[2], &n};
    CUstream stream;
    check(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    check(cuStreamDestroy(stream));
    cuMemcpyHtoD(arrays[0], host, 2 * bytes);                                                 // too long
    cuMemFree(arrays[0] + 4);                                                                 // not the beginning
    cuMemFreeHost((void *)arrays[0]);                                                         // not the host's
    cuLaunchKernel(kernel("add"), 1, 1, 1, 2048, 1, 1, 0, NULL, arguments, NULL);             // too large
    cuMemcpyHtoDAsync(arrays[0], host, 4, stream);                                            // destroyed
    cuLaunchKernel(kernel("add"), 1, 1, 1, 32, 1, 1, 64 << 10, NULL, arguments, NULL);        // too much shared memory
}

static void refused(void) {
    CUuserObject object;
    check(cuUserObjectCreate(&object, NULL, NULL, 1, 0));
}

static void others(void) {
    CUfunction function;
    printf("%d\n", cuModuleGetFunction(&function, module, "missing") == CUDA_ERROR_NOT_FOUND);
    CUmodule none;
    printf("%d\n", cuModuleLoadData(&none, "no PTX") == CUDA_ERROR_INVALID_IMAGE);
    CUcontext popped;
    check(cuCtxPopCurrent(&popped));
    printf("%d\n", popped == context && cuMemAlloc(&arrays[0], 4) == CUDA_ERROR_INVALID_CONTEXT);
    check(cuCtxPushCurrent(context));
    for (int code = 0; code < 1000; ++code) {
        const char *name;
        cuGetErrorName(code, &name);
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"add", add}, {"bounds", bounds}, {"leak", leak}, {"misuse", misuse}, {"refused", refused}, {"others", others}};
    begin(argv[1]);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        if (!strcmp(argv[2], all[i].name)) all[i].run();
    }
    if (strcmp(argv[2], "bounds")) end();
    return 0;
}
