// idea: a constructor starts a kernel that waits for orders in mapped memory: solve only writes an order there, and is
//       back before any event of its own could tell
// challenge: vector-add
// devices: cuda
// verdict: TLE or RE or TI or IE
// caught by: the context is never idle, and the clock for it runs
#include "common/vector_add.cuh"

struct Order {
    const float *a, *b;
    float* c;
    int n;
    volatile int number;
};

__global__ void waits(volatile Order* order) {
    __shared__ int now;
    for (int done = 0;; done++) {
        if (threadIdx.x == 0) {
            while (order->number == done) __nanosleep(200);
            now = order->n;
        }
        __syncthreads();
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < now; i += gridDim.x * blockDim.x) {
            order->c[i] = order->a[i] + order->b[i];
        }
        __syncthreads();
    }
}

static Order* order;

__attribute__((constructor)) static void begin() {
    cudaHostAlloc(&order, sizeof(Order), cudaHostAllocMapped);
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    waits<<<64, 512, 0, side>>>(order);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    order->a = A, order->b = B, order->c = C, order->n = N;
    order->number = order->number + 1;
}
