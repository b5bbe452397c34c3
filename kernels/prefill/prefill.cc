// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/prefill.h"

#include <algorithm>
#include <string>

#include "kernels/prefill/forward.h"
#include "kernels/prefill/weight_upload.h"

namespace kvroof {
namespace {

Status invalid(const std::string& sentence) { return {Code::invalid, sentence}; }

bool all_sparse(const ModelShape& s) {
  return !s.kinds.empty() &&
         std::ranges::all_of(s.kinds, [](const LayerKind& kind) { return kind.sparse; });
}

Status check_shape(const ModelShape& s) {
  for (const std::uint32_t size : {s.layers, s.hidden, s.heads, s.kv_heads, s.head_dim, s.vocab}) {
    if (size == 0) return invalid("A model to prefill needs every dimension above zero.");
  }
  if (s.intermediate == 0 && !all_sparse(s)) {
    return invalid("A model to prefill needs every dimension above zero.");
  }
  if (s.heads % s.kv_heads != 0) return invalid("Query heads must be a multiple of the KV heads.");
  if (s.head_dim % 2 != 0) return invalid("Rotary embeddings need an even head_dim.");
  return {};
}

// A cache may be narrower than what is computed, where that costs time and no values.
bool fits_model(const KvLayout& kv, const KvGroup& group, const PrefillConfig& config,
                bool computes) {
  const KvLayout own = make_kv_layout(config.shape, group, kv.dtype, kv.layout, 1, 1);
  return kv.layers == own.layers && kv.kv_heads == own.kv_heads && kv.head_dim == own.head_dim &&
         kv.planes == own.planes && kv.block_tokens > 0 &&
         (kv.dtype == config.dtype || (!computes && bytes_of(kv.dtype) < bytes_of(config.dtype)));
}

Status check_config(const Device& device, const PrefillConfig& config) {
  const ModelShape& shape = config.shape;
  const bool computes = device.info().computes_values;
  if (Status status = check_shape(shape); !status.ok()) return status;
  if (config.dtype != DType::f32 && config.dtype != DType::bf16) {
    return invalid("Prefill computes in f32 or bf16, not " + std::string(name(config.dtype)) + ".");
  }
  if (config.step_tokens == 0) return invalid("A step needs room for at least one token.");
  const std::vector<KvGroup> groups = kv_groups(shape);
  bool fit = config.kv.size() == groups.size();
  for (std::size_t i = 0; fit && i < groups.size(); ++i) {
    fit = fits_model(config.kv[i], groups[i], config, computes);
  }
  if (!fit) {
    return invalid(computes
                       ? "The KV layouts must be this model's, in the dtype that it computes in."
                       : "The KV layouts must be this model's.");
  }
  if (const std::string why = not_computed(shape); computes && !why.empty()) {
    return {Code::unsupported, why};
  }
  return {};
}

Status check_request(const PrefillRequest& request, const PrefillConfig& config) {
  const ModelShape& shape = config.shape;
  if (request.kv.size() != config.kv.size()) {
    return invalid("A request needs a cache and a block table for each group of layers.");
  }
  if (request.tokens == 0) return invalid("A request to prefill needs at least one new token.");
  if (request.token_ids.bytes < std::uint64_t{request.tokens} * bytes_of(DType::i32)) {
    return invalid("A request's token_ids must hold an i32 for each new token.");
  }
  const std::uint64_t logits = std::uint64_t{shape.vocab} * bytes_of(DType::f32);
  if (request.logits.buffer != nullptr && request.logits.bytes < logits) {
    return invalid("A request's logits must have room for an f32 for each word of the vocabulary.");
  }
  return {};
}

class OpPrefill final : public Prefill {
 public:
  OpPrefill(Device& device, const PrefillConfig& config, std::unique_ptr<Buffer> weights,
            std::unique_ptr<Buffer> activations, std::unique_ptr<Queue> queue)
      : config_(config),
        weights_(std::move(weights)),
        activations_(std::move(activations)),
        forward_(config_, *weights_, *activations_,
                 !config.op_by_op && !device.info().computes_values),
        lane_(device, std::move(queue)) {}

  Result<Ticket> submit(std::span<const PrefillRequest> requests, std::span<const Point> fences,
                        const WaitUntil& wait, std::span<const PrefillRequest> riders,
                        const FencesOfLayer& of_layer) override {
    if (requests.empty()) return invalid("There is nothing to prefill without a request.");
    if (riders.size() >= config_.step_tokens) {
      return invalid("A step needs room for one token besides those that ride in it.");
    }
    std::vector<PrefillRequest> all(requests.begin(), requests.end());
    all.insert(all.end(), riders.begin(), riders.end());
    for (const PrefillRequest& request : all) {
      if (Status status = check_request(request, config_); !status.ok()) return status;
    }
    lane_.begin_batch();
    const auto room = config_.step_tokens - static_cast<std::uint32_t>(riders.size());
    const FencesOfLayer none;
    const FencesOfLayer* of_this =
        &of_layer;  // the lane is in order: the first step's hold for all
    for (Step& step : plan_steps(requests, room)) {
      for (std::size_t i = requests.size(); i < all.size(); ++i) {
        step.push_back({.request = static_cast<std::uint32_t>(i),
                        .tokens = 1,
                        .row = rows_of(step),
                        .last = true});
      }
      const StepOrder order{.fences = fences, .of_layer = *std::exchange(of_this, &none)};
      if (Status s = forward_.run(step, all, order, wait, lane_); !s.ok()) return s;
    }
    lane_.remember_end_of_last();
    return lane_.last();
  }

  Status finish(Ticket ticket) override { return lane_.finish(ticket); }
  Status settle() override { return lane_.settle(); }
  Nanos ended(Ticket ticket) const override { return lane_.end_of(ticket); }
  PrefillTimes times() const override { return lane_.times(); }
  Queue& queue() override { return lane_.queue(); }
  std::uint64_t weight_bytes() const override { return weights_->facts().bytes; }
  std::uint64_t activation_bytes() const override { return activations_->facts().bytes; }

 private:
  const PrefillConfig config_;
  std::unique_ptr<Buffer> weights_, activations_;  // before the lane, whose tickets name them
  Forward forward_;
  OpLane lane_;
};

}  // namespace

std::string not_computed(const ModelShape& s) {
  const auto windowed = [](const LayerKind& kind) { return kind.window > 0; };
  if (s.ranks > 1) {
    return "this build prices tensor parallelism on a simulated device and does not compute it: "
           "use --tp 1";
  }
  const char* what = nullptr;
  if (s.qk_norm) what = "norms over the heads of q and k";
  if (!s.other_rope.empty()) what = "rotary positions of another scaling";
  if (s.outer_norms) what = "norms behind its layers";
  if (s.sinks) what = "attention sinks";
  if (s.biases.qkv || s.biases.output || s.biases.feed_forward) what = "biases";
  if (std::ranges::any_of(s.kinds, windowed)) what = "window layers";
  if (s.latent) what = "latent attention";
  if (s.experts) what = "a mixture of experts";
  if (!what) return {};
  return std::string("this build prices a model with ") + what +
         " on a simulated device and does not compute it: choose a dense one";
}

Result<std::unique_ptr<Prefill>> Prefill::create(Device& device, const PrefillConfig& config) {
  if (Status status = check_config(device, config); !status.ok()) return status;
  const WeightPlan plan = plan_weights(config.shape, config.dtype);
  const bool backed = config.backed && device.info().computes_values;
  auto weights = device.allocate({.bytes = plan.total_bytes, .backed = backed});
  if (!weights) return weights.status();
  auto activations = device.allocate(
      {.bytes = prefill_activation_bytes(config.shape, config.dtype, config.step_tokens),
       .backed = backed});
  if (!activations) return activations.status();
  if (backed) {
    Status status =
        upload_weights(device, config.shape, config.dtype, config.seed, plan, **weights);
    if (!status.ok()) return status;
  }
  auto queue = device.open_queue(QueueKind::compute, Priority::normal);
  if (!queue) return queue.status();
  return std::unique_ptr<Prefill>(std::make_unique<OpPrefill>(
      device, config, std::move(*weights), std::move(*activations), std::move(*queue)));
}

}  // namespace kvroof
