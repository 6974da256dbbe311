// The report: faults, launches, printf output, failed calls and leaks since the host last took it.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "profile/counters.h"
#include "report/wire.h"

namespace emu {

// The other access of a race.
struct Party {
    std::string file;
    uint32_t line = 0;
    uint32_t thread[3] = {}, block[3] = {};
    bool is_write = false, exists = false;
};

template <class Wire>
void pass(Wire &wire, Party &it) {
    wire(it.file, it.line, it.thread, it.block, it.is_write, it.exists);
}

// A fault of a kernel: a bad access, a race, a divergent barrier, ...
struct Fault {
    std::string kind;        // "out-of-bounds write"; emulator/runtime/report.py lists them all
    std::string message;     // the full explanation, one sentence
    std::string kernel;      // mangled name
    std::string file;        // empty when built without -lineinfo
    std::string allocation;  // empty when none is meant
    uint64_t address = 0;
    uint32_t line = 0, size = 0;
    uint32_t thread[3] = {}, block[3] = {};
    bool is_write = false;
    uint64_t count = 1;  // of the same kind at the same site
    Party other;
    std::string host_frames;  // of a race with the host: where its code is, as program_frames() in checks/call_errors.h
};

template <class Wire>
void pass(Wire &wire, Fault &it) {
    wire(it.kind, it.message, it.kernel, it.file, it.allocation, it.address, it.line, it.size, it.thread, it.block,
         it.is_write, it.count, it.other, it.host_frames);
}

// The bytes of shared memory that a source line reads, or those that it writes, in one launch; and who reaches the
// outermost.
struct SharedExtent {
    std::string kernel, file;
    uint64_t launch = 0;  // extents with the same number are of one launch
    uint64_t begin = 0, end = 0;
    uint32_t line = 0;
    bool is_write = false;
    uint32_t first_thread[3] = {}, first_block[3] = {}, last_thread[3] = {}, last_block[3] = {};
};

template <class Wire>
void pass(Wire &wire, SharedExtent &it) {
    wire(it.kernel, it.file, it.launch, it.begin, it.end, it.line, it.is_write, it.first_thread, it.first_block,
         it.last_thread, it.last_block);
}

struct LaunchRecord {
    std::string kernel;
    uint32_t grid[3], block[3];
    uint64_t warp_instructions;
    double wall_s;
    std::vector<LaunchProfile> profiles;  // one, of a profiled launch
};

template <class Wire>
void pass(Wire &wire, LaunchRecord &it) {
    wire(it.kernel, it.grid, it.block, it.warp_instructions, it.wall_s, it.profiles);
}

// A call of the runtime's functions that failed.
struct CallError {
    uint32_t id = 0;
    std::string kind;     // "copy past the end"; empty when nothing is known but the code
    std::string message;  // what is wrong, in one sentence
    std::string call;     // "cudaMemcpy"
    int code = 0;
    std::string frames;        // as program_frames() in checks/call_errors.h
    bool was_queried = false;  // the program used the result, or asked about the error afterwards
};

template <class Wire>
void pass(Wire &wire, CallError &it) {
    wire(it.id, it.kind, it.message, it.call, it.code, it.frames);
}

struct Leak {
    std::string allocation;
    uint64_t size = 0;
    std::string frames;
};

template <class Wire>
void pass(Wire &wire, Leak &it) {
    wire(it.allocation, it.size, it.frames);
}

// How a program under `python -m emulator` ended, as recorded by the program's own process.
struct Ending {
    std::string crash;         // "SIGSEGV: ..."
    std::string crash_frames;  // as program_frames()
    std::string kernel;        // that was running then
    bool is_regular = false;   // it reached the end of its exit handlers
};

class Report {
public:
    static constexpr size_t max_faults = 20;
    static constexpr size_t max_call_errors = 20;
    static constexpr size_t max_leaks = 20;
    static constexpr size_t max_extents = 512;
    static constexpr size_t max_launches = 10000;
    static constexpr size_t max_printf_bytes = 1 << 20;  // as cudaLimitPrintfFifoSize says

    // Keeps it when it is the first of its site (kernel, kind, and the line, or the two lines of a race); else its
    // count is added to that of the first.
    void add_fault(Fault fault);
    // Records what an enabled check could not examine.
    void add_unchecked(std::string what);
    // Of one launch. Kept as long as there is room for all of them, and none before it had the same.
    void add_extents(std::vector<SharedExtent> extents);
    // Adds to the number of faults, kept or not.
    void count_faults(uint64_t count);
    void add_launch(LaunchRecord launch);
    uint64_t launch_count();
    // `stream` receives the text in a program that runs by itself.
    void add_printed(const std::string &text, std::FILE *stream);
    // Called once for each site; count_call_error() for every later error of a known site.
    void add_call_error(CallError error);
    void count_call_error();
    void mark_call_error_queried(uint32_t id);
    void add_leak(Leak leak);
    // A launch begins; the journal then names the kernel, should the process die in it.
    void begin_launch(const std::string &kernel);
    void add_crash(const std::string &what, const std::string &frames);
    void end_regularly();
    void begin_use();
    // The first call of each decides.
    void set_limit(const char *which);
    void set_unsupported(const std::string &what);
    void set_failure(const std::string &what);  // that broke the context

    // Returns everything so far and empties the report.
    struct Contents {
        uint64_t warp_instructions = 0, fault_count = 0;
        uint64_t omitted_sites = 0;          // sites whose faults were not kept
        std::vector<LaunchRecord> launches;  // the first ones
        uint64_t launch_count = 0;
        std::vector<Fault> faults;
        std::set<std::string> unchecked;
        std::vector<SharedExtent> extents;
        std::string limit, unsupported, failure, printf_output;
        std::vector<CallError> call_errors;
        uint64_t call_error_count = 0;
        std::vector<Leak> leaks;
        uint64_t leak_count = 0, leaked_bytes = 0;
        uint32_t process = 0;  // of a program that ran by itself
        std::string program;
        Ending ending;
    };
    Contents take();

    // Around fork().
    void lock() { mutex_.lock(); }
    void unlock() { mutex_.unlock(); }

    // Adds the contents of a process's journal. Returns false if it is not a journal.
    bool replay(const std::string &journal);

private:
    std::mutex mutex_;
    Contents contents_;
    std::map<std::tuple<std::string, std::string, std::string, uint32_t, std::string, uint32_t>, size_t> sites_;
    std::set<std::string> known_extents_;  // of launches, as bytes
};

Report &report();

// A launch of the report that emu_report_take() took last.
const LaunchRecord &taken_launch(uint32_t index);

}  // namespace emu
