// SPDX-License-Identifier: Apache-2.0
// The closed list of operations that a device executes (or, on the simulator, prices). Matrices are
// dense and row-major; `dtype` is that of activations and weights, PagedKv has the cache's own.
// Adapters refuse spans that are too short for the shape with `invalid`.
#pragma once
#include <cstdint>
#include <iterator>
#include <string_view>
#include <variant>

#include "backends/api/buffer.h"
#include "backends/api/dtype.h"

namespace kvroof {

// c[m, n] = a[m, k] * b[n, k]^T: b holds weights as checkpoints do, one row an output feature.
struct Gemm {
  Span a, b, c;
  std::uint32_t m, n, k;
  DType dtype;
  DType out_dtype;  // f32 for logits, otherwise dtype
};

// Where one layer's K and V of a paged cache lie. The element (block, token, head, i) of K is at
//   cache.offset + k_offset + block_table[block] * block_stride + token * token_stride
//   + head * head_stride + i * bytes_of(dtype),
// and likewise of V from v_offset. Strides are in bytes. An op's `sequences` have one row of the
// block table each, logical to physical block, and the formula takes a sequence's own row.
//
// The head_dim elements of a token and head of a quantised cache (fp8, int8) are to be multiplied
// by one f32, which lies at
//   cache.offset + k_scale_offset + block_table[block] * block_stride + token * scale_token_stride
//   + head * scale_head_stride,
// and likewise of V. Where dtype is not quantised the fields of scales are not read.
struct PagedKv {
  Span cache;
  Span block_table;  // i32[sequences, ceil((past + tokens) / block_tokens)]
  std::uint64_t k_offset, v_offset, block_stride, token_stride, head_stride;
  std::uint32_t block_tokens, kv_heads, head_dim;
  DType dtype;  // may be narrower than what is computed in
  std::uint64_t k_scale_offset = 0, v_scale_offset = 0, scale_token_stride = 0,
                scale_head_stride = 0;
};

// Causal attention of each sequence's `tokens` new queries over its own `past + tokens` keys in the
// cache (the new ones are already appended). Query t sees keys 0 .. past + t, or the last `window`
// of them. Row s * tokens + t of q, of sequence s, starts at that times q_row_bytes and holds
// heads * head_dim elements; out is dense [sequences, tokens, heads * head_dim].
struct Attention {
  Span q, out;
  std::uint64_t q_row_bytes;
  PagedKv kv;
  std::uint32_t tokens, past, heads;
  float scale;               // positive; 1 / sqrt(head_dim) as a rule
  DType dtype;               // of q and out
  std::uint32_t window = 0;  // 0: no bound
  // As many of the same tokens and past, as a serving engine's decode step has them; zero is
  // refused. The same in MlaAttention and RopeAppend.
  std::uint32_t sequences = 1;
};

// Multi-head latent attention: rotates the last rope_dim of each head of q, appends the new latents
// (the cache holds kv_rank + rope_dim a token, K alone, one head) and attends over all of them,
// through `expansion`, which makes a latent into nope_dim of K and v_dim of V for each head.
struct MlaAttention {
  Span q;          // [sequences, tokens, heads * (nope_dim + rope_dim)]
  Span latents;    // [sequences, tokens, kv_rank + rope_dim]
  Span expansion;  // [heads * (nope_dim + v_dim), kv_rank]
  Span out;        // [sequences, tokens, heads * v_dim]
  PagedKv kv;
  std::uint32_t tokens, past, heads, kv_rank, nope_dim, rope_dim, v_dim;
  DType dtype;
  std::uint32_t sequences = 1;
};

// A feed-forward of experts: each row of x goes through the `active` ones of `experts` that score
// highest; out is the sum of what they give, by their softmax, added to what it held where `add`.
struct MixtureOfExperts {
  Span x, scores;      // [tokens, hidden], [tokens, experts]
  Span gate_up, down;  // [experts, 2 * width, hidden], [experts, hidden, width]
  Span out;            // [tokens, hidden]
  std::uint32_t tokens, hidden, width, experts, active;
  bool add;
  DType dtype;
};

// data[tokens, width] becomes its sum over the ranks of a tensor-parallel group.
struct AllReduce {
  Span data;
  std::uint32_t tokens, width, ranks;
  DType dtype;
};

// residual[t] += x[t] (skipped where x.buffer is null), then
// out[t] = rms_norm(residual[t]) * weight.
struct Norm {
  Span x, residual, weight, out;
  std::uint32_t tokens, width;
  float epsilon;
  DType dtype;
};

// qkv is [sequences, tokens, (heads + 2 * kv_heads) * head_dim], q then k then v. Rotates q in
// place and k, in halves (element i with i + head_dim / 2, as Llama checkpoints expect), by
// position past + t and inverse_frequency f32[head_dim / 2]; appends k and v to the cache at
// positions past + t of their sequence, quantised where the cache is, with their scales. Sequences
// may run at once: none appends to what another names.
struct RopeAppend {
  Span qkv, inverse_frequency;
  PagedKv kv;
  std::uint32_t tokens, past, heads;
  DType dtype;  // of qkv
  std::uint32_t sequences = 1;
};

// out[t, i] = silu(gate_up[t, i]) * gate_up[t, width + i]; gate_up is [tokens, 2 * width].
struct Activation {
  Span gate_up, out;
  std::uint32_t tokens, width;
  DType dtype;
};

// out[t] = table[ids[t]]; ids i32[tokens], table [vocab, width]. An id outside the table fails.
struct Embedding {
  Span ids, table, out;
  std::uint32_t tokens, width, vocab;
  DType dtype;
};

// out row i = source row index[i]; rows of row_bytes. An index outside the source fails.
struct Gather {
  Span source, index, out;
  std::uint32_t rows;
  std::uint64_t row_bytes;
};

// out row index[i] = source row i. An index outside the destination fails.
struct Scatter {
  Span source, index, out;
  std::uint32_t rows;
  std::uint64_t row_bytes;
};

// A row of KV quantised, and what it is of: `vectors` vectors (in a cache: tokens and heads, K or
// V) of `width` elements, a multiple of four. Wide, they are dense. Narrow, the row holds all
// values of one byte, vector after vector, and behind them the vectors' scales in f32: scales
// travel with their values. An element is its value times its vector's scale, which is the vector's
// largest finite magnitude over 448 (fp8) or 127 (int8).
struct NarrowRow {
  std::uint32_t vectors, width;
  DType wide;    // f32 or bf16
  DType narrow;  // fp8 or int8

  std::uint64_t values() const { return std::uint64_t{vectors} * width; }
  std::uint64_t wide_bytes() const { return values() * bytes_of(wide); }
  std::uint64_t narrow_bytes() const { return values() + vectors * sizeof(float); }
};

// A gather that narrows: out row i, of narrow_bytes, is what the source's row index[i], of
// wide_bytes, is quantised. An index outside the source fails.
struct Quantise {
  Span source, index, out;
  std::uint32_t rows;
  NarrowRow row;
};

// A scatter that widens: the destination's row index[i], of wide_bytes, is what source row i, of
// narrow_bytes, stands for. An index outside the destination fails.
struct Dequantise {
  Span source, index, out;
  std::uint32_t rows;
  NarrowRow row;
};

// out[i * parts + j] = XXH3_64 without a seed, in u64, of part j of the source's row index[i]; the
// parts of a row are equally long and make it up. Without an index (no buffer) row i is the
// source's. An index outside the source fails.
struct Checksum {
  Span source, index, out;
  std::uint32_t rows;
  std::uint64_t row_bytes;
  std::uint32_t parts;
};

using Op = std::variant<Gemm, Attention, Norm, RopeAppend, Activation, Embedding, Gather, Scatter,
                        MlaAttention, MixtureOfExperts, AllReduce, Quantise, Dequantise, Checksum>;

// By the variant's index.
constexpr std::string_view kOpNames[] = {
    "gemm",    "attention",     "norm", "rope_append", "activation", "embedding",  "gather",
    "scatter", "mla_attention", "moe",  "all_reduce",  "quantise",   "dequantise", "checksum"};
static_assert(std::size(kOpNames) == std::variant_size_v<Op>);

}  // namespace kvroof
