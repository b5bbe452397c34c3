// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace kvroof {
namespace {

constexpr std::uint64_t kStagingBytes = 32ull << 20;

template <class T>
Status keep(Result<T> from, T& to) {
  if (!from) return from.status();
  to = std::move(*from);
  return {};
}

Status open_lanes(Session& s) {
  for (auto [kind, to] : {std::pair{QueueKind::copy_in, &s.upload},
                          {QueueKind::copy_out, &s.download},
                          {QueueKind::compute, &s.scratch},
                          {QueueKind::host, &s.cpu}}) {
    if (Status status = keep(s.device.open_queue(kind, Priority::normal), *to); !status.ok()) {
      return status;
    }
  }
  return {};
}

std::uint32_t divide_up(std::uint64_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((a + b - 1) / b);
}

// Chunks that may hold the last `window` of a sequence's cached tokens.
std::uint32_t window_chunks(const SessionSpec& spec, std::uint32_t window) {
  return divide_up(window, spec.block_tokens * spec.blocks_per_chunk) + 1;
}

// What the tier of a group of layers takes of host memory.
std::uint64_t tier_bytes(const SessionSpec& spec, const KvLayout& kv) {
  if (kv.window == 0) return spec.host_tier_bytes;
  return std::uint64_t{spec.restored} * window_chunks(spec, kv.window) * spec.blocks_per_chunk *
         stored_form(spec, kv).block_bytes();
}

// Files outlive a run, and another build may have computed other last bits: each run reads what it
// wrote.
const std::string& own_revision() {
  static const std::string drawn = [] {
    std::string text = "run ";
    for (const std::byte byte : random_secret()) {
      text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
  }();
  return drawn;
}

EngineConfig engine_config(const SessionSpec& spec, const KvLayout& kv) {
  EngineConfig config;
  config.kv = kv;
  config.blocks_per_chunk = spec.blocks_per_chunk;
  config.host_tier_bytes = tier_bytes(spec, kv);
  config.eviction = spec.eviction;
  config.store = spec.store;
  config.copy = spec.copy;
  config.copy_timeout = spec.copy_timeout;
  config.transfer_dtype = spec.transfer_dtype;
  config.integrity = spec.checksum;
  config.check_tokens = spec.check_tokens;
  config.backed = spec.backed;
  return config;
}

Status open_engine(Session& s, std::size_t group) {
  s.engines.emplace_back();
  EngineConfig config = engine_config(s.spec, s.kv[group]);
  if (s.spec.disk_bytes > 0) {
    config.disk = DiskTierConfig{.path = s.spec.disk_path,
                                 .bytes = s.spec.disk_bytes,
                                 .record = digest(session_record(s, group), s.spec.key_hash),
                                 .eviction = s.spec.eviction};
  }
  return keep(Engine::create(s.device, *s.caches[group], config), s.engines.back());
}

Status set_up(Session& s) {
  const bool values = s.device.info().computes_values;
  if (Status e = open_lanes(s); !e.ok()) return e;
  for (const KvLayout& kv : s.kv) {
    const BufferSpec cache{MemoryKind::device, kv.cache_bytes(), -1, s.spec.backed};
    s.caches.emplace_back();
    if (Status e = keep(s.device.allocate(cache), s.caches.back()); !e.ok()) return e;
  }
  const BufferSpec staging{MemoryKind::pinned, kStagingBytes, -1, true};
  if (Status e = keep(s.device.allocate(staging), s.staging); !e.ok()) return e;
  PrefillConfig config{s.shape, s.spec.dtype, s.kv, s.spec.step_tokens, s.spec.seed, values};
  if (Status e = keep(Prefill::create(s.device, config), s.prefill); !e.ok()) return e;
  for (std::size_t group = 0; group < s.kv.size(); ++group) {
    if (Status e = open_engine(s, group); !e.ok()) return e;
  }
  return {};
}

// Calls `copy(offset, bytes)` for each staging-sized piece.
template <class Copy>
Status in_pieces(std::uint64_t bytes, Copy copy) {
  for (std::uint64_t at = 0; at < bytes; at += kStagingBytes) {
    if (Status e = copy(at, std::min(kStagingBytes, bytes - at)); !e.ok()) return e;
  }
  return {};
}

}  // namespace

StoredForm stored_form(const SessionSpec& spec, const KvLayout& kv) {
  return {kv, spec.transfer_dtype};
}

WindowBlocks window_blocks(const SessionSpec& spec, std::uint32_t window, std::uint32_t tokens) {
  const std::uint32_t chunk_tokens = spec.block_tokens * spec.blocks_per_chunk;
  const std::uint32_t all = divide_up(tokens, spec.block_tokens);
  const std::uint32_t uncached = divide_up(tokens % chunk_tokens, spec.block_tokens);
  const std::uint32_t end =
      std::min(all, window_chunks(spec, window) * spec.blocks_per_chunk + uncached);
  const std::uint32_t ring =
      divide_up(std::uint64_t{window} + spec.step_tokens, spec.block_tokens) + 1;
  return {std::min(all - end, ring), end};
}

std::vector<KvLayout> session_layouts(const ModelShape& shape, const SessionSpec& spec) {
  std::vector<KvLayout> layouts;
  for (const KvGroup& group : kv_groups(shape)) {
    std::uint32_t blocks = spec.blocks;
    if (group.window > 0) {
      blocks = spec.sequences * window_blocks(spec, group.window, spec.sequence_tokens).total();
    }
    layouts.push_back(
        make_kv_layout(shape, group, spec.kv_dtype, spec.layout, spec.block_tokens, blocks));
  }
  return layouts;
}

std::uint64_t window_tier_bytes(const ModelShape& shape, const SessionSpec& spec) {
  std::uint64_t bytes = 0;
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    if (kv.window > 0) bytes += tier_bytes(spec, kv);
  }
  return bytes;
}

Result<std::unique_ptr<Session>> Session::create(Device& device, const ModelShape& shape,
                                                 const SessionSpec& spec) {
  std::unique_ptr<Session> session(new Session{.device = device,
                                               .shape = shape,
                                               .spec = spec,
                                               .kv = session_layouts(shape, spec),
                                               .places = kv_places(shape)});
  if (Status e = set_up(*session); !e.ok()) return e;
  return session;
}

CompatibilityRecord session_record(const Session& s, std::size_t group) {
  CompatibilityRecord record = make_record(s.shape, s.form(group), s.spec.blocks_per_chunk);
  const DeviceInfo& info = s.device.info();
  record.weights = fmt::format("{} random seed {}", name(s.spec.dtype), s.spec.seed);
  record.compute_dtype = s.spec.dtype;
  record.attention = fmt::format("{} on {}", info.backend, info.name);
  if (s.spec.disk_bytes > 0) record.revision = own_revision();
  return record;
}

Status fits(const DeviceInfo& info, const ModelShape& shape, const SessionSpec& spec,
            std::uint64_t request_bytes) {
  std::uint64_t kv_bytes = 0, tier = 0, passed = 0;
  for (const KvLayout& kv : session_layouts(shape, spec)) {
    kv_bytes += kv.cache_bytes();
    passed += engine_device_bytes(engine_config(spec, kv));
    tier += tier_bytes(spec, kv);
  }
  const std::uint64_t fixed = prefill_weight_bytes(shape, spec.dtype) +
                              prefill_activation_bytes(shape, spec.dtype, spec.step_tokens) +
                              request_bytes + passed;
  const auto usable = static_cast<std::uint64_t>(0.9 * static_cast<double>(info.memory_bytes));
  const auto gb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  if (fixed + kv_bytes > usable) {
    return {Code::no_memory,
            fmt::format("needs {:.2f} GB of KV and {:.2f} GB of {} weights and activations, more "
                        "than 0.9 of the device's {:.2f} GB",
                        gb(kv_bytes), gb(fixed), name(spec.dtype), gb(info.memory_bytes))};
  }
  if (tier + kStagingBytes > info.host_memory_bytes) {
    return {Code::no_memory, fmt::format("needs a host tier of {:.2f} GB beside {:.2f} GB of "
                                         "staging, and {:.2f} GB of host memory may be taken",
                                         gb(tier), gb(kStagingBytes), gb(info.host_memory_bytes))};
  }
  return {};
}

Status run_to_end(Device& device, Queue& queue, const Work& work) {
  const auto ticket = queue.submit(work);
  if (!ticket) return ticket.status();
  const Point point{&queue, *ticket};
  if (const auto waited = device.wait_any({&point, 1}, Nanos::max()); !waited)
    return waited.status();
  Completion done;
  while (true) {
    const auto count = queue.reap({&done, 1});
    if (!count) return count.status();
    if (*count == 1 && done.ticket == *ticket) return done.status;
  }
}

Status drain(Queue& queue) {
  Status first;
  Completion done[16];
  for (;;) {
    const auto count = queue.reap(done);
    if (!count) return count.status();
    if (*count == 0) return first;
    for (std::size_t i = 0; i < *count && first.ok(); ++i) first = done[i].status;
  }
}

Status write_device(Session& s, Span to, std::span<const std::byte> from) {
  return in_pieces(from.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    std::memcpy(s.staging->host().data(), from.data() + at, bytes);
    const Region region{{s.staging.get(), 0, bytes}, {to.buffer, to.offset + at, bytes}};
    return run_to_end(s.device, *s.upload, {{}, Regions{{&region, 1}}});
  });
}

Status read_device(Session& s, std::span<std::byte> to, Span from) {
  return in_pieces(to.size(), [&](std::uint64_t at, std::uint64_t bytes) {
    const Region region{{from.buffer, from.offset + at, bytes}, {s.staging.get(), 0, bytes}};
    if (Status e = run_to_end(s.device, *s.download, {{}, Regions{{&region, 1}}}); !e.ok())
      return e;
    std::memcpy(to.data() + at, s.staging->host().data(), bytes);
    return Status{};
  });
}

}  // namespace kvroof
