// printf and assert of kernels.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "exec/block.h"
#include "exec/memory.h"
#include "report/report.h"
#include "report/symbol_names.h"

using namespace emu;

namespace {

// What one lane hands over, by address: read as a load of its would be. `site` is a generic load of one byte.
struct LaneReader {
    WarpContext *warp;
    uint32_t site, lane;

    // False, and told, where the byte may not be read.
    bool may_read(uint64_t address) const {
        uint64_t checked[32];
        checked[lane] = address;
        emu_check_access(warp, site, 1u << lane, checked);
        return checked[lane] == address;
    }

    std::string string(uint64_t address) const;
};

// A string in memory that kernels may read, up to its end or to that of its allocation.
std::string LaneReader::string(uint64_t address) const {
    uint64_t end = 0;
    if (const Allocation *found = warp->block->launch.memory->find(address)) {
        end = found->end;
    } else if (auto fresh = memory().find(address)) {
        end = fresh->end;
    } else {
        uint64_t local = reinterpret_cast<uint64_t>(warp->local),
                 local_size = (warp->kernel->local_bytes + warp->stack_bytes) * 32;
        uint64_t shared = reinterpret_cast<uint64_t>(warp->shared);
        if (address - local < local_size) end = local + local_size;
        if (address - shared < warp->shared_bytes) end = shared + warp->shared_bytes;
    }
    if (!address) return "(null)";
    if (!end) {
        may_read(address);
        return "(invalid string)";
    }
    const char *text = reinterpret_cast<const char *>(address);
    return std::string(text, strnlen(text, end - address));
}

// The packed arguments of one call: each at its natural alignment.
class PrintArguments {
public:
    PrintArguments(const LaneReader &reader, uint64_t address) : reader_(reader), begin_(address), at_(address) {}

    template <class T>
    T next() {
        at_ = begin_ + (at_ - begin_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value{};
        bool good = reader_.may_read(at_) && reader_.may_read(at_ + sizeof(T) - 1);
        if (good) std::memcpy(&value, reinterpret_cast<const void *>(at_), sizeof value);
        at_ += sizeof(T);
        ++count_;
        return value;
    }

    int count() const { return count_; }

private:
    const LaneReader &reader_;
    uint64_t begin_, at_;
    int count_ = 0;
};

template <class... Values>
void append(std::string &out, const std::string &directive, Values... values) {
    char buffer[512];
    int length = std::snprintf(buffer, sizeof buffer, directive.c_str(), values...);
    if (length > 0) out.append(buffer, std::min<size_t>(static_cast<size_t>(length), sizeof buffer - 1));
}

// One directive, from the '%' at `at` on; moves `at` behind it.
void format_directive(const LaneReader &reader, const std::string &format, size_t &at, PrintArguments &arguments,
                      std::string &out) {
    std::string directive = "%";
    ++at;
    auto take_while = [&](const char *set) {
        while (at < format.size() && std::strchr(set, format[at])) directive += format[at++];
    };
    auto take_number = [&] {
        if (at < format.size() && format[at] == '*') {
            directive += std::to_string(std::min(arguments.next<int>(), 4096));
            ++at;
        } else {
            take_while("0123456789");
        }
    };
    take_while("-+ #0");
    take_number();
    if (at < format.size() && format[at] == '.') {
        directive += format[at++];
        take_number();
    }
    bool wide = false;
    while (at < format.size() && std::strchr("hlLqjzt", format[at])) wide |= format[at++] != 'h';
    if (at >= format.size()) return;
    char conversion = format[at++];
    switch (conversion) {
    case 'd':
    case 'i': {
        int64_t value = wide ? arguments.next<int64_t>() : arguments.next<int32_t>();
        return append(out, directive + "lld", static_cast<long long>(value));
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X': {
        uint64_t value = wide ? arguments.next<uint64_t>() : arguments.next<uint32_t>();
        return append(out, directive + "ll" + conversion, static_cast<unsigned long long>(value));
    }
    case 'c': return append(out, directive + "c", arguments.next<int32_t>());
    case 'p': return append(out, directive + "p", reinterpret_cast<void *>(arguments.next<uint64_t>()));
    case 's': {
        std::string text = reader.string(arguments.next<uint64_t>());
        if (directive == "%") {
            out += text;
            return;
        }
        return append(out, directive + "s", text.c_str());
    }
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': {
        double value = arguments.next<double>();
        // A GPU's NaN has no sign, where this machine's may have one.
        return append(out, directive + conversion, std::isnan(value) ? std::fabs(value) : value);
    }
    case '%': out += '%'; return;
    default: out += directive + conversion;
    }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) void emu_vprintf(WarpContext *warp, uint32_t site, uint32_t mask,
                                                        const uint64_t format[32], const uint64_t arguments[32],
                                                        int32_t result[32]) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        LaneReader reader{warp, site, lane};
        std::string text = reader.string(format[lane]), out;
        PrintArguments packed(reader, arguments[lane]);
        for (size_t at = 0; at < text.size();) {
            if (text[at] == '%') {
                format_directive(reader, text, at, packed, out);
            } else {
                out += text[at++];
            }
        }
        report().add_printed(out, stdout);
        result[lane] = packed.count();
    }
}

__attribute__((visibility("default"))) void emu_assert_fail(WarpContext *warp, uint32_t site, uint32_t mask,
                                                            const uint64_t message[32], const uint64_t file[32],
                                                            const uint32_t line[32], const uint64_t function[32]) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!(mask >> lane & 1)) continue;
        char where[96];
        std::snprintf(where, sizeof where, ": block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `", warp->ctaid[0],
                      warp->ctaid[1], warp->ctaid[2], warp->tid[0][lane], warp->tid[1][lane], warp->tid[2][lane]);
        LaneReader reader{warp, site, lane};
        std::string text = reader.string(file[lane]) + ":" + std::to_string(line[lane]) + ": " +
                           reader.string(function[lane]) + where + reader.string(message[lane]) + "` failed.";
        report().add_printed(text + "\n", stderr);
        warp->block->launch.stop(cudaErrorAssert, text);
    }
}
}
