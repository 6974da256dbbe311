// CUB within a block: 128 threads, 4 items to a thread.
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

constexpr int threads = 128, items = 4;

// A block's sum and greatest, by each of CUB's algorithms.
template <cub::BlockReduceAlgorithm algorithm>
__global__ void reduce(const int* in, int* out) {
    using Reduce = cub::BlockReduce<int, threads, algorithm>;
    __shared__ typename Reduce::TempStorage room;
    int own[items];
    cub::LoadDirectBlocked(threadIdx.x, in + blockIdx.x * threads * items, own);
    int sum = Reduce(room).Sum(own);
    if (!threadIdx.x) out[blockIdx.x] = sum;
}

template <cub::BlockScanAlgorithm algorithm>
__global__ void scan(const int* in, int* out) {
    using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
    using Scan = cub::BlockScan<int, threads, algorithm>;
    using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Load::TempStorage load;
        typename Scan::TempStorage scan;
        typename Store::TempStorage store;
    } room;
    int own[items], first = blockIdx.x * threads * items;
    Load(room.load).Load(in + first, own);
    __syncthreads();
    Scan(room.scan).InclusiveSum(own, own);
    __syncthreads();
    Store(room.store).Store(out + first, own);
}

__global__ void sort(const float* in, float* out, int* from) {
    using Sort = cub::BlockRadixSort<float, threads, items, int>;
    __shared__ typename Sort::TempStorage room;
    float own[items];
    int index[items], first = blockIdx.x * threads * items;
    for (int i = 0; i < items; ++i) index[i] = threadIdx.x * items + i;
    cub::LoadDirectBlocked(threadIdx.x, in + first, own);
    Sort(room).SortDescending(own, index);
    cub::StoreDirectBlocked(threadIdx.x, out + first, own);
    cub::StoreDirectBlocked(threadIdx.x, from + first, index);
}

// A merge sort reads one element past its tile.
__global__ void merge_sort(const float* in, float* out) {
    using Sort = cub::BlockMergeSort<float, threads, items>;
    __shared__ typename Sort::TempStorage room;
    float own[items];
    int first = blockIdx.x * threads * items;
    cub::LoadDirectBlocked(threadIdx.x, in + first, own);
    Sort(room).Sort(own, [](float a, float b) { return a < b; });
    cub::StoreDirectBlocked(threadIdx.x, out + first, own);
}

// Sums of 8 lanes, and the running maximum over a warp.
__global__ void warps(const int* in, int* sums, int* highest) {
    using Reduce = cub::WarpReduce<int, 8>;
    using Scan = cub::WarpScan<int>;
    __shared__ typename Reduce::TempStorage reduce_room[threads / 8];
    __shared__ typename Scan::TempStorage scan_room[threads / 32];
    int i = blockIdx.x * threads + threadIdx.x, sum = Reduce(reduce_room[threadIdx.x / 8]).Sum(in[i]), most;
    Scan(scan_room[threadIdx.x / 32]).InclusiveScan(in[i], most, cuda::maximum<>{});
    if (threadIdx.x % 8 == 0) sums[i / 8] = sum;
    highest[i] = most;
}

extern "C" int block_reduce(int algorithm, const int* in, int* out, int blocks) {
    if (algorithm == 0) reduce<cub::BLOCK_REDUCE_RAKING><<<blocks, threads>>>(in, out);
    if (algorithm == 1) reduce<cub::BLOCK_REDUCE_WARP_REDUCTIONS><<<blocks, threads>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int block_scan(int algorithm, const int* in, int* out, int blocks) {
    if (algorithm == 0) scan<cub::BLOCK_SCAN_RAKING><<<blocks, threads>>>(in, out);
    if (algorithm == 1) scan<cub::BLOCK_SCAN_WARP_SCANS><<<blocks, threads>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int block_sort(const float* in, float* out, int* from, int blocks) {
    sort<<<blocks, threads>>>(in, out, from);
    return cudaDeviceSynchronize();
}
extern "C" int block_merge_sort(const float* in, float* out, int blocks) {
    merge_sort<<<blocks, threads>>>(in, out);
    return cudaDeviceSynchronize();
}
extern "C" int warp_collectives(const int* in, int* sums, int* highest, int blocks) {
    warps<<<blocks, threads>>>(in, sums, highest);
    return cudaDeviceSynchronize();
}
