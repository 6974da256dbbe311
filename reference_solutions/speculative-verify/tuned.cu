// Pieces of 4096 tokens, a block each: a warp's lanes test the drafted tokens together, and the block adds up its piece of the row
// that is drawn from. A second kernel, a warp per sequence, finds the piece and scans it 128 tokens at a time, which usually lie in
// the cache. 16-byte loads where the rows are aligned.
#include <cuda_runtime.h>

constexpr int PIECE = 4096;
constexpr int THREADS = 256;

// The number of accepted tokens of a sequence, for a whole warp.
__device__ int count_accepted(const int* tokens, const float* p, const float* q, const float* u, size_t b, int T, int V, int lane) {
    bool rejected = false;
    if (lane < T) {
        size_t at = (b * T + lane) * V + tokens[b * T + lane];
        rejected = !(u[lane] < fminf(1.0f, q[at] / p[at]));
    }
    unsigned mask = __ballot_sync(0xffffffffu, rejected);
    return mask ? __ffs(mask) - 1 : T;
}

__device__ float mass(float q, float p) { return fmaxf(0.0f, q - p); }

__device__ float warp_sum(float value) {
    for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(0xffffffffu, value, mask);
    return value;
}

template <bool ALIGNED>
__global__ void __launch_bounds__(THREADS) add_up(const int* __restrict__ tokens, const float* __restrict__ p, const float* __restrict__ q,
                                                  const float* __restrict__ uniforms, float* __restrict__ sums, int T, int V) {
    __shared__ float of_warp[THREADS / 32];
    __shared__ int shared_accepted;
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    size_t b = blockIdx.y;
    if (warp == 0) {
        int accepted = count_accepted(tokens, p, q, uniforms + b * (T + 1), b, T, V, lane);
        if (lane == 0) shared_accepted = accepted;
    }
    __syncthreads();
    bool rejected = shared_accepted < T;
    size_t row = (b * T + min(shared_accepted, T - 1)) * V;
    int first = blockIdx.x * PIECE, end = min(V, first + PIECE);
    float sum = 0.0f;
    if (ALIGNED) {
#pragma unroll
        for (int i = 0; i < PIECE / 4 / THREADS; i++) {
            int k = first + 4 * (threadIdx.x + i * THREADS);
            if (k >= end) break;
            float4 target = __ldcs(reinterpret_cast<const float4*>(q + row + k)), draft = make_float4(0, 0, 0, 0);
            if (rejected) draft = __ldcs(reinterpret_cast<const float4*>(p + row + k));
            sum += mass(target.x, draft.x) + mass(target.y, draft.y) + mass(target.z, draft.z) + mass(target.w, draft.w);
        }
    } else {
        for (int k = first + threadIdx.x; k < end; k += THREADS) sum += mass(q[row + k], rejected ? p[row + k] : 0.0f);
    }
    sum = warp_sum(sum);
    if (lane == 0) of_warp[warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < THREADS / 32; w++) sum += of_warp[w];
        sums[b * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void draw(const int* __restrict__ tokens, const float* __restrict__ p, const float* __restrict__ q,
                     const float* __restrict__ uniforms, const float* __restrict__ sums, int* __restrict__ output, int B, int T, int V,
                     int pieces) {
    int lane = threadIdx.x % 32;
    size_t b = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (b >= B) return;
    const float* u = uniforms + b * (T + 1);
    int accepted = count_accepted(tokens, p, q, u, b, T, V, lane);
    bool rejected = accepted < T;
    if (lane < accepted) output[b * (T + 1) + lane] = tokens[b * T + lane];
    size_t row = (b * T + min(accepted, T - 1)) * V;
    float part = lane < pieces ? sums[b * pieces + lane] : 0.0f, total = warp_sum(part), wanted = u[T];
    int picked = V - 1;
    if (rejected && total == 0.0f) {
        picked = max(0, min(V - 1, (int)ceilf(wanted * V) - 1));
    } else {
        if (rejected) wanted *= total;
        for (int offset = 1; offset < 32; offset *= 2) {
            float other = __shfl_up_sync(0xffffffffu, part, offset);
            if (lane >= offset) part += other;
        }
        unsigned reached = __ballot_sync(0xffffffffu, lane < pieces && part >= wanted);
        int piece = reached ? __ffs(reached) - 1 : 32;
        float before = piece == 0 || piece == 32 ? 0.0f : __shfl_sync(0xffffffffu, part, piece - 1);
        for (int k0 = piece * PIECE; k0 < V; k0 += 128) {
            float own[4], sum = 0.0f;
            for (int i = 0; i < 4; i++) {
                int k = k0 + 4 * lane + i;
                sum += k < V ? mass(q[row + k], rejected ? p[row + k] : 0.0f) : 0.0f;
                own[i] = sum;
            }
            float scanned = sum;
            for (int offset = 1; offset < 32; offset *= 2) {
                float other = __shfl_up_sync(0xffffffffu, scanned, offset);
                if (lane >= offset) scanned += other;
            }
            unsigned hit = __ballot_sync(0xffffffffu, before + scanned >= wanted);
            if (hit) {
                int source = __ffs(hit) - 1, k = k0 + 4 * lane, i = 0;
                while (i < 3 && before + (scanned - sum) + own[i] < wanted) i++;
                picked = min(V - 1, __shfl_sync(0xffffffffu, k + i, source));
                break;
            }
            before += __shfl_sync(0xffffffffu, scanned, 31);
        }
    }
    if (lane == 0) output[b * (T + 1) + accepted] = picked;
}

extern "C" void solve(const int* draft_tokens, const float* draft_probs, const float* target_probs, const float* uniform_samples,
                      int* output_tokens, int B, int T, int V) {
    static float* sums = nullptr;
    if (!sums) cudaMalloc(&sums, sizeof(float) * 640 * 32);
    int pieces = (V + PIECE - 1) / PIECE;
    dim3 grid(pieces, B);
    if (V % 4 == 0) {
        add_up<true><<<grid, THREADS>>>(draft_tokens, draft_probs, target_probs, uniform_samples, sums, T, V);
    } else {
        add_up<false><<<grid, THREADS>>>(draft_tokens, draft_probs, target_probs, uniform_samples, sums, T, V);
    }
    draw<<<(B + 3) / 4, 128>>>(draft_tokens, draft_probs, target_probs, uniform_samples, sums, output_tokens, B, T, V, pieces);
}
