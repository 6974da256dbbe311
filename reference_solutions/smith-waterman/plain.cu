// One launch an antidiagonal, one thread an entry; three antidiagonals are kept, by the letter of a.
#include <cuda_runtime.h>

__global__ void advance(const unsigned char* a, const unsigned char* b, const int* before, const int* last, int* now, int* score, int diagonal, int first,
                        int count, int match, int mismatch, int gap) {
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int i = first + t, j = diagonal - i;
    int corner = i > 0 && j > 0 ? before[i - 1] : 0;
    int above = i > 0 ? last[i - 1] : 0, left = j > 0 ? last[i] : 0;
    int entry = max(max(0, corner + (a[i] == b[j] ? match : -mismatch)), max(above, left) - gap);
    now[i] = entry;
    if (entry > *score) atomicMax(score, entry);
}

extern "C" void solve(const unsigned char* a, const unsigned char* b, int* score, int M, int N, int match, int mismatch, int gap) {
    int* room;
    cudaMalloc(&room, 3 * sizeof(int) * M);
    cudaMemset(score, 0, sizeof(int));
    int *before = room, *last = room + M, *now = room + 2 * M;
    for (int diagonal = 0; diagonal < M + N - 1; diagonal++) {
        int first = max(0, diagonal - N + 1), count = min(M, diagonal + 1) - first;
        advance<<<(count + 127) / 128, 128>>>(a, b, before, last, now, score, diagonal, first, count, match, mismatch, gap);
        int* oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    cudaFree(room);
}
