// One function for each way of asking something of the device: out[i] = 2 * in[i] + 1, of n floats.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstring>
#include <vector>

__device__ float shift_of_device = 0.5f;
__device__ float *pointer_of_device = &shift_of_device;
__constant__ float factors[2];
__managed__ float shift_of_both = 0.25f;

__global__ void affine(const float *in, float *out, int n, float factor, float shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i] + shift;
}

__global__ void by_pointers(const float *in, float *out, int n, const float *factor, const float *shift) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = *factor * in[i] + *shift;
}

__global__ void by_variables(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factors[0] * in[i] + *pointer_of_device + factors[1];
}

__global__ void by_managed_variable(const float *in, float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = 2 * in[i] + shift_of_both;
}

__global__ void add(float *out, int n, float what) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] += what;
}

__global__ void through_shared(const float *in, float *out, int n) {
    extern __shared__ float tile[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x + 16000] = i < n ? in[i] : 0;
    __syncthreads();
    if (i < n) out[i] = 2 * tile[threadIdx.x + 16000] + 1;
}

__global__ void twice_together(const float *in, float *out, int n) {
    auto grid = cooperative_groups::this_grid();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[n - 1 - i] = in[n - 1 - i];
    grid.sync();
    for (int i = grid.thread_rank(); i < n; i += grid.size()) out[i] = 2 * out[i] + 1;
}

static int blocks(int n) { return (n + 127) / 128; }

extern "C" void plain(const float *in, float *out, int n) { affine<<<blocks(n), 128>>>(in, out, n, 2, 1); }

extern "C" void memory_of_its_own(const float *in, float *out, int n) {
    float *first, *second;
    cudaMalloc(&first, n * 4);
    affine<<<blocks(n), 128>>>(in, first, n, 4, 2);
    cudaFree(first);
    cudaMallocAsync(&second, n * 8, 0);
    affine<<<blocks(n), 128>>>(in, second, n, 2, 1);
    cudaMemcpyAsync(out, second, n * 4, cudaMemcpyDeviceToDevice);
    cudaFreeAsync(second, 0);
}

extern "C" void copies_and_fills(const float *in, float *out, int n) {
    float ones[] = {2, 1}, *values;
    cudaMalloc(&values, 8 + n * 8);
    cudaMemcpy(values, ones, 8, cudaMemcpyHostToDevice);
    cudaMemset(out, 0, n * 4);
    // Every other float of a wide row, and back.
    cudaMemcpy2D(values + 2, 8, in, 4, 4, n, cudaMemcpyDeviceToDevice);
    cudaMemcpy2D(out, 4, values + 2, 8, 4, n, cudaMemcpyDefault);
    by_pointers<<<blocks(n), 128>>>(out, out, n, values, values + 1);
    cudaFree(values);
}

extern "C" void variables(const float *in, float *out, int n) {
    float factor = 2, shift = 0.5f;
    cudaMemcpyToSymbol(factors, &factor, 4);
    cudaMemcpyToSymbol(factors, &shift, 4, 4);
    by_variables<<<blocks(n), 128>>>(in, out, n);
}

extern "C" void what_it_reads_decides(const float *in, float *out, int n) {
    std::vector<float> seen(n);
    cudaMemcpy(seen.data(), in, n * 4, cudaMemcpyDeviceToHost);
    int rest = seen[0] > 0 ? n : n / 2;
    affine<<<blocks(rest), 128>>>(in, out, rest, 2, 1);
    affine<<<blocks(n), 128>>>(in + rest, out + rest, n - rest, 2, 1);
}

extern "C" void managed(const float *in, float *out, int n) {
    float *both;
    cudaMallocManaged(&both, 4096 * 4);
    both[0] = 2;
    both[3000] = 0.5f;
    by_pointers<<<blocks(n), 128>>>(in, out, n, both, both + 3000);
    cudaDeviceSynchronize();
    both[3000] += 0.5f;  // to what it is: the device wrote none of it
    by_pointers<<<blocks(n), 128>>>(in, out, n, both, both + 3000);
    cudaDeviceSynchronize();
    cudaFree(both);
}

extern "C" void managed_variable(const float *in, float *out, int n) {
    shift_of_both += 0.75f;
    by_managed_variable<<<blocks(n), 128>>>(in, out, n);
    cudaDeviceSynchronize();
}

extern "C" void pinned(const float *in, float *out, int n) {
    float *both;
    cudaMallocHost(&both, 8 + n * 4);
    cudaMemcpy(both + 2, in, n * 4, cudaMemcpyDeviceToHost);
    both[0] = 2;
    both[1] = 1;
    by_pointers<<<blocks(n), 128>>>(both + 2, out, n, both, both + 1);
    cudaDeviceSynchronize();
    cudaFreeHost(both);
}

extern "C" void graph(const float *in, float *out, int n) {
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&stream);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
    cudaMemsetAsync(out, 0, n * 4, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphNode_t before, fill, launch;
    cudaMemsetParams ones = {out, 0, 0x3f800000, 4, static_cast<size_t>(n), 1};
    size_t count = 1;
    cudaGraphGetNodes(graph, &before, &count);
    cudaGraphAddMemsetNode(&fill, graph, &before, 1, &ones);
    float what = 1;
    void *arguments[] = {&out, &n, &what};
    cudaKernelNodeParams node = {};
    node.func = reinterpret_cast<void *>(add);
    node.gridDim = blocks(n);
    node.blockDim = 128;
    node.kernelParams = arguments;
    cudaGraphAddKernelNode(&launch, graph, &fill, 1, &node);
    cudaGraphInstantiate(&ready, graph, 0);
    for (int i = 0; i < 2; ++i) cudaGraphLaunch(ready, stream);
    cudaStreamSynchronize(stream);
    affine<<<blocks(n), 128>>>(in, out, n, 2, 1);
}

extern "C" void much_shared(const float *in, float *out, int n) {
    cudaFuncSetAttribute(through_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 << 10);
    through_shared<<<blocks(n), 128, 72 << 10>>>(in, out, n);
}

extern "C" void together(const float *in, float *out, int n) {
    void *arguments[] = {&in, &out, &n};
    cudaLaunchCooperativeKernel(twice_together, dim3(4), dim3(64), arguments);
}

// The host does the work.
extern "C" void on_the_host(const float *in, float *out, int n) {
    std::vector<float> values(n);
    cudaMemcpy(values.data(), in, n * 4, cudaMemcpyDeviceToHost);
    for (float &value : values) value = 2 * value + 1;
    cudaMemcpy(out, values.data(), n * 4, cudaMemcpyHostToDevice);
}
