#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "exec/half.h"
#include "exec/observe.h"
#include "exec/semantics.h"

namespace emu {

namespace {

// Whether each active lane's address lies among `count` elements of `1 << shift` bytes from `low`, at a multiple of
// that size.
bool all_inside(const uint64_t *address, uint32_t lanes, uint64_t low, uint64_t count, uint32_t shift) {
#ifdef __AVX512F__
    __m512i from = _mm512_set1_epi64(static_cast<long long>(low)),
            limit = _mm512_set1_epi64(static_cast<long long>(count));
    __m512i turn = _mm512_set1_epi64(shift);
    uint32_t bad = 0;
    for (int part = 0; part < 4; ++part) {
        __m512i offset = _mm512_sub_epi64(_mm512_loadu_si512(address + 8 * part), from);
        bad |= uint32_t{_mm512_cmpge_epu64_mask(_mm512_maskz_rorv_epi64(0xff, offset, turn), limit)} << (8 * part);
    }
    return !(bad & lanes);
#else
    bool good = true;
    for (; lanes; lanes &= lanes - 1) {
        uint64_t offset = address[__builtin_ctz(lanes)] - low;
        good &= (shift ? offset >> shift | offset << (64 - shift) : offset) < count;
    }
    return good;
#endif
}

// Bytes of what the site means of shared memory.
uint32_t shared_size(const WarpContext &warp, const EmuSite &site) {
    uint32_t end = site.shared_end ? site.shared_end : warp.shared_bytes;
    return end > site.shared_begin ? end - site.shared_begin : 0;
}

// Whether each active lane stays in its own local memory, or on its own stack.
bool all_in_own_local(const WarpContext *warp, const uint64_t *address, uint32_t lanes, uint32_t size) {
    uint64_t each = warp->kernel->local_bytes, depth = warp->stack_bytes;
    uint64_t local = reinterpret_cast<uint64_t>(warp->local), stacks = local + 32 * each;
    uint32_t bad = 0;
    for (uint64_t l = 0; l < 32; ++l) {
        uint64_t in_local = address[l] - local - l * each, on_stack = address[l] - stacks - l * depth;
        bool good = (in_local < each && size <= each - in_local) || (on_stack < depth && size <= depth - on_stack);
        bad |= uint32_t{!good || address[l] & (size - 1)} << l;
    }
    return !(bad & lanes);
}

}  // namespace

void check(WarpContext *warp, uint32_t index, uint32_t lanes, uint64_t *address) {
    const EmuSite &site = warp->kernel->sites[index];
    uint32_t shift = __builtin_ctz(site.size);
    bool good = site.space == EMU_LOCAL ? all_in_own_local(warp, address, lanes, site.size)
                : site.space == EMU_SHARED
                    ? all_inside(address, lanes, reinterpret_cast<uint64_t>(warp->shared) + site.shared_begin,
                                 shared_size(*warp, site) >> shift, shift)
                    : all_inside(address, lanes, warp->site_cache[2 * index], warp->site_cache[2 * index + 1], shift);
    if (!good) emu_check_access(warp, index, lanes, address);
}

bool passes(const WarpContext *warp, uint32_t index, uint64_t address) {
    const EmuSite &site = warp->kernel->sites[index];
    uint32_t shift = __builtin_ctz(site.size);
    bool shared = site.space == EMU_SHARED;
    uint64_t offset =
        address - (shared ? reinterpret_cast<uint64_t>(warp->shared) + site.shared_begin : warp->site_cache[2 * index]);
    uint64_t count = shared ? shared_size(*warp, site) >> shift : warp->site_cache[2 * index + 1];
    return !(offset & (site.size - 1)) && offset >> shift < count;
}

namespace {

// A misaligned address stays as it is only where reading it is harmless, so no type may be assumed of it.
struct Unaligned16 {
    uint16_t value;
} __attribute__((packed));
struct Unaligned32 {
    uint32_t value;
} __attribute__((packed));
struct Unaligned64 {
    uint64_t value;
} __attribute__((packed));

// A lane's vector of 8 or 16 bytes, which one instruction reads or writes: other threads never see half of it. GPUs do
// the same, and programs rely on it: CUB keeps a value and the flag that says that it is there in one such vector.
using Whole8 = uint64_t __attribute__((aligned(1), may_alias));
using Whole16 = uint64_t __attribute__((vector_size(16), aligned(1), may_alias));

template <class Whole, class Word>
void gather_whole(const uint64_t *address, uint32_t lanes, void *out) {
    constexpr uint32_t count = sizeof(Whole) / sizeof(Word);
    Word *to = static_cast<Word *>(out);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        Whole whole = *reinterpret_cast<const volatile Whole *>(address[l]);
        Word words[count];
        std::memcpy(words, &whole, sizeof whole);
        for (uint32_t c = 0; c < count; ++c) to[32 * c + l] = words[c];
    }
}

template <class Whole, class Word>
void scatter_whole(const uint64_t *address, uint32_t lanes, const void *data) {
    constexpr uint32_t count = sizeof(Whole) / sizeof(Word);
    const Word *from = static_cast<const Word *>(data);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        Word words[count];
        for (uint32_t c = 0; c < count; ++c) words[c] = from[32 * c + l];
        Whole whole;
        std::memcpy(&whole, words, sizeof whole);
        *reinterpret_cast<volatile Whole *>(address[l]) = whole;
    }
}

template <class Word>
void gather(const uint64_t *address, uint32_t lanes, uint32_t count, void *out) {
    if (count > 1 && sizeof(Word) * count == 16) return gather_whole<Whole16, Word>(address, lanes, out);
    if (count > 1 && sizeof(Word) * count == 8) return gather_whole<Whole8, Word>(address, lanes, out);
    Word *to = static_cast<Word *>(out);
#ifdef __AVX512F__
    if (sizeof(Word) == 4) {
        for (uint32_t c = 0; c < count; ++c) {
            for (int part = 0; part < 4; ++part) {
                __m512i from = _mm512_add_epi64(_mm512_loadu_si512(address + 8 * part), _mm512_set1_epi64(4 * c));
                __m256i got = _mm512_mask_i64gather_epi32(_mm256_setzero_si256(),
                                                          static_cast<__mmask8>(lanes >> (8 * part)), from, nullptr, 1);
                _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 32 * c + 8 * part), got);
            }
        }
        return;
    }
#endif
    if (lanes == 0xffffffffu && count == 1) {
        for (uint32_t l = 0; l < 32; ++l) to[l] = *reinterpret_cast<const Word *>(address[l]);
        return;
    }
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        const Word *from = reinterpret_cast<const Word *>(address[l]);
        for (uint32_t c = 0; c < count; ++c) to[32 * c + l] = from[c];
    }
}

template <class Word>
void scatter(const uint64_t *address, uint32_t lanes, uint32_t count, const void *data) {
    if (count > 1 && sizeof(Word) * count == 16) return scatter_whole<Whole16, Word>(address, lanes, data);
    if (count > 1 && sizeof(Word) * count == 8) return scatter_whole<Whole8, Word>(address, lanes, data);
    const Word *from = static_cast<const Word *>(data);
    for (; lanes; lanes &= lanes - 1) {
        uint32_t l = __builtin_ctz(lanes);
        Word *to = reinterpret_cast<Word *>(address[l]);
        for (uint32_t c = 0; c < count; ++c) to[c] = from[32 * c + l];
    }
}

constexpr uint32_t unchecked = 0xffffffffu;

// form: bytes of an element | count << 8.
void load(WarpContext *warp, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form, void *out) {
    if (site != unchecked) check(warp, site, lanes, address);
    uint32_t count = form >> 8;
    switch (form & 255) {
    case 1: return gather<uint8_t>(address, lanes, count, out);
    case 2: return gather<Unaligned16>(address, lanes, count, out);
    case 4: return gather<Unaligned32>(address, lanes, count, out);
    default: return gather<Unaligned64>(address, lanes, count, out);
    }
}

void store(WarpContext *warp, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form, const void *data) {
    if (site != unchecked) check(warp, site, lanes, address);
    uint32_t count = form >> 8;
    switch (form & 255) {
    case 1: return scatter<uint8_t>(address, lanes, count, data);
    case 2: return scatter<Unaligned16>(address, lanes, count, data);
    case 4: return scatter<Unaligned32>(address, lanes, count, data);
    default: return scatter<Unaligned64>(address, lanes, count, data);
    }
}

void by_pattern(uint64_t base, const int64_t *pattern, uint64_t *out) {
    for (uint32_t l = 0; l < 32; ++l) out[l] = base + static_cast<uint64_t>(pattern[l]);
}

void by_window(const WarpContext *warp, const uint32_t *offset, uint64_t *out) {
    uint64_t base = reinterpret_cast<uint64_t>(warp->shared);
    for (uint32_t l = 0; l < 32; ++l) out[l] = base + offset[l];
}

}  // namespace
}  // namespace emu

void emu_load(WarpContext *warp, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form, void *out) {
    emu::load(warp, site, address, lanes, form, out);
}

void emu_store(WarpContext *warp, uint32_t site, uint64_t *address, uint32_t lanes, uint32_t form, const void *data) {
    emu::store(warp, site, address, lanes, form, data);
}

void emu_load_shared(WarpContext *warp, uint32_t site, const uint32_t *offset, uint32_t lanes, uint32_t form,
                     void *out) {
    uint64_t address[32];
    emu::by_window(warp, offset, address);
    emu::load(warp, site, address, lanes, form, out);
}

void emu_store_shared(WarpContext *warp, uint32_t site, const uint32_t *offset, uint32_t lanes, uint32_t form,
                      const void *data) {
    uint64_t address[32];
    emu::by_window(warp, offset, address);
    emu::store(warp, site, address, lanes, form, data);
}

void emu_load_pattern(WarpContext *warp, uint32_t site, uint64_t base, const int64_t *pattern, uint32_t form,
                      void *out) {
    uint64_t address[32];
    emu::by_pattern(base, pattern, address);
    emu::load(warp, site, address, 0xffffffffu, form, out);
}

void emu_store_pattern(WarpContext *warp, uint32_t site, uint64_t base, const int64_t *pattern, uint32_t form,
                       const void *data) {
    uint64_t address[32];
    emu::by_pattern(base, pattern, address);
    emu::store(warp, site, address, 0xffffffffu, form, data);
}

// ------------------------------------------------------------------------------------------------------------- atomics
namespace {

// f32 as global memory adds it: a denormal counts as zero. (Shared memory keeps them.)
struct Flushed {
    float value;
    static float flush(float v) { return std::fabs(v) < 0x1p-126f ? std::copysign(0.0f, v) : v; }
    friend Flushed operator+(Flushed a, Flushed b) { return {flush(flush(a.value) + flush(b.value))}; }
    friend bool operator<(Flushed a, Flushed b) { return a.value < b.value; }
};

template <class Value>
Value combine(uint32_t operation, Value old, Value operand) {
    switch (operation) {
    case ATOM_ADD:
        // Unsigned, so that it wraps.
        if constexpr (std::is_integral_v<Value>) {
            using Wrapping = std::make_unsigned_t<Value>;
            return static_cast<Value>(static_cast<Wrapping>(old) + static_cast<Wrapping>(operand));
        } else {
            return old + operand;
        }
    case ATOM_MIN: return operand < old ? operand : old;
    case ATOM_MAX: return old < operand ? operand : old;
    default: break;
    }
    if constexpr (std::is_integral_v<Value>) {
        switch (operation) {
        case ATOM_AND: return old & operand;
        case ATOM_OR: return old | operand;
        case ATOM_XOR: return old ^ operand;
        case ATOM_INC: return old >= operand ? Value{0} : static_cast<Value>(old + 1);
        case ATOM_DEC: return old == 0 || old > operand ? operand : static_cast<Value>(old - 1);
        default: break;
        }
    }
    return operand;
}

struct Half {
    static float widen(uint16_t bits) { return emu::half_to_float(bits); }
    static uint16_t narrow(float value) { return emu::float_to_half(value); }
};
struct BFloat {
    static float widen(uint16_t bits) { return emu::bfloat_to_float(bits); }
    static uint16_t narrow(float value) { return emu::float_to_bfloat(value); }
};

template <class Format>
uint16_t combine_half(uint32_t operation, uint16_t old, uint16_t operand) {
    if (operation == ATOM_EXCH) return operand;
    float a = Format::widen(old), b = Format::widen(operand);
    if (operation == ATOM_MIN || operation == ATOM_MAX) {  // as the instructions min and max
        if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? operand : old;
        bool is_least = a < b || (a == b && std::signbit(a));
        return is_least == (operation == ATOM_MIN) ? old : operand;
    }
    return Format::narrow(combine(operation, a, b));
}

// Word: what is exchanged in memory. `next(old word, lane)` gives the new one.
template <class Word, class Next>
void each(uint32_t lanes, const uint64_t *address, Word *out, bool alone, Next next) {
    for (uint32_t l = 0; l < 32; ++l) {
        if (!(lanes >> l & 1)) continue;
        Word *at = reinterpret_cast<Word *>(address[l]);
        if (alone) {  // shared memory belongs to the thread that runs the block
            Word old = *at;
            *at = next(old, l);
            out[l] = old;
            continue;
        }
        Word old = __atomic_load_n(at, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(at, &old, next(old, l), true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {}
        out[l] = old;
    }
}

template <class Value, class Word>
void typed(uint32_t operation, uint32_t lanes, const uint64_t *address, const void *operand, const void *second,
           void *out, bool alone) {
    const Word *operands = static_cast<const Word *>(operand);
    const Word *seconds = static_cast<const Word *>(second);
    Word *old = static_cast<Word *>(out);
    if (operation == ATOM_CAS) {
        return each(lanes, address, old, alone,
                    [&](Word was, uint32_t l) { return was == operands[l] ? seconds[l] : was; });
    }
    if (std::is_integral_v<Value> && operation == ATOM_ADD && !alone) {
        for (uint32_t l = 0; l < 32; ++l) {
            if (lanes >> l & 1)
                old[l] = __atomic_fetch_add(reinterpret_cast<Word *>(address[l]), operands[l], __ATOMIC_SEQ_CST);
        }
        return;
    }
    each(lanes, address, old, alone, [&](Word was, uint32_t l) {
        Value a, b;
        std::memcpy(&a, &was, sizeof a);
        std::memcpy(&b, &operands[l], sizeof b);
        Value result = combine(operation, a, b);
        Word word;
        std::memcpy(&word, &result, sizeof word);
        return word;
    });
}

template <class Format>
void halves(uint32_t operation, uint32_t lanes, const uint64_t *address, const void *operand, void *out, bool alone) {
    const uint16_t *operands = static_cast<const uint16_t *>(operand);
    each(lanes, address, static_cast<uint16_t *>(out), alone,
         [&](uint16_t was, uint32_t l) { return combine_half<Format>(operation, was, operands[l]); });
}

template <class Format>
void pairs(uint32_t operation, uint32_t lanes, const uint64_t *address, const void *operand, void *out, bool alone) {
    const uint32_t *operands = static_cast<const uint32_t *>(operand);
    each(lanes, address, static_cast<uint32_t *>(out), alone, [&](uint32_t was, uint32_t l) {
        uint32_t low = combine_half<Format>(operation, static_cast<uint16_t>(was), static_cast<uint16_t>(operands[l]));
        uint32_t high = combine_half<Format>(operation, was >> 16, operands[l] >> 16);
        return low | high << 16;
    });
}

}  // namespace

void emu::exchange(uint32_t code, uint32_t lanes, const uint64_t *address, const void *operand, const void *second,
                   void *out) {
    uint32_t operation = code & 15, type = code >> 4 & 15;
    bool alone = code >> 8 & 1;
    switch (type) {
    case ATOM_U32: return typed<uint32_t, uint32_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_S32: return typed<int32_t, uint32_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_F32:
        if (alone) return typed<float, uint32_t>(operation, lanes, address, operand, second, out, alone);
        return typed<Flushed, uint32_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_U64: return typed<uint64_t, uint64_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_S64: return typed<int64_t, uint64_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_F64: return typed<double, uint64_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_B16: return typed<uint16_t, uint16_t>(operation, lanes, address, operand, second, out, alone);
    case ATOM_F16: return halves<Half>(operation, lanes, address, operand, out, alone);
    case ATOM_BF16: return halves<BFloat>(operation, lanes, address, operand, out, alone);
    case ATOM_F16X2: return pairs<Half>(operation, lanes, address, operand, out, alone);
    case ATOM_BF16X2: return pairs<BFloat>(operation, lanes, address, operand, out, alone);
    }
}

uint32_t emu::atomic_width(uint32_t code) {
    switch (code >> 4 & 15) {
    case ATOM_B16:
    case ATOM_F16:
    case ATOM_BF16: return 2;
    case ATOM_U64:
    case ATOM_S64:
    case ATOM_F64: return 8;
    default: return 4;
    }
}

namespace {

// What tells a look from the one before: where the lanes look, and what the first of them brings.
uint64_t look_of(uint32_t lanes, const uint64_t *address, const void *operand, uint32_t width) {
    if (!lanes) return 0;
    uint64_t brought = 0, sum = 0;
    std::memcpy(&brought, static_cast<const uint8_t *>(operand) + std::countr_zero(lanes) * width, width);
    for (; lanes; lanes &= lanes - 1) sum += address[std::countr_zero(lanes)];
    return sum + brought * 0x9e3779b97f4a7c15;
}

}  // namespace

void emu_atomic(WarpContext *warp, uint32_t code, uint32_t site, uint32_t lanes, uint64_t *address, const void *operand,
                const void *second, void *out) {
    emu::check(warp, site, lanes, address);
    uint32_t width = emu::atomic_width(code), of_lanes = 32 * width;
    const auto *operands = static_cast<const uint8_t *>(operand), *seconds = static_cast<const uint8_t *>(second);
    auto *old = static_cast<uint8_t *>(out);
    bool has_changed = false;
    for (uint32_t n = 0; n * width < warp->kernel->sites[site].size; ++n) {
        emu::exchange(code, lanes, address, operands + n * of_lanes, seconds + n * of_lanes, old + n * of_lanes);
        has_changed |= emu::has_changed(lanes, address, old + n * of_lanes, width);
        for (uint32_t l = 0; l < 32; ++l) address[l] += width;
    }
    if (has_changed && warp->kernel->polling_count) emu::observe_change(*warp);
    // It may wait for another block, as a volatile load does; what is observed tells better whether it does.
    bool is_shared = code >> 8 & 1;
    if (has_changed || is_shared || warp->kernel->observed) return;
    uint64_t look = look_of(lanes, address, operand, width);  // behind all elements, each time
    if (std::exchange(warp->looked_at[site % WarpContext::looked_at_count], look) != look) return;
    warp->fuel -= emu::fuel_of_look;
    ++warp->looks;
}
