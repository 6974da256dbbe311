#include "driver/images.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "api/fat_binary.h"
#include "checks/call_errors.h"
#include "report/report.h"

namespace emu {

namespace {

constexpr const char *only_machine_code =
    "a module of machine code alone (a cubin): give it PTX, as `nvcc -ptx` writes, or a fat binary with PTX in it (for "
    "libraries that make "
    "cubins see \"Driver API\" in emulator/README.md)";

}  // namespace

cudaError_t read_image(const void *image, std::vector<uint8_t> *out, size_t text_bytes) {
    switch (kind_of_image(image)) {
    case ImageKind::fat_binary: *out = fat_binary_at(image); return cudaSuccess;
    case ImageKind::wrapper: return read_image(static_cast<const FatBinaryWrapper *>(image)->data, out);
    case ImageKind::machine_code:
        report().set_unsupported(only_machine_code);
        explain("", only_machine_code);
        return cudaErrorNoKernelImageForDevice;
    case ImageKind::text: break;
    }
    auto text = static_cast<const char *>(image);
    std::string_view ptx(text, text_bytes ? strnlen(text, text_bytes) : std::strlen(text));
    if (ptx.find(".version") == ptx.npos) {
        explain("", "the image is neither PTX nor a fat binary");
        return cudaErrorInvalidKernelImage;
    }
    *out = fat_binary_of(ptx);
    return cudaSuccess;
}

cudaError_t read_file(const char *path, std::string *out) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        explain("", std::string(path) + " cannot be read");
        return cudaErrorFileNotFound;
    }
    out->assign(std::istreambuf_iterator<char>(file), {});
    return cudaSuccess;
}

JitLogs::JitLogs(unsigned count, CUjit_option *options, void **values) {
    for (unsigned i = 0; options && values && i < count; ++i) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: error_log_ = static_cast<char *>(values[i]); break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            // The size itself is where the pointer would be.
            error_log_size_ = reinterpret_cast<size_t>(values[i]) & 0xffffffffu;
            error_size_ = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: info_size_ = &values[i]; break;
        default: break;
        }
    }
}

void JitLogs::write(const std::string &errors) {
    size_t size = error_log_ && error_log_size_ ? std::min(errors.size(), error_log_size_ - 1) : 0;
    if (error_log_ && error_log_size_) {
        std::memcpy(error_log_, errors.data(), size);
        error_log_[size] = 0;
    }
    if (error_size_) *error_size_ = reinterpret_cast<void *>(size);
    if (info_size_) *info_size_ = nullptr;
}

}  // namespace emu
