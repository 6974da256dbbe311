#include "exec/launch.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/device_model.h"
#include "api/errors.h"
#include "api/graphs.h"
#include "api/limits.h"
#include "api/modules.h"
#include "api/streams.h"
#include "checks/call_errors.h"
#include "exec/child_launches.h"
#include "exec/cluster.h"
#include "exec/memory.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "replay/recording.h"
#include "report/report.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

struct Configuration {
    LaunchShape shape;
    cudaStream_t stream;
};

thread_local std::vector<Configuration> pushed;

bool within(const dim3 &shape, const int most[3]) {
    return shape.x && shape.y && shape.z && shape.x <= static_cast<unsigned>(most[0]) &&
           shape.y <= static_cast<unsigned>(most[1]) && shape.z <= static_cast<unsigned>(most[2]);
}

std::string text(unsigned x, unsigned y, unsigned z) {
    return "(" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
}

std::string text(const dim3 &shape) { return text(shape.x, shape.y, shape.z); }

std::string beyond(const char *what, const dim3 &shape, const int most[3]) {
    return std::string("a ") + what + " of " + text(shape) + ", where each number is at least 1 and they are at most " +
           text(most[0], most[1], most[2]);
}

// Says which limit a launch is beyond, and gives its error.
cudaError_t refuse_shape(const Function &function, cudaError_t error, const std::string &limit) {
    explain("bad launch configuration", readable_name(function.name.c_str()) + " was launched with " + limit);
    return error;
}

// `*limit` says which limit it is beyond.
cudaError_t check_shape(Function &function, const LaunchShape &at, bool cooperative, std::string *limit) {
    namespace model = device_model;
    auto refused = [limit](cudaError_t error, std::string what) {
        *limit = std::move(what);
        return error;
    };
    if (!within(at.grid, model::grid_dimensions)) {
        return refused(cudaErrorInvalidConfiguration, beyond("grid", at.grid, model::grid_dimensions));
    }
    if (!within(at.block, model::block_dimensions)) {
        return refused(cudaErrorInvalidConfiguration, beyond("block", at.block, model::block_dimensions));
    }
    uint64_t threads = uint64_t{at.block.x} * at.block.y * at.block.z;
    std::string block = "a block of " + text(at.block) + ": " + std::to_string(threads) + " threads, of ";
    if (threads > static_cast<uint64_t>(model::threads_per_block)) {
        return refused(cudaErrorInvalidConfiguration,
                       block + "which a block has at most " + std::to_string(model::threads_per_block));
    }
    if (threads > function.info.max_threads) {
        return refused(cudaErrorInvalidValue,
                       block + "which its __launch_bounds__ allow " + std::to_string(function.info.max_threads));
    }
    uint32_t registers = count_registers(function, false);
    if (registers && threads > static_cast<uint64_t>(model::max_threads(registers))) {
        return refused(cudaErrorLaunchOutOfResources, block + "which a block has at most " +
                                                          std::to_string(model::max_threads(registers)) + " with " +
                                                          std::to_string(registers) + " registers each, of " +
                                                          std::to_string(model::registers_per_multiprocessor));
    }
    size_t shared = function.info.static_shared_bytes + at.dynamic_shared;
    // What a program has asked for counts without the static memory, and takes nothing from what any kernel may have.
    size_t usual = model::shared_per_block - function.info.static_shared_bytes;
    size_t max_dynamic = std::max(usual, static_cast<size_t>(std::max(0, function.max_dynamic_shared)));
    if (at.dynamic_shared > max_dynamic || shared > model::size().shared_per_block_opt_in()) {
        return refused(cudaErrorInvalidValue,
                       std::to_string(at.dynamic_shared) + " bytes of dynamic and " +
                           std::to_string(function.info.static_shared_bytes) +
                           " of static shared memory to a block: at most " + std::to_string(model::shared_per_block) +
                           " together, or what " +
                           called("cudaFuncSetAttribute(cudaFuncAttributeMaxDynamicSharedMemorySize)") +
                           " has allowed, up to " + std::to_string(model::size().shared_per_block_opt_in()));
    }
    if (at.cluster.x) {
        uint64_t most = function.allows_large_clusters ? Cluster::most_blocks : model::portable_cluster_blocks;
        uint64_t blocks = uint64_t{at.cluster.x} * at.cluster.y * at.cluster.z;
        std::string cluster = "clusters of " + text(at.cluster) + ": ";
        if (!blocks || blocks > most) {
            return refused(
                cudaErrorInvalidClusterSize,
                cluster + std::to_string(blocks) + " blocks, of which a cluster has at most " + std::to_string(most) +
                    (most == Cluster::most_blocks
                         ? ""
                         : std::string(" (16 with ") + called("cudaFuncAttributeNonPortableClusterSizeAllowed") + ")"));
        }
        if (at.grid.x % at.cluster.x || at.grid.y % at.cluster.y || at.grid.z % at.cluster.z) {
            return refused(cudaErrorInvalidClusterSize,
                           cluster + "a grid of " + text(at.grid) + " is no multiple of that");
        }
        if (model::size().major < 9 && model::size().name != model::usual().name) {
            return refused(cudaErrorInvalidClusterSize,
                           cluster + model::size().name + " has no clusters (compute capability 9.0 has)");
        }
    }
    if (cooperative) {
        uint64_t blocks = uint64_t{at.grid.x} * at.grid.y * at.grid.z;
        uint64_t most = static_cast<uint64_t>(model::size().multiprocessors) *
                        static_cast<uint64_t>(model::resident_blocks(static_cast<int>(threads), shared, registers));
        if (blocks > most) {
            return refused(cudaErrorCooperativeLaunchTooLarge, std::to_string(blocks) +
                                                                   " blocks cooperatively, of which the device holds " +
                                                                   std::to_string(most) + " at a time");
        }
    }
    return cudaSuccess;
}

// What cooperative_groups keeps its grid barrier in (struct grid_workspace); zeroed for each launch.
uint64_t grid_workspace() {
    static uint64_t address = memory().allocate(64, 256, MemoryKind::variable, "the grid's barrier", "");
    std::memset(reinterpret_cast<void *>(address), 0, 64);
    return address;
}

struct Registers {
    uint32_t by_code, by_ptxas;  // see count_registers
};

// All of a kernel's parameters, aligned as any of them may have to be.
class Parameters {
public:
    Parameters() = default;
    explicit Parameters(size_t size) : size_(size), lines_(size / sizeof(Line) + 1) {}

    uint8_t *data() { return lines_.data()->bytes; }
    const uint8_t *data() const { return lines_.data()->bytes; }
    std::string text() const { return std::string(data(), data() + size_); }

private:
    struct alignas(64) Line {
        uint8_t bytes[64];
    };
    size_t size_ = 0;
    std::vector<Line> lines_;
};

// What a kernel needs to run, whenever that is.
struct Ready {
    uint64_t module;
    std::string name;  // mangled
    const EmuKernel *kernel;
    LaunchShape shape;
    Parameters params;
    bool cooperative;
    Registers registers;

    LaunchStep step() const {
        const auto &[grid, block, dynamic_shared, cluster] = shape;
        return {module,         name,        {grid.x, grid.y, grid.z},          {block.x, block.y, block.z},
                dynamic_shared, cooperative, {cluster.x, cluster.y, cluster.z}, params.text()};
    }
};

cudaError_t execute(const Ready &ready);

// The work of a launch. It tells what it was made of.
struct KernelWork {
    const void *handle;
    Ready ready;
    mutable std::vector<void *> arguments = {};  // where each lies in `ready`

    cudaError_t operator()() const { return execute(ready); }
};

cudaError_t execute(const Ready &ready) {
    if (cudaError_t error = sticky()) return error;
    LaunchPause one_at_a_time;
    DeviceAccess access;
    LaunchTree *tree = launch_tree();
    if (recording().is_on() && !tree) {
        recording().note_host_writes();
        recording().add(ready.step());
        note_device_busy(true);
    }
    const EmuKernel *kernel = ready.kernel;
    const LaunchShape &at = ready.shape;
    Launch launch(kernel);
    launch.grid[0] = at.grid.x;
    launch.grid[1] = at.grid.y;
    launch.grid[2] = at.grid.z;
    const dim3 &cluster = at.cluster;
    launch.explicit_cluster = cluster.x != 0;
    if (launch.explicit_cluster) {
        launch.cluster[0] = cluster.x;
        launch.cluster[1] = cluster.y;
        launch.cluster[2] = cluster.z;
    }
    launch.params = ready.params.data();
    launch.dynamic_shared_bytes = static_cast<uint32_t>(at.dynamic_shared);
    launch.cooperative = ready.cooperative;
    launch.code_registers = ready.registers.by_code;
    launch.registers = ready.registers.by_ptxas;
    launch.grid_workspace = ready.cooperative ? grid_workspace() : 0;
    launch.memory = memory().view();
    launch.images = image_objects().view();
    // Frames are not laid out as ptxas would: twice the limit, that what fits on a GPU fits here as well.
    if (kernel->uses_stack)
        launch.stack_bytes = static_cast<uint32_t>(2 * device_limit(cudaLimitStackSize) + 15) / 16 * 16;
    launch.tree = tree;
    launch.generation = generation(tree);
    launch.graph = reinterpret_cast<uint64_t>(running_graph());
    run(launch);
    cudaError_t error = launch.error;
    if (error)
        poison(error, launch.message);
    else if (launch.children)
        error = launch.children->run();
    if (!tree) recording().note_device_writes();
    return error;
}

// A kernel that cannot be compiled will not be the next time either: the context is broken.
cudaError_t refuse(const Function &function, cudaError_t error) {
    poison(error, readable_name(function.name.c_str()) + " cannot be run: " + failure_reason());
    return error;
}

}  // namespace

cudaError_t check_child(Function &function, const LaunchShape &shape, std::string *limit) {
    if (cudaError_t error = describe(function)) {
        *limit = "what cannot be run: " + failure_reason();
        return error;
    }
    return check_shape(function, shape, false, limit);
}

cudaError_t launch(const void *function, const LaunchShape &shape, cudaStream_t stream, const Arguments &arguments,
                   bool cooperative) {
    EMU_REQUIRE_DEVICE();
    Work work;
    if (cudaError_t error = prepare_launch(function, shape, arguments, cooperative, &work)) return fail(error);
    return submit(stream, cudaGraphNodeTypeKernel, std::move(work));
}

namespace {

// All but the parameters, for which there is room.
cudaError_t make_ready(Function &function, const LaunchShape &wanted, bool cooperative, Ready *out) {
    if (cudaError_t error = describe(function)) return refuse(function, error);
    LaunchShape shape = wanted;
    const uint32_t *own = function.info.cluster;
    if (own[0]) {
        if (shape.cluster.x && (shape.cluster.x != own[0] || shape.cluster.y != own[1] || shape.cluster.z != own[2])) {
            return refuse_shape(function, cudaErrorInvalidClusterSize,
                                "clusters of " + text(shape.cluster) + ", where its __cluster_dims__ are " +
                                    text(own[0], own[1], own[2]));
        }
        shape.cluster = {own[0], own[1], own[2]};
    }
    std::string limit;
    if (cudaError_t error = check_shape(function, shape, cooperative, &limit))
        return refuse_shape(function, error, limit);
    const uint32_t block[3] = {shape.block.x, shape.block.y, shape.block.z};
    const EmuKernel *kernel = nullptr;
    if (cudaError_t error = compile(function, block, observe_settings().extent(), &kernel)) {
        return refuse(function, error);
    }
    Registers registers{cooperative ? count_registers(function, false) : 0,
                        observe_settings().profile ? count_registers(function, true) : 0};
    *out = {module_number(function),         function.name, kernel,   shape,
            Parameters(kernel->param_bytes), cooperative,   registers};
    return cudaSuccess;
}

}  // namespace

cudaError_t prepare_launch(const void *handle, const LaunchShape &shape, const Arguments &arguments, bool cooperative,
                           Work *out) {
    Function *function = find_function(handle);
    if (!function) return cudaErrorInvalidResourceHandle;
    Ready ready;
    if (cudaError_t error = make_ready(*function, shape, cooperative, &ready)) return error;
    const EmuKernel *kernel = ready.kernel;
    if (kernel->param_count && !arguments.each && !arguments.packed) return cudaErrorInvalidValue;
    for (uint32_t i = 0; i < kernel->param_count; ++i) {
        uint32_t offset = kernel->param_offsets[i], size = kernel->param_sizes[i];
        if (!arguments.each && offset + size > arguments.packed_bytes) {
            return refuse_shape(*function, cudaErrorInvalidValue,
                                std::to_string(arguments.packed_bytes) + " bytes of arguments: its parameter " +
                                    std::to_string(i + 1) + " ends at byte " + std::to_string(offset + size));
        }
        const void *from = arguments.each ? arguments.each[i] : static_cast<const uint8_t *>(arguments.packed) + offset;
        std::memcpy(ready.params.data() + offset, from, size);
    }
    *out = KernelWork{handle, std::move(ready)};
    return cudaSuccess;
}

bool launch_of(const Work &work, const void **function, LaunchShape *shape, void ***arguments) {
    const KernelWork *it = work.target<KernelWork>();
    if (!it) return false;
    *function = it->handle;
    *shape = it->ready.shape;
    const EmuKernel &kernel = *it->ready.kernel;
    it->arguments.resize(kernel.param_count);
    for (uint32_t i = 0; i < kernel.param_count; ++i)
        it->arguments[i] = const_cast<uint8_t *>(it->ready.params.data()) + kernel.param_offsets[i];
    *arguments = it->arguments.data();
    return true;
}

cudaError_t launch_configured(const cudaLaunchConfig_t &config, const void *function, const Arguments &arguments) {
    bool cooperative = false;
    dim3 cluster(0, 0, 0);
    for (unsigned i = 0; i < config.numAttrs; ++i) {
        const cudaLaunchAttribute &attribute = config.attrs[i];
        if (attribute.id == cudaLaunchAttributeCooperative) cooperative = attribute.val.cooperative != 0;
        if (attribute.id == cudaLaunchAttributeClusterDimension) {
            cluster = {attribute.val.clusterDim.x, attribute.val.clusterDim.y, attribute.val.clusterDim.z};
        }
    }
    return launch(function, {config.gridDim, config.blockDim, config.dynamicSmemBytes, cluster}, config.stream,
                  arguments, cooperative);
}

cudaError_t launch_again(Function &function, const LaunchShape &shape, std::string_view params, bool cooperative) {
    // The program was allowed as much as it took; what no launch may take is refused still.
    if (shape.dynamic_shared <= device_model::size().shared_per_block_opt_in()) {
        function.max_dynamic_shared = std::max(function.max_dynamic_shared, static_cast<int>(shape.dynamic_shared));
    }
    Ready ready;
    if (cudaError_t error = make_ready(function, shape, cooperative, &ready)) return error;
    if (params.size() != ready.kernel->param_bytes) return cudaErrorInvalidValue;
    std::copy(params.begin(), params.end(), ready.params.data());
    return execute(ready);
}

}  // namespace emu

using namespace emu;

extern "C" {

EMU_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream) {
    pushed.push_back({{grid, block, shared}, stream});
    return 0;
}

EMU_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    if (pushed.empty()) return fail(cudaErrorMissingConfiguration);
    Configuration top = pushed.back();
    pushed.pop_back();
    *grid = top.shape.grid;
    *block = top.shape.block;
    *shared = top.shape.dynamic_shared;
    *static_cast<cudaStream_t *>(stream) = top.stream;
    return cudaSuccess;
}

EMU_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                       cudaStream_t stream) {
    return launch(kernel, {grid, block, shared}, stream, arguments, false);
}

EMU_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                            cudaStream_t stream) {
    return __cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
}

EMU_API cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments, size_t shared,
                                     cudaStream_t stream) {
    return launch(function, {grid, block, shared}, stream, arguments, false);
}

EMU_API cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                                                size_t shared, cudaStream_t stream) {
    return launch(function, {grid, block, shared}, stream, arguments, true);
}

EMU_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function, void **arguments) {
    return config ? launch_configured(*config, function, arguments) : fail(cudaErrorInvalidValue);
}

EMU_PER_THREAD_STREAM(cudaLaunchKernel, _ptsz);
EMU_PER_THREAD_STREAM(cudaLaunchCooperativeKernel, _ptsz);
EMU_PER_THREAD_STREAM(cudaLaunchKernelExC, _ptsz);
