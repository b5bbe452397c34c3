// SPDX-License-Identifier: Apache-2.0
// The compatibility matrix: with each field of the record changed in turn, none of the chunks that
// were stored under the old record is a hit, though blocks are as large and tokens the same.
#include <numeric>
#include <string>

#include "suites/verify/cell.h"
#include "suites/verify/checks.h"
#include "transfer/keys/chunk_key.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 4;

Status store(Cell& cell, std::span<const ChunkKey> keys) {
  std::vector<BlockId> blocks(keys.size() * cell.spec().blocks_per_chunk);
  std::iota(blocks.begin(), blocks.end(), 0u);
  const auto written = cell.write(blocks, blocks);
  if (!written) return written.status();
  cell.engine().note_write(blocks, *written);
  return cell.wait(cell.engine().offload(keys, blocks)).status();
}

Finding flip_each_field(const VerifySetup& setup) {
  Finding finding;
  const CellSpec spec{.kv = cell_layout(Layout::block_first, KvOrder::nhd, DType::bf16, 2)};
  auto cell = Cell::create(setup.device, spec);
  if (!cell) return {.status = cell.status(), .wrong = {}};
  const std::uint32_t chunk_tokens = spec.kv.block_tokens * spec.blocks_per_chunk;
  std::vector<std::int32_t> tokens(kChunks * chunk_tokens);
  std::iota(tokens.begin(), tokens.end(), 0);
  const CompatibilityRecord record = make_record(setup.shape, {spec.kv}, spec.blocks_per_chunk);
  const std::vector<ChunkKey> keys = chunk_keys(record, tokens, chunk_tokens);
  finding.status = store(**cell, keys);
  if (!finding.status.ok()) return finding;
  if ((*cell)->engine().lookup(keys) != kChunks) {
    finding.wrong = "chunks that were stored are not hits under their own record";
  }
  for (const RecordFlip& flip : setup.flips) {
    CompatibilityRecord other = record;
    flip.apply(other);
    const std::vector<ChunkKey> others = chunk_keys(other, tokens, chunk_tokens);
    for (std::size_t i = 0; i < others.size(); ++i, ++finding.compared) {
      // Each alone: no chunk of the chain may be met, not only the first.
      if ((*cell)->engine().lookup(std::span(others).subspan(i, 1)) == 0) continue;
      finding.wrong = "chunk " + std::to_string(i) + " is a hit though " + std::string(flip.field) +
                      " of the record is another";
      return finding;
    }
  }
  return finding;
}

}  // namespace

std::vector<Case> compatibility(const VerifySetup& setup) {
  return {make_case(setup, "compatibility", flip_each_field(setup))};
}

}  // namespace kvroof
