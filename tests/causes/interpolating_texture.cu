// challenge: image-resize
// verdict: WA
// told: a texture that interpolates knows places to 8 bits behind the point (line 8)
#include <cuda_runtime.h>

__global__ void resize(cudaTextureObject_t image, float* output, float down, float right, int out_h, int out_w) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < out_w && y < out_h) output[y * out_w + x] = tex2D<float>(image, (x + 0.5f) * right, (y + 0.5f) * down);
}

extern "C" void solve(const float* input, float* output, int H, int W, int out_h, int out_w) {
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, W, H);
    cudaMemcpy2DToArray(array, 0, 0, input, W * sizeof(float), W * sizeof(float), H, cudaMemcpyDeviceToDevice);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc how = {};
    how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
    how.filterMode = cudaFilterModeLinear;
    cudaTextureObject_t image;
    cudaCreateTextureObject(&image, &resource, &how, nullptr);
    dim3 grid((out_w + 31) / 32, (out_h + 7) / 8);
    resize<<<grid, dim3(32, 8)>>>(image, output, float(H) / out_h, float(W) / out_w, out_h, out_w);
    cudaDeviceSynchronize();
    cudaDestroyTextureObject(image);
    cudaFreeArray(array);
}
