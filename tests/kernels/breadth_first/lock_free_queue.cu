// One launch, no levels: warps that stay take vertices from a lock-free queue, lower the distances of neighbours by
// atomicMin, and put those back whose distance fell. It ends when as many were finished as were put in.
#include <cuda_runtime.h>

constexpr int FAR = 0x7fffffff, EMPTY = -1;

struct Queue {
    unsigned head, tail, finished;
};

// The ring has room for many times n, and slots are emptied as they are read: a ticket is a slot.
__global__ void begin(int *distance, int *slots, Queue *queue, int n, unsigned room) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) distance[i] = i == 0 ? 0 : FAR;
    if (i < room) slots[i] = i == 0 ? 0 : EMPTY;
    if (i == 0) *queue = {0, 1, 0};
}

__device__ int read_slot(int *slot) {
    int v;
    // Its writer has taken the place, and will fill it.
    while ((v = atomicExch(slot, EMPTY)) == EMPTY) __nanosleep(20);
    return v;
}

__global__ void __launch_bounds__(128)
    work(const int *starts, const int *targets, int *distance, int *slots, Queue *queue, unsigned room) {
    int lane = threadIdx.x % 32, warps = gridDim.x * blockDim.x / 32;
    volatile Queue *seen = queue;
    while (true) {
        unsigned head = 0, count = 0;
        bool over = false;
        if (lane == 0) {
            head = seen->head;
            int waiting = seen->tail - head;
            if (waiting > 0) {
                // A share of what waits, so that others find something, too.
                count = min(32, max(1, waiting / warps));
                if (atomicCAS(&queue->head, head, head + count) != head) count = 0;
            } else {
                unsigned finished = seen->finished;
                __threadfence();
                over = finished == seen->tail;
                if (!over) __nanosleep(100);
            }
        }
        if (__any_sync(0xffffffff, over)) return;
        head = __shfl_sync(0xffffffff, head, 0);
        count = __shfl_sync(0xffffffff, count, 0);
        int taken = lane < count ? read_slot(&slots[(head + lane) % room]) : EMPTY;
        __threadfence();
        for (int k = 0; k < count; k++) {
            int v = __shfl_sync(0xffffffff, taken, k), mine = *(volatile int *)&distance[v] + 1, end = starts[v + 1];
            for (int i = starts[v]; i < end; i += 32) {
                int neighbour = i + lane < end ? targets[i + lane] : -1;
                bool fell = neighbour >= 0 && *(volatile int *)&distance[neighbour] > mine && atomicMin(&distance[neighbour], mine) > mine;
                unsigned fallen = __ballot_sync(0xffffffff, fell);
                unsigned place = 0;
                if (lane == 0 && fallen) place = atomicAdd(&queue->tail, __popc(fallen));
                place = __shfl_sync(0xffffffff, place, 0) + __popc(fallen & ((1u << lane) - 1));
                if (fell) {
                    // A slot of the round before may not have been read yet.
                    while (atomicCAS(&slots[place % room], EMPTY, neighbour) != EMPTY) __nanosleep(20);
                }
                __syncwarp();
            }
        }
        __threadfence();
        if (lane == 0 && count) atomicAdd(&queue->finished, count);
    }
}

__global__ void finish(int *distance, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && distance[i] == FAR) distance[i] = -1;
}

extern "C" void solve(const int *starts, const int *targets, int *distance, int n) {
    static int *slots = nullptr;
    static Queue *queue = nullptr;
    static unsigned room = 0;
    if (room < 4u * n) {
        cudaFree(slots);
        cudaFree(queue);
        room = 1;
        while (room < 4u * n) room *= 2;
        cudaMalloc(&slots, room * sizeof(int));
        cudaMalloc(&queue, sizeof(Queue));
    }
    begin<<<(room + 255) / 256, 256>>>(distance, slots, queue, n, room);
    work<<<128, 128>>>(starts, targets, distance, slots, queue, room);
    finish<<<(n + 255) / 256, 256>>>(distance, n);
}
