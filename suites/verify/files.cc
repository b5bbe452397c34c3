// SPDX-License-Identifier: Apache-2.0
// Files of the disk tier that are not what they should be: spoilt, cut short, another's or gone.
// Each must be a miss, and none of its bytes may reach a block.
#include <fcntl.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <optional>

#include "suites/verify/cell.h"
#include "suites/verify/checks.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kChunks = 3;

// An empty directory below the current one, for as long as its owner lives.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::current_path() / ".kvroof-verify-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const fs::path& path() const { return path_; }  // empty: it can't be made

 private:
  fs::path path_;
};

// A byte is changed.
void spoil(const fs::path& file, std::uint64_t at) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(at));
  const int old = stream.get();
  stream.seekp(static_cast<std::streamoff>(at));
  stream.put(static_cast<char>(old ^ 1));
}

const ChunkKey kKeys[kChunks] = {{11, 1}, {22, 2}, {33, 3}};

constexpr FileDamage kDamages[] = {
    {"data", [](const fs::path& file, const fs::path&) { spoil(file, kChunkHeaderBytes + 7); }},
    {"header", [](const fs::path& file, const fs::path&) { spoil(file, 100); }},
    {"truncated",
     [](const fs::path& file, const fs::path&) { fs::resize_file(file, fs::file_size(file) / 2); }},
    {"empty", [](const fs::path& file, const fs::path&) { fs::resize_file(file, 0); }},
    {"another_chunks",
     [](const fs::path& file, const fs::path& other) {
       fs::copy_file(other, file, fs::copy_options::overwrite_existing);
     }},
    {"gone", [](const fs::path& file, const fs::path&) { fs::remove(file); }},
};

CellSpec spec_in(const fs::path& directory) {
  CellSpec spec{.kv = cell_layout(Layout::block_first, KvOrder::nhd, DType::bf16, 2)};
  spec.disk = DiskTierConfig{.path = directory.string(), .bytes = 64ull << 20, .record = {5, 6}};
  return spec;
}

std::vector<BlockId> blocks_of(const Cell& cell, std::uint32_t chunk) {
  std::vector<BlockId> blocks(cell.spec().blocks_per_chunk);
  std::iota(blocks.begin(), blocks.end(), chunk * cell.spec().blocks_per_chunk);
  return blocks;
}

// All chunks are on disk when the cell is gone.
Status store(const VerifySetup& setup, const CellSpec& spec) {
  auto cell = Cell::create(setup.device, spec);
  if (!cell) return cell.status();
  for (std::uint32_t i = 0; i < kChunks; ++i) {
    const auto blocks = blocks_of(**cell, i);
    const auto written = (*cell)->write(blocks, blocks);
    if (!written) return written.status();
    (*cell)->engine().note_write(blocks, *written);
    const auto done = (*cell)->wait((*cell)->engine().offload({&kKeys[i], 1}, blocks));
    if (!done) return done.status();
  }
  return (*cell)->settle();
}

// Whether chunk `i` can be brought back; if so its blocks must be right.
Result<bool> comes_back(Cell& cell, std::uint32_t i, Finding& finding) {
  const auto id = cell.engine().prefetch({&kKeys[i], 1});
  if (!id) return id.status();
  const auto fetched = cell.engine().wait(*id, Nanos::max());
  if (!fetched) return fetched.status();
  if (cell.engine().lookup({&kKeys[i], 1}) == 0) return false;
  const auto blocks = blocks_of(cell, i);
  if (const auto d = cell.wait(cell.engine().load({&kKeys[i], 1}, blocks)); !d) return d.status();
  const auto wrong = cell.mismatch(blocks, blocks);
  if (!wrong) return wrong.status();
  if (finding.wrong.empty()) finding.wrong = *wrong;
  finding.compared += cell.vectors(blocks.size());
  return true;
}

Status look(Cell& cell, std::string_view damage, Finding& finding) {
  const auto damaged = comes_back(cell, 0, finding);
  if (!damaged) return damaged.status();
  if (*damaged && finding.wrong.empty()) {
    finding.wrong = "a file was served whose " + std::string(damage) + " is not what was written";
  }
  for (std::uint32_t i = 1; i < kChunks && finding.wrong.empty(); ++i) {
    const auto good = comes_back(cell, i, finding);
    if (!good) return good.status();
    if (!*good) finding.wrong = "a file that nobody touched does not come back";
  }
  return {};
}

Finding damage_one(const VerifySetup& setup, const FileDamage& damage) {
  const Scratch scratch;
  if (scratch.path().empty()) {
    return {{Code::unsupported, "no directory can be made in the current one for the files"}, {}};
  }
  CellSpec spec = spec_in(scratch.path());
  Finding finding;
  if (finding.status = store(setup, spec); !finding.status.ok()) {
    // Where the current directory is no place for a disk tier, that is no fault of the tier.
    if (finding.status.code == Code::invalid) finding.status.code = Code::unsupported;
    return finding;
  }
  damage.apply(scratch.path() / chunk_file_name(kKeys[0]),
               scratch.path() / chunk_file_name(kKeys[1]));
  auto cell = Cell::create(setup.device, spec);
  finding.status = cell ? look(**cell, damage.name, finding) : cell.status();
  return finding;
}

// Files of another record, under keys that are the same.
Finding other_record(const VerifySetup& setup) {
  const Scratch scratch;
  CellSpec spec = spec_in(scratch.path());
  Finding finding;
  if (finding.status = store(setup, spec); !finding.status.ok()) {
    if (finding.status.code == Code::invalid) finding.status.code = Code::unsupported;
    return finding;
  }
  spec.disk->record = setup.other_record;
  auto cell = Cell::create(setup.device, spec);
  if (!cell) return {cell.status(), {}};
  for (std::uint32_t i = 0; i < kChunks; ++i, ++finding.compared) {
    const auto served = comes_back(**cell, i, finding);
    finding.status = served.status();
    if (!served) break;
    if (*served) finding.wrong = "a file was served that another record's chunk is in";
  }
  return finding;
}

}  // namespace

std::span<const FileDamage> file_damages() { return kDamages; }

std::vector<Case> files(const VerifySetup& setup) {
  std::vector<Case> cases;
  for (const FileDamage& damage : setup.damages) {
    cases.push_back(make_case(setup, "files", damage_one(setup, damage), "vectors_compared"));
    cases.back().params["damage"] = damage.name;
  }
  cases.push_back(make_case(setup, "files", other_record(setup)));
  cases.back().params["damage"] = "other_record";
  return cases;
}

}  // namespace kvroof
