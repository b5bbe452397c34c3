// SPDX-License-Identifier: Apache-2.0
#include "kernels/portable/operands.h"

namespace kvroof {
namespace {

struct Spread {
  Operands operator()(const Gemm& o) const { return {{o.a, o.b}, {o.c}}; }
  Operands operator()(const Attention& o) const {
    return {{o.q, o.kv.cache, o.kv.block_table}, {o.out}};
  }
  Operands operator()(const Norm& o) const { return {{o.x, o.weight}, {o.residual, o.out}}; }
  Operands operator()(const RopeAppend& o) const {
    return {{o.inverse_frequency, o.kv.block_table}, {o.qkv, o.kv.cache}};
  }
  Operands operator()(const Activation& o) const { return {{o.gate_up}, {o.out}}; }
  Operands operator()(const Embedding& o) const { return {{o.ids, o.table}, {o.out}}; }
  Operands operator()(const Gather& o) const { return {{o.source, o.index}, {o.out}}; }
  Operands operator()(const Scatter& o) const { return {{o.source, o.index}, {o.out}}; }
  Operands operator()(const MlaAttention& o) const {
    return {{o.q, o.latents, o.expansion, o.kv.block_table}, {o.out, o.kv.cache}};
  }
  Operands operator()(const MixtureOfExperts& o) const {
    return {{o.x, o.scores, o.gate_up, o.down}, {o.out}};
  }
  Operands operator()(const AllReduce& o) const { return {{}, {o.data}}; }
  Operands operator()(const Quantise& o) const { return {{o.source, o.index}, {o.out}}; }
  Operands operator()(const Dequantise& o) const { return {{o.source, o.index}, {o.out}}; }
  Operands operator()(const Checksum& o) const { return {{o.source, o.index}, {o.out}}; }
};

}  // namespace

Operands operands_of(const Op& op) { return std::visit(Spread{}, op); }

}  // namespace kvroof
