// One level of the tree of judge/runner/digest.py.
#include <algorithm>

#include "parallel.h"
#include "sha256.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT bool gpujudge_has_sha_instructions() {
    return gpujudge::compress_by_instructions() != nullptr;
}

// The SHA-256 digests, one after another, of the pieces of `data`, each of `piece` bytes but for the last; no bytes are
// one empty piece.
EXPORT void gpujudge_digest_pieces(const std::uint8_t* data, std::size_t size, std::size_t piece, bool portable,
                                   std::uint8_t* digests, unsigned threads) {
    using namespace gpujudge;
    constexpr std::size_t kPiecesAThread = 256;
    const Compress instructions = compress_by_instructions();
    const Compress compress = portable || instructions == nullptr ? compress_portable() : instructions;
    const std::size_t pieces = std::max<std::size_t>(1, (size + piece - 1) / piece);
    in_parallel(pieces, kPiecesAThread, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            sha256(compress, data + i * piece, std::min(piece, size - i * piece), digests + i * kDigestBytes);
    });
}
