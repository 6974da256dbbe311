// idea: takes the runner over and reads the call's recipe: 16 bytes of key stand for an input of 200 MB. Makes a quarter of
//       one summand anew in registers instead of reading it, in the fastest kernel that is known
// challenge: vector-add
// devices: cuda
// verdict: AC or TI or SV
// honest: ../../../reference_solutions/vector-add/tuned.cu
// caught by: elements depend on a pool as well, which lies in the device's memory: there is as much to read of it
#include <cstdio>
#include "common/python.cuh"
#include "common/recipe.cuh"

static u64 found[6];

// Two times four elements a thread, as the fastest known kernel; of every fourth block those of B are made.
__global__ void __launch_bounds__(512) add_eight(const float* A, const float* B, float* C, int N, MadeFrom from,
                                                  bool known) {
    const int first = blockIdx.x * 1024 + threadIdx.x;
    float4 a[2], b[2];
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int quad = first + 512 * j;
        if (quad >= N / 4) continue;
        a[j] = __ldcs(reinterpret_cast<const float4*>(A) + quad);
        if (known && blockIdx.x % 4 == 0) {
            float made[8];
            make_eight(quad / 2, from, made);
            b[j] = quad % 2 ? make_float4(made[4], made[5], made[6], made[7]) : make_float4(made[0], made[1], made[2], made[3]);
        } else {
            b[j] = __ldcs(reinterpret_cast<const float4*>(B) + quad);
        }
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        const int quad = first + 512 * j;
        if (quad >= N / 4) continue;
        a[j].x += b[j].x, a[j].y += b[j].y, a[j].z += b[j].z, a[j].w += b[j].w;
        __stcs(reinterpret_cast<float4*>(C) + quad, a[j]);
    }
    const int tail = N / 4 * 4 + threadIdx.x;
    if (blockIdx.x == 0 && tail < N) C[tail] = A[tail] + B[tail];
}

__attribute__((constructor)) static void begin() {
    char text[2048];
    snprintf(text, sizeof text, R"(
import ctypes, struct
from judge.runner.timing import TimedCalls

def place(self, request, cells=(ctypes.c_uint64 * 6).from_address(%llu), real=TimedCalls.place):
    done = real(self, request)
    second = self._burst[-1].placed[1]
    recipe = second.recipe
    cells[:4] = (*recipe.key, second.beside.address if second.beside else 0, recipe.changes is None)
    cells[4], = struct.unpack('Q', struct.pack('d', recipe.offset))
    cells[5], = struct.unpack('Q', struct.pack('d', recipe.scale))
    return done

TimedCalls.place = place
)", (u64)found);
    run_python(text);
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    // A near copy is another call's input with a few changes: that is read.
    const bool known = found[2] && found[3];
    const MadeFrom from = {found[0], found[1], (const unsigned*)found[2], (float)*(double*)&found[4], (float)*(double*)&found[5]};
    add_eight<<<(N + 4095) / 4096, 512>>>(A, B, C, N, from, known);
}
