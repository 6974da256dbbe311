// Calls the driver after the runtime, and never cuInit().
#include <thread>

#include "checked.cuh"

__global__ void twice(int* values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] *= 2;
}

int main() {
    CUdevice device = -1;
    int count = 0;
    SAY(cuCtxGetDevice(&device));
    CHECK(cudaGetDeviceCount(&count));
    SAY(cuDeviceGetCount(&count));
    SAY(cuCtxGetDevice(&device));

    CHECK(cudaSetDevice(0));
    CHECK(cuCtxGetDevice(&device));
    CUcontext current, primary;
    CHECK(cuCtxGetCurrent(&current));
    CHECK(cuDevicePrimaryCtxRetain(&primary, device));
    std::printf("device %d, %s context\n", device, current == primary ? "the primary" : "another");
    CHECK(cuDevicePrimaryCtxRelease(device));

    // Memory of one works with the other.
    CUdeviceptr values;
    int host[100];
    CHECK(cuMemAlloc(&values, sizeof host));
    CHECK(cuMemsetD32(values, 21, 100));
    twice<<<1, 128>>>(reinterpret_cast<int*>(values), 100);
    CHECK(cudaMemcpy(host, reinterpret_cast<void*>(values), sizeof host, cudaMemcpyDefault));
    std::printf("%d %d\n", host[0], host[99]);
    CHECK(cudaFree(reinterpret_cast<void*>(values)));

    // A thread has the context from its first call of the runtime's on.
    std::thread([] {
        CUdevice here;
        SAY(cuCtxGetDevice(&here));
        CHECK(cudaFree(nullptr));
        SAY(cuCtxGetDevice(&here));
    }).join();
    CHECK(cudaDeviceReset());
}
