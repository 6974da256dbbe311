// Device code that a program loads while it runs.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>
#include <vector>

namespace emu {

// Makes a fat binary of what the program gave. `text_bytes`: the most that PTX may have, which else ends with a zero.
// Explains its errors.
cudaError_t read_image(const void *image, std::vector<uint8_t> *out, size_t text_bytes = 0);
cudaError_t read_file(const char *path, std::string *out);

// Where a program wants to read what was wrong with its code.
class JitLogs {
public:
    JitLogs() = default;
    JitLogs(unsigned count, CUjit_option *options, void **values);
    void write(const std::string &errors);

private:
    char *error_log_ = nullptr;
    size_t error_log_size_ = 0;
    void **error_size_ = nullptr, **info_size_ = nullptr;
};

}  // namespace emu
