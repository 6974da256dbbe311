#include "exec/child_launches.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <cstring>

#include "api/errors.h"
#include "api/limits.h"
#include "api/modules.h"
#include "api/stream_queue.h"
#include "api/tasks.h"
#include "checks/faults.h"
#include "exec/block.h"
#include "exec/device_heap.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "report/symbol_names.h"

namespace emu {

// What the calling thread runs: a launch of the host's and all that it has led to.
struct LaunchTree {
    // Of what runs now.
    struct Frame {
        uint32_t generation = 0;
        std::vector<Ancestor> ancestors;
        std::deque<ChildLaunches::Child> *tails = nullptr;  // where it leaves its tail launches, if it is one itself
        size_t place = no_place;
        std::shared_ptr<const std::vector<bool>> behind = std::make_shared<std::vector<bool>>();
    };
    static constexpr size_t no_place = ~size_t{0};

    Frame now;
    std::shared_ptr<std::atomic<size_t>> waiting;
    TaskPointer root;
    uint64_t run = 0;
    size_t places = 0;
    double ends_s = 0;  // by working_s(); 0: never
};

namespace {

// Of more work than that, all counts as ordered.
constexpr size_t max_ordered = 20'000;

thread_local LaunchTree *current_tree = nullptr;

// Handles of one grid mean nothing to another.
std::atomic<uint64_t> next_handle{0x100};

std::mutex making;

}  // namespace

LaunchTree *launch_tree() { return current_tree; }

uint32_t generation(const LaunchTree *tree) { return tree ? tree->now.generation : 0; }

const std::vector<Ancestor> &ancestors() {
    static const std::vector<Ancestor> none;
    return current_tree ? current_tree->now.ancestors : none;
}

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

ChildLaunches::ChildLaunches(const Launch &parent)
    : parent_(parent), waiting_(parent.tree ? parent.tree->waiting : std::make_shared<std::atomic<size_t>>(0)) {}

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

cudaError_t ChildLaunches::run() {
    report_failures();
    *waiting_ -= prepared_.size();  // nobody launched them
    prepared_.clear();
    if (children_.empty() && tails_.empty()) return cudaSuccess;
    if (current_tree) return run_all();
    LaunchTree tree;
    tree.waiting = waiting_;
    tree.root = current_task();
    tree.run = next_graph_run();
    if (double limit_s = launch_limit_s()) tree.ends_s = working_s() + limit_s;
    current_tree = &tree;
    cudaError_t error = run_all();
    current_tree = nullptr;
    return error;
}

cudaError_t ChildLaunches::run_all() {
    // The ready ones by block, since blocks do not launch in the same order each time.
    using Key = std::pair<uint64_t, size_t>;
    std::set<Key> ready;
    std::vector<size_t> missing(children_.size());
    std::vector<std::vector<size_t>> followers(children_.size());
    for (size_t i = 0; i < children_.size(); ++i) {
        missing[i] = children_[i].after.size();
        for (size_t before : children_[i].after) followers[before].push_back(i);
        if (!missing[i]) ready.insert({children_[i].block, i});
    }
    while (!ready.empty()) {
        auto chosen = ready.begin();
        if (defers_work()) std::advance(chosen, static_cast<long>(draw_next(ready.size())));
        size_t number = chosen->second;
        ready.erase(chosen);
        LaunchTree::Frame outer = current_tree->now;
        Child &child = children_[number];
        child.behind = behind_of(child);
        LaunchTree::Frame &now = current_tree->now;
        ++now.generation;
        now.tails = nullptr;
        if (accesses && child.point) now.ancestors.insert(now.ancestors.begin(), {accesses, child.point});
        cudaError_t error = run_child(child);
        now = std::move(outer);
        if (error) return error;
        for (size_t follower : followers[number]) {
            if (!--missing[follower]) ready.insert({children_[follower].block, follower});
        }
    }
    return run_tails();
}

// They come after all else that the grid has led to. Those of a tail launch come next, before others of the grid that
// launched it.
cudaError_t ChildLaunches::run_tails() {
    std::stable_sort(tails_.begin(), tails_.end(), [](const Child &a, const Child &b) { return a.block < b.block; });
    LaunchTree::Frame &now = current_tree->now;
    if (now.tails) {
        now.tails->insert(now.tails->begin(), std::make_move_iterator(tails_.begin()),
                          std::make_move_iterator(tails_.end()));
        return cudaSuccess;
    }
    std::deque<Child> waiting = std::move(tails_);
    LaunchTree::Frame outer = now;
    while (!waiting.empty()) {
        Child child = std::move(waiting.front());
        waiting.pop_front();
        auto behind = std::make_shared<std::vector<bool>>(*outer.behind);
        if (current_tree->places < max_ordered) {
            size_t first = outer.place == LaunchTree::no_place ? 0 : outer.place;
            behind->resize(current_tree->places);
            std::fill(behind->begin() + static_cast<long>(first), behind->end(), true);
        }
        child.behind = std::move(behind);
        now.tails = &waiting;
        cudaError_t error = run_child(child);
        now = outer;
        if (error) return error;
    }
    return cudaSuccess;
}

std::shared_ptr<std::vector<bool>> ChildLaunches::behind_of(const Child &child) const {
    const LaunchTree &tree = *current_tree;
    auto behind = std::make_shared<std::vector<bool>>(*tree.now.behind);
    if (!observe_settings().check_full || tree.places >= max_ordered) return behind;
    behind->resize(tree.places);
    if (tree.now.place != LaunchTree::no_place) (*behind)[tree.now.place] = true;
    for (size_t number : child.after) {
        const Child &before = children_[number];
        std::fill(behind->begin() + static_cast<long>(before.place), behind->begin() + static_cast<long>(before.end),
                  true);
        for (size_t i = 0; i < before.behind->size(); ++i) {
            if ((*before.behind)[i]) (*behind)[i] = true;
        }
    }
    return behind;
}

cudaError_t ChildLaunches::run_child(Child &child) {
    LaunchTree &tree = *current_tree;
    --*tree.waiting;
    child.place = tree.places++;
    tree.now.place = child.place;
    tree.now.behind = child.behind;
    TaskPointer task = current_task();
    // A node of a graph, with all its children, has one place in it.
    if (tree.root && !tree.root->graph_run && child.place < max_ordered && observe_settings().check_full) {
        auto own = std::make_shared<Task>(*tree.root);
        own->before[own->line] = own->number;
        own->graph_run = tree.run;
        own->node = child.place;
        own->behind = child.behind;
        own->call = child.call;
        task = std::move(own);
    }
    CurrentTask current(std::move(task));
    cudaError_t error = child.work();
    child.end = tree.places;
    child.work = nullptr;  // its parameters
    if (!error && tree.ends_s > 0 && working_s() > tree.ends_s) {
        report().set_limit("wall");
        error = cudaErrorLaunchTimeout;
        poison(error, readable_name(parent_.kernel->name) +
                          " and the kernels that it has launched took longer than one launch may");
    }
    return error;
}

}  // namespace emu
