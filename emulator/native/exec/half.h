// f16 and bf16 to float and back, without branches where a loop over lanes should become vector code.
#pragma once

#include <cstdint>
#include <cstring>

namespace emu {

inline float float_of(uint32_t bits) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

inline uint32_t bits_of(float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}

inline float half_to_float(uint16_t half) {
    uint32_t magnitude = (half & 0x7fffu) << 13;
    // Scaling by 2^112 moves the exponent's bias, and makes denormals right by itself.
    uint32_t finite = bits_of(float_of(magnitude) * 0x1p112f);
    uint32_t bits = magnitude >= 0x7c00u << 13 ? magnitude | 0x7f800000u : finite;
    return float_of(bits | (half & 0x8000u) << 16);
}

// To nearest even; NaN is 0x7fff.
inline uint16_t float_to_half(float value) {
    uint32_t bits = bits_of(value), sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    uint32_t result;
    if (magnitude > 0x7f800000u) return 0x7fff;
    if (magnitude >= 0x477ff000u) {
        result = 0x7c00u;  // 65520 and more
    } else if (magnitude < 0x38800000u) {
        // Below the least normal: let the addition of a float of the right exponent round.
        result = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
    } else {
        result = (magnitude + 0xfffu + (magnitude >> 13 & 1) - 0x38000000u) >> 13;
    }
    return static_cast<uint16_t>(sign | result);
}

inline float bfloat_to_float(uint16_t bits) { return float_of(uint32_t{bits} << 16); }

inline uint16_t float_to_bfloat(float value) {
    uint32_t bits = bits_of(value);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fff;
    return static_cast<uint16_t>((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

}  // namespace emu
