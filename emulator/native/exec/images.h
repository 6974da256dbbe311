// What texture and surface objects stand for: images in device memory, and how they are sampled.
//
// A handle is a number that is never given twice, so that one that was destroyed is known as such. What an object says
// of memory is a claim: each access to it passes memcheck.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace emu {

constexpr uint32_t most_image_levels = 18;

// One mipmap level. Layers, and a cubemap's faces, lie behind each other as slices do.
struct ImageLevel {
    uint64_t address, pitch, slice;  // bytes between rows, and between slices
    uint32_t width, height, depth;   // in texels; at least 1
};

struct Image {
    cudaChannelFormatKind kind;
    uint32_t bits[4];  // of each channel, 0: there is none
    uint32_t is_linear, is_layered, is_cubemap;
    uint32_t level_count;
    ImageLevel levels[most_image_levels];

    uint32_t channels() const { return !bits[1] ? 1 : !bits[2] ? 2 : 4; }
    uint32_t texel_bytes() const { return bits[0] / 8 * channels(); }
};

struct Sampler {
    cudaTextureAddressMode address_modes[3];
    cudaTextureFilterMode filter, between_levels;
    uint32_t normalizes_values, is_srgb, normalized_coordinates;
    float border[4];
    float level_bias, least_level, most_level;
};

struct ImageObject {
    uint32_t is_surface;
    Image image;
    Sampler sampler;
};

// Whether hardware has texels of this format.
bool is_format(const Image &);
// Whether its formats and modes are some that there are, and sizes are not 0.
bool is_sound(const ImageObject &);

template <class Wire>
void pass(Wire &wire, ImageLevel &it) {
    wire(it.address, it.pitch, it.slice, it.width, it.height, it.depth);
}
template <class Wire>
void pass(Wire &wire, Image &it) {
    wire(it.kind, it.bits, it.is_linear, it.is_layered, it.is_cubemap, it.level_count, it.levels);
}
template <class Wire>
void pass(Wire &wire, Sampler &it) {
    wire(it.address_modes, it.filter, it.between_levels, it.normalizes_values, it.is_srgb, it.normalized_coordinates,
         it.border);
    wire(it.level_bias, it.least_level, it.most_level);
}
template <class Wire>
void pass(Wire &wire, ImageObject &it) {
    wire(it.is_surface, it.image, it.sampler);
}

// The objects as they were at one moment.
struct ImageView {
    std::map<uint64_t, std::shared_ptr<const ImageObject>> objects;
    uint64_t next_handle = 1;

    const ImageObject *find(uint64_t handle) const {
        auto found = objects.find(handle);
        return found == objects.end() ? nullptr : found->second.get();
    }
    bool was_destroyed(uint64_t handle) const { return handle && handle < next_handle && !objects.count(handle); }
};

class ImageObjects {
public:
    uint64_t add(const ImageObject &object);
    // False where the handle has been given already.
    bool add_at(uint64_t handle, const ImageObject &object);
    bool remove(uint64_t handle);
    void clear();
    std::shared_ptr<const ImageView> view() const;

private:
    // The next view, which nobody has seen yet.
    std::shared_ptr<ImageView> changed() const { return std::make_shared<ImageView>(*view_); }

    mutable std::mutex mutex_;
    std::shared_ptr<const ImageView> view_ = std::make_shared<ImageView>();
};

ImageObjects &image_objects();

}  // namespace emu
