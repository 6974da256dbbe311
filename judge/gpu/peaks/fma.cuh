// What the ordinary lanes give: fused multiply-adds on registers, in chains that do not wait for one another.
// Every thread makes CHAINS * STEPS of them a round, and block 0 says what came out.

constexpr int CHAINS = 8, STEPS = 16;

template <typename T> __device__ void chains(const T *operands, T *results, int rounds)
{
    T factor = operands[threadIdx.x], summand = operands[blockDim.x + threadIdx.x], value[CHAINS];
    for (int i = 0; i < CHAINS; i++)
        value[i] = operands[i * blockDim.x + threadIdx.x];
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int i = 0; i < CHAINS; i++)
                value[i] = value[i] * factor + summand;
    }
    T sum = 0;
    for (int i = 0; i < CHAINS; i++)
        sum += value[i];
    if (blockIdx.x == 0)
        results[threadIdx.x] = sum;
}

extern "C" __global__ void fma_fp32(const float *operands, float *results, int rounds)
{
    chains(operands, results, rounds);
}

extern "C" __global__ void fma_fp64(const double *operands, double *results, int rounds)
{
    chains(operands, results, rounds);
}
