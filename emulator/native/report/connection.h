// A connection to `python -m emulator`: one question at a time.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace emu {

enum class Question : uint32_t {
    load_module = 1,
    describe_kernel = 2,
    compile_kernel = 3,
    make_code = 4,
    count_registers = 5,
    modelled_time = 6
};

// Keeps the reason; returns the error.
int failed(cudaError_t error, const std::string &reason);

class Connection {
public:
    Connection() = default;
    Connection(const Connection &) = delete;
    ~Connection();

    // Where connections lead.
    static void set_path(const std::string &socket_path);

    bool open();
    // Gives the code of the answer, after it has said why when that is an error.
    int ask(Question question, const std::string &content, std::string *answer);

private:
    bool exchange(Question question, const std::string &content, int32_t *code, std::string *answer);
    bool send_all(std::string_view bytes);
    bool receive(void *to, size_t size);

    std::mutex mutex_;
    int socket_ = -1;
};

}  // namespace emu
