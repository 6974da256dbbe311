// The threads that run the blocks of launches.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

namespace emu {

// Threads that wait for launches; they are never joined, since the process may end at any time.
class ThreadTeam {
public:
    // Later launches use `count` threads, the calling one among them.
    void start(unsigned count) {
        for (; made_ + 1 < count; ++made_) std::thread([this, index = made_] { serve(index); }).detach();
        size_ = count;
    }

    unsigned size() const { return size_; }

    // Calls `work` on this thread and on `helpers` others, and waits for all.
    void run(unsigned helpers, const std::function<void()> &work) {
        if (!helpers) return work();
        {
            std::lock_guard lock(mutex_);
            work_ = &work;
            wanted_ = helpers;
            busy_ = helpers;
            ++round_;
        }
        wake_.notify_all();
        work();
        std::unique_lock lock(mutex_);
        idle_.wait(lock, [&] { return busy_ == 0; });
    }

private:
    void serve(unsigned index) {
        uint64_t seen = 0;
        for (;;) {
            const std::function<void()> *work = nullptr;
            {
                std::unique_lock lock(mutex_);
                wake_.wait(lock, [&] { return round_ != seen; });
                seen = round_;
                if (index < wanted_) work = work_;
            }
            if (!work) continue;
            (*work)();
            std::lock_guard lock(mutex_);
            if (--busy_ == 0) idle_.notify_one();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_, idle_;
    const std::function<void()> *work_ = nullptr;
    unsigned made_ = 0, size_ = 1, wanted_ = 0, busy_ = 0;
    uint64_t round_ = 0;
};

}  // namespace emu
