// curand's device headers.
#include <curand_kernel.h>

__global__ void philox_kernel(unsigned long long seed, unsigned* words, float* floats) {
    curandStatePhilox4_32_10_t state;
    curand_init(seed, threadIdx.x, 5, &state);
    for (int i = 0; i < 8; ++i) words[8 * threadIdx.x + i] = curand(&state);
    for (int i = 0; i < 4; ++i) floats[4 * threadIdx.x + i] = curand_uniform(&state);
}
__global__ void xorwow_kernel(unsigned long long seed, unsigned* words) {
    curandStateXORWOW_t state;
    curand_init(seed + threadIdx.x, 0, 0, &state);
    for (int i = 0; i < 8; ++i) words[8 * threadIdx.x + i] = curand(&state);
}

extern "C" int philox(unsigned long long seed, unsigned* words, float* floats, int n) {
    philox_kernel<<<1, n>>>(seed, words, floats);
    return cudaDeviceSynchronize();
}
extern "C" int xorwow(unsigned long long seed, unsigned* words, int n) {
    xorwow_kernel<<<1, n>>>(seed, words);
    return cudaDeviceSynchronize();
}
