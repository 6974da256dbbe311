#include "report/remote.h"

#include <cuda_runtime_api.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "abi.h"
#include "api/errors.h"
#include "api/modules.h"
#include "exec/object_code.h"
#include "host.h"
#include "profile/counters.h"
#include "report/descriptors.h"
#include "report/report.h"
#include "report/wire.h"

namespace emu {

namespace {

enum class Question : uint32_t {
    load_module = 1,
    describe_kernel = 2,
    compile_kernel = 3,
    make_code = 4,
    count_registers = 5,
    modelled_time = 6
};

// Of a fat binary: see emulator/runtime/fatbinary.py.
struct FatBinaryHeader {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};
constexpr uint32_t fat_binary_magic = 0xba55ed50;
constexpr uint64_t largest_fat_binary = 1 << 30;

// A pointer in a variable's initial value.
struct Relocation {
    uint32_t offset, size;
    std::string symbol;
    uint64_t known;  // the address, where it is no variable's
    int64_t addend;
};

template <class Wire>
void pass(Wire &wire, Relocation &it) {
    wire(it.offset, it.size, it.symbol, it.known, it.addend);
}

struct RemoteVariable {
    std::string name;
    uint64_t size, alignment;
    uint32_t is_constant;
    std::string initial;
    std::vector<Relocation> relocations;
};

template <class Wire>
void pass(Wire &wire, RemoteVariable &it) {
    wire(it.name, it.size, it.alignment, it.is_constant, it.initial, it.relocations);
}

struct Site {
    uint32_t file, line;
    uint8_t size, order, kind, space;
    uint32_t block, atomic_form, shared_begin, shared_end, element_size, copied;
};

template <class Wire>
void pass(Wire &wire, Site &it) {
    wire(it.file, it.line, it.size, it.order, it.kind, it.space, it.block, it.atomic_form, it.shared_begin,
         it.shared_end, it.element_size, it.copied);
}

struct Line {
    uint32_t file, line;
};

template <class Wire>
void pass(Wire &wire, Line &it) {
    wire(it.file, it.line);
}

struct SharedArray {
    std::string name;
    uint32_t offset, size;
};

template <class Wire>
void pass(Wire &wire, SharedArray &it) {
    wire(it.name, it.offset, it.size);
}

struct Content {
    uint32_t file, line, block;
    uint32_t instructions[class_count], flops[flop_types];
};

template <class Wire>
void pass(Wire &wire, Content &it) {
    wire(it.file, it.line, it.block, it.instructions, it.flops);
}

struct Code {
    uint32_t function;  // EMU_UNIFORM or EMU_MASKED
    std::string object;
};

template <class Wire>
void pass(Wire &wire, Code &it) {
    wire(it.function, it.object);
}

// A kernel and all that its EmuKernel points to. It stays for the rest of the process.
struct RemoteKernel {
    EmuKernel native = {};
    uint64_t number = 0;  // by which the server knows it
    std::string name;
    std::vector<uint32_t> param_offsets, param_sizes;
    std::vector<std::string> files, symbol_names;
    std::vector<Site> plain_sites;
    std::vector<EmuSite> sites;
    std::vector<Line> plain_block_lines;
    std::vector<EmuLine> block_lines;
    std::vector<SharedArray> plain_shared_arrays;
    std::vector<EmuSharedArray> shared_arrays;
    std::vector<Content> plain_contents;
    std::vector<EmuContent> contents;
    std::vector<uint32_t> polling, live_ends, live, waiting;
    std::vector<uint64_t> symbols;
    std::vector<Code> code;

    // False when it makes no sense.
    bool read(const std::string &bytes) {
        Reader reader(bytes);
        reader(number, name, native.block, native.register_bytes, native.shared_bytes, native.reserved_shared_bytes,
               native.local_bytes, native.param_bytes, param_offsets, param_sizes, files, plain_sites,
               plain_block_lines, plain_shared_arrays, symbol_names, native.max_threads, native.uses_stack,
               native.uses_barriers, native.uses_grid_barrier, native.block_count, native.observed, native.hot_after,
               plain_contents, polling, live_ends, live, waiting, code);
        if (!reader.is_whole() || param_offsets.size() != param_sizes.size()) return false;
        for (const Site &it : plain_sites) {
            if (it.file >= files.size()) return false;
            sites.push_back({files[it.file].c_str(), it.line, it.size, it.order, it.kind, it.space, it.block,
                             it.atomic_form, it.shared_begin, it.shared_end, it.element_size, it.copied});
        }
        for (const Line &it : plain_block_lines) {
            if (it.file >= files.size()) return false;
            block_lines.push_back({files[it.file].c_str(), it.line});
        }
        if (block_lines.size() < size_t{2} * native.block_count) return false;  // further segments follow
        native.block_lines = block_lines.data();
        for (const SharedArray &it : plain_shared_arrays) {
            shared_arrays.push_back({it.name.c_str(), it.offset, it.size});
        }
        native.shared_arrays = shared_arrays.data();
        native.shared_array_count = static_cast<uint32_t>(shared_arrays.size());
        for (const Content &it : plain_contents) {
            if (it.file >= files.size() || it.block >= native.block_count) return false;
            EmuContent &content = contents.emplace_back();
            content = {files[it.file].c_str(), it.line, it.block, {}, {}};
            std::copy_n(it.instructions, class_count, content.instructions);
            std::copy_n(it.flops, flop_types, content.flops);
        }
        native.content_count = static_cast<uint32_t>(contents.size());
        native.contents = contents.data();
        if (!polling.empty() && (live_ends.size() != native.block_count || 2 * live_ends.back() != live.size()))
            return false;
        native.polling_count = static_cast<uint32_t>(polling.size());
        native.polling = polling.data();
        native.live_ends = live_ends.data();
        native.live = live.data();
        native.waiting_count = static_cast<uint32_t>(waiting.size());
        native.waiting = waiting.data();
        native.name = name.c_str();
        native.param_count = static_cast<uint32_t>(param_offsets.size());
        native.param_offsets = param_offsets.data();
        native.param_sizes = param_sizes.data();
        native.site_count = static_cast<uint32_t>(sites.size());
        native.sites = sites.data();
        return true;
    }
};

// Never destroyed: a thread may still make code when the process ends.
std::string &socket_path = *new std::string;
std::mutex kernels_mutex;
auto &kernels = *new std::map<const EmuKernel *, std::unique_ptr<RemoteKernel>>;

int failed(cudaError_t error, const std::string &reason) {
    failure_reason() = reason;
    return error;
}

int gone() { return failed(cudaErrorInitializationError, "`python -m emulator` is gone"); }

int broken_answer() { return failed(cudaErrorInitializationError, "an answer of `python -m emulator` makes no sense"); }

// One question at a time.
class Connection {
public:
    Connection() = default;
    Connection(const Connection &) = delete;
    ~Connection() {
        if (socket_ >= 0) close(socket_);
    }

    bool open() {
        sockaddr_un address = {};
        address.sun_family = AF_UNIX;
        if (socket_path.size() >= sizeof address.sun_path) return false;
        std::memcpy(address.sun_path, socket_path.data(), socket_path.size());
        socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (socket_ < 0) return false;
        socket_ = out_of_the_way(socket_);
        return connect(socket_, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0;
    }

    // Gives the code of the answer, after it has said why when that is an error.
    int ask(Question question, const std::string &content, std::string *answer) {
        std::lock_guard lock(mutex_);
        int32_t code = 0;
        // Some programs close descriptors that are not theirs: then there is another connection to be had.
        bool answered =
            exchange(question, content, &code, answer) || (open() && exchange(question, content, &code, answer));
        if (!answered) return gone();
        if (!code) return cudaSuccess;
        std::string reason, unsupported;
        Reader{*answer}(reason, unsupported);
        if (!unsupported.empty()) report().set_unsupported(unsupported);
        return failed(static_cast<cudaError_t>(code), reason);
    }

private:
    bool exchange(Question question, const std::string &content, int32_t *code, std::string *answer) {
        uint32_t size = static_cast<uint32_t>(content.size());
        if (!send_all(Writer()(question, size).bytes) || !send_all(content)) return false;
        if (!receive(code, sizeof *code) || !receive(&size, sizeof size)) return false;
        answer->resize(size);
        return receive(answer->data(), size);
    }

    bool send_all(std::string_view bytes) {
        while (!bytes.empty()) {
            ssize_t sent = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent < 0 && errno == EINTR) continue;
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<size_t>(sent));
        }
        return true;
    }

    bool receive(void *to, size_t size) {
        char *at = static_cast<char *>(to);
        while (size) {
            ssize_t got = recv(socket_, at, size, 0);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            at += got;
            size -= static_cast<size_t>(got);
        }
        return true;
    }

    std::mutex mutex_;
    int socket_ = -1;
};

Connection &main_connection() {
    static Connection *instance = new Connection;  // launches may come from destructors
    return *instance;
}

void initialise(const RemoteVariable &variable, const std::map<std::string, uint64_t> &addresses) {
    char *at = reinterpret_cast<char *>(addresses.at(variable.name));
    std::memcpy(at, variable.initial.data(), std::min<uint64_t>(variable.initial.size(), variable.size));
    for (const Relocation &it : variable.relocations) {
        if (it.size > sizeof(uint64_t) || uint64_t{it.offset} + it.size > variable.size) continue;
        auto found = addresses.find(it.symbol);
        uint64_t value = (found == addresses.end() ? it.known : found->second) + static_cast<uint64_t>(it.addend);
        std::memcpy(at + it.offset, &value, it.size);
    }
}

int load_module(uint64_t module, const void *image) {
    FatBinaryHeader header;
    std::memcpy(&header, image, sizeof header);
    if (header.magic != fat_binary_magic || header.size > largest_fat_binary) {
        return failed(cudaErrorInvalidKernelImage, "not a fat binary: wrong magic number");
    }
    std::string bytes(static_cast<const char *>(image), header.header_size + header.size), answer;
    std::string content = Writer()(static_cast<uint32_t>(getpid()), module).bytes + bytes;
    if (int code = main_connection().ask(Question::load_module, content, &answer)) return code;
    std::vector<RemoteVariable> variables;
    if (!Reader{answer}(variables).is_whole()) return broken_answer();
    std::map<std::string, uint64_t> addresses;
    for (const RemoteVariable &it : variables) {
        uint64_t address = emu_define_variable(module, it.name.c_str(), it.size, it.alignment, it.is_constant != 0);
        if (!address) {
            return failed(cudaErrorMemoryAllocation, "no memory for the variable " + it.name);
        }
        addresses[it.name] = address;
    }
    for (const RemoteVariable &it : variables) initialise(it, addresses);
    return cudaSuccess;
}

std::string kernel_question(uint64_t module, const char *name) {
    return Writer()(static_cast<uint32_t>(getpid()), module, std::string(name)).bytes;
}

int describe_kernel(uint64_t module, const char *name, EmuKernelInfo *info) {
    std::string answer;
    if (int code = main_connection().ask(Question::describe_kernel, kernel_question(module, name), &answer))
        return code;
    Reader reader(answer);
    reader(info->static_shared_bytes, info->local_bytes, info->constant_bytes, info->max_threads, info->cluster,
           info->param_bytes);
    return reader.is_whole() ? cudaSuccess : broken_answer();
}

int count_registers(uint64_t module, const char *name, uint32_t ask_ptxas, uint32_t *registers) {
    std::string content = kernel_question(module, name) + Writer()(ask_ptxas).bytes, answer;
    if (int code = main_connection().ask(Question::count_registers, content, &answer)) return code;
    return Reader{answer}(*registers).is_whole() ? cudaSuccess : broken_answer();
}

int install(const EmuKernel &kernel, const std::vector<Code> &code) {
    static const char *const names[] = {"uniform", "masked"};
    for (const Code &it : code) {
        if (it.function > EMU_MASKED) return broken_answer();
        try {
            auto object = reinterpret_cast<const uint8_t *>(it.object.data());
            emu_install_code(&kernel, it.function, load_object(object, it.object.size(), names[it.function]));
        } catch (const std::exception &error) {
            return failed(cudaErrorInvalidKernelImage, std::string("its code cannot be loaded: ") + error.what());
        }
    }
    return cudaSuccess;
}

int compile_kernel(uint64_t module, const char *name, const uint32_t *block, uint32_t observe, const EmuKernel **out) {
    std::string content = kernel_question(module, name) + Writer()(block[0], block[1], block[2], observe).bytes, answer;
    if (int code = main_connection().ask(Question::compile_kernel, content, &answer)) return code;
    auto kernel = std::make_unique<RemoteKernel>();
    if (!kernel->read(answer)) return broken_answer();
    for (const std::string &symbol : kernel->symbol_names) {
        uint64_t address = variable_of(module, symbol).address;
        if (!address) return failed(cudaErrorInvalidSymbol, "it needs " + symbol + ", which is not in the program");
        kernel->symbols.push_back(address);
    }
    kernel->native.symbols = kernel->symbols.data();
    if (int code = install(kernel->native, kernel->code)) return code;
    kernel->code.clear();
    *out = &kernel->native;
    std::lock_guard lock(kernels_mutex);
    kernels[*out] = std::move(kernel);
    return cudaSuccess;
}

int fetch_code(Connection &from, const EmuKernel &kernel, uint64_t number, EmuCodeWanted wanted) {
    std::string answer;
    if (int code = from.ask(Question::make_code, Writer()(number, wanted).bytes, &answer)) return code;
    std::vector<Code> code;
    if (!Reader{answer}(code).is_whole()) return broken_answer();
    return install(kernel, code);
}

int make_code(const EmuKernel *kernel, EmuCodeWanted wanted) {
    uint64_t number;
    {
        std::lock_guard lock(kernels_mutex);
        number = kernels.at(kernel)->number;
    }
    if (wanted != EMU_WANT_BETTER) return fetch_code(main_connection(), *kernel, number, wanted);
    // It takes long, and other questions are more urgent. That it fails, or that there is no thread for it, is no harm.
    auto fetch = [=] {
        Connection own;
        if (own.open()) fetch_code(own, *kernel, number, wanted);
    };
    try {
        std::thread(fetch).detach();
    } catch (const std::system_error &) {}
    return cudaSuccess;
}

}  // namespace

const EmuCallbacks remote_callbacks = {load_module, describe_kernel, count_registers, compile_kernel, make_code};

bool ask_modelled_time(uint64_t first, uint64_t last, double *seconds) {
    std::string content = Writer()(static_cast<uint32_t>(getpid()), first, last).bytes, answer;
    if (main_connection().ask(Question::modelled_time, content, &answer)) return false;
    return Reader{answer}(*seconds).is_whole();
}

bool connect_remote(const std::string &path) {
    socket_path = path;
    return main_connection().open();
}

}  // namespace emu
