// SPDX-License-Identifier: Apache-2.0
// A model set up on a device: weights, paged KV cache, offload engine and the lanes between them.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "kernels/prefill/prefill.h"
#include "transfer/engine/engine.h"
#include "transfer/keys/compatibility.h"
#include "transfer/tier/stored_form.h"

namespace kvroof {

struct SessionSpec {
  DType dtype = DType::bf16;     // activations and weights
  DType kv_dtype = DType::bf16;  // narrower than those on devices that compute no values alone
  Layout layout = Layout::block_first;
  std::uint32_t block_tokens = 16, blocks = 0, blocks_per_chunk = 16;
  // The most sequences at once, and the most tokens of one: for layers with a window, which need no
  // blocks for the rest.
  std::uint32_t sequences = 1, sequence_tokens = 0;
  std::uint32_t restored = 1;         // of the sequences: those whose KV is offloaded and loaded
  std::uint64_t host_tier_bytes = 0;  // of the layers without a window
  bool host_tier_bounded = false;     // by whoever asked for the run: it may be too small
  Eviction eviction = Eviction::lru;
  StorePolicy store = StorePolicy::immediate;
  CopyChoice copy = CopyPath::dma;
  Nanos copy_timeout{};                   // as EngineConfig's, and so is the next
  std::optional<DType> transfer_dtype{};  // of chunks in the tiers; none: kv_dtype
  Integrity checksum = Integrity::off;
  bool check_tokens = false;
  KeyHash key_hash{};
  std::uint64_t disk_bytes = 0;  // of a disk tier below the host tier; 0: none. One group alone
  std::string disk_path;         // its directory; unused where contents don't exist
  std::uint32_t step_tokens = 8192;
  std::uint64_t seed = 1;
  bool backed = true;  // contents of KV exist; false only on a simulator with data off

  bool operator==(const SessionSpec&) const = default;
};

// Of a sequence in the cache of layers with a window: blocks that are used again and again, and
// those of its end, which a load may fill while the others are being computed.
struct WindowBlocks {
  std::uint32_t ring = 0, end = 0;
  std::uint32_t total() const { return ring + end; }
};
WindowBlocks window_blocks(const SessionSpec& spec, std::uint32_t window, std::uint32_t tokens);

// How the blocks of a cache lie in the tiers.
StoredForm stored_form(const SessionSpec& spec, const KvLayout& kv);

// Of the caches: one a group of kv_groups().
std::vector<KvLayout> session_layouts(const ModelShape& shape, const SessionSpec& spec);

// Of the host tiers of all layers with a window, which hold what may be restored.
std::uint64_t window_tier_bytes(const ModelShape& shape, const SessionSpec& spec);

// Members are public: a session is a set of parts with one lifetime, destroyed last to first.
struct Session {
  Device& device;
  ModelShape shape;
  SessionSpec spec;
  std::vector<KvLayout> kv;     // one a group of layers, as the caches and the engines
  std::vector<KvPlace> places;  // of each layer
  std::vector<std::unique_ptr<Buffer>> caches = {};
  std::unique_ptr<Prefill> prefill = {};
  std::unique_ptr<Buffer> staging = {};  // pinned, for write_device and read_device
  std::unique_ptr<Queue> upload = {}, download = {}, scratch = {},
                         cpu = {};  // copy_in, copy_out, compute, host
  std::vector<std::unique_ptr<Engine>> engines = {};

  StoredForm form(std::size_t group) const { return stored_form(spec, kv[group]); }
  std::uint32_t chunk_tokens() const { return spec.block_tokens * spec.blocks_per_chunk; }

  static Result<std::unique_ptr<Session>> create(Device& device, const ModelShape& shape,
                                                 const SessionSpec& spec);
};

// What the KV of a group of layers depends on besides its tokens.
CompatibilityRecord session_record(const Session& session, std::size_t group);

// Why a session of this size can't be had, or ok: the KV budget is 0.9 of the device's memory less
// weights, activations and what requests take (RequestBatch::device_bytes).
Status fits(const DeviceInfo& info, const ModelShape& shape, const SessionSpec& spec,
            std::uint64_t request_bytes);

// Submits one piece of work and waits for it; the lane must hold nothing else.
Status run_to_end(Device& device, Queue& queue, const Work& work);

// Reaps what has completed and returns the first failure among it.
Status drain(Queue& queue);

// Copies by way of the session's staging buffer, piece by piece; the device side must be backed.
Status write_device(Session& session, Span to, std::span<const std::byte> from);
Status read_device(Session& session, std::span<std::byte> to, Span from);

}  // namespace kvroof
