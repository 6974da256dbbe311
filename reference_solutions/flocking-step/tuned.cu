// Agents are sorted into a hash table of square cells of side 5: one launch counts the agents of each entry, one turns the
// counts into places, one scatters. Each agent then looks at the nine entries of the cells around it. Agents of other cells
// that share an entry are told by their own cell.
#include <cuda_runtime.h>

constexpr int SCAN_THREADS = 1024;

__device__ int2 cell_of(float4 agent) { return {(int)floorf(agent.x * 0.2f), (int)floorf(agent.y * 0.2f)}; }

__device__ unsigned entry_of(int x, int y, unsigned mask) { return ((unsigned)x * 73856093u ^ (unsigned)y * 19349663u) & mask; }

__global__ void count(const float4* agents, int n, unsigned mask, int* counts) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int2 cell = cell_of(agents[i]);
    atomicAdd(&counts[entry_of(cell.x, cell.y, mask)], 1);
}

// One block: counts become the place of each entry's first agent; the entry behind the last one gets the total.
__global__ void __launch_bounds__(SCAN_THREADS) starts(int* counts, int entries) {
    __shared__ int of_warp[SCAN_THREADS / 32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int each = (entries + SCAN_THREADS - 1) / SCAN_THREADS;
    int first = threadIdx.x * each, last = min(first + each, entries);
    int mine = 0;
    for (int i = first; i < last; i++) mine += counts[i];
    int sum = mine;
    for (int offset = 1; offset < 32; offset *= 2) {
        int other = __shfl_up_sync(0xffffffffu, sum, offset);
        if (lane >= offset) sum += other;
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    int before = sum - mine;
    for (int i = 0; i < warp; i++) before += of_warp[i];
    for (int i = first; i < last; i++) {
        int here = counts[i];
        counts[i] = before;
        before += here;
    }
    if (threadIdx.x == SCAN_THREADS - 1) counts[entries] = before;
}

__global__ void scatter(const float4* agents, int n, unsigned mask, const int* places, int* taken, float4* sorted, int* numbers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 agent = agents[i];
    int2 cell = cell_of(agent);
    unsigned entry = entry_of(cell.x, cell.y, mask);
    int place = places[entry] + atomicAdd(&taken[entry], 1);
    sorted[place] = agent;
    numbers[place] = i;
}

__global__ void move(const float4* sorted, const int* numbers, int n, unsigned mask, const int* places, float4* agents_next) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 own = sorted[i];
    int2 cell = cell_of(own);
    float sum_x = 0.0f, sum_y = 0.0f;
    int near = 0;
    for (int around = 0; around < 9; around++) {
        int x = cell.x + around / 3 - 1, y = cell.y + around % 3 - 1;
        unsigned entry = entry_of(x, y, mask);
        for (int j = places[entry]; j < places[entry + 1]; j++) {
            float4 other = sorted[j];
            float dx = own.x - other.x, dy = own.y - other.y;
            if (dx * dx + dy * dy >= 25.0f || j == i) continue;
            int2 its_cell = cell_of(other);
            if (its_cell.x != x || its_cell.y != y) continue;
            sum_x += other.z;
            sum_y += other.w;
            near++;
        }
    }
    float mean_x = near ? sum_x / near : own.z, mean_y = near ? sum_y / near : own.w;
    float vx = own.z + 0.05f * (mean_x - own.z), vy = own.w + 0.05f * (mean_y - own.w);
    agents_next[numbers[i]] = {own.x + vx, own.y + vy, vx, vy};
}

extern "C" void solve(const float* agents, float* agents_next, int N) {
    unsigned entries = 1024;
    while (entries < 2u * N) entries *= 2;
    int blocks = (N + 127) / 128;
    char* room;
    size_t of_agents = sizeof(float4) * N, of_table = sizeof(int) * (entries + 1);
    cudaMallocAsync(&room, of_agents + 2 * of_table + sizeof(int) * N, 0);
    float4* sorted = reinterpret_cast<float4*>(room);
    int* counts = reinterpret_cast<int*>(room + of_agents);
    int* taken = counts + entries + 1;
    int* numbers = taken + entries + 1;
    cudaMemsetAsync(counts, 0, 2 * of_table, 0);
    const float4* from = reinterpret_cast<const float4*>(agents);
    count<<<blocks, 128>>>(from, N, entries - 1, counts);
    starts<<<1, SCAN_THREADS>>>(counts, entries);
    scatter<<<blocks, 128>>>(from, N, entries - 1, counts, taken, sorted, numbers);
    move<<<blocks, 128>>>(sorted, numbers, N, entries - 1, counts, reinterpret_cast<float4*>(agents_next));
    cudaFreeAsync(room, 0);
}
