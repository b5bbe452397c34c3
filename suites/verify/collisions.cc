// SPDX-License-Identifier: Apache-2.0
// Forced collisions: keys of 8 bits, so that among a few hundred prefixes many share theirs. Where
// tokens are checked, none of them is served another's bytes.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "suites/verify/cell.h"
#include "suites/verify/checks.h"
#include "transfer/keys/chunk_key.h"
#include "transfer/keys/prefix_hash.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kPrefixes = 200, kChunks = 3, kKeyBits = 8;
constexpr std::uint32_t kWords =
    4;  // a chunk's tokens are one of so many: chunks recur in prefixes

struct Prefix {
  std::vector<std::int32_t> tokens;
  std::vector<ChunkKey> keys;
  std::vector<PrefixHash> hashes;
  ChunkTokens checked() const { return {tokens, hashes}; }
};

class Prefixes {
 public:
  Prefixes(const VerifySetup& setup, const CellSpec& spec)
      : record_(make_record(setup.shape, {spec.kv}, spec.blocks_per_chunk)),
        chunk_tokens_(spec.kv.block_tokens * spec.blocks_per_chunk),
        random_(setup.seed),
        hasher_(record_) {}

  Prefix next() {
    Prefix prefix;
    for (std::uint32_t i = 0; i < kChunks; ++i) {
      const auto word = static_cast<std::int32_t>(random_() % kWords);
      prefix.tokens.insert(prefix.tokens.end(), chunk_tokens_, word);
    }
    // The last one, so that there are more prefixes than chains of words.
    prefix.tokens.back() = static_cast<std::int32_t>(random_() % 50);
    prefix.keys = chunk_keys(record_, prefix.tokens, chunk_tokens_, KeyHash::narrow(kKeyBits));
    hasher_(prefix.tokens, chunk_tokens_, prefix.hashes);
    return prefix;
  }

  // The number by which a chunk's blocks go, the same for the same tokens up to its end.
  std::uint32_t name(const Prefix& prefix, std::uint32_t chunk) {
    const auto end = prefix.tokens.begin() + std::ptrdiff_t{chunk + 1} * chunk_tokens_;
    const std::vector<std::int32_t> until(prefix.tokens.begin(), end);
    const auto [at, added] = names_.try_emplace(until, static_cast<std::uint32_t>(names_.size()));
    return at->second * 16 + 1;
  }

 private:
  const CompatibilityRecord record_;
  const std::uint32_t chunk_tokens_;
  std::mt19937_64 random_;
  PrefixHasher hasher_;
  std::map<std::vector<std::int32_t>, std::uint32_t> names_;
};

std::vector<std::uint32_t> names_of(Prefixes& prefixes, const Prefix& prefix, std::uint32_t chunks,
                                    std::uint32_t blocks_per_chunk) {
  std::vector<std::uint32_t> names;
  for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::uint32_t i = 0; i < blocks_per_chunk; ++i) {
      names.push_back(prefixes.name(prefix, chunk) + i);
    }
  }
  return names;
}

// As a serving loop would: what hits is loaded, and must be right; the rest is computed, and
// stored.
Status serve(Cell& cell, Prefixes& prefixes, const Prefix& prefix, Finding& finding) {
  const std::uint32_t each = cell.spec().blocks_per_chunk;
  std::vector<BlockId> blocks(std::size_t{kChunks} * each);
  std::iota(blocks.begin(), blocks.end(), 0u);
  const std::uint32_t hits = cell.engine().lookup(prefix.keys, prefix.checked());
  if (hits > 0) {
    const auto to = std::span(blocks).first(std::size_t{hits} * each);
    const auto loaded = cell.wait(cell.engine().load(std::span(prefix.keys).first(hits), to,
                                                     {.tokens = prefix.checked().of(0, hits)}));
    if (!loaded) return loaded.status();
    const auto wrong = cell.mismatch(to, names_of(prefixes, prefix, hits, each));
    if (!wrong) return wrong.status();
    finding.wrong = *wrong;
    finding.compared += cell.vectors(to.size());
  }
  const auto names = names_of(prefixes, prefix, kChunks, each);
  const auto rest = std::span(blocks).subspan(std::size_t{hits} * each);
  if (rest.empty()) return {};
  const auto fences = cell.fences_for_write(rest);
  if (!fences) return fences.status();
  const auto written =
      cell.write_again(rest, std::span(names).subspan(names.size() - rest.size()), *fences);
  if (!written) return written.status();
  cell.engine().note_write(rest, *written);
  return cell.wait(cell.engine().offload(prefix.keys, blocks, {.tokens = prefix.checked()}))
      .status();
}

Finding collide(const VerifySetup& setup) {
  CellSpec spec{.kv = cell_layout(Layout::block_first, KvOrder::nhd, DType::bf16, 1),
                .tier_chunks = 64};
  spec.check_tokens = setup.check_tokens;
  auto cell = Cell::create(setup.device, spec);
  if (!cell) return {.status = cell.status(), .wrong = {}};
  Finding finding;
  Prefixes prefixes(setup, spec);
  for (std::uint32_t i = 0; i < kPrefixes && finding.wrong.empty() && finding.status.ok(); ++i) {
    finding.status = serve(**cell, prefixes, prefixes.next(), finding);
  }
  if (!finding.status.ok() || !finding.wrong.empty()) return finding;
  if ((*cell)->engine().counters().chunks_collided == 0 || finding.compared == 0) {
    finding.wrong = "no keys collided, or nothing was ever a hit: the check saw nothing";
  }
  return finding;
}

}  // namespace

std::vector<Case> collisions(const VerifySetup& setup) {
  return {make_case(setup, "collisions", collide(setup), "vectors_compared")};
}

}  // namespace kvroof
