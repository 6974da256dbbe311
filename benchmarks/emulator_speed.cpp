// The kernels of emulator_speed.cu as one would write a GPU on a CPU without more ado: a loop over the threads of each
// block, split where they meet, blocks spread over the machine's threads. Built with g++ -O2.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

namespace {

int cores = 1;

// `block(i)` for each of so many blocks.
template <typename Block>
void spread(int blocks, Block block) {
    std::atomic<int> next{0};
    auto work = [&] {
        for (int i; (i = next++) < blocks;) block(i);
    };
    std::vector<std::thread> others;
    for (int i = 1; i < cores; ++i) others.emplace_back(work);
    work();
    for (auto &other : others) other.join();
}

}  // namespace

extern "C" {

void use_cores(int count) { cores = count; }

void run_matmul_naive(const float *a, const float *b, float *c, int n) {
    int across = (n + 31) / 32;
    spread(across * ((n + 7) / 8), [=](int block) {
        for (int thread = 0; thread < 256; ++thread) {
            int x = block % across * 32 + thread % 32, y = block / across * 8 + thread / 32;
            if (x >= n || y >= n) continue;
            float sum = 0;
            for (int k = 0; k < n; ++k) sum += a[y * n + k] * b[k * n + x];
            c[y * n + x] = sum;
        }
    });
}

void run_matmul_tiled(const float *a, const float *b, float *c, int n) {
    int across = (n + 31) / 32;
    spread(across * across, [=](int block) {
        float tile_a[32][32], tile_b[32][32], sum[1024] = {};
        for (int t = 0; t < n; t += 32) {
            for (int thread = 0; thread < 1024; ++thread) {
                int tx = thread % 32, ty = thread / 32, x = block % across * 32 + tx, y = block / across * 32 + ty;
                tile_a[ty][tx] = y < n && t + tx < n ? a[y * n + t + tx] : 0;
                tile_b[ty][tx] = x < n && t + ty < n ? b[(t + ty) * n + x] : 0;
            }
            for (int thread = 0; thread < 1024; ++thread) {
                int tx = thread % 32, ty = thread / 32;
                float s = sum[thread];
                for (int k = 0; k < 32; ++k) s += tile_a[ty][k] * tile_b[k][tx];
                sum[thread] = s;
            }
        }
        for (int thread = 0; thread < 1024; ++thread) {
            int x = block % across * 32 + thread % 32, y = block / across * 32 + thread / 32;
            if (x < n && y < n) c[y * n + x] = sum[thread];
        }
    });
}

void run_block_reduce(const float *in, float *out, int n, int blocks) {
    spread(blocks, [=](int block) {
        float part[256];
        for (int thread = 0; thread < 256; ++thread) {
            float sum = 0;
            for (int i = block * 256 + thread; i < n; i += blocks * 256) sum += in[i];
            part[thread] = sum;
        }
        for (int s = 128; s > 0; s >>= 1) {
            for (int thread = 0; thread < s; ++thread) part[thread] += part[thread + s];
        }
        out[block] = part[0];
    });
}

void run_softmax_rows(const float *in, float *out, int rows, int columns) {
    spread(rows, [=](int block) {
        const float *row = in + static_cast<size_t>(block) * columns;
        float *to = out + static_cast<size_t>(block) * columns;
        float part[256];
        for (int thread = 0; thread < 256; ++thread) {
            float most = -INFINITY;
            for (int i = thread; i < columns; i += 256) most = std::fmax(most, row[i]);
            part[thread] = most;
        }
        float most = *std::max_element(part, part + 256);
        for (int thread = 0; thread < 256; ++thread) {
            float sum = 0;
            for (int i = thread; i < columns; i += 256) sum += std::exp(row[i] - most);
            part[thread] = sum;
        }
        float sum = 0;
        for (float one : part) sum += one;
        for (int thread = 0; thread < 256; ++thread) {
            for (int i = thread; i < columns; i += 256) to[i] = std::exp(row[i] - most) / sum;
        }
    });
}

void run_attention(const float *q, const float *k, const float *v, float *out, int n) {
    struct Thread {
        float query[64], sums[64], most, total;
    };
    spread((n + 63) / 64, [=](int block) {
        float keys[32][64], values[32][64];
        std::vector<Thread> threads(64);
        for (int thread = 0; thread < 64; ++thread) {
            Thread &t = threads[thread];
            int row = block * 64 + thread;
            for (int d = 0; d < 64; ++d) {
                t.query[d] = row < n ? q[row * 64 + d] * 0.125f : 0;
                t.sums[d] = 0;
            }
            t.most = -INFINITY;
            t.total = 0;
        }
        for (int start = 0; start < n; start += 32) {
            for (int thread = 0; thread < 64; ++thread) {
                for (int i = thread; i < 32 * 64; i += 64) {
                    int at = start + i / 64;
                    keys[i / 64][i % 64] = at < n ? k[at * 64 + i % 64] : 0;
                    values[i / 64][i % 64] = at < n ? v[at * 64 + i % 64] : 0;
                }
            }
            for (Thread &t : threads) {
                for (int j = 0; j < 32 && start + j < n; ++j) {
                    float score = 0;
                    for (int d = 0; d < 64; ++d) score += t.query[d] * keys[j][d];
                    float larger = std::fmax(t.most, score);
                    float old = std::exp(t.most - larger), weight = std::exp(score - larger);
                    t.total = t.total * old + weight;
                    t.most = larger;
                    for (int d = 0; d < 64; ++d) t.sums[d] = t.sums[d] * old + weight * values[j][d];
                }
            }
        }
        for (int thread = 0; thread < 64; ++thread) {
            int row = block * 64 + thread;
            for (int d = 0; d < 64 && row < n; ++d) out[row * 64 + d] = threads[thread].sums[d] / threads[thread].total;
        }
    });
}
}
