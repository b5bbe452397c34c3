// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/prefill.h"

#include <string>

#include "kernels/prefill/forward.h"
#include "kernels/prefill/weight_upload.h"

namespace kvroof {
namespace {

Status invalid(const std::string& sentence) { return {Code::invalid, sentence}; }

Status check_shape(const ModelShape& s) {
  for (const std::uint32_t size :
       {s.layers, s.hidden, s.heads, s.kv_heads, s.head_dim, s.intermediate, s.vocab}) {
    if (size == 0) return invalid("A model to prefill needs every dimension above zero.");
  }
  if (s.heads % s.kv_heads != 0) return invalid("Query heads must be a multiple of the KV heads.");
  if (s.head_dim % 2 != 0) return invalid("Rotary embeddings need an even head_dim.");
  return {};
}

Status check_config(const Device& device, const PrefillConfig& config) {
  const ModelShape& shape = config.shape;
  if (Status status = check_shape(shape); !status.ok()) return status;
  if (config.dtype != DType::f32 && config.dtype != DType::bf16) {
    return invalid("Prefill computes in f32 or bf16, not " + std::string(name(config.dtype)) + ".");
  }
  if (config.step_tokens == 0) return invalid("A step needs room for at least one token.");
  const KvLayout& kv = config.kv;
  if (kv.layers != shape.layers || kv.kv_heads != shape.kv_heads || kv.head_dim != shape.head_dim ||
      kv.dtype != config.dtype || kv.block_tokens == 0) {
    return invalid("The KV layout must be one of this model, in the dtype that it computes in.");
  }
  if (shape.qk_norm && device.info().computes_values) {
    return {Code::unsupported,
            "No op normalises the heads of q and k (qk_norm) in place, so that this model is "
            "priced on a simulated device only."};
  }
  return {};
}

Status check_request(const PrefillRequest& request, const ModelShape& shape) {
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
                        const WaitUntil& wait) override {
    if (requests.empty()) return invalid("There is nothing to prefill without a request.");
    for (const PrefillRequest& request : requests) {
      if (Status status = check_request(request, config_.shape); !status.ok()) return status;
    }
    lane_.begin_batch();
    for (const Step& step : plan_steps(requests, config_.step_tokens)) {
      if (Status s = forward_.run(step, requests, fences, wait, lane_); !s.ok()) return s;
    }
    lane_.remember_end_of_last();
    return lane_.last();
  }

  Status finish(Ticket ticket) override { return lane_.finish(ticket); }
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
