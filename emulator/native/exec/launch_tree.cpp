// Runs what kernels have launched, with all that it leads to.

#include <algorithm>
#include <atomic>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "api/errors.h"
#include "api/stream_queue.h"
#include "api/tasks.h"
#include "exec/child_launches.h"
#include "exec/observe.h"
#include "exec/scheduler.h"
#include "report/report.h"
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

}  // namespace

LaunchTree *launch_tree() { return current_tree; }

uint32_t generation(const LaunchTree *tree) { return tree ? tree->now.generation : 0; }

const std::vector<Ancestor> &ancestors() {
    static const std::vector<Ancestor> none;
    return current_tree ? current_tree->now.ancestors : none;
}

std::shared_ptr<std::atomic<size_t>> waiting_in(const LaunchTree *tree) {
    return tree ? tree->waiting : std::make_shared<std::atomic<size_t>>(0);
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
