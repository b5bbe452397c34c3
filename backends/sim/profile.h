// SPDX-License-Identifier: Apache-2.0
// A simulated device as data: every figure with its range, source and basis. parse_profile is
// strict, so that a typing error in a profile is a sentence and not a wrong result.
#pragma once
#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/api/device.h"
#include "backends/api/dtype.h"
#include "backends/sim/curve.h"

namespace kvroof::sim {

struct Value {
  double value = 0, low = 0, high = 0;  // low <= value <= high
  std::string unit, source;
  Basis basis = Basis::datasheet;
};

struct CopyCurves {
  std::optional<Curve> in, out;  // bytes/s by region bytes, many in flight; empty: no figure known
};

struct GemmShape {
  double n = 0, k = 0;
  Curve seconds;  // by m
};

// Either measured latencies, or an efficiency of the peak.
struct GemmRates {
  std::vector<GemmShape> shapes;
  std::optional<Value> efficiency;
};

struct AttentionShape {
  double heads = 0, kv_heads = 0, head_dim = 0;
  std::optional<DType> kv_dtype;  // of the cache; empty: what is computed in
  Curve seconds;                  // by tokens of one causal prefill without a past
};

struct AttentionRates {
  std::vector<AttentionShape> shapes;
  std::optional<Value> efficiency;
};

// Factors on durations that are named and argued for, each 1 or more.
struct Derates {
  Value gemm, attention, memory, copy;
};

// To the other devices of a tensor-parallel group.
struct PeerLink {
  Value rate;     // bytes/s that each rank sends in a ring, as achieved
  Value latency;  // seconds an all-reduce takes beside its bytes
};

struct LinkProfile {
  LinkState state;
  Value peak;                     // bytes/s a direction, in theory
  Value in, out;                  // bytes/s that all copies of a direction reach together
  Value total_dma, total_kernel;  // bytes/s of both directions together, by who copies
};

// Of the host, shared by all disk queues.
struct DiskProfile {
  Value read, write;  // bytes/s, with many files under way
  Value file;         // seconds; no file takes less
};

struct Profile {
  std::string name;
  Basis basis = Basis::datasheet;  // the weakest that durations depend on
  Value memory_bytes, host_memory_bytes;
  Value hbm_rate;                    // bytes/s, as achieved
  Value launch_floor;                // seconds; no kernel is shorter
  Value submit_call, submit_region;  // seconds of the submission CPU, each call and each descriptor
  Value kernel_copy_compute;         // share of the compute units that a copying kernel takes
  Value host_dram_rate, host_copy_rate;  // bytes/s: all traffic; copied by one core
  LinkProfile link;
  Derates derates;
  std::array<CopyCurves, kCopyMethods> copy;  // by CopyMethod
  std::map<DType, Value> peak_flops;          // f32 and bf16, dense
  std::map<DType, GemmRates> gemm;            // a dtype that is missing is not priced
  std::map<DType, AttentionRates> attention;
  std::map<DType, Value> experts;           // shares of the peak: grouped products of experts
  std::map<DType, Value> latent_attention;  // and multi-head latent attention
  std::optional<PeerLink> peer;
  std::optional<DiskProfile> disk;
};

// `invalid` names the key that is missing, unknown or out of range, and what is expected there.
Result<Profile> parse_profile(std::string_view json);

}  // namespace kvroof::sim
