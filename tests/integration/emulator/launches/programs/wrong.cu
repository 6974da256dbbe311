// Programs with one mistake each about kernels that launch kernels: argv[1] names one.
#include <cstdio>
#include <cstring>

__global__ void add(int *values, int by) { values[threadIdx.x] += by; }
__global__ void sum(const int *values, int *out) { *out = values[0] + values[1]; }
__global__ void fail(int *values) { values[1 << 20] = 1; }  // past the end

__global__ void no_barrier(int *values) {
    values[threadIdx.x] = threadIdx.x;  // unordered write
    if (threadIdx.x == 0) add<<<1, 64>>>(values, 1);
}

__global__ void barrier(int *values) {
    values[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) add<<<1, 64>>>(values, 1);
}

__global__ void reads_result(int *values, int *out) {
    if (threadIdx.x == 0) {
        values[0] = 1;
        add<<<1, 1>>>(values, 1);
        *out = values[0];  // read of what a child writes
    }
}

__global__ void tail(int *values, int *out) {
    values[0] = values[1] = 3;
    add<<<1, 2>>>(values, 1);
    sum<<<1, 1, 0, cudaStreamTailLaunch>>>(values, out);
    cudaMemcpyAsync(values, out, sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
}

__global__ void siblings(int *values) {
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(values, 1);
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(values, 1);
}

__global__ void one_stream(int *values) {
    add<<<1, 32>>>(values, 1);
    add<<<1, 32>>>(values, 1);
}

__global__ void local() {
    int own[4] = {1, 2, 3, 4};
    add<<<1, 4>>>(own, 1);
    if (own[threadIdx.x] > 100) printf("never\n");
}

__global__ void shared() {
    __shared__ int own[32];
    own[threadIdx.x] = 1;
    if (threadIdx.x == 0) add<<<1, 32>>>(own, 1);
    __syncthreads();
    if (own[threadIdx.x] > 100) printf("never\n");
}

__global__ void freed(int *values) { add<<<1, 1>>>(values, 1); }
__global__ void child_fails(int *values) { fail<<<1, 1>>>(values); }
__global__ void bad_shape(int *values) { add<<<1, 2048>>>(values, 1); }  // bad launch
__global__ void unwritten(int *values, int *out) { sum<<<1, 1>>>(values, out); }
__global__ void endless() { endless<<<1, 1, 0, cudaStreamTailLaunch>>>(); }

int main(int, char **arguments) {
    const char *name = arguments[1];
    auto is = [name](const char *other) { return !strcmp(name, other); };
    int *values, *out, *initial;
    cudaMalloc(&values, 64 * sizeof(int));
    cudaMalloc(&initial, 64 * sizeof(int));
    cudaMalloc(&out, sizeof(int));
    cudaMemset(initial, 0, 64 * sizeof(int));
    if (is("no_barrier")) no_barrier<<<1, 64>>>(values);
    if (is("barrier")) barrier<<<1, 64>>>(values);
    if (is("reads_result")) reads_result<<<1, 32>>>(values, out);
    if (is("tail")) tail<<<1, 1>>>(values, out);
    if (is("siblings")) siblings<<<1, 1>>>(initial);
    if (is("one_stream")) one_stream<<<1, 1>>>(initial);
    if (is("local")) local<<<1, 1>>>();
    if (is("shared")) shared<<<1, 32>>>();
    if (is("child_fails")) child_fails<<<1, 1>>>(values);
    if (is("bad_shape")) bad_shape<<<1, 1>>>(values);
    if (is("unwritten")) unwritten<<<1, 1>>>(values, out);
    if (is("endless")) endless<<<1, 1>>>();
    if (is("freed")) {
        cudaFree(initial);
        freed<<<1, 1>>>(initial);
        initial = nullptr;
    }
    cudaError_t error = cudaDeviceSynchronize();
    puts(cudaGetErrorName(error));
    cudaFree(values);
    cudaFree(initial);
    cudaFree(out);
    return 0;
}
