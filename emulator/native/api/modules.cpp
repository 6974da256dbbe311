#include "api/modules.h"

#include <algorithm>
#include <cstring>
#include <ctime>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "api/context.h"
#include "api/errors.h"
#include "api/fat_binary.h"
#include "checks/task_races.h"
#include "exec/memory.h"
#include "replay/recording.h"
#include "report/session.h"
#include "report/symbol_names.h"

namespace emu {

enum class Loaded { no, yes, failed };

struct Module {
    uint64_t id;
    const void *image;
    std::vector<uint8_t> joined;  // what `image` is of a program that was linked from several objects
    Loaded loaded = Loaded::no;
    cudaError_t load_error = cudaSuccess;
    std::map<std::string, SymbolLocation> variables;
    std::vector<Variable *> managed;
    std::map<std::string, VariableLocation> locations;  // where variables have to be, in a replay
};

namespace {

EmuCallbacks callbacks;
thread_local double making_code_s = 0;

double thread_s() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Held while a module loads or a kernel compiles as well: the callbacks come back on the same thread to define
// variables.
std::recursive_mutex modules_mutex;
std::map<uint64_t, std::unique_ptr<Module>> modules;
std::map<const void *, std::unique_ptr<Function>> functions;  // by stub
std::set<const void *> handles;                               // every Function there is
std::map<const void *, std::unique_ptr<Variable>> variables;  // by host address
uint64_t next_module = 1;

cudaError_t load(Module &module) {
    std::lock_guard lock(modules_mutex);
    if (module.loaded == Loaded::no) {
        if (!callbacks.load_module) {
            const EmuCallbacks *answers = session_callbacks();
            if (!answers) return cudaErrorInitializationError;
            callbacks = *answers;
        }
        DeviceAccess access;  // it writes the variables' initial values
        module.load_error = static_cast<cudaError_t>(callbacks.load_module(module.id, module.image));
        module.loaded = module.load_error ? Loaded::failed : Loaded::yes;
        for (const auto &[name, location] : module.variables) {
            auto allocation = memory().find(location.address);
            recording().add(VariableStep{module.id, name, location.address, allocation->kind});
            if (allocation->kind == MemoryKind::managed_variable)
                recording().share_with_host(location.address, location.size);
        }
    }
    return module.load_error;
}

void forget_functions(const Module *module) {
    for (auto it = functions.begin(); it != functions.end();) {
        if (it->second->module == module) {
            handles.erase(it->second.get());
            it = functions.erase(it);
        } else {
            ++it;
        }
    }
}

Module *module_of(void **handle) { return reinterpret_cast<Module *>(handle); }

}  // namespace

Function *find_function(const void *stub_or_handle) {
    std::lock_guard lock(modules_mutex);
    if (handles.count(stub_or_handle)) return static_cast<Function *>(const_cast<void *>(stub_or_handle));
    auto found = functions.find(stub_or_handle);
    return found == functions.end() ? nullptr : found->second.get();
}

const void *stub_of(const void *stub_or_handle) {
    std::lock_guard lock(modules_mutex);
    for (const auto &[stub, function] : functions) {
        if (function.get() == stub_or_handle) return stub;
    }
    return stub_or_handle;
}

cudaError_t find_symbol(const void *host_address, SymbolLocation *location) {
    std::lock_guard lock(modules_mutex);
    auto found = variables.find(host_address);
    // Of a __managed__ variable programs give the address that it has for both sides.
    if (found == variables.end()) {
        auto is_it = [host_address](const auto &it) {
            return it.second->managed_pointer && *it.second->managed_pointer == host_address;
        };
        found = std::find_if(variables.begin(), variables.end(), is_it);
    }
    if (found == variables.end()) return cudaErrorInvalidSymbol;
    Module &module = *found->second->module;
    if (cudaError_t error = load(module)) return error;
    auto defined = module.variables.find(found->second->name);
    if (defined == module.variables.end()) return cudaErrorInvalidSymbol;
    *location = defined->second;
    return cudaSuccess;
}

uint64_t module_number(const Function &function) { return function.module->id; }

uint64_t register_image(const void *image, std::map<std::string, VariableLocation> locations) {
    std::lock_guard lock(modules_mutex);
    auto module = std::make_unique<Module>();
    module->id = next_module++;
    module->image = image;
    module->locations = std::move(locations);
    uint64_t number = module->id;
    modules[number] = std::move(module);
    return number;
}

uint64_t register_image(std::vector<uint8_t> image) {
    std::lock_guard lock(modules_mutex);
    uint64_t number = register_image(nullptr, {});
    Module &module = *modules[number];
    module.joined = std::move(image);
    module.image = module.joined.data();
    return number;
}

void unregister_image(uint64_t number) {
    std::lock_guard lock(modules_mutex);
    auto found = modules.find(number);
    if (found == modules.end()) return;
    forget_functions(found->second.get());
    for (const auto &[name, location] : found->second->variables) {
        memory().release(location.address, ~0u);
        task_races().forget(location.address, location.size);
    }
    modules.erase(found);
}

cudaError_t load_module(uint64_t number) {
    std::lock_guard lock(modules_mutex);
    auto module = modules.find(number);
    return module == modules.end() ? cudaErrorInvalidResourceHandle : load(*module->second);
}

Function *function_named(uint64_t number, const std::string &name) {
    std::lock_guard lock(modules_mutex);
    auto module = modules.find(number);
    if (module == modules.end()) return nullptr;
    for (const auto &[stub, function] : functions) {
        if (function->module == module->second.get() && function->name == name) return function.get();
    }
    auto function = std::make_unique<Function>();
    function->module = module->second.get();
    function->name = name;
    Function *plain = function.get();
    handles.insert(plain);
    functions[plain] = std::move(function);  // it has no stub
    return plain;
}

Function *kernel_named(uint64_t number, const std::string &name) {
    std::lock_guard lock(modules_mutex);
    Function *function = function_named(number, name);
    if (!function || !describe(*function)) return function;
    handles.erase(function);
    functions.erase(function);
    return nullptr;
}

Function *kernel_at(uint64_t address) {
    std::lock_guard lock(modules_mutex);
    for (const auto &[number, module] : modules) {
        for (const auto &[name, location] : module->variables) {
            if (location.address == address) return kernel_named(number, name);
        }
    }
    return nullptr;
}

SymbolLocation variable_of(uint64_t number, const std::string &name) {
    std::lock_guard lock(modules_mutex);
    auto module = modules.find(number);
    if (module == modules.end()) return {};
    auto found = module->second->variables.find(name);
    return found == module->second->variables.end() ? SymbolLocation{} : found->second;
}

void unload_modules() {
    std::lock_guard lock(modules_mutex);
    for (auto &[number, module] : modules) {
        if (module->loaded == Loaded::yes) module->loaded = Loaded::no;
    }
    for (auto &[stub, function] : functions) function->max_dynamic_shared = function->shared_carveout = -1;
}

cudaError_t describe(Function &function) {
    std::lock_guard lock(modules_mutex);
    if (cudaError_t error = load(*function.module)) return error;
    if (function.described) return cudaSuccess;
    int code = callbacks.describe_kernel(function.module->id, function.name.c_str(), &function.info);
    function.described = code == 0;
    return static_cast<cudaError_t>(code);
}

uint32_t count_registers(Function &function, bool ask_ptxas) {
    std::lock_guard lock(modules_mutex);
    int &registers = function.registers[ask_ptxas];
    if (registers < 0) {
        uint32_t count = 0;
        bool known = !load(*function.module) &&
                     !callbacks.count_registers(function.module->id, function.name.c_str(), ask_ptxas, &count);
        registers = known ? static_cast<int>(count) : 0;
    }
    return static_cast<uint32_t>(registers);
}

cudaError_t compile(Function &function, const uint32_t block[3], EmuObserved observed, const EmuKernel **out) {
    std::lock_guard lock(modules_mutex);
    auto [slot, fresh] = function.compiled.try_emplace({block[0], block[1], block[2], observed}, nullptr);
    if (fresh) {
        double began_s = thread_s();
        int code = callbacks.compile_kernel(function.module->id, function.name.c_str(), block, observed, &slot->second);
        making_code_s += thread_s() - began_s;
        if (code) {
            function.compiled.erase(slot);
            return static_cast<cudaError_t>(code);
        }
    }
    *out = slot->second;
    return cudaSuccess;
}

// Without the mutex: launches run while a thread of theirs asks.
cudaError_t make_code(const EmuKernel &kernel, EmuCodeWanted wanted) {
    double began_s = thread_s();
    int code = callbacks.make_code(&kernel, wanted);
    making_code_s += thread_s() - began_s;
    return static_cast<cudaError_t>(code);
}

double time_of_making_code_s() { return making_code_s; }

}  // namespace emu

using namespace emu;

extern "C" {

EMU_API void **__cudaRegisterFatBinary(void *wrapper) {
    std::lock_guard lock(modules_mutex);
    auto module = std::make_unique<Module>();
    module->id = next_module++;
    const auto &given = *static_cast<const FatBinaryWrapper *>(wrapper);
    module->image = given.data;
    if (given.version == 2 && given.filename_or_objects) {
        module->joined = joined(static_cast<const void *const *>(given.filename_or_objects));
        module->image = module->joined.data();
    }
    Module *plain = module.get();
    modules[module->id] = std::move(module);
    return reinterpret_cast<void **>(plain);
}

EMU_API void __cudaRegisterFatBinaryEnd(void **) {}

// The library that held the stubs is gone; what was compiled from it stays, since machine code cannot be unloaded
// safely.
EMU_API void __cudaUnregisterFatBinary(void **handle) {
    std::lock_guard lock(modules_mutex);
    Module *module = module_of(handle);
    forget_functions(module);
    for (auto it = variables.begin(); it != variables.end();) {
        it = it->second->module == module ? variables.erase(it) : std::next(it);
    }
}

EMU_API void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name, int, uint3 *, uint3 *,
                                    dim3 *, dim3 *, int *) {
    std::lock_guard lock(modules_mutex);
    auto function = std::make_unique<Function>();
    function->module = module_of(handle);
    function->name = name;
    if (functions.count(stub)) handles.erase(functions[stub].get());
    handles.insert(function.get());
    functions[stub] = std::move(function);
}

EMU_API void __cudaRegisterVar(void **handle, char *host, char *, const char *name, int, size_t, int, int) {
    std::lock_guard lock(modules_mutex);
    variables[host] = std::make_unique<Variable>(Variable{module_of(handle), name});
}

EMU_API void __cudaRegisterManagedVar(void **handle, void **host, char *, const char *name, int, size_t, int, int) {
    std::lock_guard lock(modules_mutex);
    auto variable = std::make_unique<Variable>(Variable{module_of(handle), name, host});
    module_of(handle)->managed.push_back(variable.get());
    variables[host] = std::move(variable);
}

EMU_API void __cudaRegisterHostVar(void **, const char *, char *, size_t) {}

EMU_API void __cudaRegisterUnifiedTable(void **, void *) {}

// Called before the host first uses a __managed__ variable.
EMU_API char __cudaInitModule(void **handle) {
    std::lock_guard lock(modules_mutex);
    Module *module = module_of(handle);
    if (module->managed.empty()) return 1;
    if (load(*module)) return 0;
    for (Variable *variable : module->managed) {
        auto defined = module->variables.find(variable->name);
        if (defined != module->variables.end()) {
            *variable->managed_pointer = reinterpret_cast<void *>(defined->second.address);
        }
    }
    return 1;
}

EMU_API cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub) {
    Function *function = find_function(stub);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    *out = reinterpret_cast<cudaKernel_t>(function);
    return cudaSuccess;
}
}

EMU_API cudaError_t cudaGetKernel(cudaKernel_t *out, const void *stub) { return __cudaGetKernel(out, stub); }

EMU_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *stub) {
    Function *function = find_function(stub);
    if (!function) return fail(cudaErrorInvalidDeviceFunction);
    *out = reinterpret_cast<cudaFunction_t>(function);
    return cudaSuccess;
}

EMU_HOST void emu_set_callbacks(const EmuCallbacks *given) {
    std::lock_guard lock(modules_mutex);
    leave_session();
    callbacks = *given;
}

EMU_HOST uint64_t emu_define_variable(uint64_t module, const char *name, uint64_t size, uint64_t alignment,
                                      int is_constant) {
    std::lock_guard lock(modules_mutex);
    auto found = modules.find(module);
    if (found == modules.end()) return 0;
    // Machine code has its address: it stays for the rest of the process.
    if (auto known = found->second->variables.find(name); known != found->second->variables.end()) {
        std::memset(reinterpret_cast<void *>(known->second.address), 0, known->second.size);
        return known->second.address;
    }
    const auto &managed = found->second->managed;
    auto location = found->second->locations.find(name);
    bool is_placed = location != found->second->locations.end();
    bool is_managed = is_placed
                          ? location->second.is_managed
                          : std::any_of(managed.begin(), managed.end(), [&](Variable *it) { return it->name == name; });
    MemoryKind kind = is_constant  ? MemoryKind::constant
                      : is_managed ? MemoryKind::managed_variable
                                   : MemoryKind::variable;
    std::string label = (is_constant ? "__constant__ " : "__device__ ") + readable_name(name);
    uint64_t address = memory().allocate(size, alignment, kind, label, "", 0, is_placed ? location->second.address : 0);
    if (address) found->second->variables[name] = {address, size};
    return address;
}
