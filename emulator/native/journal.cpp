#include "journal.h"

#include <fcntl.h>
#include <unistd.h>

#include "names.h"

namespace emu {

void Journal::open(const std::string &path) {
    path_ = path;
    if (file_ >= 0) close(file_);
    file_ = -1;
}

void Journal::write(Entry entry, const std::string &payload) {
    if (file_ < 0) {
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (file_ < 0) return;
        write(Entry::program, Writer()(static_cast<uint32_t>(getpid()), executable_path()).bytes);
    }
    std::string bytes = Writer()(entry, payload).bytes;
    // A short write (a full disk) ends the journal early, as a crash would.
    if (::write(file_, bytes.data(), bytes.size()) < 0) path_.clear();
}

Journal &journal() {
    static Journal *instance = new Journal;  // as the report
    return *instance;
}

}  // namespace emu
