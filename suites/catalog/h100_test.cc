// SPDX-License-Identifier: Apache-2.0
// The modelled H100 through the seam: its copy rates, its two-way total, and Llama-3.1-8B's prefill
// against the published points, none of which feeds the profile.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "backends/registry/registry.h"
#include "suites/catalog/catalog.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kRegion = 2 << 20;
constexpr std::uint64_t kRegions = 512;

double seconds(Nanos nanos) { return static_cast<double>(nanos.count()) * 1e-9; }

class H100 : public testing::Test {
 protected:
  H100() {
    DeviceSpec spec;
    spec.adapter = "sim";
    spec.profile_text = find_entry(device_profiles(), "h100-sxm")->text;
    device_ = std::move(*open_device(spec));
    onto_ = buffer(MemoryKind::device, 40'000'000'000);
    host_ = buffer(MemoryKind::pinned, kRegion * kRegions);
  }

  std::unique_ptr<Buffer> buffer(MemoryKind kind, std::uint64_t bytes) {
    return std::move(*device_->allocate({.kind = kind, .bytes = bytes, .backed = false}));
  }
  std::unique_ptr<Queue> queue(QueueKind kind) {
    return std::move(*device_->open_queue(kind, Priority::normal));
  }
  // 1 GiB in 2 MiB regions, eight to a submission; returns the last ticket.
  Point copy(Queue& lane, CopyMethod method) {
    Ticket last = 0;
    for (std::uint64_t i = 0; i < kRegions; i += 8) {
      std::vector<Region> list;
      for (std::uint64_t r = i; r < i + 8; ++r) {
        const Span host{host_.get(), r * kRegion, kRegion}, onto{onto_.get(), r * kRegion, kRegion};
        const bool in = lane.kind() == QueueKind::copy_in;
        list.push_back(in ? Region{host, onto} : Region{onto, host});
      }
      last = *lane.submit({{}, Regions{list, method}});
    }
    return {&lane, last};
  }
  double wait(Point point) {
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()).ok());
    return seconds(device_->now());
  }
  double rate(QueueKind kind, CopyMethod method) {
    const auto lane = queue(kind);
    const double begin = seconds(device_->now());
    return kRegion * kRegions / (wait(copy(*lane, method)) - begin);
  }

  // Of one submission of copy(), by its own interval.
  static double gib_per_second(Queue& lane, Ticket ticket) {
    std::vector<Completion> done(256);
    done.resize(*lane.reap(done));
    const Interval interval = *done.at(ticket - done.at(0).ticket).interval;
    return 8.0 * kRegion / (1 << 30) / seconds(interval.end - interval.begin);
  }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> onto_, host_;
};

TEST_F(H100, CopiesTwoMebibyteRegionsAsPublished) {
  EXPECT_NEAR(rate(QueueKind::copy_in, CopyMethod::dma), 51.3e9, 0.513e9);
  EXPECT_NEAR(rate(QueueKind::copy_out, CopyMethod::dma), 49.6e9, 0.496e9);
  EXPECT_NEAR(rate(QueueKind::copy_in, CopyMethod::kernel), 51.1e9, 0.511e9);
  EXPECT_NEAR(rate(QueueKind::copy_out, CopyMethod::kernel), 52.3e9, 0.523e9);
}

// 83.4 and 68.5 GiB/s in all, half-way through, when both lanes are busy from end to end.
TEST_F(H100, CopiesBothWaysAtThePublishedTotal) {
  for (const auto& [method, total] :
       {std::pair{CopyMethod::dma, 83.4}, std::pair{CopyMethod::kernel, 68.5}}) {
    const auto in = queue(QueueKind::copy_in), out = queue(QueueKind::copy_out);
    const Point a = copy(*in, method), b = copy(*out, method);
    wait(a);
    wait(b);
    EXPECT_NEAR(gib_per_second(*in, a.ticket - 32) + gib_per_second(*out, b.ticket - 32), total,
                0.001 * total);
  }
}

// Llama-3.1-8B, ops as a serving engine submits them.
class Llama8b : public H100 {
 protected:
  static constexpr std::uint32_t kLayers = 32, kHidden = 4096, kHeads = 32, kKvHeads = 8,
                                 kHeadDim = 128, kFfn = 14336, kVocab = 128256, kStep = 8192;

  Span all() { return {onto_.get(), 0, onto_->facts().bytes}; }
  void run(const Op& op) {
    auto ticket = compute_->submit({{}, op});
    while (ticket.code() == Code::busy) {
      wait({compute_.get(), last_ - 2000});
      ticket = compute_->submit({{}, op});
    }
    ASSERT_TRUE(ticket.ok()) << ticket.status().text;
    last_ = *ticket;
  }
  void gemm(std::uint32_t m, std::uint32_t n, std::uint32_t k) {
    run(Gemm{all(), all(), all(), m, n, k, DType::bf16, DType::bf16});
  }
  void norm(std::uint32_t tokens) {
    run(Norm{all(), all(), all(), all(), tokens, kHidden, 1e-5F, DType::bf16});
  }
  void layer(std::uint32_t past, std::uint32_t tokens) {
    constexpr std::uint64_t kRow = kHeadDim * 2;
    const PagedKv kv{all(), all(), 0,        0,        16 * kKvHeads * kRow, kKvHeads * kRow,
                     kRow,  16,    kKvHeads, kHeadDim, DType::bf16};
    norm(tokens);
    gemm(tokens, (kHeads + 2 * kKvHeads) * kHeadDim, kHidden);
    run(RopeAppend{all(), all(), kv, tokens, past, kHeads, DType::bf16});
    run(Attention{all(), all(), kHeads * kRow, kv, tokens, past, kHeads, 0.09F, DType::bf16});
    gemm(tokens, kHidden, kHeads * kHeadDim);
    norm(tokens);
    gemm(tokens, 2 * kFfn, kHidden);
    run(Activation{all(), all(), tokens, kFfn, DType::bf16});
    gemm(tokens, kHidden, kFfn);
  }
  double prefill(std::uint32_t past, std::uint32_t end) {
    const double begin = seconds(device_->now());
    for (; past < end; past += kStep) {
      const std::uint32_t tokens = std::min(kStep, end - past);
      for (std::uint32_t i = 0; i < kLayers; ++i) layer(past, tokens);
    }
    gemm(1, kVocab, kHidden);
    return wait({compute_.get(), last_}) - begin;
  }

  std::unique_ptr<Queue> compute_ = queue(QueueKind::compute);
  Ticket last_ = 0;
};

// The last token's forward reads every weight once: 15 GB at 2.7 TB/s is 5.6 ms.
TEST_F(Llama8b, TheLastTokenTakesAboutItsWeightBytes) {
  EXPECT_NEAR(prefill(1023, 1024), 6.0e-3, 0.8e-3);
}

// 18 % below to 5 % above the published band, which includes about 3 ms of serving cost.
TEST_F(Llama8b, PrefillMeetsThePublishedPoints) {
  std::ifstream file(KVROOF_CLAIM);
  std::string line;
  if (!std::getline(file, line)) {
    GTEST_SKIP() << "no table of the published points at " << KVROOF_CLAIM;
  }
  int gated = 0;
  while (std::getline(file, line)) {
    if (line.find(",yes") == std::string::npos) continue;
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream row(line);
    std::uint32_t tokens = 0;
    double low = 0, high = 0;
    row >> tokens >> low >> high;
    const double modelled = 1e3 * prefill(0, tokens) + 3;
    EXPECT_GE(modelled, 0.82 * low) << tokens;
    EXPECT_LE(modelled, 1.05 * high) << tokens;
    RecordProperty(std::to_string(tokens), std::to_string(modelled / low));
    ++gated;
  }
  EXPECT_EQ(gated, 10);
}

}  // namespace
}  // namespace kvroof
