// SPDX-License-Identifier: Apache-2.0
#include "tests/schedules/setting.h"

#include <random>

namespace kvroof::schedules {
namespace {

using Random = std::mt19937_64;
using namespace std::chrono_literals;

std::uint32_t below(Random& random, std::uint64_t end) {
  return static_cast<std::uint32_t>(random() % end);
}

double fraction(Random& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

CopyChoice draw_choice(Random& random, std::uint32_t blocks_per_chunk) {
  const std::uint32_t which = below(random, kCopyPaths + 1);
  if (which < kCopyPaths) return static_cast<CopyPath>(which);
  std::vector<CopyRule> rules;  // small transfers by one way, larger ones by others
  for (const Direction direction : {Direction::offload, Direction::load}) {
    rules.push_back({direction, 0, 0, CopyPath::dma});
    rules.push_back({direction, 0, 2 * blocks_per_chunk, CopyPath::staged});
    rules.push_back({direction, 0, 3 * blocks_per_chunk, CopyPath::kernel});
  }
  return CopyChoice(rules);
}

EngineConfig draw_engine(Random& random) {
  EngineConfig config;
  config.kv = {.layout = below(random, 2) == 0 ? Layout::block_first : Layout::layer_first,
               .dtype = DType::f32,
               .layers = 1 + below(random, 3),
               .kv_heads = 1 + below(random, 2),
               .head_dim = 4,
               .block_tokens = 4,
               .blocks = 24};
  config.blocks_per_chunk = 1 + below(random, 3);
  const std::uint64_t chunk = config.kv.block_bytes() * config.blocks_per_chunk;
  config.host_tier_bytes = (2 + below(random, 9)) * chunk;
  config.lane_bytes_in_flight = (2 + below(random, 3)) * chunk;
  config.eviction = static_cast<Eviction>(below(random, 3));
  config.store = static_cast<StorePolicy>(below(random, 3));
  config.copy = draw_choice(random, config.blocks_per_chunk);
  config.copy_timeout = 20ms;
  return config;
}

// What looking at the bytes alone could tell the engine of is drawn for files alone, whose headers
// tell.
constexpr Fault kSeen[] = {Fault::busy,    Fault::refused, Fault::failed,   Fault::cut_short,
                           Fault::garbled, Fault::late,    Fault::overtaken};
constexpr Fault kUnseen[] = {Fault::silent_nothing, Fault::silent_short, Fault::silent_garbled};

bool is_disk(std::size_t kind) {
  return kind == static_cast<std::size_t>(QueueKind::disk_read) ||
         kind == static_cast<std::size_t>(QueueKind::disk_write);
}

void add_some_of_all(Random& random, Faults& faults) {
  for (std::size_t kind = 0; kind < kQueueKinds; ++kind) {
    for (const Fault fault : kSeen) faults.rates[kind][fault] = 0.03 * fraction(random);
    if (!is_disk(kind)) continue;
    for (const Fault fault : kUnseen) faults.rates[kind][fault] = 0.1 * fraction(random);
  }
}

void add_much_of_one(Random& random, Faults& faults) {
  const Fault fault = kSeen[below(random, std::size(kSeen))];
  faults.rates[below(random, kQueueKinds)][fault] = 0.1 + 0.4 * fraction(random);
}

void add_to_all(Faults& faults, Fault fault, double rate) {
  for (FaultRates& rates : faults.rates) rates[fault] = rate;
}

Faults draw_faults(Random& random) {
  Faults faults;
  faults.seed = random();
  faults.longest_delay = 100us;
  if (below(random, 4) == 0) faults.max_regions = 1 + below(random, 4);
  if (below(random, 4) == 0) faults.max_open_tickets = 1 + below(random, 3);
  const std::uint32_t mood = below(random, 8);
  if (mood == 0) return faults;
  if (mood == 1) {
    add_much_of_one(random, faults);
    return faults;
  }
  add_some_of_all(random, faults);
  if (mood == 2) add_to_all(faults, Fault::lost, 0.003);
  if (mood == 3) add_to_all(faults, Fault::unending, 0.005);
  if (mood == 4) faults.no_memory = faults.no_queue = 0.05;
  return faults;
}

}  // namespace

Setting draw_setting(std::uint64_t seed) {
  Random random(seed);
  Setting made;
  made.engine = draw_engine(random);
  made.faults = draw_faults(random);
  made.steps = 20 + below(random, 60);
  made.with_disk = below(random, 8) == 0;
  made.engine.check_tokens = !made.with_disk && below(random, 4) == 0;
  made.narrow_keys = made.engine.check_tokens;
  made.abandoned = below(random, 8) == 0;
  return made;
}

}  // namespace kvroof::schedules
