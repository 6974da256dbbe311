// Values as bytes, for what passes between the processes of one machine. A structure passes when there is a
//     template <class Wire> void pass(Wire &wire, Structure &it) { wire(it.first, it.second); }
// beside it: the same function writes and reads it.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace emu {

class Writer {
public:
    template <class... Values>
    Writer &operator()(const Values &...values) {
        (put(values), ...);
        return *this;
    }

    std::string bytes;

private:
    template <class T>
    void put(const T &value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
        } else {
            pass(*this, const_cast<T &>(value));
        }
    }
    template <class T, size_t n>
    void put(const T (&values)[n]) {
        for (const T &value : values) put(value);
    }
    template <class T>
    void put(const std::vector<T> &values) {
        put(static_cast<uint32_t>(values.size()));
        for (const T &value : values) put(value);
    }
    void put(const std::string &text) {
        put(static_cast<uint32_t>(text.size()));
        bytes += text;
    }
};

// What is missing at the end reads as zeros, and is_whole() says so.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    template <class... Values>
    Reader &operator()(Values &...values) {
        (get(values), ...);
        return *this;
    }

    bool is_whole() const { return whole_; }
    bool at_end() const { return rest_.empty(); }
    std::string_view rest() const { return rest_; }

private:
    template <class T>
    void get(T &value) {
        if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
            value = {};
            std::string_view taken = take(sizeof value);
            if (whole_) std::memcpy(&value, taken.data(), sizeof value);
        } else {
            pass(*this, value);
        }
    }
    template <class T, size_t n>
    void get(T (&values)[n]) {
        for (T &value : values) get(value);
    }
    template <class T>
    void get(std::vector<T> &values) {
        uint32_t count;
        get(count);
        values.clear();
        for (uint32_t i = 0; i < count && whole_; ++i) get(values.emplace_back());
    }
    void get(std::string &text) {
        uint32_t size;
        get(size);
        text = take(size);
    }
    std::string_view take(size_t size) {
        whole_ = whole_ && size <= rest_.size();
        if (!whole_) return {};
        std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool whole_ = true;
};

}  // namespace emu
