// One thread a message, byte by byte into the words of a block, with the whole schedule of 64 words in local memory.
#include <cuda_runtime.h>

__constant__ unsigned keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

__device__ unsigned rotate(unsigned x, int n) { return x >> n | x << (32 - n); }

// Byte `place` of the padded message.
__device__ unsigned byte_at(const unsigned char* message, int length, int place, int padded) {
    if (place < length) return message[place];
    if (place == length) return 0x80;
    int from_end = padded - 1 - place;
    return from_end < 8 ? ((unsigned long long)length * 8 >> (8 * from_end)) & 0xff : 0;
}

__global__ void hash(const unsigned char* messages, unsigned char* digests, int n, int length) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned char* message = messages + (long long)i * length;
    int padded = (length + 9 + 63) / 64 * 64;
    unsigned state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int block = 0; block < padded; block += 64) {
        unsigned w[64];
        for (int t = 0; t < 16; t++) {
            w[t] = 0;
            for (int k = 0; k < 4; k++) w[t] = w[t] << 8 | byte_at(message, length, block + 4 * t + k, padded);
        }
        for (int t = 16; t < 64; t++) {
            unsigned s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
            unsigned s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
            w[t] = w[t - 16] + s0 + w[t - 7] + s1;
        }
        unsigned a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
        for (int t = 0; t < 64; t++) {
            unsigned t1 = h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + keys[t] + w[t];
            unsigned t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g; g = f; f = e; e = d + t1; d = c; c = b; b = a; a = t1 + t2;
        }
        unsigned added[8] = {a, b, c, d, e, f, g, h};
        for (int k = 0; k < 8; k++) state[k] += added[k];
    }
    for (int k = 0; k < 32; k++) digests[(long long)i * 32 + k] = state[k / 4] >> (24 - 8 * (k % 4));
}

extern "C" void solve(const unsigned char* messages, unsigned char* digests, int N, int length) {
    hash<<<(N + 127) / 128, 128>>>(messages, digests, N, length);
}
