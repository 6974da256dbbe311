// Work in ranges, on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace gpujudge {

// Calls body(begin, end) for ranges that together are [0, count), each of `least` or more where there are several, on
// at most `threads` threads, this one among them. Where no thread can be had, this one does what is left.
template <class Body>
void in_parallel(std::size_t count, std::size_t least, unsigned threads, const Body &body) noexcept {
    const std::size_t parts = std::max<std::size_t>(1, std::min<std::size_t>(threads, count / least));
    const auto begin_of = [&](std::size_t part) { return count / parts * part + std::min(part, count % parts); };
    std::vector<std::thread> others;
    try {
        others.reserve(parts - 1);
        while (others.size() + 1 < parts) {
            const std::size_t part = others.size();
            others.emplace_back([&body, begin = begin_of(part), end = begin_of(part + 1)] { body(begin, end); });
        }
    } catch (const std::exception &) {}
    body(begin_of(others.size()), count);
    for (std::thread &other : others) other.join();
}

}  // namespace gpujudge
