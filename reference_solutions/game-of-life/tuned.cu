// A thread computes four neighbouring cells in sixteen rows: four bytes are added at once as one word, since no count
// exceeds nine. The sums of three rows move along in registers; the columns to the left and right come by byte shifts from
// the neighbouring words. Fields whose columns are no multiple of four go through a kernel with one thread a cell.
#include <cuda_runtime.h>

constexpr int ROWS = 16;
constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS) live_words(const unsigned* __restrict__ cells, unsigned* __restrict__ next, int rows, int words) {
    int w = blockIdx.x * THREADS + threadIdx.x;
    if (w >= words) return;
    int left = w > 0 ? w - 1 : words - 1, right = w + 1 < words ? w + 1 : 0;
    int first = blockIdx.y * ROWS, last = min(first + ROWS, rows);
    // Of three rows: the own word, and the words beside it of which one byte each is needed.
    const unsigned* row = cells + (long long)(first > 0 ? first - 1 : rows - 1) * words;
    unsigned above[3] = {row[left], row[w], row[right]};
    row = cells + (long long)first * words;
    unsigned here[3] = {row[left], row[w], row[right]};
    for (int r = first; r < last; r++) {
        row = cells + (long long)(r + 1 < rows ? r + 1 : 0) * words;
        unsigned below[3] = {row[left], row[w], row[right]}, sums[3];
#pragma unroll
        for (int i = 0; i < 3; i++) sums[i] = above[i] + here[i] + below[i];
        // Byte k of the words: the sums one column to the left and to the right.
        unsigned before = sums[1] << 8 | sums[0] >> 24, after = sums[1] >> 8 | sums[2] << 24;
        unsigned threes = before + sums[1] + after;
        unsigned alive = here[1];
        // With the cell itself counted: three lives, four lives if the cell lived.
        unsigned is_three = __vcmpeq4(threes, 0x03030303u), is_four = __vcmpeq4(threes, 0x04040404u);
        next[(long long)r * words + w] = (is_three & 0x01010101u) | (is_four & alive);
#pragma unroll
        for (int i = 0; i < 3; i++) {
            above[i] = here[i];
            here[i] = below[i];
        }
    }
}

__global__ void live(const unsigned char* cells, unsigned char* next, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (r >= rows || c >= cols) return;
    int up = (r > 0 ? r - 1 : rows - 1) * cols, here = r * cols, down = (r + 1 < rows ? r + 1 : 0) * cols;
    int left = c > 0 ? c - 1 : cols - 1, right = c + 1 < cols ? c + 1 : 0;
    int count = cells[up + left] + cells[up + c] + cells[up + right] + cells[here + left] + cells[here + right] + cells[down + left] +
                cells[down + c] + cells[down + right];
    next[here + c] = count == 3 || (count == 2 && cells[here + c]);
}

extern "C" void solve(const unsigned char* cells, unsigned char* next, int rows, int cols) {
    if (cols % 4 == 0) {
        dim3 blocks((cols / 4 + THREADS - 1) / THREADS, (rows + ROWS - 1) / ROWS);
        live_words<<<blocks, THREADS>>>(reinterpret_cast<const unsigned*>(cells), reinterpret_cast<unsigned*>(next), rows, cols / 4);
    } else {
        live<<<dim3((cols + 31) / 32, (rows + 7) / 8), dim3(32, 8)>>>(cells, next, rows, cols);
    }
}
