// What is told about the launches since the host last asked.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace emu {

struct Fault {
    std::string kind;        // "out-of-bounds write"
    std::string message;     // the whole story in one sentence
    std::string kernel;      // mangled name
    std::string file;        // empty when built without -lineinfo
    std::string allocation;  // empty when none is meant
    uint64_t address = 0;
    uint32_t line = 0, size = 0;
    uint32_t thread[3] = {}, block[3] = {};
    bool is_write = false;
};

struct LaunchRecord {
    std::string kernel;
    uint32_t grid[3], block[3];
    uint64_t warp_instructions;
    double wall_s;
};

class Report {
  public:
    static constexpr size_t most_faults = 20;
    static constexpr size_t most_launches = 10000;
    static constexpr size_t most_printf_bytes = 1 << 20;  // as cudaLimitPrintfFifoSize says

    // Keeps it when it is the first of its site (kernel, file, line, kind).
    void add_fault(Fault fault);
    void count_faults(uint64_t count);
    void add_launch(LaunchRecord launch);
    void add_printf(const char *text, size_t size);
    // The first of each stays.
    void set_limit(const char *which);
    void set_unsupported(const std::string &what);

    // Everything so far; the report is empty afterwards.
    struct Contents {
        uint64_t warp_instructions = 0, fault_count = 0;
        std::vector<LaunchRecord> launches;
        std::vector<Fault> faults;
        std::string limit, unsupported, printf_output;
    };
    Contents take();

  private:
    std::mutex mutex_;
    Contents contents_;
    std::set<std::tuple<std::string, std::string, uint32_t, std::string>> sites_;
};

Report &report();

}  // namespace emu
