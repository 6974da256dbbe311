// A thread per addition, everything as the statement has it.
#include <cuda_runtime.h>
#include <math.h>

__device__ void normalise(float& x, float& y) {
    float root = sqrtf((x * x + y * y) / 2.0f + 1e-6f);
    x /= root;
    y /= root;
}

__device__ float silu(float x) { return x / (1.0f + expf(-x)); }

__global__ void add(const int* prompts, float* output, const float* w, int batch_size) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= batch_size) return;
    const float omega = 6.283185307179586f / 19.0f;
    const float scale = 2.302585092994046f / (2.0f * (cosf(0.3f * omega) - cosf(0.7f * omega)));
    float key_x[41], key_y[41], value[41];
    int token = prompts[b * 31LL];
    for (int i = 0; i < 41; i++) {
        if (i < 31) token = prompts[b * 31LL + i];
        float s0 = w[0] - w[1] * token * token, s1 = -(float)token, h0 = s0, h1 = s1;
        normalise(h0, h1);
        float key = h0, none = 0.0f, cosine = cosf(i * omega), sine = sinf(i * omega);
        normalise(key, none);
        key_x[i] = key * cosine;
        key_y[i] = key * sine;
        value[i] = h1 * w[4];
        if (i < 30) continue;
        float x = h0 * w[2], y = h0 * w[3];
        normalise(x, y);
        float qx = x * cosine - y * sine, qy = x * sine + y * cosine, largest = -INFINITY, total = 0.0f, mixed = 0.0f;
        for (int j = 0; j <= i; j++) largest = fmaxf(largest, (qx * key_x[j] + qy * key_y[j]) * scale);
        for (int j = 0; j <= i; j++) {
            float weight = expf((qx * key_x[j] + qy * key_y[j]) * scale - largest);
            total += weight;
            mixed += weight * value[j];
        }
        s1 += mixed / total;
        float g0 = s0, g1 = s1;
        normalise(g0, g1);
        s1 += w[7] * g0 * (silu(g0 * (w[5] - w[6] / 1000.0f) + g1 * w[6]) - silu(g0 * w[5] + g1 * w[6]));
        normalise(s0, s1);
        float best = -INFINITY;
        for (int d = 0; d < 10; d++) {
            float logit = s0 * w[8] * (w[0] - w[1] * d * d) - s1 * w[9] * d;
            output[(b * 11LL + i - 30) * 10 + d] = logit;
            if (logit > best) {
                best = logit;
                token = d;
            }
        }
    }
}

extern "C" void solve(const int* prompts, float* output, const float* weights, int batch_size) {
    add<<<(batch_size + 127) / 128, 128>>>(prompts, output, weights, batch_size);
}
