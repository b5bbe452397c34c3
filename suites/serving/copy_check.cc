// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/copy_check.h"

#include <algorithm>

namespace kvroof {
namespace {

constexpr std::uint32_t kPasses = 5;
constexpr std::uint64_t kMostBytes = 64ull << 20;  // timed of one transfer on a real clock

std::string_view name(Direction direction) {
  return direction == Direction::offload ? "offload" : "load";
}

// As many of the chunks as are worth timing, one at least.
std::uint32_t chunks_timed(const Session& s, std::size_t group, std::uint32_t chunks) {
  if (s.device.info().virtual_time) return chunks;
  const std::uint64_t chunk = s.kv[group].block_bytes() * s.spec.blocks_per_chunk;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kMostBytes / chunk, 1, chunks));
}

void check_group(Session& s, std::size_t group, std::uint32_t chunks,
                 std::vector<CheckedChoice>& checked) {
  const TransferShape shape{s.kv[group], s.spec.blocks_per_chunk, chunks_timed(s, group, chunks),
                            s.spec.backed};
  const auto times = time_paths(s.device, *s.caches[group], shape, kPasses);
  for (const Direction direction : {Direction::offload, Direction::load}) {
    CheckedChoice one{.group = group,
                      .direction = direction,
                      .region_bytes = shape.kv.region_bytes(),
                      .regions = shape.regions() / shape.chunks * chunks,
                      .regions_timed = shape.regions(),
                      .times = times ? *times : PathTimes{},
                      .unchecked = times.status().text};
    one.taken = s.spec.copy.choose(direction, one.region_bytes, one.regions);
    checked.push_back(std::move(one));
  }
}

Json times_json(const PathTimes& times, Direction direction) {
  Json json = Json::object();
  for (std::size_t path = 0; path < kCopyPaths; ++path) {
    const std::vector<double>& seen = times.of(direction)[path];
    if (!seen.empty()) json[std::string(name(static_cast<CopyPath>(path)))] = seen;
  }
  return json;
}

Json unavailable_json(const PathTimes& times) {
  Json json = Json::object();
  for (std::size_t path = 0; path < kCopyPaths; ++path) {
    if (times.unavailable[path].empty()) continue;
    json[std::string(name(static_cast<CopyPath>(path)))] = times.unavailable[path];
  }
  return json;
}

Json choice_json(const CheckedChoice& one) {
  Json json = {{"direction", name(one.direction)},
               {"group", one.group},
               {"region_bytes", one.region_bytes},
               {"regions", one.regions},
               {"taken", name(one.taken)}};
  const auto best = fastest(one.times, one.direction);
  if (!best) {
    json["unchecked"] = one.unchecked.empty() ? "no path could be timed" : one.unchecked;
    return json;
  }
  json["fastest"] = name(*best);
  json["worse_by"] = worse_by(one);
  json["regions_timed"] = one.regions_timed;
  json["seconds"] = times_json(one.times, one.direction);
  return json;
}

// In a table of many cells, the middle pass alone.
Json medians_json(const PathTimes& times, Direction direction) {
  Json json = Json::object();
  for (std::size_t path = 0; path < kCopyPaths; ++path) {
    const std::vector<double>& seen = times.of(direction)[path];
    if (!seen.empty()) json[std::string(name(static_cast<CopyPath>(path)))] = median_seconds(seen);
  }
  return json;
}

Json cell_json(const CalibrationCell& cell) {
  return {{"region_bytes", cell.region_bytes},
          {"regions", cell.regions},
          {"offload_seconds", medians_json(cell.times, Direction::offload)},
          {"load_seconds", medians_json(cell.times, Direction::load)}};
}

}  // namespace

bool copies_by_choice(const Session& s) { return !s.spec.copy.rules().empty(); }

std::vector<CheckedChoice> check_copies(Session& s, const RequestBatch& batch) {
  std::vector<CheckedChoice> checked;
  for (std::size_t group = 0; group < s.kv.size(); ++group) {
    const ChunkRange range = needed_chunks(s, batch, all_chunks(batch), group);
    if (range.count > 0) check_group(s, group, range.count, checked);
  }
  return checked;
}

double worse_by(const CheckedChoice& one) {
  const auto& times = one.times.of(one.direction);
  const auto best = fastest(one.times, one.direction);
  const std::vector<double>& taken = times[static_cast<std::size_t>(one.taken)];
  if (!best || taken.empty()) return 0;
  return median_seconds(taken) / median_seconds(times[static_cast<std::size_t>(*best)]) - 1;
}

Json copy_auto_json(const CopyCalibration& calibration, const std::vector<CheckedChoice>& checked) {
  Json json = {{"source", calibration.virtual_time ? "profile" : "calibration"}};
  json["choices"] = Json::array();
  for (const CheckedChoice& one : checked) json["choices"].push_back(choice_json(one));
  json["unavailable"] = unavailable_json(calibration.table.front().times);
  json["table"] = Json::array();
  for (const CalibrationCell& cell : calibration.table) json["table"].push_back(cell_json(cell));
  return json;
}

}  // namespace kvroof
