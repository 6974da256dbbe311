// A whole program around one of the kernels: nvcc -DKERNEL='"wrong/read_past_parameter.cu"' main.cu
#include <cstdio>

#include KERNEL

int main() {
    constexpr int count = 1000;
    float *arrays[3], wrong = 0;
    for (float*& array : arrays) cudaMallocManaged(&array, count * sizeof(float));
    for (int i = 0; i < count; i++) {
        arrays[0][i] = i + 1;
        arrays[1][i] = 3 * i;
    }
    solve(arrays[0], arrays[1], arrays[2], count);
    cudaDeviceSynchronize();
    for (int i = 0; i < count; i++) wrong += arrays[2][i] != 4 * i + 1;
    for (float* array : arrays) cudaFree(array);
    std::printf("%g wrong\n", wrong);
}
