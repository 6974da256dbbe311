#include "exec/images.h"

#include <algorithm>

namespace emu {

namespace {

constexpr uint32_t most_texels = 1 << 28;  // along one axis: those of a texture of linear memory

bool is_size(uint32_t texels) { return texels && texels <= most_texels; }

}  // namespace

bool is_format(const Image &image) {
    uint32_t bits = image.bits[0], count = image.channels();
    bool is_float = image.kind == cudaChannelFormatKindFloat;
    if (!is_float && image.kind != cudaChannelFormatKindSigned && image.kind != cudaChannelFormatKindUnsigned)
        return false;
    if (bits != 16 && bits != 32 && (bits != 8 || is_float)) return false;
    return std::all_of(image.bits, image.bits + 4,
                       [&, index = 0u](uint32_t it) mutable { return it == (index++ < count ? bits : 0); });
}

bool is_sound(const ImageObject &object) {
    const auto &[is_surface, image, sampler] = object;
    if (!is_format(image) || !image.level_count || image.level_count > most_image_levels) return false;
    for (uint32_t i = 0; i < image.level_count; ++i) {
        const ImageLevel &level = image.levels[i];
        if (!is_size(level.width) || !is_size(level.height) || !is_size(level.depth)) return false;
    }
    for (cudaTextureAddressMode mode : sampler.address_modes) {
        if (mode < cudaAddressModeWrap || mode > cudaAddressModeBorder) return false;
    }
    auto is_filter = [](cudaTextureFilterMode it) { return it == cudaFilterModePoint || it == cudaFilterModeLinear; };
    return is_filter(sampler.filter) && is_filter(sampler.between_levels) &&
           (!image.is_cubemap || image.levels[0].depth % 6 == 0);
}

uint64_t ImageObjects::add(const ImageObject &object) {
    std::lock_guard lock(mutex_);
    auto next = changed();
    uint64_t handle = next->next_handle++;
    next->objects[handle] = std::make_shared<ImageObject>(object);
    view_ = std::move(next);
    return handle;
}

bool ImageObjects::add_at(uint64_t handle, const ImageObject &object) {
    std::lock_guard lock(mutex_);
    if (!handle || handle < view_->next_handle || handle == ~uint64_t{0}) return false;
    auto next = changed();
    next->objects[handle] = std::make_shared<ImageObject>(object);
    next->next_handle = handle + 1;
    view_ = std::move(next);
    return true;
}

bool ImageObjects::remove(uint64_t handle) {
    std::lock_guard lock(mutex_);
    if (!view_->find(handle)) return false;
    auto next = changed();
    next->objects.erase(handle);
    view_ = std::move(next);
    return true;
}

void ImageObjects::clear() {
    std::lock_guard lock(mutex_);
    auto next = changed();
    next->objects.clear();
    view_ = std::move(next);
}

std::shared_ptr<const ImageView> ImageObjects::view() const {
    std::lock_guard lock(mutex_);
    return view_;
}

ImageObjects &image_objects() {
    static ImageObjects *instance = new ImageObjects;  // as the memory
    return *instance;
}

}  // namespace emu
