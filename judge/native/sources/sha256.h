// SHA-256 (FIPS 180-4).
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpujudge {

constexpr std::size_t kDigestBytes = 32;

// Takes `blocks` blocks of 64 bytes into the state.
using Compress = void (*)(std::uint32_t state[8], const std::uint8_t *data, std::size_t blocks);

// With the processor's instructions for it; null where it has none.
Compress compress_by_instructions();
// In plain C++.
Compress compress_portable();

void sha256(Compress compress, const std::uint8_t *data, std::size_t size, std::uint8_t digest[kDigestBytes]);

}  // namespace gpujudge
