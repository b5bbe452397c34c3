// SPDX-License-Identifier: Apache-2.0
#include "tests/schedules/schedule.h"

#include <utility>

#include "backends/sim/adapter.h"
#include "backends/sim/test_profile.h"
#include "tests/schedules/serving.h"

namespace kvroof::schedules {
namespace {

constexpr std::uint64_t kFiles = 12;  // of the disk tier

std::unique_ptr<Device> open_simulator() {
  static const std::string profile = sim::test_profile();
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = profile;
  return std::move(*sim::open(spec));
}

void run(FaultyDevice& device, const Setting& setting, std::uint64_t seed, Verdict& verdict) {
  const auto accelerator = Accelerator::create(device, setting.engine.kv);
  if (!accelerator) {
    ++verdict.outcomes.not_created;
    return;
  }
  auto engine = Engine::create(device, accelerator->cache(), setting.engine);
  if (!engine.ok()) {
    ++verdict.outcomes.not_created;
    const Code code = engine.code();
    const bool told = code == Code::no_memory || code == Code::lost || code == Code::failed;
    if (!told) verdict.wrong = "the engine was refused: " + engine.status().text;
    return;
  }
  Serving serving(device, *accelerator, **engine, setting, seed, verdict.outcomes);
  for (std::uint32_t i = 0; i < setting.steps && !serving.over(); ++i) serving.step();
  if (!setting.abandoned && !serving.over()) serving.settle();
  verdict.wrong = serving.wrong();
}

}  // namespace

Outcomes& Outcomes::operator+=(const Outcomes& o) {
  requests += o.requests;
  preemptions += o.preemptions;
  cancels += o.cancels;
  prefetches += o.prefetches;
  blocks_loaded_right += o.blocks_loaded_right;
  blocks_computed += o.blocks_computed;
  chunks_failed += o.chunks_failed;
  chunks_evicted += o.chunks_evicted;
  chunks_collided += o.chunks_collided;
  chunks_fetched += o.chunks_fetched;
  lanes_lost += o.lanes_lost;
  devices_lost += o.devices_lost;
  not_created += o.not_created;
  return *this;
}

Verdict run_schedule(std::uint64_t seed, const std::string& directory, const Plant& plant) {
  Setting setting = draw_setting(seed);
  if (setting.with_disk) {
    const std::uint64_t chunk = setting.engine.kv.block_bytes() * setting.engine.blocks_per_chunk;
    const std::uint64_t file = (chunk + 4095) / 4096 * 4096 + kChunkHeaderBytes;
    setting.engine.disk =
        DiskTierConfig{.path = directory, .bytes = kFiles * file, .record = {seed, 1}};
  }
  if (plant) plant(setting);
  Verdict verdict;
  FaultyDevice device(open_simulator(), setting.faults);
  run(device, setting, seed, verdict);
  verdict.faults = device.counts();
  verdict.outcomes.devices_lost += device.is_lost() ? 1 : 0;
  if (verdict.wrong.empty() && device.open_queues() > 0) verdict.wrong = "a queue is left open";
  return verdict;
}

}  // namespace kvroof::schedules
