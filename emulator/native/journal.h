// The report of a program that runs by itself (see session.h), in a file to which each entry is added as it happens: no crash
// loses what was told before it. Without a file, entries go nowhere. The report keeps threads apart.
#pragma once

#include <cstdint>
#include <string>

#include "wire.h"

namespace emu {

enum class Entry : uint32_t {
    program,  // which program it is
    launch_begun,
    launch,
    further_launch,
    fault,
    fault_count,
    unchecked,
    limit,
    unsupported,
    failure,
    call_error,
    call_error_again,
    looked_at,
    leak,
    crash,
    ended,
    used,  // the program uses the device
};

class Journal {
  public:
    // The file is made at the first entry. An empty path: none.
    void open(const std::string &path);
    bool is_open() const { return !path_.empty(); }

    template <class... Values>
    void add(Entry entry, const Values &...values) {
        if (path_.empty()) return;
        Writer writer;
        writer(values...);
        write(entry, writer.bytes);
    }

  private:
    void write(Entry entry, const std::string &payload);

    bool is_ours() const;

    std::string path_;
    int file_ = -1;
    uint64_t device_ = 0, inode_ = 0;
};

Journal &journal();

}  // namespace emu
