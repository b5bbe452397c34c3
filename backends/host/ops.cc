// SPDX-License-Identifier: Apache-2.0
#include "backends/host/ops.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <utility>

#include "backends/host/spans.h"
#include "kernels/portable/elementwise.h"
#include "kernels/portable/operands.h"
#include "kernels/portable/rows.h"
#include "kernels/portable/span_copy.h"

namespace kvroof::host {
namespace {

const std::int32_t* integers(const Span& span) {
  return reinterpret_cast<const std::int32_t*>(address(span));
}

PagedView view(const PagedKv& kv) { return {address(kv.cache), integers(kv.block_table), kv}; }

Status check_types(std::initializer_list<DType> types) {
  for (DType type : types) {
    if (type == DType::f32 || type == DType::bf16) continue;
    return {Code::unsupported,
            "the host computes in f32 and bf16, not in " + std::string(name(type))};
  }
  return {};
}

Status priced_only(const std::string& what) {
  return {Code::unsupported, what + " is priced on a simulated device, the host does not run it"};
}

struct TypeCheck {
  Status operator()(const Gemm& op) const {
    if (op.out_dtype != op.dtype && op.out_dtype != DType::f32) {
      return {Code::unsupported, "gemm writes its own dtype or f32"};
    }
    return check_types({op.dtype});
  }
  Status operator()(const Attention& op) const {
    if (op.window > 0) return priced_only("attention with a window");
    if (op.kv.dtype != op.dtype) return priced_only("attention over a quantised KV cache");
    return check_types({op.dtype});
  }
  Status operator()(const RopeAppend& op) const {
    if (op.kv.dtype != op.dtype) return priced_only("appending to a quantised KV cache");
    return check_types({op.dtype});
  }
  Status operator()(const Norm& op) const { return check_types({op.dtype}); }
  Status operator()(const Activation& op) const { return check_types({op.dtype}); }
  Status operator()(const Embedding& op) const { return check_types({op.dtype}); }
  Status operator()(const Gather&) const { return {}; }
  Status operator()(const Scatter&) const { return {}; }
  Status operator()(const Quantise&) const { return {}; }
  Status operator()(const Dequantise&) const { return {}; }
  Status operator()(const Checksum&) const { return {}; }
  Status operator()(const MlaAttention&) const { return priced_only("latent attention"); }
  Status operator()(const MixtureOfExperts&) const { return priced_only("a mixture of experts"); }
  Status operator()(const AllReduce&) const { return priced_only("tensor parallelism"); }
};

// Memory that others own may start anywhere, but ops load elements as what they are.
bool is_aligned(const Span& span) {
  if (span.buffer == nullptr) return true;
  const auto base = reinterpret_cast<std::uintptr_t>(static_cast<HostBuffer*>(span.buffer)->data());
  return base % alignof(std::max_align_t) == 0;
}

// Device memory has no other writers than the queues, which report what they write.
bool only_queues_write(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }

// Memory of the device's for packed weights.
std::shared_ptr<std::byte> take_packed(os::Budget& memory, std::uint64_t bytes) {
  const std::uint64_t taken = os::mapped_bytes(bytes);
  if (!memory.take(taken)) return nullptr;
  auto mapping = os::Mapping::create(bytes, -1);
  if (!mapping) {
    memory.give(taken);
    return nullptr;
  }
  std::byte* data = (*mapping)->data();
  return {data, [&memory, taken, held = std::move(*mapping)](std::byte*) mutable {
            held.reset();
            memory.give(taken);
          }};
}

}  // namespace

Ops::Ops(os::Budget& memory)
    : gemm_([&memory](std::uint64_t bytes) { return take_packed(memory, bytes); }) {}

Status Ops::check(const Op& op) const {
  if (Status status = std::visit(TypeCheck{}, op); !status.ok()) return status;
  const Operands operands = operands_of(op);
  if (std::ranges::all_of(operands.read, is_aligned) &&
      std::ranges::all_of(operands.written, is_aligned)) {
    return {};
  }
  return {Code::invalid, "an op's operands must lie in memory that starts at a multiple of 16"};
}

Status Ops::run(const Op& op) {
  std::lock_guard lock(running_);
  if (!parked_) parked_.emplace();
  for (const Span& span : operands_of(op).written) {
    if (span.buffer != nullptr) gemm_.forget(address(span), span.bytes);
  }
  return std::visit([this](const auto& body) { return execute(body); }, op);
}

void Ops::copy(std::span<const Piece> pieces) {
  std::lock_guard lock(running_);
  if (!parked_) parked_.emplace();
  copy_spans(pieces);
}

Status Ops::execute(const Gemm& op) {
  return gemm_.run({address(op.a), address(op.b), address(op.c), op.m, op.n, op.k, op.dtype,
                    op.out_dtype, only_queues_write(op.b)});
}

Status Ops::execute(const Attention& op) {
  return attention_.run({address(op.q), address(op.out), op.q_row_bytes, view(op.kv), op.tokens,
                         op.past, op.heads, op.scale, op.sequences});
}

Status Ops::execute(const Norm& op) {
  norm({address(op.x), address(op.residual), address(op.weight), address(op.out), op.tokens,
        op.width, op.epsilon, op.dtype});
  return {};
}

Status Ops::execute(const RopeAppend& op) {
  return rope_append({address(op.qkv),
                      reinterpret_cast<const float*>(address(op.inverse_frequency)), view(op.kv),
                      op.tokens, op.past, op.heads, op.sequences});
}

Status Ops::execute(const Activation& op) {
  activation({address(op.gate_up), address(op.out), op.tokens, op.width, op.dtype});
  return {};
}

Status Ops::execute(const Embedding& op) {
  return gather_rows({address(op.table), integers(op.ids), address(op.out), op.tokens,
                      op.width * bytes_of(op.dtype), op.vocab});
}

Status Ops::execute(const Gather& op) {
  return gather_rows({address(op.source), integers(op.index), address(op.out), op.rows,
                      op.row_bytes, op.source.bytes / op.row_bytes});
}

Status Ops::execute(const Scatter& op) {
  return scatter_rows({address(op.source), integers(op.index), address(op.out), op.rows,
                       op.row_bytes, op.out.bytes / op.row_bytes});
}

Status Ops::execute(const Quantise& op) {
  return quantise_rows({address(op.source), integers(op.index), address(op.out), op.rows, op.row,
                        op.source.bytes / op.row.wide_bytes()});
}

Status Ops::execute(const Dequantise& op) {
  return dequantise_rows({address(op.source), integers(op.index), address(op.out), op.rows, op.row,
                          op.out.bytes / op.row.wide_bytes()});
}

Status Ops::execute(const Checksum& op) {
  return checksum_rows({address(op.source), integers(op.index),
                        reinterpret_cast<std::uint64_t*>(address(op.out)), op.rows, op.row_bytes,
                        op.parts, op.source.bytes / op.row_bytes});
}

}  // namespace kvroof::host
