// Arithmetic by helper: 64-bit division, directed rounding of f64, the approximate functions.
#include <cfenv>
#include <chrono>
#include <cmath>
#include <cstring>

#include "exec/half.h"
#include "exec/semantics.h"

EMU_SEMANTICS uint64_t emu_globaltimer() {
    auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Division by zero gives anything: the caller replaces it.
EMU_SEMANTICS void emu_div_u64(const uint64_t *a, const uint64_t *b, uint64_t *out) {
    for (int l = 0; l < 32; ++l) {
        uint64_t divisor = b[l] ? b[l] : 1;
        bool narrow = !((a[l] | divisor) >> 32);
        out[l] = narrow ? uint32_t(a[l]) / uint32_t(divisor) : a[l] / divisor;
    }
}

EMU_SEMANTICS void emu_div_s64(const int64_t *a, const int64_t *b, int64_t *out) {
    for (int l = 0; l < 32; ++l) {
        int64_t divisor = b[l] ? b[l] : 1;
        out[l] = divisor == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a[l])) : a[l] / divisor;
    }
}

namespace {

constexpr int modes[] = {FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO, FE_TONEAREST};

struct Rounding {
    explicit Rounding(uint32_t mode) { std::fesetround(modes[mode]); }
    ~Rounding() { std::fesetround(FE_TONEAREST); }
};

// `value` to a format of `mantissa` stored bits and these exponents, as its bits without bias tricks: exact arithmetic
// in long double.
uint16_t narrow(long double value, int mantissa, int least, int most, uint32_t mode) {
    uint32_t sign = std::signbit(value) ? 0x8000 : 0;
    uint32_t infinite = static_cast<uint32_t>(most - least + 2) << mantissa;
    if (std::isnan(value)) return 0x7fff;
    long double magnitude = std::fabs(value);
    if (std::isinf(value)) return static_cast<uint16_t>(sign | infinite);
    if (magnitude == 0) return static_cast<uint16_t>(sign);
    int exponent = std::ilogb(magnitude);
    int scale = (exponent < least ? least : exponent) - mantissa;
    long double units = std::ldexp(magnitude, -scale), whole = std::floor(units), rest = units - whole;
    bool away;
    switch (mode) {
    case 0: away = sign && rest > 0; break;
    case 1: away = !sign && rest > 0; break;
    case 2: away = false; break;
    default: away = rest > 0.5L || (rest == 0.5L && std::fmod(whole, 2) != 0);
    }
    auto mantissa_bits = static_cast<uint32_t>(whole) + away;
    uint32_t biased = exponent < least ? 0 : static_cast<uint32_t>(exponent - least);
    // A normal number's leading one adds the exponent's last step itself; so does a carry.
    uint32_t bits = (biased << mantissa) + mantissa_bits;
    if (bits >= infinite) {
        bool to_infinity = mode == 3 || (mode == 0 && sign) || (mode == 1 && !sign);
        bits = to_infinity ? infinite : infinite - 1;
    }
    return static_cast<uint16_t>(sign | bits);
}

uint16_t narrow16(long double value, bool is_bfloat, uint32_t mode) {
    return is_bfloat ? narrow(value, 7, -126, 127, mode) : narrow(value, 10, -14, 15, mode);
}

}  // namespace

// operation: add sub mul fma div sqrt; mode: down up zero.
EMU_SEMANTICS void emu_round_f64(uint32_t operation, uint32_t mode, const double *a, const double *b, const double *c,
                                 double *out) {
    Rounding rounding(mode);
    for (int l = 0; l < 32; ++l) {
        volatile double x = a[l], y = b[l], z = c[l], r;  // volatile: not folded or moved across the mode change
        switch (operation) {
        case 0: r = x + y; break;
        case 1: r = x - y; break;
        case 2: r = x * y; break;
        case 3: r = std::fma(x, y, z); break;
        case 4: r = x / y; break;
        default: r = std::sqrt(x);
        }
        out[l] = r;
    }
}

EMU_SEMANTICS void emu_narrow16(uint32_t is_bfloat, uint32_t mode, const double *value, uint16_t *out) {
    for (int l = 0; l < 32; ++l) out[l] = narrow16(value[l], is_bfloat, mode);
}

// code: 0 e4m3, 1 e5m2, | 2 negative numbers become zero. `value`: what becomes the lower half, and the upper.
EMU_SEMANTICS void emu_to_eight_bits(uint32_t code, const float *value, uint16_t *out) {
    for (int l = 0; l < 32; ++l) {
        uint32_t pair = 0;
        for (int part = 0; part < 2; ++part) {
            float it = value[32 * part + l];
            pair |= uint32_t{emu::float_to_eight_bits(code & 2 && it <= 0 ? 0 : it, (code & 1) != 0)} << 8 * part;
        }
        out[l] = static_cast<uint16_t>(pair);
    }
}

EMU_SEMANTICS void emu_from_eight_bits(uint32_t code, const uint16_t *pair, uint32_t *out) {
    for (int l = 0; l < 32; ++l) {
        out[l] = 0;
        for (int part = 0; part < 2; ++part) {
            auto bits = static_cast<uint8_t>(pair[l] >> 8 * part);
            float it = code & 1 ? emu::half_to_float(static_cast<uint16_t>(bits << 8)) : emu::e4m3_to_float(bits);
            out[l] |= uint32_t{emu::float_to_half(code & 2 && it <= 0 ? 0 : it)} << 16 * part;
        }
    }
}

EMU_SEMANTICS void emu_int_to_f64(uint32_t is_signed, uint32_t mode, const uint64_t *value, double *out) {
    Rounding rounding(mode);
    for (int l = 0; l < 32; ++l) {
        volatile long double exact =
            is_signed ? static_cast<long double>(static_cast<int64_t>(value[l])) : static_cast<long double>(value[l]);
        volatile double rounded = static_cast<double>(exact);
        out[l] = rounded;
    }
}

// kind: f32 f16 bf16; mode: down up zero nearest.
EMU_SEMANTICS void emu_int64_narrow(uint32_t kind, uint32_t is_signed, uint32_t mode, const uint64_t *value,
                                    void *out) {
    Rounding rounding(mode);
    for (int l = 0; l < 32; ++l) {
        volatile long double exact =
            is_signed ? static_cast<long double>(static_cast<int64_t>(value[l])) : static_cast<long double>(value[l]);
        if (kind == 0) {
            volatile float rounded = static_cast<float>(exact);
            static_cast<float *>(out)[l] = rounded;
        } else {
            static_cast<uint16_t *>(out)[l] = narrow16(exact, kind == 2, mode);
        }
    }
}

// ------------------------------------------------------------------------------------------- approximate functions
EMU_SEMANTICS void emu_lg2_f32(const float *x, float *out) {
    for (int l = 0; l < 32; ++l) {
        float value = x[l];
        bool denormal = value < 0x1p-126f;
        float scaled = denormal ? value * 0x1p24f : value;
        uint32_t bits = emu::bits_of(scaled);
        // Mantissa into [sqrt(1/2), sqrt(2)).
        int32_t exponent = static_cast<int32_t>(bits - 0x3f3504f3u) >> 23;
        float m = emu::float_of(bits - (static_cast<uint32_t>(exponent) << 23));
        float t = (m - 1.0f) / (m + 1.0f), s = t * t;
        float series = 2.0f + s * (2.0f / 3 + s * (2.0f / 5 + s * (2.0f / 7 + s * (2.0f / 9))));
        float result = t * series * 1.44269504088896341f + static_cast<float>(exponent - (denormal ? 24 : 0));
        // An H200 is off by 1e-7 however near 1 a number is: its logarithm has a last place, which adding 3 rounds to.
        result = value > 0.5f && value < 2.0f ? (result + 3.0f) - 3.0f : result;
        result = value == 0 ? -HUGE_VALF : result;
        result = value < 0 ? NAN : result;
        result = value == HUGE_VALF ? HUGE_VALF : result;
        out[l] = value != value ? value : result;
    }
}

namespace {

// sin (quarter 0) or cos (quarter 1), as inexact for large arguments as a GPU's: that multiplies the argument by 1/(2
// pi) first, in single precision and rounding towards zero (nvdisasm of sin.approx for sm_90: FMUL.RZ and MUFU.SIN).
inline float sine(float x, int32_t quarter) {
    double product = static_cast<double>(x) * 0.15915494f;
    float circles = static_cast<float>(product);
    if (std::fabs(static_cast<double>(circles)) > std::fabs(product)) circles = std::nextafter(circles, 0.0f);
    if (!(std::fabs(circles) < 0x1p24f)) return std::isfinite(x) ? static_cast<float>(quarter) : NAN;
    double turns = std::nearbyint(4.0 * circles);
    double r = (4.0 * circles - turns) * 1.57079632679489661923;
    int64_t n = static_cast<int64_t>(turns) + quarter;
    double s = r * r;
    double odd = r * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880 - s / 39916800)))));
    double even = 1 + s * (-0.5 + s * (1.0 / 24 + s * (-1.0 / 720 + s * (1.0 / 40320 + s * (-1.0 / 3628800)))));
    double value = n & 1 ? even : odd;
    return static_cast<float>(n & 2 ? -value : value);
}

}  // namespace

EMU_SEMANTICS void emu_sin_f32(const float *x, float *out) {
    for (int l = 0; l < 32; ++l) out[l] = sine(x[l], 0);
}

EMU_SEMANTICS void emu_cos_f32(const float *x, float *out) {
    for (int l = 0; l < 32; ++l) out[l] = sine(x[l], 1);
}

// As inexact as an H200's, of which every 256th float was measured: small numbers return themselves, and others are
// off by 1e-5 of the result at most, by 3e-6 on average. That is what 17 bits are.
EMU_SEMANTICS void emu_tanh_f32(const float *x, float *out) {
    for (int l = 0; l < 32; ++l) {
        uint32_t bits = emu::bits_of(std::tanh(x[l]));
        out[l] = std::fabs(x[l]) >= 0x1p-8f ? emu::float_of((bits + 0x40u) & ~0x7fu) : x[l];
    }
}
