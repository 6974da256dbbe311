// Functions that call themselves, and memory that is allocated on the stack.
#include <cstdio>

struct Node {
    int value;
    Node *left, *right;
};

__device__ int sum(const Node* node) { return node ? node->value + sum(node->left) + sum(node->right) : 0; }

__global__ void tree_sums(const Node* nodes, int* out) { out[threadIdx.x] = sum(nodes + threadIdx.x % 7); }

__device__ void sort(int* values, int low, int high) {
    if (low >= high) return;
    int pivot = values[high], middle = low;
    for (int i = low; i < high; ++i) {
        if (values[i] >= pivot) continue;
        int other = values[i];
        values[i] = values[middle];
        values[middle++] = other;
    }
    values[high] = values[middle];
    values[middle] = pivot;
    sort(values, low, middle - 1);
    sort(values, middle + 1, high);
}

__global__ void quicksort(int* values, int each) { sort(values + threadIdx.x * each, 0, each - 1); }

// Large parameters and results by value, an array of its own in each frame, predicates that live across the call.
struct Row {
    int items[12];
};

__device__ __noinline__ Row walk(Row row, int n, bool odd) {
    int local[4] = {n, n + 1, n + 2, n + 3};
    if (n == 0) return row;
    row.items[n % 12] += n;
    bool both = odd && n % 2;
    Row inner = walk(row, n - 1, !odd);
    inner.items[0] += both ? row.items[n % 12] : local[inner.items[1] & 3];
    return inner;
}

__global__ void rows(int* out) {
    Row row;
    for (int i = 0; i < 12; ++i) row.items[i] = i + threadIdx.x;
    Row end = walk(row, threadIdx.x % 5 + 5, threadIdx.x % 2);
    for (int i = 0; i < 12; ++i) out[12 * threadIdx.x + i] = end.items[i];
}

// Each calls the other, one of them through a pointer.
typedef int (*Step)(int, int);
__device__ int odd(int n, int depth);
__device__ Step steps[2];

__device__ __noinline__ int even(int n, int depth) { return n == 0 ? depth : steps[1](n - 1, depth + 1); }
__device__ __noinline__ int odd(int n, int depth) { return n == 0 ? -depth : even(n - 1, depth + 1); }

__global__ void mutual(int* out) {
    if (threadIdx.x == 0) {
        steps[0] = even;
        steps[1] = odd;
    }
    __syncthreads();
    out[threadIdx.x] = steps[0](threadIdx.x, 0);
}

// The lanes of a warp are at different depths when they meet.
__device__ __noinline__ int votes(int n) {
    int here = __popc(__activemask());
    return n == 0 ? here : here + votes(n - 1);
}

__global__ void meeting(int* out) {
    int counted = votes(threadIdx.x % 4);
    __syncwarp();
    out[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, counted > 0));
}

__global__ void allocated(int* out) {
    int total = 0;
    for (int round = 1; round < 4; ++round) {
        int n = (threadIdx.x + 1) * round;
        int* squares = static_cast<int*>(alloca(n * sizeof(int)));
        for (int i = 0; i < n; ++i) squares[i] = i * i;
        for (int i = n - 1; i >= 0; --i) total += squares[i];
    }
    out[threadIdx.x] = total;
}

__device__ __noinline__ int on_the_stack(int n) {
    int* cells = static_cast<int*>(alloca(n * sizeof(int)));
    for (int i = 0; i < n; ++i) cells[i] = i;
    int total = 0;
    for (int i = 0; i < n; ++i) total += cells[n - 1 - i];
    return total;
}

// More than a stack in all, if what a function has taken did not go back.
__global__ void given_back(int* out) {
    int total = 0;
    for (int i = 0; i < 200; ++i) total += on_the_stack(32);
    out[threadIdx.x] = total;
}

__device__ __noinline__ int depth(int n, volatile int* out) {
    if (n == 0) return 0;
    int below = depth(n - 1, out);
    out[1] = below;
    return below + 1;
}

__global__ void deep(int n, int* out) { out[0] = depth(n, out); }

__global__ void wide(int n, int* out) {
    volatile int* cells = static_cast<volatile int*>(alloca(n));
    cells[n / 4 - 1] = 7;
    out[0] = cells[n / 4 - 1];
}

extern "C" {
void run_tree_sums(const Node* nodes, int* out) { tree_sums<<<1, 64>>>(nodes, out); }
void run_quicksort(int* values, int each) { quicksort<<<1, 64>>>(values, each); }
void run_rows(int* out) { rows<<<1, 64>>>(out); }
void run_mutual(int* out) { mutual<<<1, 64>>>(out); }
void run_meeting(int* out) { meeting<<<1, 64>>>(out); }
void run_allocated(int* out) { allocated<<<1, 64>>>(out); }
void run_given_back(int* out) { given_back<<<1, 64>>>(out); }
void run_deep(int n, int* out) { deep<<<1, 64>>>(n, out); }
void run_wide(int n, int* out) { wide<<<1, 64>>>(n, out); }
int limit_stack(size_t bytes) { return cudaDeviceSetLimit(cudaLimitStackSize, bytes); }
}
