// Each thread goes down 16 rows with four neighbouring columns and keeps the rows above, at and below in registers, so
// that each point is read once, in 16-byte loads; the columns left and right come from the neighbouring lanes by
// shuffles, and from memory only at the ends of a warp. Where rows are no multiple of four numbers, and so not aligned,
// a kernel with one column a thread does the same.
#include <cuda_runtime.h>

constexpr int ROWS = 16;
constexpr int THREADS = 128;

__global__ void __launch_bounds__(THREADS) step_quads(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    int quads = cols / 4;
    int q = blockIdx.x * THREADS + threadIdx.x;
    int first = blockIdx.y * ROWS;
    int lane = threadIdx.x % 32;
    bool is_there = q < quads;
    const float4* from = reinterpret_cast<const float4*>(input) + q;
    float4* to = reinterpret_cast<float4*>(output) + q;
    float4 none = {0.0f, 0.0f, 0.0f, 0.0f};
    float4 above = is_there && first > 0 ? from[(first - 1) * quads] : none;
    float4 here = is_there ? from[first * quads] : none;
#pragma unroll 4
    for (int r = first; r < min(first + ROWS, rows); r++) {
        float4 below = is_there && r + 1 < rows ? from[(r + 1) * quads] : none;
        float left = __shfl_up_sync(0xffffffffu, here.w, 1);
        float right = __shfl_down_sync(0xffffffffu, here.x, 1);
        if (is_there) {
            if (lane == 0 && q > 0) left = input[r * cols + 4 * q - 1];
            if (lane == 31 && q + 1 < quads) right = input[r * cols + 4 * q + 4];
            float4 result = here;
            if (r > 0 && r + 1 < rows) {
                if (q > 0) result.x = 0.25f * ((above.x + below.x) + (left + here.y));
                result.y = 0.25f * ((above.y + below.y) + (here.x + here.z));
                result.z = 0.25f * ((above.z + below.z) + (here.y + here.w));
                if (q + 1 < quads) result.w = 0.25f * ((above.w + below.w) + (here.z + right));
            }
            __stcs(to + r * quads, result);
        }
        above = here;
        here = below;
    }
}

__global__ void __launch_bounds__(THREADS) step_single(const float* __restrict__ input, float* __restrict__ output, int rows, int cols) {
    int c = blockIdx.x * THREADS + threadIdx.x;
    if (c >= cols) return;
    int first = blockIdx.y * ROWS;
    float above = first > 0 ? input[(first - 1) * cols + c] : 0.0f;
    float here = input[first * cols + c];
    for (int r = first; r < min(first + ROWS, rows); r++) {
        float below = r + 1 < rows ? input[(r + 1) * cols + c] : 0.0f;
        bool is_inner = r > 0 && r + 1 < rows && c > 0 && c + 1 < cols;
        output[r * cols + c] = is_inner ? 0.25f * ((above + below) + (input[r * cols + c - 1] + input[r * cols + c + 1])) : here;
        above = here;
        here = below;
    }
}

extern "C" void solve(const float* input, float* output, int rows, int cols) {
    int strips = (rows + ROWS - 1) / ROWS;
    if (cols % 4 == 0) {
        step_quads<<<dim3((cols / 4 + THREADS - 1) / THREADS, strips), THREADS>>>(input, output, rows, cols);
    } else {
        step_single<<<dim3((cols + THREADS - 1) / THREADS, strips), THREADS>>>(input, output, rows, cols);
    }
}
