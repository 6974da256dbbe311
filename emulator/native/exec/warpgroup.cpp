#include "exec/warpgroup.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "checks/faults.h"
#include "exec/block.h"
#include "exec/bulk_access.h"
#include "exec/fragment.h"
#include "exec/half.h"
#include "exec/scheduler.h"
#include "exec/semantics.h"

namespace emu {

namespace {

using fragments::BF16;
using fragments::F16;
using fragments::F32;
using fragments::S32;
using fragments::S8;
using fragments::TF32;
using fragments::U8;
constexpr uint32_t E4M3 = 11, E5M2 = 12;

constexpr uint32_t rows = 16, most_n = 256, most_k = 32, chunk = 16;

uint32_t bytes_of(uint32_t type) { return type == F16 || type == BF16 ? 2 : type == TF32 ? 4 : 1; }

template <class Number>
Number number(const uint8_t *at, uint32_t type) {
    static const std::vector<float> e4m3 = [] {
        std::vector<float> all;
        for (uint32_t bits = 0; bits < 256; ++bits) all.push_back(e4m3_to_float(static_cast<uint8_t>(bits)));
        return all;
    }();
    uint16_t half;
    uint32_t word;
    switch (type) {
    case F16: std::memcpy(&half, at, 2); return static_cast<Number>(half_to_float(half));
    case BF16: std::memcpy(&half, at, 2); return static_cast<Number>(bfloat_to_float(half));
    case TF32: std::memcpy(&word, at, 4); return static_cast<Number>(float_of(word & 0xffffe000u));
    case E4M3: return static_cast<Number>(e4m3[*at]);
    case E5M2: return static_cast<Number>(half_to_float(static_cast<uint16_t>(*at << 8)));
    case S8: return static_cast<Number>(static_cast<int8_t>(*at));
    default: return static_cast<Number>(*at);
    }
}

// A matrix descriptor: where its pieces of 16 bytes lie in the window of shared memory.
struct Descriptor {
    uint32_t start, leading, stride, mode, width;

    explicit Descriptor(uint64_t bits)
        : start(static_cast<uint32_t>(bits & 0x3fff) << 4),
          leading(static_cast<uint32_t>(bits >> 16 & 0x3fff) << 4),
          stride(static_cast<uint32_t>(bits >> 32 & 0x3fff) << 4) {
        constexpr uint32_t modes[] = {0, 3, 2, 1};
        mode = modes[bits >> 62];
        width = chunk << mode;
    }

    uint32_t place(uint32_t offset) const { return swizzled((start + offset) & 0x3ffff, mode); }
    // Of row (or column) `i`, the piece `half` of its 32 bytes along k.
    uint32_t along_k(uint32_t i, uint32_t half) const {
        if (!mode) return place(i % 8 * chunk + i / 8 * stride + half * leading);
        return place(i % 8 * width + i / 8 * stride + half * chunk);
    }
    // At `k`, of the eight rows (or columns) from 8 `j`.
    uint32_t across(uint32_t j, uint32_t k) const {
        if (!mode) return place(j * stride + k % 8 * chunk + k / 8 * leading);
        uint32_t pieces = width / chunk;
        return place(j / pieces * leading + j % pieces * chunk + k % 8 * width + k / 8 * stride);
    }
};

// Reads matrices from shared memory.
class Reader {
public:
    Reader(WarpContext *warp, uint32_t site) : warp_(warp), site_(site) {}

    // `count` rows of a (from `first`) or columns of b, to out[k * step_k + i * step_i].
    template <class Number>
    void read(const Descriptor &at, bool transposed, uint32_t type, uint32_t first, uint32_t count, uint32_t step_k,
              uint32_t step_i, Number *out) {
        uint32_t size = bytes_of(type), per = chunk / size;
        if (transposed) {
            for (uint32_t k = 0; k < 16; ++k) {
                for (uint32_t j = 0; j < count / 8; ++j) {
                    const uint8_t *from = piece(at.across(first / 8 + j, k));
                    for (uint32_t i = 0; i < 8; ++i)
                        out[k * step_k + (8 * j + i) * step_i] = number<Number>(from + 2 * i, type);
                }
            }
            return;
        }
        // Eight pieces at a time, as hardware does, come from all banks.
        for (uint32_t half = 0; half < 2; ++half) {
            for (uint32_t i = 0; i < count; ++i) {
                const uint8_t *from = piece(at.along_k(first + i, half));
                for (uint32_t e = 0; e < per; ++e)
                    out[(half * per + e) * step_k + i * step_i] = number<Number>(from + e * size, type);
            }
        }
    }

    std::vector<uint64_t> pieces;
    bool keeps = false;

private:
    const uint8_t *piece(uint32_t offset) {
        uint64_t address = reinterpret_cast<uint64_t>(warp_->shared) + offset;
        if (keeps) pieces.push_back(address);
        if (!passes(warp_, site_, address)) {
            uint64_t all[32] = {address};
            check(warp_, site_, 1, all);
            address = all[0];
        }
        return reinterpret_cast<const uint8_t *>(address);
    }

    WarpContext *warp_;
    uint32_t site_;
};

// Of a's rows of a warp, as fragments have them: register r of lane l is of row l / 4 + 8 (r % 2), from byte 4 (l % 4)
// + 16 (r / 2) on.
template <class Number>
void read_registers(const uint32_t *a, uint32_t type, uint32_t k_count, Number *out) {
    uint32_t size = bytes_of(type), per = 4 / size;
    for (uint32_t r = 0; r < 4; ++r) {
        for (uint32_t l = 0; l < 32; ++l) {
            auto *bytes = reinterpret_cast<const uint8_t *>(a + 32 * r + l);
            uint32_t row = l / 4 + 8 * (r % 2), k = (l % 4 + 4 * (r / 2)) * per;
            for (uint32_t e = 0; e < per; ++e) out[row * k_count + k + e] = number<Number>(bytes + e * size, type);
        }
    }
}

// d += a b: eight rows of a, eight columns of b at a time.
template <class Number>
void multiply(uint32_t n, uint32_t k_count, const Number *a, const Number *b, Number *d) {
    typedef Number Eight __attribute__((vector_size(8 * sizeof(Number))));
    for (uint32_t j = 0; j < n; j += 8) {
        for (uint32_t i = 0; i < rows; i += 8) {
            Eight sum[8];
            for (uint32_t r = 0; r < 8; ++r) std::memcpy(&sum[r], d + (i + r) * n + j, sizeof sum[r]);
            for (uint32_t k = 0; k < k_count; ++k) {
                Eight right;
                std::memcpy(&right, b + k * n + j, sizeof right);
                for (uint32_t r = 0; r < 8; ++r) sum[r] += a[(i + r) * k_count + k] * right;
            }
            for (uint32_t r = 0; r < 8; ++r) std::memcpy(d + (i + r) * n + j, &sum[r], sizeof sum[r]);
        }
    }
}

struct Order {
    uint32_t n, type_a, type_b, type_d;
    bool transposed_a, transposed_b, negative, saturates;
};

uint32_t place_in_d(uint32_t n, uint32_t element, uint32_t lane) {
    uint32_t row = lane / 4 + 8 * (element >> 1 & 1), column = 8 * (element >> 2) + lane % 4 * 2 + (element & 1);
    return row * n + column;
}

template <class Number>
void product(WarpContext *warp, uint32_t site, const Order &it, const uint32_t *a, const uint64_t *a_descriptor,
             uint64_t b_descriptor, uint32_t keeps, uint32_t *d) {
    alignas(64) static thread_local Number left[rows * most_k], right[most_k * most_n], sums[rows * most_n];
    uint32_t k_count = 32 / bytes_of(it.type_a), first = warp->warp_id % 4 * rows;
    bool is_half = it.type_d == F16;
    Reader reader(warp, site);
    reader.keeps = !warp->block->observers.empty();
    if (a)
        read_registers(a, it.type_a, k_count, left);
    else
        reader.read(Descriptor(a_descriptor[0]), it.transposed_a, it.type_a, first, rows, 1, k_count, left);
    bool keeps_pieces = reader.keeps;
    reader.keeps &= warp->warp_id % 4 == 0;  // the warps of a group share it
    reader.read(Descriptor(b_descriptor), it.transposed_b, it.type_b, 0, it.n, it.n, 1, right);
    if (it.negative) {
        for (uint32_t i = 0; i < rows * k_count; ++i) left[i] = -left[i];
    }
    for (uint32_t e = 0; e < it.n / 2; ++e) {
        for (uint32_t l = 0; l < 32; ++l) {
            Number value = 0;
            if (keeps >> l & 1) {
                uint32_t word = d[32 * (is_half ? e / 2 : e) + l];
                if (is_half)
                    value = static_cast<Number>(half_to_float(static_cast<uint16_t>(word >> 16 * (e % 2))));
                else
                    std::memcpy(&value, &word, 4);
            }
            sums[place_in_d(it.n, e, l)] = value;
        }
    }
    if (it.saturates) {
        for (uint32_t i = 0; i < rows; ++i) {
            for (uint32_t j = 0; j < it.n; ++j) {
                int64_t sum = static_cast<int64_t>(sums[i * it.n + j]);
                for (uint32_t k = 0; k < k_count; ++k)
                    sum += static_cast<int64_t>(left[i * k_count + k]) * static_cast<int64_t>(right[k * it.n + j]);
                sums[i * it.n + j] = static_cast<Number>(std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX));
            }
        }
    } else {
        multiply(it.n, k_count, left, right, sums);
    }
    for (uint32_t e = 0; e < it.n / 2; ++e) {
        for (uint32_t l = 0; l < 32; ++l) {
            Number value = sums[place_in_d(it.n, e, l)];
            if (!is_half) {
                std::memcpy(d + 32 * e + l, &value, 4);
                continue;
            }
            uint32_t &word = d[32 * (e / 2) + l], half = float_to_half(static_cast<float>(value));
            word = e % 2 ? (word & 0xffff) | half << 16 : half;
        }
    }
    if (keeps_pieces) {
        for (uint64_t piece : reader.pieces) tell_read(warp, site, 0, piece, chunk);
        WarpgroupProducts &products = warp->block->products(warp->warp_id);
        products.pending.push_back({site, products.group, std::move(reader.pieces)});
    }
}

}  // namespace

}  // namespace emu

using namespace emu;

void emu_wgmma(WarpContext *warp, uint32_t site, uint32_t n, uint32_t code, const uint32_t *a,
               const uint64_t *a_descriptor, const uint64_t *b_descriptor, uint32_t keeps, uint32_t *d) {
    bool is_negative = (code >> 14 & 1) != (code >> 15 & 1);
    Order order{n,
                code & 15,
                code >> 4 & 15,
                code >> 8 & 15,
                (code >> 12 & 1) != 0,
                (code >> 13 & 1) != 0,
                is_negative,
                (code >> 16 & 1) != 0};
    for (const uint64_t *descriptor : {a ? nullptr : a_descriptor, b_descriptor}) {
        if (!descriptor || !(*descriptor >> 49 & 7)) continue;
        Fault fault = fault_at({warp, &warp->kernel->sites[site], 0, 0});
        return warp->block->launch.stop(
            cudaErrorNotSupported,
            "wgmma at " + where(fault) +
                ": its matrix descriptor has a base offset, which "
                "the emulator does not know: align the tile to 1024 bytes (512 with 64-byte swizzling)");
    }
    if (order.type_d == S32)
        product<int32_t>(warp, site, order, a, a_descriptor, *b_descriptor, keeps, d);
    else
        product<float>(warp, site, order, a, a_descriptor, *b_descriptor, keeps, d);
}

void emu_wgmma_commit(WarpContext *warp) { ++warp->block->products(warp->warp_id).group; }

void emu_wgmma_wait(WarpContext *warp, uint32_t lanes, uint32_t left) {
    if (!lanes) return;
    BlockContext &block = *warp->block;
    WarpgroupProducts &products = block.products(warp->warp_id);
    products.awaited = products.group - std::min(products.group, left);
    block.wait_at(*warp, BlockContext::warpgroup_barrier + warp->warp_id / warps_of_warpgroup, lanes);
}

bool BlockContext::release_warpgroup(uint32_t id) {
    uint32_t first = (id - warpgroup_barrier) * warps_of_warpgroup,
             end = std::min(first + warps_of_warpgroup, warp_count_);
    return release_lanes(id, [&](uint32_t w, uint32_t) {
        uint32_t awaited = products(w).awaited;
        for (uint32_t other = first; other < end; ++other) {
            if (!warps_[other].done && products(other).group < awaited) return false;
        }
        if (observers.empty()) return true;
        bool any = false;
        for (uint32_t other = first; other < end; ++other) any |= end_products(other, awaited);
        for (auto &observer : observers) observer->warpgroup_wait(warps_[w], any);
        return true;
    });
}

// Tells the observers of the reads of its products of groups below `upto`. Returns whether there are any.
bool BlockContext::end_products(uint32_t w, uint32_t upto) {
    std::vector<WarpgroupProducts::Product> &pending = products(w).pending;
    auto is_due = [&](const WarpgroupProducts::Product &it) {
        if (it.group >= upto) return false;
        for (size_t begin = 0; begin < it.pieces.size(); begin += 32) {
            uint64_t address[32];
            size_t count = std::min<size_t>(32, it.pieces.size() - begin);
            std::copy_n(it.pieces.begin() + static_cast<long>(begin), count, address);
            for (auto &observer : observers)
                observer->access(warps_[w], it.site, count == 32 ? ~0u : (1u << count) - 1, address);
        }
        return true;
    };
    size_t before = pending.size();
    pending.erase(std::remove_if(pending.begin(), pending.end(), is_due), pending.end());
    return pending.size() < before;
}

void emu_wgmma_early(WarpContext *warp, uint32_t site, uint32_t of, uint32_t lanes) {
    Launch &launch = warp->block->launch;
    if (!lanes) return;
    ++launch.faults;
    if (!launch.first_at(site, cudaSuccess)) return;
    const EmuSite &issued = warp->kernel->sites[of];
    Fault fault = fault_at({warp, &warp->kernel->sites[site], static_cast<uint32_t>(__builtin_ctz(lanes)), 0});
    fault.kind = "wgmma not waited for";
    fault.size = 0;
    fault.is_write = false;
    std::string line = issued.line ? " at " + std::string(issued.file) + ":" + std::to_string(issued.line) : "";
    fault.message = fault.kind + " at " + where(fault) + ": it uses registers of the wgmma" + line +
                    ", which is still in flight: wgmma.commit_group and wgmma.wait_group come first";
    launch.report_fault(site, cudaSuccess, std::move(fault));
}

void emu_stmatrix(WarpContext *warp, uint32_t site, uint32_t count, uint32_t transposed, uint64_t *rows_at,
                  const uint32_t *in) {
    check(warp, site, count == 4 ? ~0u : (1u << 8 * count) - 1, rows_at);
    for (uint32_t m = 0; m < count; ++m) {
        for (uint32_t row = 0; row < 8; ++row) {
            uint16_t values[8];
            for (uint32_t column = 0; column < 8; ++column) {
                uint32_t r = transposed ? column : row, c = transposed ? row : column;
                values[column] = static_cast<uint16_t>(in[32 * m + 4 * r + c / 2] >> 16 * (c % 2));
            }
            std::memcpy(reinterpret_cast<void *>(rows_at[8 * m + row]), values, sizeof values);
        }
    }
}
