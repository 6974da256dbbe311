// What a program registers when it is loaded: fat binaries, and the kernels and variables in them.
//
// The host reads fat binaries and compiles kernels (see EmuCallbacks), each when first needed.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "abi.h"
#include "host.h"

namespace emu {

struct Module;

struct Variable {
    Module *module;
    std::string name;
    void **managed_pointer = nullptr;  // the host's pointer to a __managed__ variable
};

struct SymbolLocation {
    uint64_t address, size;
};

// Where a recorded program had a variable.
struct VariableLocation {
    uint64_t address;
    bool is_managed;
};

struct Function {
    Module *module;
    std::string name;  // mangled
    bool described = false;
    EmuKernelInfo info = {};
    int registers[2] = {
        -1, -1};  // of a thread, as machine code says, and as ptxas does; 0: not known, -1: nobody has asked
    int max_dynamic_shared = -1;  // below 0: the program has not set it
    int shared_carveout = -1;
    bool allows_large_clusters = false;
    // What was compiled for each block shape and EmuObserved (the fourth number); null is for "cannot be".
    std::map<std::array<uint32_t, 4>, const EmuKernel *> compiled;
};

// The kernel that a stub's address (or a handle from cudaGetKernel) means, or null.
Function *find_function(const void *stub_or_handle);

// The stub of the kernel that a stub or a handle means; what was given, where it has none.
const void *stub_of(const void *stub_or_handle);

// The number of the kernel's module.
uint64_t module_number(const Function &function);

// A module that no program registered; `image` must outlive it. Returns its number.
uint64_t register_image(const void *image, std::map<std::string, VariableLocation> locations);
// The same, which keeps the image (a fat binary) itself.
uint64_t register_image(std::vector<uint8_t> image);
cudaError_t load_module(uint64_t number);
// Forgets its kernels and frees its variables. What was compiled of it stays, since machine code cannot be unloaded
// safely.
void unregister_image(uint64_t number);

// The kernel of that (mangled) name, as far as it is known before it is compiled: it may not exist. Null: no such
// module.
Function *function_named(uint64_t module, const std::string &name);
// The same, of a module that was loaded; null where the module has no such kernel.
Function *kernel_named(uint64_t module, const std::string &name);

// The kernel that device code means by an address of its own, which is that of a variable with the kernel's name; null
// for none.
Function *kernel_at(uint64_t address);

// Where a variable lies, by the address that stands for it in the host's program. Loads its module.
cudaError_t find_symbol(const void *host_address, SymbolLocation *location);

// Fills in `function.info` from the PTX, without compiling.
cudaError_t describe(Function &function);

// A variable of a loaded module, by its name there; address 0: there is none.
SymbolLocation variable_of(uint64_t module, const std::string &name);

// Registers of a thread as machine code in the program has it, or, where there is none, ptxas, if it is to be asked; 0:
// not known.
uint32_t count_registers(Function &function, bool ask_ptxas);

// The machine code for one block shape.
cudaError_t compile(Function &function, const uint32_t block[3], EmuObserved observed, const EmuKernel **out);

// Asks for more code of a compiled kernel. Goes by the callbacks, on this thread.
cudaError_t make_code(const EmuKernel &kernel, EmuCodeWanted wanted);
// How long this thread has made code so far, in seconds of processor time: no launch's limit counts it.
double time_of_making_code_s();

}  // namespace emu

// Zeroed memory for a variable of a module that is being loaded. Returns its address, or 0.
EMU_HOST uint64_t emu_define_variable(uint64_t module, const char *name, uint64_t size, uint64_t alignment,
                                      int is_constant);
