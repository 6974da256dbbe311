// As tuned.cu, with the bits of the cells and most of the two lists in shared memory, which answers a step's reads and
// atomics several times as fast as the L2 cache does. A border of walls around the grid saves divisions and comparisons, and
// a third counter saves a barrier. A GPU with less shared memory than the bits need keeps them in global memory.
#include <cuda_runtime.h>

constexpr int THREADS = 512;
constexpr int LIST = 8192;

// A bit a cell, set where there is a wall; the border around the grid counts as one.
__global__ void mark_walls(const int* grid, unsigned* closed, int rows, int cols) {
    int width = cols + 2, i = blockIdx.x * blockDim.x + threadIdx.x, r = i / width - 1, c = i % width - 1;
    bool is_inside = r >= 0 && r < rows && c >= 0 && c < cols;
    unsigned walls = __ballot_sync(0xffffffffu, !is_inside || grid[r * cols + c] != 0);
    if (threadIdx.x % 32 == 0 && i < width * (rows + 2)) closed[i / 32] = walls;
}

// The first cells of a list lie in shared memory, the others in global memory.
struct List {
    int* near;
    int* far;
    __device__ int get(int i) const { return i < LIST ? near[i] : far[i - LIST]; }
    __device__ void put(int i, int cell) const {
        if (i < LIST) near[i] = cell;
        else far[i - LIST] = cell;
    }
};

template <bool BITS_IN_SHARED>
__global__ void __launch_bounds__(THREADS) search(unsigned* walls, int* far_front, int* far_next, int words, int width, int first,
                                                   int end, int* result) {
    extern __shared__ int room[];
    __shared__ int found[3];
    List front{room, far_front}, next{room + LIST, far_next};
    unsigned* closed = walls;
    if (BITS_IN_SHARED) {
        closed = reinterpret_cast<unsigned*>(room + 2 * LIST);
        for (int i = threadIdx.x; i < words; i += THREADS) closed[i] = walls[i];
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        front.put(0, first);
        closed[first / 32] |= 1u << first % 32;
        found[0] = 1;
        found[1] = found[2] = 0;
    }
    __syncthreads();
    int steps = 0, now = 0;
    bool is_reached = first == end;
    while (!is_reached && found[now] > 0) {
        int count = found[now], then = now == 2 ? 0 : now + 1, later = then == 2 ? 0 : then + 1;
        bool finds_end = false;
        for (int f = threadIdx.x; f < count; f += THREADS) {
            int cell = front.get(f);
#pragma unroll
            for (int side = 0; side < 4; side++) {
                int neighbour = cell + (side == 0 ? -width : side == 1 ? width : side == 2 ? -1 : 1);
                unsigned bit = 1u << neighbour % 32;
                // Others set bits meanwhile: the read is volatile, and only the atomic one decides.
                if (static_cast<volatile unsigned*>(closed)[neighbour / 32] & bit) continue;
                if (atomicOr(&closed[neighbour / 32], bit) & bit) continue;
                next.put(atomicAdd(&found[then], 1), neighbour);
                if (neighbour == end) finds_end = true;
            }
        }
        // The counter of the step before is free: all threads have read it before the last barrier.
        if (threadIdx.x == 0) found[later] = 0;
        is_reached = __syncthreads_or(finds_end);
        steps++;
        List other = front;
        front = next;
        next = other;
        now = then;
    }
    if (threadIdx.x == 0) *result = is_reached ? steps : -1;
}

extern "C" void solve(const int* grid, int* result, int rows, int cols, int start_row, int start_col, int end_row, int end_col) {
    int width = cols + 2, cells = width * (rows + 2), words = (cells + 31) / 32;
    int first = (start_row + 1) * width + start_col + 1, end = (end_row + 1) * width + end_col + 1;
    unsigned* room;
    cudaMallocAsync(&room, sizeof(int) * (words + 2 * cells), 0);
    int* lists = reinterpret_cast<int*>(room + words);
    mark_walls<<<(cells + 255) / 256, 256>>>(grid, room, rows, cols);
    int most = 0, lists_bytes = static_cast<int>(sizeof(int)) * 2 * LIST;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    int bytes = lists_bytes + static_cast<int>(sizeof(unsigned)) * words;
    // The three counters are in shared memory, too.
    if (bytes + 64 <= most) {
        cudaFuncSetAttribute(search<true>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
        search<true><<<1, THREADS, bytes>>>(room, lists, lists + cells, words, width, first, end, result);
    } else {
        cudaFuncSetAttribute(search<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, lists_bytes);
        search<false><<<1, THREADS, lists_bytes>>>(room, lists, lists + cells, words, width, first, end, result);
    }
    cudaFreeAsync(room, 0);
}
