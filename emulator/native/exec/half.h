// Numbers of 16 and of 8 bits to float and back; f16 and bf16 without branches where a loop over lanes should become
// vector code.
#pragma once

#include <algorithm>
#include <cmath>
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

inline float e4m3_to_float(uint8_t bits) {
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    float value = exponent == 15 && fraction == 7 ? NAN
                  : exponent                      ? std::ldexp(1.0f + static_cast<float>(fraction) / 8, exponent - 7)
                                                  : std::ldexp(static_cast<float>(fraction) / 8, -6);
    return bits & 0x80 ? -value : value;
}

// To e5m2 or e4m3, to nearest even; what is too large becomes the largest number, NaN 0x7f.
inline uint8_t float_to_eight_bits(float value, bool is_e5m2) {
    if (std::isnan(value)) return 0x7f;
    int fraction_bits = is_e5m2 ? 2 : 3, least = is_e5m2 ? -14 : -6;
    uint32_t largest = is_e5m2 ? 0x7b : 0x7e, sign = std::signbit(value) ? 0x80 : 0;
    float magnitude = std::fabs(value);
    if (magnitude >= (is_e5m2 ? 57344.0f : 448.0f)) return static_cast<uint8_t>(sign | largest);
    int exponent = magnitude == 0 ? least : std::max(std::ilogb(magnitude), least);
    // Steps of the last bit: where they are one too many for the exponent, they carry into the next.
    auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(magnitude, fraction_bits - exponent)));
    return static_cast<uint8_t>(sign |
                                std::min((static_cast<uint32_t>(exponent - least) << fraction_bits) + steps, largest));
}

}  // namespace emu
