#include "api/managed.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "api/errors.h"
#include "api/streams.h"

using namespace emu;

namespace {

constexpr uint64_t page_bytes = 4096;  // advice is about whole pages
constexpr int no_device = -2;          // cudaInvalidDeviceId

struct Place {
    cudaMemLocationType type = cudaMemLocationTypeInvalid;
    int id = no_device;

    bool operator==(const Place &) const = default;
    // As attributes without a type have it.
    int device() const {
        if (type == cudaMemLocationTypeInvalid) return no_device;
        return type == cudaMemLocationTypeDevice ? id : cudaCpuDeviceId;
    }
};

struct Advice {
    bool read_mostly = false, by_device = false, by_host = false;
    Place preferred, prefetched;
};

// Each holds up to where the next one begins, or to the end of the allocation.
using AdviceOfAllocation = std::map<uint64_t, Advice>;

std::mutex advice_mutex;
std::map<uint64_t, AdviceOfAllocation> advice;  // by the beginning of the allocation

// The pages of `size` bytes of managed memory.
struct Pages {
    uint64_t allocation = 0, begin = 0, end = 0;
};

bool find_pages(const void *pointer, size_t size, Pages *out) {
    uint64_t address = reinterpret_cast<uint64_t>(pointer);
    auto found = memory().find(address);
    if (!found || !is_managed(found->kind) || !size || size > found->end - address) return false;
    uint64_t end = (address + size + page_bytes - 1) / page_bytes * page_bytes;
    *out = {found->begin, std::max(found->begin, address / page_bytes * page_bytes), std::min(found->end, end)};
    return true;
}

// The advice from `at` on can be changed without that before it.
AdviceOfAllocation::iterator split(AdviceOfAllocation &of, uint64_t at) {
    return of.try_emplace(at, std::prev(of.upper_bound(at))->second).first;
}

template <class Change>
cudaError_t advise(const void *pointer, size_t size, cudaMemLocation location, Change change) {
    Pages pages;
    if (!find_pages(pointer, size, &pages)) return cudaErrorInvalidValue;
    if (location.type == cudaMemLocationTypeDevice && location.id) return cudaErrorInvalidDevice;
    std::lock_guard lock(advice_mutex);
    AdviceOfAllocation &of =
        advice.try_emplace(pages.allocation, AdviceOfAllocation{{pages.allocation, {}}}).first->second;
    auto end = split(of, pages.end), begin = split(of, pages.begin);
    for (auto it = begin; it != end; ++it) change(it->second);
    return cudaSuccess;
}

// Whether all of the pages have it.
template <class Has>
bool all_of(const Pages &pages, Has has) {
    std::lock_guard lock(advice_mutex);
    auto found = advice.find(pages.allocation);
    if (found == advice.end()) return has(Advice{});
    auto it = std::prev(found->second.upper_bound(pages.begin));
    return std::all_of(it, found->second.lower_bound(pages.end), [&](const auto &part) { return has(part.second); });
}

// Where all of the pages are to be; nowhere, if they differ.
Place common_place(const Pages &pages, Place Advice::*which) {
    for (Place place : {Place{cudaMemLocationTypeDevice, 0}, Place{cudaMemLocationTypeHost, 0}}) {
        if (all_of(pages, [&](const Advice &it) { return it.*which == place; })) return place;
    }
    return {};
}

cudaError_t give(void *out, size_t bytes, int value) {
    if (bytes != sizeof value) return cudaErrorInvalidValue;
    std::memcpy(out, &value, sizeof value);
    return cudaSuccess;
}

cudaError_t give_accessors(int *out, size_t bytes, const Pages &pages) {
    if (!bytes || bytes % sizeof *out) return cudaErrorInvalidValue;
    size_t room = bytes / sizeof *out, count = 0;
    if (all_of(pages, [](const Advice &it) { return it.by_device; })) out[count++] = 0;
    if (count < room && all_of(pages, [](const Advice &it) { return it.by_host; })) out[count++] = cudaCpuDeviceId;
    std::fill(out + count, out + room, no_device);
    return cudaSuccess;
}

cudaError_t get_attribute(void *out, size_t bytes, cudaMemRangeAttribute which, const Pages &pages) {
    if (!out) return cudaErrorInvalidValue;
    switch (which) {
    case cudaMemRangeAttributeReadMostly:
        return give(out, bytes, all_of(pages, [](const Advice &it) { return it.read_mostly; }));
    case cudaMemRangeAttributeAccessedBy: return give_accessors(static_cast<int *>(out), bytes, pages);
    case cudaMemRangeAttributePreferredLocation:
        return give(out, bytes, common_place(pages, &Advice::preferred).device());
    case cudaMemRangeAttributePreferredLocationType:
        return give(out, bytes, common_place(pages, &Advice::preferred).type);
    case cudaMemRangeAttributePreferredLocationId: return give(out, bytes, common_place(pages, &Advice::preferred).id);
    case cudaMemRangeAttributeLastPrefetchLocation:
        return give(out, bytes, common_place(pages, &Advice::prefetched).device());
    case cudaMemRangeAttributeLastPrefetchLocationType:
        return give(out, bytes, common_place(pages, &Advice::prefetched).type);
    case cudaMemRangeAttributeLastPrefetchLocationId:
        return give(out, bytes, common_place(pages, &Advice::prefetched).id);
    default: return cudaErrorInvalidValue;
    }
}

// There is one node of the host's memory.
Place place_of(cudaMemLocation location) {
    if (location.type == cudaMemLocationTypeDevice) return {location.type, location.id};
    return {cudaMemLocationTypeHost, 0};
}

}  // namespace

void emu::forget_advice(uint64_t begin) {
    std::lock_guard lock(advice_mutex);
    advice.erase(begin);
}

EMU_API cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t size, cudaMemLocation to, unsigned flags,
                                         cudaStream_t stream) {
    EMU_REQUIRE_DEVICE();
    if (!stream_of(stream)) return fail(cudaErrorInvalidResourceHandle);
    if (flags) return fail(cudaErrorInvalidValue);
    return fail(advise(pointer, size, to, [&](Advice &it) { it.prefetched = place_of(to); }));
}

EMU_API cudaError_t cudaMemAdvise(const void *pointer, size_t size, cudaMemoryAdvise which, cudaMemLocation location) {
    EMU_REQUIRE_DEVICE();
    if (which < cudaMemAdviseSetReadMostly || which > cudaMemAdviseUnsetAccessedBy) return fail(cudaErrorInvalidValue);
    cudaError_t error = advise(pointer, size, location, [&](Advice &it) {
        bool &accessed = location.type == cudaMemLocationTypeDevice ? it.by_device : it.by_host;
        switch (which) {
        case cudaMemAdviseSetReadMostly: it.read_mostly = true; break;
        case cudaMemAdviseUnsetReadMostly: it.read_mostly = false; break;
        case cudaMemAdviseSetPreferredLocation: it.preferred = place_of(location); break;
        case cudaMemAdviseUnsetPreferredLocation: it.preferred = {}; break;
        case cudaMemAdviseSetAccessedBy: accessed = true; break;
        case cudaMemAdviseUnsetAccessedBy: accessed = false; break;
        }
    });
    return error ? fail(cudaErrorInvalidValue) : cudaSuccess;
}

EMU_API cudaError_t cudaMemRangeGetAttribute(void *out, size_t bytes, cudaMemRangeAttribute which, const void *pointer,
                                             size_t size) {
    return cudaMemRangeGetAttributes(&out, &bytes, &which, 1, pointer, size);
}

EMU_API cudaError_t cudaMemRangeGetAttributes(void **out, size_t *bytes, cudaMemRangeAttribute *which, size_t count,
                                              const void *pointer, size_t size) {
    EMU_REQUIRE_DEVICE();
    Pages pages;
    if (!out || !bytes || !which || !count || !find_pages(pointer, size, &pages)) return fail(cudaErrorInvalidValue);
    for (size_t i = 0; i < count; ++i) {
        if (cudaError_t error = get_attribute(out[i], bytes[i], which[i], pages)) return fail(error);
    }
    return cudaSuccess;
}

EMU_PER_THREAD_STREAM(cudaMemPrefetchAsync, _ptsz);
