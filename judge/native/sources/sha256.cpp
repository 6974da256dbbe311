#include "sha256.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gpujudge {
namespace {

constexpr std::size_t kBlock = 64;

alignas(16) constexpr std::uint32_t kRounds[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
};

std::uint32_t big_endian(const std::uint8_t *bytes) {
    std::uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    return __builtin_bswap32(word);
}

void portable(std::uint32_t state[8], const std::uint8_t *data, std::size_t blocks) {
    for (; blocks; --blocks, data += kBlock) {
        std::uint32_t w[64];
        for (int i = 0; i < 16; ++i) w[i] = big_endian(data + 4 * i);
        for (int i = 16; i < 64; ++i) {
            const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
            const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        std::uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
        std::uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRounds[i] + w[i];
            const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + t1;
            d = c, c = b, b = a, a = t1 + t2;
        }
        state[0] += a, state[1] += b, state[2] += c, state[3] += d;
        state[4] += e, state[5] += f, state[6] += g, state[7] += h;
    }
}

#if defined(__x86_64__)

bool has_instructions() {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

// The instructions keep the state as (f e b a) and (h g d c), lowest word first, and do two rounds at a time.
__attribute__((target("sha,ssse3,sse4.1"))) void by_instructions(std::uint32_t state[8], const std::uint8_t *data,
                                                                 std::size_t blocks) {
    const __m128i swap = _mm_set_epi64x(0x0C0D0E0F08090A0B, 0x0405060700010203);
    const __m128i dcba = _mm_loadu_si128(reinterpret_cast<const __m128i *>(state));
    const __m128i hgfe = _mm_loadu_si128(reinterpret_cast<const __m128i *>(state + 4));
    const __m128i cdab = _mm_shuffle_epi32(dcba, 0xB1), efgh = _mm_shuffle_epi32(hgfe, 0x1B);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8), cdgh = _mm_blend_epi16(efgh, cdab, 0xF0);
    for (; blocks; --blocks, data += kBlock) {
        const __m128i abef_before = abef, cdgh_before = cdgh;
        // w[i % 4]: four words of the schedule.
        __m128i w[4];
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i) {
            __m128i &next = w[i % 4];
            if (i < 4) {
                next = _mm_shuffle_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i *>(data) + i), swap);
            } else {
                const __m128i last = w[(i + 3) % 4];
                const __m128i seven_before = _mm_alignr_epi8(last, w[(i + 2) % 4], 4);
                next = _mm_add_epi32(_mm_sha256msg1_epu32(next, w[(i + 1) % 4]), seven_before);
                next = _mm_sha256msg2_epu32(next, last);
            }
            const __m128i k = _mm_load_si128(reinterpret_cast<const __m128i *>(kRounds) + i);
            const __m128i terms = _mm_add_epi32(next, k);
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, terms);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(terms, 0x0E));
        }
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1B), dchg = _mm_shuffle_epi32(cdgh, 0xB1);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(state), _mm_blend_epi16(feba, dchg, 0xF0));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#endif

}  // namespace

Compress compress_by_instructions() {
#if defined(__x86_64__)
    static const bool has = has_instructions();
    return has ? by_instructions : nullptr;
#else
    return nullptr;
#endif
}

Compress compress_portable() { return portable; }

void sha256(Compress compress, const std::uint8_t *data, std::size_t size, std::uint8_t digest[kDigestBytes]) {
    std::uint32_t state[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A,
                              0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    const std::size_t whole = size / kBlock, rest = size % kBlock;
    compress(state, data, whole);
    // The rest, a one bit, zeros, and the size in bits, big-endian.
    std::uint8_t end[2 * kBlock] = {};
    if (rest) std::memcpy(end, data + whole * kBlock, rest);
    end[rest] = 0x80;
    const std::size_t blocks = rest + 1 + sizeof(std::uint64_t) <= kBlock ? 1 : 2;
    const std::uint64_t bits = __builtin_bswap64(std::uint64_t{size} * 8);
    std::memcpy(end + blocks * kBlock - sizeof bits, &bits, sizeof bits);
    compress(state, end, blocks);
    for (int i = 0; i < 8; ++i) {
        const std::uint32_t word = __builtin_bswap32(state[i]);
        std::memcpy(digest + 4 * i, &word, sizeof word);
    }
}

}  // namespace gpujudge
