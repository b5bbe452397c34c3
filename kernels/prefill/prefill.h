// SPDX-License-Identifier: Apache-2.0
// A transformer's forward pass over new tokens, written once over ops: it runs on any device, and
// the simulator prices the same ops.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backends/api/device.h"
#include "kernels/model/kv_layout.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

struct PrefillConfig {
  ModelShape shape;
  DType dtype = DType::bf16;  // activations and weights; a cache may be narrower where it's priced
  std::vector<KvLayout> kv;   // of the caches that requests point into: one a group of kv_groups()
  std::uint32_t step_tokens =
      8192;                // the most tokens of one forward step, as a serving engine caps
  std::uint64_t seed = 1;  // of the random weights
  // One ticket an op, for times by op, also where whole layers could be one piece of work.
  bool op_by_op = false;
  bool backed = true;  // false, or a device that computes no values: none are made
};

// Of a step's neighbours with as many tokens and as much past, those whose tables are adjacent and
// exactly as long as that needs are attended by one op: none of them appends to a block that
// another names.
struct KvSpans {
  Span cache;        // the whole paged KV cache
  Span block_table;  // device i32[blocks], logical to physical, long enough for past + tokens
};

// `tokens` new tokens of one sequence after `past` whose KV is in the cache already.
struct PrefillRequest {
  Span token_ids;           // device i32[tokens]
  std::vector<KvSpans> kv;  // one a group; layers with a window may name a block again and again
  std::uint32_t past = 0, tokens = 0;
  Span logits;  // device f32[vocab] of the last token; null buffer: the head is not run
};

struct PrefillTimes {
  Nanos begin{}, end{};
  Nanos outside_layers{};  // embedding, last norm and head: what does not scale with layers
  // Where it went, by Op's index; devices that compute no values need op_by_op for it.
  std::array<Nanos, std::variant_size_v<Op>> by_op{};
};

// Waits until the point has completed, for a caller who has other lanes to drive meanwhile.
using WaitUntil = std::function<Status(Point)>;

// What a layer's attention must wait for besides the step: what brings that layer's KV. Called in
// the layers' order, as each is about to be submitted.
using FencesOfLayer = std::function<Result<std::vector<Point>>(std::uint32_t layer)>;

class Prefill {
 public:
  // Allocates weights and the activations of one step, and fills the weights (uniform, scaled by
  // 1/sqrt(fan in), the same bits for the same seed and shape on every device).
  static Result<std::unique_ptr<Prefill>> create(Device& device, const PrefillConfig& config);
  virtual ~Prefill() = default;

  // Submits the requests' tokens in order, packed into steps of at most step_tokens; every step
  // waits for `fences`. Where the queue is busy it waits for completions, by `wait` if there is
  // one. `riders`, of one token each, are part of every step. Of the first step each layer's
  // attention waits for `of_layer` too, if there is one, and the steps behind it with it. Returns
  // the last ticket.
  virtual Result<Ticket> submit(std::span<const PrefillRequest> requests,
                                std::span<const Point> fences, const WaitUntil& wait,
                                std::span<const PrefillRequest> riders,
                                const FencesOfLayer& of_layer) = 0;
  Result<Ticket> submit(std::span<const PrefillRequest> requests, std::span<const Point> fences,
                        const WaitUntil& wait = nullptr,
                        std::span<const PrefillRequest> riders = {}) {
    return submit(requests, fences, wait, riders, nullptr);
  }

  // Blocks until `ticket` has completed and returns the first failure of anything up to it that an
  // earlier finish() has not covered; asked again about a covered ticket, the same as the last
  // time.
  virtual Status finish(Ticket ticket) = 0;

  // Blocks until all that was submitted has completed, however it ended, and also what of a
  // submit() that failed was submitted: from then on nothing touches the requests' buffers.
  virtual Status settle() = 0;

  // When a ticket that submit() returned ended, once finish() has covered it: the device's own
  // timestamp. Zero where the device has none.
  virtual Nanos ended(Ticket ticket) const = 0;

  // Of the tickets since the last submit that finish() has seen; zero where there are no
  // timestamps.
  virtual PrefillTimes times() const = 0;

  virtual Queue& queue() = 0;  // the compute lane, for fences; only Prefill reaps it
  virtual std::uint64_t weight_bytes() const = 0;
  virtual std::uint64_t activation_bytes() const = 0;  // of the largest step
};

// Why devices that compute values don't run this model yet; empty where they do.
std::string not_computed(const ModelShape& shape);

// Sizes before anything is allocated, for the KV budget.
std::uint64_t prefill_weight_bytes(const ModelShape& shape, DType dtype);
std::uint64_t prefill_activation_bytes(const ModelShape& shape, DType dtype,
                                       std::uint32_t step_tokens);

}  // namespace kvroof
