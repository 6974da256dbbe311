// What host code reads and writes of the memory that it shares with the device, while the device has work that the host
// has not waited for. TaskRaces then knows what it may not touch.
//
// That code is machine code like any other: pages are protected while there is such work, so that each access faults,
// is noted, and is made by itself, as a single step. The emulator's own accesses pass. Of a page that host code touches
// often only the first accesses are noted, which can hide a race and invents none.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "checks/call_errors.h"

namespace emu {

class MemoryView;

class HostAccesses {
public:
    struct Access {
        uint64_t address;
        uint32_t site;  // of Noted::sites
        bool writes;
    };
    struct Site {
        uint64_t instruction;
        Frames frames;
    };
    struct Noted {
        std::vector<Access> accesses;
        std::vector<Site> sites;
    };

    // The current piece of work has touched this page, which is shared: accesses to it are noted from the next follow()
    // on, or writes only, where it only read.
    void watch(uint64_t page, bool writes);
    // The same for all memory that is shared: work waits in queues that may touch any of it.
    void watch_all();
    // The host goes on while there is work.
    void follow();
    // The host has waited for all work.
    void stop();
    // What has been noted since the last call.
    Noted take();
    // These bytes belong to another allocation, or to none, from now on.
    void forget(uint64_t address, uint64_t size);
    // The emulator itself is about to touch memory, or has done so.
    void pause();
    void resume();

    // For signal handlers. False for what is no access to a page that is watched.
    bool note(uint64_t address, uint64_t instruction, bool writes, bool *steps);
    // The host is about to have the system touch these bytes, called from `caller`. Whether that needs them opened.
    bool note_call(uint64_t address, uint64_t size, uint64_t caller, bool writes);
    // The instruction that note() allowed is over. False where there was none.
    bool end_step();

private:
    struct Page {
        uint64_t number;
        bool writes;   // the device writes it
        uint8_t hits;  // at most_hits it stays open
    };
    class Lock;

    void protect(bool on);
    Page *find(uint64_t number);
    void sort_pages();
    uint32_t site_of(uint64_t instruction) const;

    std::atomic_flag busy_ =
        ATOMIC_FLAG_INIT;  // signal handlers may wait for it: nobody touches watched memory meanwhile
    bool follows_ = false, is_paused_ = false, is_protected_ = false, is_sorted_ = true;
    uint64_t openings_ = 0;  // how often pages were opened for more than one access
    std::vector<Page> pages_;
    std::shared_ptr<const MemoryView> watched_;  // by watch_all()
    Noted noted_;
};

HostAccesses &host_accesses();

}  // namespace emu
