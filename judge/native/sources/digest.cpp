// One level of the tree of judge/wire/digest.py.
#include <algorithm>

#include "parallel.h"
#include "sha256.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT bool gpujudge_has_sha_instructions() { return gpujudge::compress_by_instructions() != nullptr; }

// Writes the SHA-256 digests, one after another, of `pieces` pieces of `data`, each of `piece` bytes (the last one may
// be shorter): those that `picked` numbers, or the first ones where it is null.
EXPORT void gpujudge_digest_pieces(const std::uint8_t *data, std::size_t size, std::size_t piece,
                                   const std::uint64_t *picked, std::size_t pieces, bool portable,
                                   std::uint8_t *digests, unsigned threads) {
    using namespace gpujudge;
    constexpr std::size_t kPiecesAThread = 64;
    const Compress instructions = compress_by_instructions();
    const Compress compress = portable || instructions == nullptr ? compress_portable() : instructions;
    in_parallel(pieces, kPiecesAThread, threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t at = (picked == nullptr ? i : picked[i]) * piece;
            sha256(compress, data + at, std::min(piece, size - at), digests + i * kDigestBytes);
        }
    });
}
