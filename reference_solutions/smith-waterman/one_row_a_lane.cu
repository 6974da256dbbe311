// Tiles of 32 rows and 256 columns, one warp each, one launch an antidiagonal of tiles. Lane t takes row t and is t columns
// behind lane 0: the entry above and the one beside it come from the neighbouring lane by shuffles. Between tiles only the
// last row and the last column go through memory, and each warp adds its largest entry to the score once.
#include <cuda_runtime.h>

constexpr int COLUMNS = 256;

// `bottom[j]` is the entry in column j of the last row that is done, `right[i]` the entry in row i of the last column, and
// `corner[tile row]` the entry diagonally before the tile's first one.
__global__ void __launch_bounds__(32) advance(const unsigned char* a, const unsigned char* b, int* bottom, int* right, int* corner, int* score, int m, int n,
                                               int diagonal, int first, int match, int mismatch, int gap) {
    int tile_row = first + blockIdx.x, tile_column = diagonal - tile_row;
    int lane = threadIdx.x, row = tile_row * 32 + lane;
    int begin = tile_column * COLUMNS, end = min(begin + COLUMNS, n);
    bool is_there = row < m;
    int letter = is_there ? a[row] : -1;
    int left = tile_column > 0 && is_there ? right[row] : 0;
    // The entry diagonally before a lane's next one: at first from the tile to the left, the row above.
    int before = __shfl_up_sync(0xffffffffu, left, 1);
    if (lane == 0) before = tile_row > 0 && tile_column > 0 ? corner[tile_row] : 0;
    // For the tile to the right, before this tile's last row overwrites it.
    int next_corner = lane == 0 && tile_row > 0 ? bottom[end - 1] : 0;
    int largest = 0, entry = left;
    for (int step = 0; step < end - begin + 31; step++) {
        int j = begin + step - lane;
        int above = __shfl_up_sync(0xffffffffu, entry, 1);
        if (lane == 0) above = tile_row > 0 && j < end ? bottom[j] : 0;
        // The last lane overwrites what the first one has read.
        __syncwarp();
        if (j < begin || j >= end || !is_there) continue;
        int paired = before + (letter == b[j] ? match : -mismatch);
        left = max(max(0, paired), max(above, left) - gap);
        before = above;
        entry = left;
        largest = max(largest, entry);
        if (lane == 31) bottom[j] = entry;
    }
    if (is_there) right[row] = left;
    if (lane == 0) corner[tile_row] = next_corner;
    largest = __reduce_max_sync(0xffffffffu, largest);
    if (lane == 0) atomicMax(score, largest);
}

extern "C" void solve(const unsigned char* a, const unsigned char* b, int* score, int M, int N, int match, int mismatch, int gap) {
    int tile_rows = (M + 31) / 32, tile_columns = (N + COLUMNS - 1) / COLUMNS;
    int* room;
    cudaMallocAsync(&room, sizeof(int) * (M + N + tile_rows), 0);
    cudaMemsetAsync(score, 0, sizeof(int), 0);
    for (int diagonal = 0; diagonal < tile_rows + tile_columns - 1; diagonal++) {
        int first = max(0, diagonal - tile_columns + 1), count = min(tile_rows, diagonal + 1) - first;
        advance<<<count, 32>>>(a, b, room, room + N, room + N + M, score, M, N, diagonal, first, match, mismatch, gap);
    }
    cudaFreeAsync(room, 0);
}
