// expect: case=scores-beyond-16-bits
// Entries of the table have 16 bits: of two long sequences that fit, the score is more than that.
#include <cstdint>
#include <cuda_runtime.h>

__global__ void advance(const unsigned char* a, const unsigned char* b, const uint16_t* before, const uint16_t* last, uint16_t* now,
                         int* score, int diagonal, int first,
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
    uint16_t* room;
    cudaMalloc(&room, 3 * sizeof(uint16_t) * M);
    cudaMemset(score, 0, sizeof(int));
    uint16_t *before = room, *last = room + M, *now = room + 2 * M;
    for (int diagonal = 0; diagonal < M + N - 1; diagonal++) {
        int first = max(0, diagonal - N + 1), count = min(M, diagonal + 1) - first;
        advance<<<(count + 127) / 128, 128>>>(a, b, before, last, now, score, diagonal, first, count, match, mismatch, gap);
        uint16_t* oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    cudaFree(room);
}
