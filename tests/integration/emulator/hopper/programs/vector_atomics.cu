// Sums of vectors of floats by atomicAdd(float2 *) and atomicAdd(float4 *), which Hopper does in one instruction.
#include <cstdio>

constexpr int count = 1024, sums = 4;

__global__ void add(const float4 *in, float4 *fours, float2 *twos) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 value = in[i];
    float2 old = atomicAdd(&twos[i % sums], make_float2(value.x, value.w));
    if (old.x < 0) __trap();
#ifdef NOT_ATOMIC
    fours[i % sums].x += value.x;  // not atomic
#else
    atomicAdd(&fours[i % sums], value);
#endif
#ifdef READ_EARLY
    if (i == 0) twos[sums].x = twos[1].x;  // nothing orders it with the others' additions
#endif
}

int main() {
    float4 *in, *fours;
    float2 *twos;
    cudaMallocManaged(&in, count * sizeof *in);
    cudaMallocManaged(&fours, sums * sizeof *fours);
    cudaMallocManaged(&twos, (sums + 1) * sizeof *twos);
    for (int i = 0; i < count; ++i) in[i] = make_float4(i % 7, 1, i % 3, 2 * (i % 5));
    float4 expected[sums] = {};
    for (int i = 0; i < sums; ++i) fours[i] = make_float4(0, 0, 0, 0), twos[i] = make_float2(0, 0);
    for (int i = 0; i < count; ++i) {
        float4 &sum = expected[i % sums];
        sum = make_float4(sum.x + in[i].x, sum.y + in[i].y, sum.z + in[i].z, sum.w + in[i].w);
    }
    add<<<count / 128, 128>>>(in, fours, twos);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    bool right = true;
    for (int i = 0; i < sums; ++i) {
        const float4 &a = expected[i], &b = fours[i];
        right &= a.x == b.x && a.y == b.y && a.z == b.z && a.w == b.w && twos[i].x == a.x && twos[i].y == a.w;
    }
    std::puts(right ? "PASS" : "FAIL");
    cudaFree(in), cudaFree(fours), cudaFree(twos);
}
