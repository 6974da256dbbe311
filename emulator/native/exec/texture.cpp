// Texture fetches. As hardware has it, a filter's weights have eight bits of fraction.

#include <algorithm>
#include <cmath>
#include <cstring>

#include "exec/block.h"
#include "exec/half.h"
#include "exec/image_access.h"
#include "exec/semantics.h"

namespace emu {

namespace {

constexpr uint32_t most_taps = 16;  // eight of each of two levels
constexpr double fraction = 256;

// A texel and its weight. No address: the border, or nothing (of linear memory).
struct Tap {
    uint64_t address;
    double weight;
};

struct Taps {
    Tap of[most_taps];
    uint32_t count = 0;
};

// What is fetched along one axis: one or two places, -1: outside of the image.
struct Places {
    int64_t at[2];
    double weight[2];
    uint32_t count;
};

int64_t addressed(int64_t at, int64_t size, cudaTextureAddressMode mode) {
    switch (mode) {
    case cudaAddressModeWrap: return (at % size + size) % size;
    case cudaAddressModeMirror: {
        int64_t in_pair = (at % (2 * size) + 2 * size) % (2 * size);
        return in_pair < size ? in_pair : 2 * size - 1 - in_pair;
    }
    case cudaAddressModeBorder: return at < 0 || at >= size ? -1 : at;
    default: return std::clamp<int64_t>(at, 0, size - 1);
    }
}

// A number with which integers can be computed.
double bounded(double value) {
    constexpr double most = 1e12;
    return std::isnan(value) ? 0 : std::clamp(value, -most, most);
}

// `place` is in texels. `both`: always two places, whatever the weights.
Places places_along(double place, int64_t size, cudaTextureAddressMode mode, bool filters, bool both = false) {
    if (!filters) return {{addressed(static_cast<int64_t>(std::floor(bounded(place))), size, mode), 0}, {1, 0}, 1};
    int64_t fixed = static_cast<int64_t>(std::floor(bounded((place - 0.5) * fraction + 0.5)));
    int64_t first = fixed >> 8;
    double second_weight = static_cast<double>(fixed & 255) / fraction;
    // What has no weight is not read: nobody needs to have written it.
    return {{addressed(first, size, mode), addressed(first + 1, size, mode)},
            {1 - second_weight, second_weight},
            both || second_weight > 0 ? 2u : 1u};
}

// A lane's place in a texture, in the coordinates of its object.
struct Place {
    double at[3];
    uint32_t axes, first_slice;  // the layer, and the cubemap's face
};

// The face of a cubemap, and the place in it.
uint32_t face_of(const double at[3], double *s, double *t) {
    double x = at[0], y = at[1], z = at[2], major = std::abs(x);
    uint32_t face = x < 0;
    if (std::abs(y) > major) major = std::abs(y), face = 2 + (y < 0);
    if (std::abs(z) > major) major = std::abs(z), face = 4 + (z < 0);
    const double right[] = {-z, z, x, x, x, -x}, down[] = {-y, -y, z, -z, -y, -y};
    *s = major ? (right[face] / major + 1) / 2 : 0.5;
    *t = major ? (down[face] / major + 1) / 2 : 0.5;
    return face;
}

double coordinate(uint32_t bits, bool is_integer) { return is_integer ? static_cast<int32_t>(bits) : float_of(bits); }

// `code` of emu_texture.
struct Form {
    Geometry geometry;
    bool integers, gathers;
    uint32_t level_from, component;  // 0: none, 1: a number, 2: gradients
};

Form form_of(uint32_t code) {
    return {static_cast<Geometry>(code & 7), (code >> 3 & 1) != 0, (code >> 6 & 1) != 0, code >> 4 & 3, code >> 8 & 3};
}

Place place_of(const Image &image, const Form &form, const uint32_t *coordinates, uint32_t lane) {
    Place place{{}, axes_of(form.geometry), 0};
    uint32_t layer = 0, begin = has_layer(form.geometry);
    if (begin) layer = coordinates[lane];
    for (uint32_t d = 0; d < place.axes; ++d)
        place.at[d] = coordinate(coordinates[32 * (begin + d) + lane], form.integers);
    bool is_cube = form.geometry == Geometry::cube || form.geometry == Geometry::cube_layers;
    uint32_t slices = image.levels[0].depth, layers = is_cube ? std::max(1u, slices / 6) : slices;
    // The number has no sign: below the first layer lies the last.
    layer = std::min(layer, layers - 1);
    place.first_slice = layer;
    if (is_cube) {
        double s, t;
        place.first_slice = std::min(6 * layer + face_of(place.at, &s, &t), slices - 1);
        place.at[0] = s;
        place.at[1] = t;
        place.axes = 2;
    }
    return place;
}

// log2 of the texels between neighbours, from the derivatives of the coordinates.
double level_of_gradients(const ImageObject &object, const float *gradients, uint32_t axes, uint32_t lane) {
    const ImageLevel &base = object.image.levels[0];
    const double size[] = {double(base.width), double(base.height), double(base.depth)};
    double longest = 0;
    for (uint32_t direction = 0; direction < 2; ++direction) {
        double square = 0;
        for (uint32_t d = 0; d < axes; ++d) {
            double step =
                gradients[32 * (direction * axes + d) + lane] * (object.sampler.normalized_coordinates ? size[d] : 1);
            square += step * step;
        }
        longest = std::max(longest, square);
    }
    return std::log2(longest) / 2;
}

// The part of `weight` (of 256) that one of two places gets.
int part_of(int weight, const Places &places, uint32_t which) {
    if (places.count == 1) return weight;
    int second = (weight * static_cast<int>(places.weight[1] * fraction) + 128) >> 8;
    return which ? second : weight - second;
}

// An H200 divides 256 among the texels of a filter, rounding each time. Of three dimensions y comes last, as far as was
// seen: ten of twelve fetches agreed, two differed by a 256th.
double weight_of(const Places along[3], uint32_t x, uint32_t y, uint32_t z) {
    int weight = part_of(static_cast<int>(fraction), along[0], x);
    return part_of(part_of(weight, along[2], z), along[1], y) / fraction;
}

void add_taps(const ImageObject &object, const Form &form, const Place &place, uint32_t index, double weight,
              Taps *taps) {
    const auto &[is_surface, image, sampler] = object;
    const ImageLevel &level = image.levels[index];
    bool is_cube = form.geometry == Geometry::cube || form.geometry == Geometry::cube_layers;
    bool normalized = !form.integers && (sampler.normalized_coordinates || is_cube);
    bool filters = form.gathers || (sampler.filter == cudaFilterModeLinear && !form.integers);
    const uint32_t size[] = {level.width, level.height, level.depth};
    Places along[3] = {{{0}, {1}, 1}, {{0}, {1}, 1}, {{0}, {1}, 1}};
    for (uint32_t d = 0; d < place.axes; ++d) {
        cudaTextureAddressMode mode = sampler.address_modes[d];
        bool repeats = mode == cudaAddressModeWrap || mode == cudaAddressModeMirror;
        if (image.is_linear)
            mode = cudaAddressModeBorder;
        else if (is_cube || (repeats && !normalized))
            mode = cudaAddressModeClamp;
        along[d] = places_along(place.at[d] * (normalized ? size[d] : 1), size[d], mode, filters, form.gathers);
    }
    // A row alone lies between the borders above and below it.
    bool has_border_above = form.geometry == Geometry::of_1d && filters && !image.is_linear &&
                            sampler.address_modes[1] == cudaAddressModeBorder;
    if (has_border_above) along[1] = {{-1, 0}, {0.5, 0.5}, 2};
    for (uint32_t z = 0; z < along[2].count; ++z) {
        for (uint32_t y = 0; y < along[1].count; ++y) {
            for (uint32_t x = 0; x < along[0].count; ++x) {
                int64_t at_x = along[0].at[x], at_y = along[1].at[y],
                        at_z = place.axes == 3 ? along[2].at[z] : place.first_slice;
                bool inside = at_x >= 0 && at_y >= 0 && at_z >= 0;
                uint64_t address = inside ? texel_address(image, level, static_cast<uint32_t>(at_x),
                                                          static_cast<uint32_t>(at_y), static_cast<uint32_t>(at_z))
                                          : 0;
                taps->of[taps->count++] = {address, weight * weight_of(along, x, y, z)};
            }
        }
    }
}

Taps taps_of(const ImageObject &object, const Form &form, const uint32_t *coordinates, const float *levels,
             uint32_t lane) {
    const auto &[is_surface, image, sampler] = object;
    Place place = place_of(image, form, coordinates, lane);
    Taps taps;
    uint32_t last = image.level_count - 1;
    double level = form.level_from == 1   ? levels[lane]
                   : form.level_from == 2 ? level_of_gradients(object, levels, axes_of(form.geometry), lane)
                                          : 0;
    level = std::min<double>(std::max<double>(bounded(level) + sampler.level_bias, sampler.least_level),
                             sampler.most_level);
    level = std::clamp<double>(bounded(level), 0, last);
    if (!last || form.gathers || sampler.between_levels == cudaFilterModePoint) {
        add_taps(object, form, place, form.gathers ? 0 : static_cast<uint32_t>(std::floor(level + 0.5)), 1, &taps);
        return taps;
    }
    uint32_t fixed = static_cast<uint32_t>(level * fraction + 0.5), first = fixed >> 8;
    double second_weight = (fixed & 255) / fraction;
    add_taps(object, form, place, first, 1 - second_weight, &taps);
    if (second_weight > 0) add_taps(object, form, place, first + 1, second_weight, &taps);
    return taps;
}

struct Texel {
    double number[4];  // where it is filtered
    uint32_t bits[4];  // where it is not
};

double linear_of_srgb(double value) {
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

bool gives_numbers(const ImageObject &object) {
    return object.image.kind == cudaChannelFormatKindFloat ||
           (object.sampler.normalizes_values && object.image.bits[0] < 32);
}

// Channels that the format lacks are 0, the fourth is 1.
Texel texel_at(const ImageObject &object, const uint8_t *at) {
    const auto &[is_surface, image, sampler] = object;
    bool numbers = gives_numbers(object), is_signed = image.kind == cudaChannelFormatKindSigned;
    Texel texel{{0, 0, 0, 1}, {0, 0, 0, 1}};
    uint32_t width = image.bits[0];
    for (uint32_t c = 0; c < image.channels(); ++c) {
        uint32_t bits = 0;
        std::memcpy(&bits, at + c * width / 8, width / 8);
        if (image.kind == cudaChannelFormatKindFloat) {
            texel.number[c] = width == 16 ? half_to_float(static_cast<uint16_t>(bits)) : float_of(bits);
            continue;
        }
        int32_t value =
            is_signed ? static_cast<int32_t>(bits << (32 - width)) >> (32 - width) : static_cast<int32_t>(bits);
        texel.bits[c] = static_cast<uint32_t>(value);
        if (!numbers) continue;
        double most = is_signed ? (1 << (width - 1)) - 1 : (1 << width) - 1;
        texel.number[c] = std::max(-1.0, value / most);
        if (sampler.is_srgb && width == 8 && !is_signed && c < 3) texel.number[c] = linear_of_srgb(texel.number[c]);
    }
    return texel;
}

Texel border_of(const ImageObject &object) {
    const auto &[is_surface, image, sampler] = object;
    Texel texel{};
    if (image.is_linear) return texel;
    for (uint32_t c = 0; c < 4; ++c) {
        texel.number[c] = sampler.border[c];
        texel.bits[c] = static_cast<uint32_t>(static_cast<int64_t>(bounded(sampler.border[c])));
    }
    return texel;
}

// A lane's result so far.
struct Sum {
    double number[4] = {};
    uint32_t bits[4] = {};
};

void add(Sum *sum, const Texel &texel, double weight, bool is_first) {
    for (uint32_t c = 0; c < 4; ++c) {
        // By a product alone, so that infinity times nothing else stays what it is.
        sum->number[c] = is_first ? texel.number[c] * weight : sum->number[c] + texel.number[c] * weight;
        if (is_first) sum->bits[c] = texel.bits[c];
    }
}

// Reads the texels that the lanes have as their tap number `number`.
void read_taps(WarpContext *warp, uint32_t site, const ImageObject &object, const Form &form, uint32_t lanes,
               const Taps *taps, uint32_t number, Sum *sums) {
    uint64_t address[32] = {};
    uint32_t inside = 0;
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
        address[l] = taps[l].of[number].address;
        inside |= uint32_t{address[l] != 0} << l;
    }
    if (inside) {
        for (auto &observer : warp->block->observers) observer->access(*warp, site, inside, address);
        check(warp, site, inside, address);
    }
    const Texel border = border_of(object);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
        Texel texel = inside >> l & 1 ? texel_at(object, reinterpret_cast<const uint8_t *>(address[l])) : border;
        if (!form.gathers) {
            add(&sums[l], texel, taps[l].of[number].weight, number == 0);
            continue;
        }
        // From the lower left one on, against the clock.
        constexpr uint32_t place[] = {3, 2, 0, 1};
        sums[l].number[place[number]] = texel.number[form.component];
        sums[l].bits[place[number]] = texel.bits[form.component];
    }
}

}  // namespace

}  // namespace emu

using namespace emu;

void emu_texture(WarpContext *warp, uint32_t first_site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                 const uint32_t *coordinates, const float *levels, uint32_t *out) {
    Form form = form_of(code);
    while (lanes) {
        auto [same, object] = take_object(warp, first_site, lanes, handles, false);
        lanes &= ~same;
        Sum sums[32];
        if (object) {
            Taps taps[32];
            uint32_t most = 0;
            for (uint32_t rest = same; rest; rest &= rest - 1) {
                uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
                taps[l] = taps_of(*object, form, coordinates, levels, l);
                most = std::max(most, taps[l].count);
            }
            uint32_t site = first_site + static_cast<uint32_t>(__builtin_ctz(object->image.texel_bytes()));
            for (uint32_t number = 0; number < most; ++number) {
                uint32_t with = 0;
                for (uint32_t rest = same; rest; rest &= rest - 1) {
                    uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
                    with |= uint32_t{number < taps[l].count} << l;
                }
                read_taps(warp, site, *object, form, with, taps, number, sums);
            }
        }
        bool numbers = object && gives_numbers(*object);
        bool gives_halves = numbers && object->image.kind == cudaChannelFormatKindFloat && object->image.bits[0] == 16;
        for (uint32_t rest = same; rest; rest &= rest - 1) {
            uint32_t l = static_cast<uint32_t>(__builtin_ctz(rest));
            for (uint32_t c = 0; c < 4; ++c) {
                float number = static_cast<float>(sums[l].number[c]);
                if (gives_halves) number = half_to_float(float_to_half(number));
                out[32 * c + l] = numbers ? bits_of(number) : sums[l].bits[c];
            }
        }
    }
}

void emu_texture_query(WarpContext *warp, uint32_t site, uint32_t lanes, uint32_t code, const uint64_t *handles,
                       uint32_t *out) {
    bool of_surface = (code >> 8 & 1) != 0;
    while (lanes) {
        auto [same, object] = take_object(warp, site, lanes, handles, of_surface);
        lanes &= ~same;
        uint32_t answer = 0;
        if (object) {
            const auto &[is_surface, image, sampler] = *object;
            const ImageLevel &base = image.levels[0];
            uint32_t layers = image.is_cubemap ? base.depth / 6 : base.depth;
            bool is_flat = image.is_layered || image.is_cubemap;
            const uint32_t answers[] = {base.width,           base.height,       is_flat ? 1 : base.depth,
                                        is_flat ? layers : 1, image.level_count, sampler.normalized_coordinates};
            answer = answers[std::min<size_t>(code & 255, std::size(answers) - 1)];
        }
        for (uint32_t rest = same; rest; rest &= rest - 1) out[__builtin_ctz(rest)] = answer;
    }
}
