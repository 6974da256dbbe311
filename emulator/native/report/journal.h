// The journal of a program that runs by itself (report/session.h): its report, in a file to which each entry is
// appended as it happens, so that a crash loses nothing. Without a file, entries are dropped. The Report serialises the
// callers.
#pragma once

#include <cstdint>
#include <string>

#include "report/wire.h"

namespace emu {

enum class Entry : uint32_t {
    program,  // which program it is
    launch_begun,
    launch,
    further_launch,
    fault,
    fault_count,
    unchecked,
    extents,
    limit,
    unsupported,
    failure,
    call_error,
    call_error_again,
    was_queried,
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
