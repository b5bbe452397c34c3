// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/weight_upload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernels/prefill/random_values.h"
#include "kernels/prefill/rope_table.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kPieceBytes = 4ull << 20;
constexpr float kNormReach = 0.1f;  // norm weights lie in 0.9 .. 1.1

class Stager {
 public:
  // Writes bytes [first, first + out.size()) of a tensor.
  using Maker = std::function<void(std::uint64_t first, std::span<std::byte> out)>;

  static Result<Stager> create(Device& device, Buffer& target) {
    auto staging = device.allocate({.kind = MemoryKind::pinned, .bytes = 2 * kPieceBytes});
    if (!staging) return staging.status();
    auto lane = device.open_queue(QueueKind::copy_in, Priority::normal);
    if (!lane) return lane.status();
    return Stager(device, target, std::move(*staging), std::move(*lane));
  }

  Status send(const Extent& to, const Maker& make) {
    for (std::uint64_t done = 0; done < to.bytes;) {
      const std::uint64_t bytes = std::min(kPieceBytes, to.bytes - done);
      if (Status status = finish_older(1); !status.ok()) return status;
      const Span from{staging_.get(), half_ * kPieceBytes, bytes};
      make(done, staging_->host().subspan(from.offset, bytes));
      const Region region{from, {target_, to.offset + done, bytes}};
      auto ticket = lane_->submit({.fences = {}, .body = Regions{.list = {&region, 1}}});
      if (!ticket) return ticket.status();
      last_ = *ticket;
      half_ ^= 1;
      done += bytes;
    }
    return {};
  }

  // Waits until at most `open` pieces are on their way.
  Status finish_older(Ticket open) {
    while (last_ - reaped_ > open) {
      const Point point{lane_.get(), reaped_ + 1};
      if (auto waited = device_->wait_any({&point, 1}, Nanos::max()); !waited) {
        return waited.status();
      }
      Completion done;
      const auto count = lane_->reap({&done, 1});
      if (!count) return count.status();
      if (!done.status.ok()) return done.status;
      reaped_ += *count;
    }
    return {};
  }

 private:
  Stager(Device& device, Buffer& target, std::unique_ptr<Buffer> staging,
         std::unique_ptr<Queue> lane)
      : device_(&device), target_(&target), staging_(std::move(staging)), lane_(std::move(lane)) {}

  Device* device_;
  Buffer* target_;
  std::unique_ptr<Buffer> staging_;  // before the lane, which copies out of it until it is closed
  std::unique_ptr<Queue> lane_;
  std::uint64_t half_ = 0;
  Ticket last_ = 0, reaped_ = 0;
};

struct Item {
  Extent extent;
  float center, reach;
};

// In the order of their numbers, by which the values are drawn.
std::vector<Item> items(const ModelShape& shape, const WeightPlan& plan) {
  const auto matrix = [](const Extent& extent, std::uint32_t fan_in) {
    return Item{extent, 0, 1.0f / std::sqrt(static_cast<float>(fan_in))};
  };
  const auto norm = [](const Extent& extent) { return Item{extent, 1, kNormReach}; };
  std::vector<Item> out{matrix(plan.embedding, shape.hidden), norm(plan.final_norm)};
  for (const LayerWeights& layer : plan.layers) {
    out.push_back(norm(layer.input_norm));
    out.push_back(matrix(layer.qkv, shape.hidden));
    out.push_back(matrix(layer.o, shape.heads * shape.head_dim));
    out.push_back(norm(layer.post_norm));
    out.push_back(matrix(layer.gate_up, shape.hidden));
    out.push_back(matrix(layer.down, shape.intermediate));
  }
  if (!shape.tied_embeddings) out.push_back(matrix(plan.head, shape.hidden));
  return out;
}

}  // namespace

Status upload_weights(Device& device, const ModelShape& shape, DType dtype, std::uint64_t seed,
                      const WeightPlan& plan, Buffer& weights) {
  auto stager = Stager::create(device, weights);
  if (!stager) return stager.status();
  std::uint32_t number = 0;
  for (const Item& item : items(shape, plan)) {
    const RandomTensor tensor{seed, number++, item.center, item.reach, dtype};
    const auto make = [&](std::uint64_t first, std::span<std::byte> out) {
      fill_random(tensor, first / bytes_of(dtype), out);
    };
    if (Status status = stager->send(item.extent, make); !status.ok()) return status;
  }
  const std::vector<float> frequencies = inverse_frequencies(shape);
  const auto copy = [&](std::uint64_t first, std::span<std::byte> out) {
    std::memcpy(out.data(), std::as_bytes(std::span(frequencies)).data() + first, out.size());
  };
  const Status status = stager->send(plan.inverse_frequency, copy);
  return status.ok() ? stager->finish_older(0) : status;
}

}  // namespace kvroof
