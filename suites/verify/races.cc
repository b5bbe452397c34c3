// SPDX-License-Identifier: Apache-2.0
// Races: what the engine copies is asked for while compute still writes or reads the blocks. A gate
// holds compute back, so that a copy which does not wait for it is seen for certain.
#include <array>
#include <numeric>

#include "suites/verify/cell.h"
#include "suites/verify/checks.h"

namespace kvroof {
namespace {

// Gates stay open, and every check needs closed ones of its own.
Gate fresh_gate() {
  static Gate next = 0x76657269;
  return next++;
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> list(count);
  std::iota(list.begin(), list.end(), first);
  return list;
}

CellSpec spec_of(Layout layout) {
  return {.kv = cell_layout(layout, KvOrder::nhd, DType::bf16, 2)};
}

// Gives copies that do not wait the time to go wrong.
Status let_them_run(Cell& cell) {
  const Nanos until = cell.device().now() + Nanos(5'000'000);
  const auto points = cell.engine().open_points();
  const auto waited = cell.device().wait_any(points, until);
  const bool nothing = waited.code() == Code::timeout || waited.code() == Code::stuck;
  return nothing ? Status{} : waited.status();
}

using Race = Status (*)(Cell& cell, Finding& finding);

Status compare(Cell& cell, std::span<const BlockId> blocks, std::span<const std::uint32_t> names,
               Finding& finding) {
  const auto wrong = cell.mismatch(blocks, names);
  if (!wrong) return wrong.status();
  if (finding.wrong.empty()) finding.wrong = *wrong;
  finding.compared += cell.vectors(blocks.size());
  return {};
}

Status write_now(Cell& cell, std::span<const BlockId> blocks,
                 std::span<const std::uint32_t> names) {
  const auto fences = cell.fences_for_write(blocks);
  if (!fences) return fences.status();
  const auto point = cell.write(blocks, names, *fences);
  if (!point) return point.status();
  cell.engine().note_write(blocks, *point);
  return cell.wait(*point);
}

// Blocks hold old contents, new ones are being computed, and the store is asked for at once.
Status store_while_computing(Cell& cell, Finding& finding) {
  const auto blocks = numbers(0, 8), news = numbers(200, 8);
  const std::vector<ChunkKey> keys = {{1, 1}, {2, 1}};
  if (Status e = write_now(cell, blocks, numbers(100, 8)); !e.ok()) return e;
  const Gate gate = fresh_gate();
  if (Status e = cell.hold(gate); !e.ok()) return e;
  const auto written = cell.write(blocks, news);
  if (!written) return written.status();
  cell.engine().note_write(blocks, *written);
  const auto id = cell.engine().offload(keys, blocks);
  if (!id) return id.status();
  if (Status e = let_them_run(cell); !e.ok()) return e;
  if (cell.engine().lookup(keys) > 0) finding.wrong = "a chunk is visible before its kernels ended";
  if (Status e = cell.device().open_gate(gate); !e.ok()) return e;
  if (const auto done = cell.wait(id); !done) return done.status();
  const auto to = numbers(20, 8);
  if (const auto done = cell.wait(cell.engine().load(keys, to)); !done) return done.status();
  return compare(cell, to, news, finding);
}

// Compute still reads what a block held, and a load into it is asked for at once.
Status load_while_reading(Cell& cell, Finding& finding) {
  const auto blocks = numbers(0, 8), olds = numbers(100, 8), to = numbers(20, 8);
  const std::vector<ChunkKey> keys = {{1, 1}, {2, 1}};
  if (Status e = write_now(cell, blocks, olds); !e.ok()) return e;
  if (const auto d = cell.wait(cell.engine().offload(keys, blocks)); !d) return d.status();
  const auto before = numbers(300, 8);
  if (Status e = write_now(cell, to, before); !e.ok()) return e;
  const Gate gate = fresh_gate();
  if (Status e = cell.hold(gate); !e.ok()) return e;
  const auto other = numbers(40, 1), marker = numbers(400, 1);
  const auto held = cell.write(other, marker);  // in order, behind the gate
  if (!held) return held.status();
  const auto reading = cell.read(to, {&*held, 1});
  if (!reading) return reading.status();
  cell.engine().note_read(to, *reading);
  const auto id = cell.engine().load(keys, to);
  if (!id) return id.status();
  if (Status e = let_them_run(cell); !e.ok()) return e;
  if (Status e = cell.device().open_gate(gate); !e.ok()) return e;
  if (Status e = cell.wait(*reading); !e.ok()) return e;
  finding.wrong = cell.seen_mismatch(before);
  finding.compared += cell.vectors(to.size());
  if (const auto done = cell.wait(id); !done) return done.status();
  return compare(cell, to, olds, finding);
}

// What was computed after a load was asked for stays, and what a load brings is seen by compute
// that asks the engine for fences.
Status compute_after_loading(Cell& cell, Finding& finding) {
  const auto blocks = numbers(0, 8), olds = numbers(100, 8), to = numbers(20, 8);
  const std::vector<ChunkKey> keys = {{1, 1}, {2, 1}};
  if (Status e = write_now(cell, blocks, olds); !e.ok()) return e;
  if (const auto d = cell.wait(cell.engine().offload(keys, blocks)); !d) return d.status();
  const auto id = cell.engine().load(keys, to);
  if (!id) return id.status();
  const auto loaded = cell.fences_for_read(to);
  if (!loaded) return loaded.status();
  const auto reading = cell.read(to, *loaded);
  if (!reading) return reading.status();
  cell.engine().note_read(to, *reading);
  const auto news = numbers(500, 4);
  const auto first = std::span(to).first(4);
  auto fences = cell.fences_for_write(first);
  if (!fences) return fences.status();
  fences->push_back(*reading);
  const auto written = cell.write(first, news, *fences);
  if (!written) return written.status();
  cell.engine().note_write(first, *written);
  if (Status e = cell.wait(*reading); !e.ok()) return e;
  finding.wrong = cell.seen_mismatch(olds);
  finding.compared += cell.vectors(to.size());
  if (const auto done = cell.wait(id); !done) return done.status();
  if (Status e = cell.wait(*written); !e.ok()) return e;
  return compare(cell, first, news, finding);
}

// A preempted request's blocks are offloaded and given to another request before that has landed;
// it resumes in other blocks.
Status preempt_and_resume(Cell& cell, Finding& finding) {
  const auto blocks = numbers(0, 12), names = numbers(100, 12), others = numbers(600, 12);
  const std::vector<ChunkKey> keys = {{1, 1}, {2, 1}, {3, 1}};
  const Gate gate = fresh_gate();
  if (Status e = cell.hold(gate); !e.ok()) return e;
  const auto computed = cell.write(blocks, names);
  if (!computed) return computed.status();
  cell.engine().note_write(blocks, *computed);
  const auto id = cell.engine().offload(keys, blocks);
  if (!id) return id.status();
  if (Status e = let_them_run(cell); !e.ok()) return e;
  if (Status e = cell.device().open_gate(gate); !e.ok()) return e;
  const auto free = cell.fences_for_write(blocks);
  if (!free) return free.status();
  const auto other = cell.write(blocks, others, *free);
  if (!other) return other.status();
  cell.engine().note_write(blocks, *other);
  if (const auto done = cell.wait(id); !done) return done.status();
  const auto resumed = numbers(30, 12);
  if (const auto d = cell.wait(cell.engine().load(keys, resumed)); !d) return d.status();
  if (Status e = compare(cell, resumed, names, finding); !e.ok()) return e;
  return compare(cell, blocks, others, finding);
}

std::vector<Case> run_races(const VerifySetup& setup, std::string_view check,
                            std::span<const Race> races) {
  std::vector<Case> cases;
  for (const Layout layout : {Layout::block_first, Layout::layer_first}) {
    Finding finding;
    for (const Race race : races) {
      if (!finding.status.ok() || !finding.wrong.empty()) break;
      auto cell = Cell::create(setup.device, spec_of(layout));
      finding.status = cell ? race(**cell, finding) : cell.status();
    }
    cases.push_back(make_case(setup, check, finding, "vectors_compared"));
    cases.back().params["layout"] = name(layout);
  }
  return cases;
}

}  // namespace

std::vector<Case> store_races(const VerifySetup& setup) {
  return run_races(setup, "store_race", std::array{&store_while_computing});
}

std::vector<Case> load_races(const VerifySetup& setup) {
  return run_races(setup, "load_race", std::array{&load_while_reading, &compute_after_loading});
}

std::vector<Case> preemption(const VerifySetup& setup) {
  return run_races(setup, "preemption", std::array{&preempt_and_resume});
}

}  // namespace kvroof
