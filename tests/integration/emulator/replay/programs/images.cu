// out = 2 in + 1, through a texture of an array, a surface, and a texture of linear memory.

#include <cuda_runtime.h>

__global__ void twice(cudaTextureObject_t from, cudaSurfaceObject_t to, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) surf2Dwrite(2 * tex2D<float>(from, x % 100, x / 100), to, x % 100 * 4, x / 100);
}

__global__ void one_more(cudaTextureObject_t from, float *out, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) out[x] = tex1Dfetch<float>(from, x) + 1;
}

extern "C" void through_images(const float *in, float *out, int n) {
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t first, second;
    cudaMallocArray(&first, &format, 100, n / 100);
    cudaMallocArray(&second, &format, 100, n / 100, cudaArraySurfaceLoadStore);
    cudaMemcpy2DToArray(first, 0, 0, in, 400, 400, n / 100, cudaMemcpyDeviceToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = first;
    cudaTextureDesc description = {};
    cudaTextureObject_t texture, linear;
    cudaSurfaceObject_t surface;
    cudaCreateTextureObject(&texture, &resource, &description, nullptr);
    resource.res.array.array = second;
    cudaCreateSurfaceObject(&surface, &resource);
    twice<<<(n + 127) / 128, 128>>>(texture, surface, n);
    cudaDestroyTextureObject(texture);
    float *doubled;
    cudaMalloc(&doubled, n * 4);
    cudaMemcpy2DFromArray(doubled, 400, second, 0, 0, 400, n / 100, cudaMemcpyDeviceToDevice);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear = {doubled, format, static_cast<size_t>(n) * 4};
    cudaCreateTextureObject(&linear, &resource, &description, nullptr);
    one_more<<<(n + 127) / 128, 128>>>(linear, out, n);
    cudaDestroyTextureObject(linear);
    cudaDestroySurfaceObject(surface);
    cudaFreeArray(first);
    cudaFreeArray(second);
    cudaFree(doubled);
}
