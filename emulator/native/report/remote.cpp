#include "report/remote.h"

#include <cuda_runtime_api.h>
#include <unistd.h>

#include <algorithm>
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
#include "report/connection.h"
#include "report/remote_kernel.h"
#include "report/wire.h"

namespace emu {

namespace {

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

// Never destroyed: a thread may still make code when the process ends.
std::mutex kernels_mutex;
auto &kernels = *new std::map<const EmuKernel *, std::unique_ptr<RemoteKernel>>;

int broken_answer() { return failed(cudaErrorInitializationError, "an answer of `python -m emulator` makes no sense"); }

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

int install(const EmuKernel &kernel, const std::vector<RemoteCode> &code) {
    static const char *const names[] = {"uniform", "masked"};
    for (const RemoteCode &it : code) {
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
    std::vector<RemoteCode> code;
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
    Connection::set_path(path);
    return main_connection().open();
}

}  // namespace emu
