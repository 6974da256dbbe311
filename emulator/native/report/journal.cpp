#include "report/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/descriptors.h"
#include "report/symbol_names.h"

namespace emu {

void Journal::open(const std::string &path) {
    path_ = path;
    if (is_ours()) close(file_);
    file_ = -1;
}

// Whether the program has left the file alone.
bool Journal::is_ours() const {
    struct stat now;
    return file_ >= 0 && !fstat(file_, &now) && now.st_dev == device_ && now.st_ino == inode_;
}

void Journal::write(Entry entry, const std::string &payload) {
    if (!is_ours()) {
        bool is_first = file_ < 0;
        file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        struct stat made;
        if (file_ < 0 || fstat(file_, &made)) return path_.clear();
        file_ = out_of_the_way(file_);
        device_ = made.st_dev;
        inode_ = made.st_ino;
        if (is_first) write(Entry::program, Writer()(static_cast<uint32_t>(getpid()), executable_path()).bytes);
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
