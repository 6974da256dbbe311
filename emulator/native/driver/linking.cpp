// Linking of PTX and fat binaries. What comes out is a fat binary of the parts, which are linked when it is loaded.

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/fat_binary.h"
#include "checks/call_errors.h"
#include "driver/call.h"
#include "driver/images.h"

using namespace emu;

namespace {

struct Linking {
    std::vector<std::vector<uint8_t>> parts;
    std::vector<uint8_t> result;
    JitLogs logs;
};

std::mutex linkings_mutex;
std::map<CUlinkState, std::unique_ptr<Linking>> linkings;

cudaError_t with_linking(CUlinkState state, auto work) {
    std::lock_guard lock(linkings_mutex);
    auto found = linkings.find(state);
    return found == linkings.end() ? fail(cudaErrorInvalidResourceHandle) : work(*found->second);
}

cudaError_t add(CUlinkState state, CUjitInputType type, const void *data, size_t size) {
    bool is_known = type == CU_JIT_INPUT_PTX || type == CU_JIT_INPUT_FATBINARY || type == CU_JIT_INPUT_CUBIN;
    if (!is_known) return unsupported_call("cuLinkAddData of anything but PTX and fat binaries");
    if (!data || !size) return fail(cudaErrorInvalidValue);
    return with_linking(state, [&](Linking &linking) {
        std::vector<uint8_t> part;
        if (cudaError_t error = read_image(data, &part, size)) {
            linking.logs.write("an input is no PTX");
            return fail(error);
        }
        linking.parts.push_back(std::move(part));
        return cudaSuccess;
    });
}

}  // namespace

EMU_API CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *out) {
    return in_context([=] {
        if (!out) return fail(cudaErrorInvalidValue);
        auto linking = std::make_unique<Linking>();
        linking->logs = JitLogs(count, options, values);
        *out = reinterpret_cast<CUlinkState>(linking.get());
        std::lock_guard lock(linkings_mutex);
        linkings[*out] = std::move(linking);
        return cudaSuccess;
    });
}
EMU_ALSO(cuLinkCreate_v2, cuLinkCreate);

EMU_API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *,
                                  unsigned, CUjit_option *, void **) {
    return in_context([=] { return add(state, type, data, size); });
}
EMU_ALSO(cuLinkAddData_v2, cuLinkAddData);

EMU_API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned, CUjit_option *,
                                  void **) {
    return in_context([=] {
        std::string content;
        if (!path) return fail(cudaErrorInvalidValue);
        if (cudaError_t error = read_file(path, &content)) return fail(error);
        return add(state, type, content.c_str(), content.size());
    });
}
EMU_ALSO(cuLinkAddFile_v2, cuLinkAddFile);

EMU_API CUresult cuLinkComplete(CUlinkState state, void **out, size_t *size) {
    return in_context([=] {
        return with_linking(state, [=](Linking &linking) {
            if (!out || linking.parts.empty()) return fail(cudaErrorInvalidValue);
            std::vector<const void *> parts;
            for (const auto &part : linking.parts) parts.push_back(part.data());
            parts.push_back(nullptr);
            linking.result = joined(parts.data());
            linking.logs.write("");
            *out = linking.result.data();
            if (size) *size = linking.result.size();
            return cudaSuccess;
        });
    });
}

EMU_API CUresult cuLinkDestroy(CUlinkState state) {
    return in_context([=] {
        std::lock_guard lock(linkings_mutex);
        return linkings.erase(state) ? cudaSuccess : fail(cudaErrorInvalidResourceHandle);
    });
}
