// SPDX-License-Identifier: Apache-2.0
// Checksums: a bit of every other chunk flips while it lies in the host tier. With checksums such a
// chunk fails and is a miss from then on, and the others come back as they were.
#include <numeric>
#include <random>

#include "suites/serving/path_timer.h"
#include "suites/verify/cell.h"
#include "suites/verify/checks.h"
#include "suites/verify/remembering_device.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kChunks = 6;  // and as many blocks for them to come back to

struct Stored {
  ChunkKey key;
  std::vector<std::uint32_t> names;  // of its blocks
  bool spoilt = false;
};

std::vector<Stored> some_chunks(Integrity checksum, std::uint32_t blocks_per_chunk) {
  std::vector<Stored> chunks;
  for (std::uint64_t n = 1; chunks.size() < kChunks; ++n) {
    const ChunkKey key{n * 0x9E3779B97F4A7C15ull, n};
    const bool spoilt = chunks.size() % 2 == 1;
    if (spoilt && !has_sum(checksum, key)) continue;
    Stored chunk{.key = key, .names = {}, .spoilt = spoilt};
    for (std::uint32_t i = 0; i < blocks_per_chunk; ++i) {
      chunk.names.push_back(static_cast<std::uint32_t>(chunks.size()) * blocks_per_chunk + i + 1);
    }
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

Status store(Cell& cell, std::span<const Stored> chunks) {
  std::vector<BlockId> blocks(chunks.size() * cell.spec().blocks_per_chunk);
  std::iota(blocks.begin(), blocks.end(), 0u);
  std::vector<std::uint32_t> names;
  std::vector<ChunkKey> keys;
  for (const Stored& chunk : chunks) {
    keys.push_back(chunk.key);
    names.insert(names.end(), chunk.names.begin(), chunk.names.end());
  }
  const auto written = cell.write(blocks, names);
  if (!written) return written.status();
  cell.engine().note_write(blocks, *written);
  return cell.wait(cell.engine().offload(keys, blocks)).status();
}

Status spoil(const RememberingDevice& device, const KvLayout& kv, const Stored& chunk,
             std::mt19937_64& random) {
  std::vector<std::byte> block(kv.block_bytes());
  const PatternName name{.block = chunk.names[random() % chunk.names.size()]};
  if (Status e = write_pattern(kv, name, block); !e.ok()) return e;
  const std::uint64_t region = random() % kv.regions_per_block();
  const auto bytes = std::span(block).subspan(region * kv.region_bytes(), kv.region_bytes());
  if (device.flip_bit(bytes, random() % (8 * bytes.size())) > 0) return {};
  return {Code::failed, "the tier's copy of a stored chunk can't be found in host memory"};
}

// To blocks that hold something else. A spoilt chunk must not be served, now or later.
Status load(Cell& cell, const Stored& chunk, std::span<const BlockId> to, Finding& finding) {
  const auto id = cell.engine().load({&chunk.key, 1}, to);
  if (!id) return id.status();
  const auto result = cell.engine().wait(*id, Nanos::max());
  if (!result) return result.status();
  finding.compared += cell.vectors(to.size());
  if (!chunk.spoilt) {
    if (!result->status.ok()) return result->status;
    const auto wrong = cell.mismatch(to, chunk.names);
    if (wrong) finding.wrong = *wrong;
    return wrong.status();
  }
  if (result->failed_chunks == 0) {
    finding.wrong = "a chunk with a flipped bit was loaded as if nothing were wrong";
  } else if (cell.engine().lookup({&chunk.key, 1}) > 0) {
    finding.wrong = "a chunk whose checksum is another is still a hit";
  } else if (cell.engine().fences_for_read(to).code() != Code::failed) {
    finding.wrong = "blocks that a corrupt chunk was loaded to can be read";
  }
  return {};
}

Finding spoil_and_load(const VerifySetup& setup, const CellSpec& spec, Integrity checksum) {
  RememberingDevice device(setup.device);
  auto cell = Cell::create(device, spec);
  if (!cell) return {.status = cell.status(), .wrong = {}};
  Finding finding;
  const auto chunks = some_chunks(checksum, spec.blocks_per_chunk);
  finding.status = store(**cell, chunks);
  std::mt19937_64 random(setup.seed);
  BlockId next = kChunks * spec.blocks_per_chunk;
  for (const Stored& chunk : chunks) {
    if (!finding.status.ok() || !finding.wrong.empty()) break;
    if (chunk.spoilt) finding.status = spoil(device, spec.kv, chunk, random);
    std::vector<BlockId> to(spec.blocks_per_chunk);
    std::iota(to.begin(), to.end(), next);
    next += spec.blocks_per_chunk;
    if (finding.status.ok()) finding.status = load(**cell, chunk, to, finding);
  }
  return finding;
}

}  // namespace

std::vector<Case> checksums(const VerifySetup& setup) {
  std::vector<Case> cases;
  for (const Integrity checksum : {Integrity::sampled, Integrity::always}) {
    for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
      for (const CopyPath path :
           {CopyPath::dma, CopyPath::batch, CopyPath::kernel, CopyPath::staged}) {
        if (!why_not_copied(setup.device.info(), path).empty()) continue;
        CellSpec spec{.kv = cell_layout(layout, KvOrder::nhd, DType::bf16, 2)};
        spec.checksum = setup.checks_sums ? checksum : Integrity::off;
        spec.copy = path;
        Case made = make_case(setup, "checksums", spoil_and_load(setup, spec, checksum),
                              "vectors_compared");
        made.params["checksum"] = name(checksum);
        made.params["layout"] = name(layout);
        made.params["copy"] = name(path);
        cases.push_back(std::move(made));
      }
    }
  }
  return cases;
}

}  // namespace kvroof
