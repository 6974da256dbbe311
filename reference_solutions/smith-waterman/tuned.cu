// Tiles of 128 rows and 128 columns, one warp each, one launch an antidiagonal of tiles. Lane t takes four rows and is t
// columns behind lane 0: the entry above its first row comes from the neighboring lane by a shuffle, all others stay in
// registers. A tile's letters and the row above it come to shared memory first, so that no step waits for memory. Between
// tiles only the last row and the last column go through memory, and each warp adds its largest entry to the score once.
#include <cuda_runtime.h>

constexpr int HELD = 4, ROWS = 32 * HELD, COLUMNS = 128;
// Letters that are equal to none, beyond the ends of the sequences.
constexpr int BELOW = 256, BEYOND = 257;

// `bottom[j]` is the entry in column j of the last row that is done, `right[i]` the entry in row i of the last column, and
// `corner[tile row]` the entry diagonally before the tile's first one.
__global__ void __launch_bounds__(32) advance(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b, int* bottom, int* right, int* corner,
                                               int* score, int m, int n, int diagonal, int first, int match, int mismatch, int gap) {
    __shared__ short letters[COLUMNS];
    __shared__ int top[COLUMNS];
    int tile_row = first + blockIdx.x, tile_column = diagonal - tile_row;
    int lane = threadIdx.x, row = tile_row * ROWS + lane * HELD, begin = tile_column * COLUMNS;
#pragma unroll
    for (int k = lane; k < COLUMNS; k += 32) {
        letters[k] = begin + k < n ? b[begin + k] : BEYOND;
        top[k] = tile_row > 0 ? bottom[begin + k] : 0;
    }
    int letter[HELD], left[HELD], largest = 0;
#pragma unroll
    for (int r = 0; r < HELD; r++) {
        letter[r] = row + r < m ? a[row + r] : BELOW;
        left[r] = tile_column > 0 ? right[row + r] : 0;
    }
    // The entry diagonally before a lane's next one: at first from the tile to the left, the row above.
    int before = __shfl_up_sync(0xffffffffu, left[HELD - 1], 1);
    if (lane == 0) before = tile_row > 0 && tile_column > 0 ? corner[tile_row] : 0;
    __syncwarp();
#pragma unroll 8
    for (int step = 0; step < COLUMNS + 31; step++) {
        int k = step - lane;
        int above = __shfl_up_sync(0xffffffffu, left[HELD - 1], 1);
        if (k < 0 || k >= COLUMNS) continue;
        if (lane == 0) above = top[k];
        int met = letters[k], diagonally = before;
        before = above;
#pragma unroll
        for (int r = 0; r < HELD; r++) {
            int entry = max(max(0, diagonally + (letter[r] == met ? match : -mismatch)), left[r] - gap);
            diagonally = left[r];
            left[r] = above = max(entry, above - gap);
            largest = max(largest, above);
        }
        if (lane == 31) bottom[begin + k] = above;
    }
#pragma unroll
    for (int r = 0; r < HELD; r++) right[row + r] = left[r];
    // For the tile to the right.
    if (lane == 0) corner[tile_row] = top[COLUMNS - 1];
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (lane == 0) atomicMax(score, largest);
}

extern "C" void solve(const unsigned char* a, const unsigned char* b, int* score, int M, int N, int match, int mismatch, int gap) {
    int tile_rows = (M + ROWS - 1) / ROWS, tile_columns = (N + COLUMNS - 1) / COLUMNS;
    int *room, *right, *corner;
    cudaMallocAsync(&room, sizeof(int) * (tile_columns * COLUMNS + tile_rows * (ROWS + 1)), 0);
    right = room + tile_columns * COLUMNS;
    corner = right + tile_rows * ROWS;
    cudaMemsetAsync(score, 0, sizeof(int), 0);
    for (int diagonal = 0; diagonal < tile_rows + tile_columns - 1; diagonal++) {
        int first = max(0, diagonal - tile_columns + 1), count = min(tile_rows, diagonal + 1) - first;
        advance<<<count, 32>>>(a, b, room, right, corner, score, M, N, diagonal, first, match, mismatch, gap);
    }
    cudaFreeAsync(room, 0);
}
