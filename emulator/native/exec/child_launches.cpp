#include "exec/child_launches.h"

#include <algorithm>
#include <cstring>

#include "api/errors.h"
#include "api/limits.h"
#include "api/modules.h"
#include "api/stream_queue.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/device_heap.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

namespace {

// Handles of one grid mean nothing to another.
std::atomic<uint64_t> next_handle{0x100};

std::mutex making;

}  // namespace

ChildLaunches &child_launches(Launch &launch) {
    std::lock_guard lock(making);
    if (!launch.children) launch.children = std::make_shared<ChildLaunches>(launch);
    return *launch.children;
}

uint64_t Caller::block() const {
    const uint32_t *at = warp->ctaid, *of = warp->nctaid;
    return at[0] + uint64_t{of[0]} * (at[1] + uint64_t{of[1]} * at[2]);
}

uint64_t Caller::thread() const { return block() << 10 | (warp->warp_id * 32 + lane); }

ChildLaunches::ChildLaunches(const Launch &parent) : parent_(parent), waiting_(waiting_in(parent.tree)) {}

ChildLaunches::Buffer::~Buffer() { launch_parameters().give_back(address); }

cudaError_t ChildLaunches::fail(const Caller &by, cudaError_t error, const std::string &why) {
    Fault fault = fault_at({by.warp, &by.warp->kernel->sites[by.site], by.lane, 0});
    fault.kind = "failed call in a kernel";
    fault.is_write = false;
    fault.size = 0;
    fault.message = fault.kind + " at " + where(fault) + ": " + why + " (" + error_name(error) +
                    "); the thread never asked about the error";
    std::lock_guard lock(mutex_);
    failures_[by.thread()] = {error, std::move(fault)};
    return error;
}

cudaError_t ChildLaunches::last_error(const Caller &by, bool clear) {
    std::lock_guard lock(mutex_);
    auto found = failures_.find(by.thread());
    if (found == failures_.end()) return cudaSuccess;
    cudaError_t error = found->second.error;
    found->second.is_known = true;
    if (clear) failures_.erase(found);
    return error;
}

void ChildLaunches::report_failures() {
    std::map<std::pair<std::string, uint32_t>, Fault> by_line;
    for (auto &[thread, failure] : failures_) {
        if (failure.is_known) continue;
        report().count_faults(1);
        auto [at, is_first] = by_line.try_emplace({failure.fault.file, failure.fault.line}, failure.fault);
        if (!is_first) ++at->second.count;
    }
    for (auto &[line, fault] : by_line) report().add_fault(std::move(fault));
    failures_.clear();
}

uint64_t ChildLaunches::parameter_buffer(const Caller &by, uint64_t address, const LaunchShape &shape) {
    Function *function = kernel_at(address);
    if (!function) {
        fail(by, cudaErrorInvalidDeviceFunction, "what is launched is no kernel");
        return 0;
    }
    std::string name = readable_name(function->name.c_str()), why;
    if (cudaError_t error = check_child(*function, shape, &why)) {
        fail(by, error, name + " was launched with " + why);
        return 0;
    }
    if (parent_.generation >= most_generations) {
        fail(by, cudaErrorLaunchMaxDepthExceeded,
             name + " would be the generation " + std::to_string(parent_.generation + 1) +
                 " of launches below the host's, of at most " + std::to_string(most_generations));
        return 0;
    }
    size_t most = device_limit(cudaLimitDevRuntimePendingLaunchCount);
    if (waiting_->fetch_add(1) >= most) {
        waiting_->fetch_sub(1);
        fail(by, cudaErrorLaunchOutOfResources,
             name + " would be the launch " + std::to_string(most + 1) +
                 " that waits for its turn: call cudaDeviceSetLimit(cudaLimitDevRuntimePendingLaunchCount, ...) for "
                 "more");
        return 0;
    }
    uint64_t size = function->info.param_bytes;
    uint64_t buffer = launch_parameters().take(std::max<uint64_t>(size, 1));
    if (!buffer) {
        waiting_->fetch_sub(1);
        fail(by, cudaErrorLaunchOutOfResources, "there is no memory for the parameters of " + name);
        return 0;
    }
    std::lock_guard lock(mutex_);
    prepared_[buffer] = {address, size, shape, name, std::make_shared<Buffer>(buffer)};
    return buffer;
}

namespace {

// Addresses of the block's own memory mean nothing to another grid.
void hide_windows(const WarpContext &warp, uint8_t *params, uint64_t size) {
    uint64_t shared = reinterpret_cast<uint64_t>(warp.shared), local = reinterpret_cast<uint64_t>(warp.local);
    uint64_t local_bytes = (uint64_t{warp.kernel->local_bytes} + warp.stack_bytes) * 32;
    for (uint64_t at = 0; at + 8 <= size; at += 8) {
        uint64_t value;
        std::memcpy(&value, params + at, 8);
        if (value - shared < warp.shared_bytes)
            value = ChildLaunches::foreign_window + (value - shared);
        else if (value - local < local_bytes)
            value = ChildLaunches::foreign_window + (1ull << 39) + (value - local);
        else
            continue;
        std::memcpy(params + at, &value, 8);
    }
}

}  // namespace

cudaError_t ChildLaunches::launch(const Caller &by, uint64_t buffer, uint64_t stream) {
    Prepared it;
    {
        std::lock_guard lock(mutex_);
        auto found = prepared_.find(buffer);
        if (found != prepared_.end()) {
            it = found->second;
            prepared_.erase(found);
        }
    }
    if (!it.kernel)
        return fail(by, cudaErrorInvalidValue, "the launch has no memory of cudaGetParameterBuffer for its parameters");
    hide_windows(*by.warp, reinterpret_cast<uint8_t *>(buffer), it.size);
    Child child;
    child.work = [it]() -> cudaError_t {
        Function *function = kernel_at(it.kernel);
        if (!function) return cudaErrorInvalidDeviceFunction;
        Work work;
        Arguments arguments(reinterpret_cast<const void *>(it.buffer->address), it.size);
        if (cudaError_t error = prepare_launch(function, it.shape, arguments, false, &work)) {
            poison(error, it.name + " cannot be launched from a kernel");
            return error;
        }
        return work();
    };
    cudaError_t error = add(by, stream, std::move(child));
    return error ? fail(by, error, it.name + " was launched into a stream that this grid does not have") : cudaSuccess;
}

cudaError_t ChildLaunches::submit(const Caller &by, uint64_t stream, const char *call, Work work) {
    Child child;
    child.work = std::move(work);
    child.call = call;
    if (cudaError_t error = add(by, stream, std::move(child)))
        return fail(by, error, std::string(call) + " was given a stream that this grid does not have");
    ++*waiting_;
    return cudaSuccess;
}

ChildLaunches::Frontier *ChildLaunches::frontier_of(const Caller &by, uint64_t stream) {
    if (stream <= last_default_stream) return &default_streams_[by.block()];  // the block's own, by whatever name
    auto found = streams_.find(stream);
    return found == streams_.end() ? nullptr : &found->second;
}

cudaError_t ChildLaunches::add(const Caller &by, uint64_t stream, Child child) {
    child.block = by.block();
    bool is_tail = stream == tail_stream;
    bool is_free = stream == free_stream;
    if (!is_tail) {
        auto point = std::make_shared<LaunchPoint>();
        for (auto &observer : by.warp->block->observers) observer->launch(*by.warp, by.lane, *point);
        if (point->is_known) child.point = std::move(point);
    }
    std::lock_guard lock(mutex_);
    if (is_tail) {
        tails_.push_back(std::move(child));
        return cudaSuccess;
    }
    Frontier *frontier = is_free ? nullptr : frontier_of(by, stream);
    if (!is_free && !frontier) return cudaErrorInvalidResourceHandle;
    if (frontier) {
        child.after = *frontier;
        *frontier = {children_.size()};
    }
    children_.push_back(std::move(child));
    return cudaSuccess;
}

uint64_t ChildLaunches::create_stream() {
    std::lock_guard lock(mutex_);
    uint64_t handle = ++next_handle;
    streams_[handle];
    return handle;
}

bool ChildLaunches::destroy_stream(uint64_t stream) {
    std::lock_guard lock(mutex_);
    return streams_.erase(stream) > 0;
}

uint64_t ChildLaunches::create_event() {
    std::lock_guard lock(mutex_);
    uint64_t handle = ++next_handle;
    events_[handle];
    return handle;
}

bool ChildLaunches::destroy_event(uint64_t event) {
    std::lock_guard lock(mutex_);
    return events_.erase(event) > 0;
}

cudaError_t ChildLaunches::record(const Caller &by, uint64_t event, uint64_t stream) {
    std::lock_guard lock(mutex_);
    Frontier *frontier = frontier_of(by, stream);
    auto found = events_.find(event);
    if (!frontier || found == events_.end()) return cudaErrorInvalidResourceHandle;
    found->second = *frontier;
    return cudaSuccess;
}

cudaError_t ChildLaunches::wait(const Caller &by, uint64_t stream, uint64_t event) {
    std::lock_guard lock(mutex_);
    Frontier *frontier = frontier_of(by, stream);
    auto found = events_.find(event);
    if (!frontier || found == events_.end()) return cudaErrorInvalidResourceHandle;
    for (size_t child : found->second) {
        if (std::find(frontier->begin(), frontier->end(), child) == frontier->end()) frontier->push_back(child);
    }
    return cudaSuccess;
}

}  // namespace emu
