// Clusters of four blocks add up rows: each block a quarter, then the blocks read each other's sums from distributed shared memory.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

constexpr int threads = 128, blocks_of_cluster = 4, columns = 2048;

__global__ void row_sums(const float *in, float *out) {
    __shared__ float partial[threads], total;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned rank = cluster.block_rank();
    int row = blockIdx.x / blocks_of_cluster, quarter = columns / blocks_of_cluster;
    float sum = 0;
    for (int i = threadIdx.x; i < quarter; i += threads) sum += in[row * columns + rank * quarter + i];
    partial[threadIdx.x] = sum;
    __syncthreads();
    for (int step = threads / 2; step; step /= 2) {
        if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
        __syncthreads();
    }
    if (threadIdx.x == 0) total = partial[0];
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0) {
        float all = 0;
        for (unsigned other = 0; other < cluster.num_blocks(); ++other) {
            all += *cluster.map_shared_rank(&total, other);  // from each block
        }
        out[row] = all;
    }
#ifndef LEAVES_TOO_EARLY
    cluster.sync();  // nobody leaves while its memory is read
#endif
}

// Every block adds to a counter of the cluster's first block.
__global__ void __cluster_dims__(2, 2, 1) count_threads(int *out) {
    __shared__ int counter;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) counter = 0;
    cluster.sync();
    atomicAdd(cluster.map_shared_rank(&counter, 0), 1);
    cluster.sync();
    dim3 at = cluster.block_index(), shape = cluster.dim_blocks();
    if (threadIdx.x == 0) {
        int block = blockIdx.x + gridDim.x * blockIdx.y;
        out[4 * block] = cluster.block_rank() == 0 ? counter : -1;
        out[4 * block + 1] = cluster.block_rank();
        out[4 * block + 2] = at.x + 10 * at.y;
        out[4 * block + 3] = shape.x + 10 * shape.y;
    }
}

int main() {
    constexpr int rows = 6;
    std::vector<float> in(rows * columns), sums(rows);
    for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 7 % 13);
    float *in_d, *out_d;
    cudaMalloc(&in_d, in.size() * 4);
    cudaMalloc(&out_d, rows * 4);
    cudaMemcpy(in_d, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
    cudaLaunchConfig_t config{};
    config.gridDim = rows * blocks_of_cluster;
    config.blockDim = threads;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {blocks_of_cluster, 1, 1};
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    cudaOccupancyMaxActiveClusters(&clusters, row_sums, &config);
    cudaError_t error = cudaLaunchKernelEx(&config, row_sums, static_cast<const float *>(in_d), out_d);
    if (error == cudaSuccess) error = cudaDeviceSynchronize();
    if (error != cudaSuccess || clusters < 1) {
        std::printf("FAIL: %s, %d clusters\n", cudaGetErrorName(error), clusters);
        return 1;
    }
    cudaMemcpy(sums.data(), out_d, rows * 4, cudaMemcpyDeviceToHost);
    for (int r = 0; r < rows; ++r) {
        float right = 0;
        for (int c = 0; c < columns; ++c) right += in[r * columns + c];
        if (sums[r] != right) {
            std::printf("FAIL: row %d is %f, not %f\n", r, sums[r], right);
            return 1;
        }
    }
    int *counts_d;
    std::vector<int> counts(4 * 4 * 4);
    cudaMalloc(&counts_d, counts.size() * 4);
    count_threads<<<dim3(4, 4), 64>>>(counts_d);
    cudaMemcpy(counts.data(), counts_d, counts.size() * 4, cudaMemcpyDeviceToHost);
    for (int y = 0; y < 4; ++y) {
        for (int x = 0; x < 4; ++x) {
            const int *of = &counts[4 * (x + 4 * y)];
            int rank = x % 2 + 2 * (y % 2);
            if (of[0] != (rank ? -1 : 256) || of[1] != rank || of[2] != x % 2 + 10 * (y % 2) || of[3] != 22) {
                std::printf("FAIL: block (%d,%d) has %d %d %d %d\n", x, y, of[0], of[1], of[2], of[3]);
                return 1;
            }
        }
    }
    cudaFree(in_d);
    cudaFree(out_d);
    cudaFree(counts_d);
    std::printf("PASS\n");
}
