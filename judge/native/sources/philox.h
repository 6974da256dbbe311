// The streams of judge/packs/data/streams.py: Philox4x64-10 (Salmon et al., 2011) as NumPy counts its blocks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpujudge {

static_assert(std::endian::native == std::endian::little, "the low half of each word comes first");

struct Key {
    std::uint64_t low, high;
};

constexpr std::size_t kBlockBytes = 32;

// The blocks numbered `first` and on, `count` of them, to `out`.
inline void make_blocks(Key key, std::uint64_t first, std::size_t count, std::byte *out) {
    for (std::size_t block = 0; block < count; ++block) {
        std::uint64_t words[4] = {first + block + 1, 0, 0, 0};
        std::uint64_t k0 = key.low, k1 = key.high;
        for (int round = 0; round < 10; ++round) {
            const auto left = static_cast<unsigned __int128>(0xD2E7470EE14C6C93) * words[0];
            const auto right = static_cast<unsigned __int128>(0xCA5A826395121157) * words[2];
            words[0] = static_cast<std::uint64_t>(right >> 64) ^ words[1] ^ k0;
            words[1] = static_cast<std::uint64_t>(right);
            words[2] = static_cast<std::uint64_t>(left >> 64) ^ words[3] ^ k1;
            words[3] = static_cast<std::uint64_t>(left);
            k0 += 0x9E3779B97F4A7C15;
            k1 += 0xBB67AE8584CAA73B;
        }
        std::memcpy(out + kBlockBytes * block, words, kBlockBytes);
    }
}

// Calls use(words, n, done) for words of type Word of the stream, `start` and on, until `count` of them are done: as
// many at a time as stay in the nearest cache, `done` being those of earlier calls.
template <class Word, class Use>
void for_words(Key key, std::uint64_t start, std::size_t count, const Use &use) {
    constexpr std::size_t kBlocks = 256;
    constexpr std::size_t kWordsABlock = kBlockBytes / sizeof(Word);
    alignas(64) Word words[kBlocks * kWordsABlock];
    for (std::size_t done = 0; done < count;) {
        const std::size_t skip = (start + done) % kWordsABlock;
        const std::size_t n = std::min(count - done, kBlocks * kWordsABlock - skip);
        const std::size_t blocks = (skip + n + kWordsABlock - 1) / kWordsABlock;
        make_blocks(key, (start + done) / kWordsABlock, blocks, reinterpret_cast<std::byte *>(words));
        use(words + skip, n, done);
        done += n;
    }
}

}  // namespace gpujudge
