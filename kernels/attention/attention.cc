// SPDX-License-Identifier: Apache-2.0
// Specification, for each token t and head h with g = h / (heads / kv_heads):
//   s[j] = scale * sum over i of q[t][h][i] * k[j][g][i]      for j in 0 .. past + t
//   p = exp(s - max s) / sum of exp(s - max s);  out[t][h] = sum over j of p[j] * v[j][g]
// K and V of a KV head are gathered once into f32 panels; the query heads that share it are stacked
// into the rows of a tile, token by token, so that few tokens still make a tall product.
#include "kernels/attention/attention.h"

#include <omp.h>

#include <algorithm>

namespace kvroof {
namespace {

constexpr std::uint32_t kTileRows = 96;    // a multiple of every row_unit
constexpr std::uint32_t kDirectRows = 16;  // query rows of a KV head below which packing costs more
// Gathered K and V of one pass; more KV heads than fit take their turn.
constexpr std::uint64_t kPackedFloats = 32ull << 20;

struct Geometry {
  Geometry(const AttentionArgs& args, const TileKernels& kernels)
      : head_dim(args.kv.shape.head_dim),
        width((head_dim + kernels.panel - 1) / kernels.panel * kernels.panel),
        group(args.heads / args.kv.shape.kv_heads),
        keys(args.past + args.tokens),
        panels((keys + kernels.panel - 1) / kernels.panel),
        key_floats(std::uint64_t{panels} * kernels.panel * head_dim),
        value_floats(std::uint64_t{keys} * width) {}

  std::uint32_t head_dim, width, group, keys, panels;
  std::uint64_t key_floats, value_floats;  // of one KV head
};

// One thread's workspace for a tile of `rows` rows.
struct Tile {
  static std::uint64_t floats(std::uint32_t rows, const Geometry& shape) {
    const std::uint64_t row = shape.head_dim + kKeyBlock + shape.width + 2;
    return (rows * row + 15) / 16 * 16;
  }
  Tile(float* base, std::uint32_t row_count, const Geometry& shape)
      : rows(row_count),
        scores(base),
        queries(scores + std::uint64_t{rows} * kKeyBlock),
        state{queries + std::uint64_t{rows} * shape.head_dim, nullptr, nullptr} {
    state.maximum = state.acc + std::uint64_t{rows} * shape.width;
    state.sum = state.maximum + rows;
  }

  std::uint32_t rows;
  float *scores, *queries;
  SoftmaxState state;
};

// Rows of a tile are (token, head of the group), heads fastest.
struct Rows {
  std::uint32_t kv_head, first_token, tokens;
};

std::byte* element(std::byte* base, const AttentionArgs& args, std::uint64_t row_bytes,
                   std::uint64_t token, std::uint64_t head) {
  return base + token * row_bytes + head * args.kv.shape.head_dim * bytes_of(args.kv.shape.dtype);
}

void begin(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
           const Rows& rows, Tile& tile) {
  constexpr float kLog2E = 1.44269504088896f;  // the softmax is taken in base 2
  std::fill_n(tile.queries, std::uint64_t{tile.rows} * shape.head_dim, 0.0f);
  std::fill_n(tile.state.acc, std::uint64_t{tile.rows} * shape.width, 0.0f);
  std::fill_n(tile.state.maximum, tile.rows, kNoMaximum);
  std::fill_n(tile.state.sum, tile.rows, 0.0f);
  for (std::uint32_t i = 0; i < rows.tokens * shape.group; ++i) {
    const std::byte* in =
        element(const_cast<std::byte*>(args.q), args, args.q_row_bytes,
                rows.first_token + i / shape.group, rows.kv_head * shape.group + i % shape.group);
    kernels.load_query(in, args.scale * kLog2E, shape.head_dim,
                       tile.queries + std::uint64_t{i} * shape.head_dim);
  }
}

// Scores of `count` keys from `first_key` on become weights; keys behind a row's own token are
// hidden from it, and padding rows see none.
void soften(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
            const Rows& rows, std::uint32_t first_key, std::uint32_t count, Tile& tile) {
  for (std::uint32_t i = 0; i < tile.rows; ++i) {
    const std::uint32_t token = i / shape.group;
    const std::uint32_t seen = args.past + rows.first_token + token + 1;
    const std::uint32_t visible =
        token >= rows.tokens || seen <= first_key ? 0 : std::min(count, seen - first_key);
    kernels.soften(tile.scores + std::uint64_t{i} * kKeyBlock, visible, count, shape.width,
                   tile.state.acc + std::uint64_t{i} * shape.width, tile.state.maximum + i,
                   tile.state.sum + i);
  }
}

void finish(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
            const Rows& rows, const Tile& tile) {
  const std::uint64_t out_row_bytes =
      args.heads * std::uint64_t{shape.head_dim} * bytes_of(args.kv.shape.dtype);
  for (std::uint32_t i = 0; i < rows.tokens * shape.group; ++i) {
    std::byte* out = element(args.out, args, out_row_bytes, rows.first_token + i / shape.group,
                             rows.kv_head * shape.group + i % shape.group);
    kernels.finish(tile.state.acc + std::uint64_t{i} * shape.width, tile.state.sum[i],
                   shape.head_dim, out);
  }
}

// Packs the keys and values of panel `panel`.
void pack(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
          std::uint32_t kv_head, std::uint32_t panel, float* keys, float* values) {
  const void* rows[64];
  const std::uint32_t first = panel * kernels.panel;
  const std::uint32_t count = std::min(kernels.panel, shape.keys - first);
  for (std::uint32_t j = 0; j < count; ++j) {
    rows[j] = args.kv.key(first + j, kv_head);
    kernels.pack_value(args.kv.value(first + j, kv_head), shape.head_dim, shape.width,
                       values + std::uint64_t{first + j} * shape.width);
  }
  kernels.pack_keys(rows, count, shape.head_dim, keys + std::uint64_t{first} * shape.head_dim);
}

void attend_packed(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
                   const Rows& rows, const float* keys, const float* values, Tile& tile) {
  begin(args, kernels, shape, rows, tile);
  const std::uint32_t end = args.past + rows.first_token + rows.tokens;
  for (std::uint32_t first = 0; first < end; first += kKeyBlock) {
    const std::uint32_t count = std::min(kKeyBlock, end - first);
    const std::uint32_t panels = (count + kernels.panel - 1) / kernels.panel;
    kernels.scores(tile.queries, tile.rows, keys + std::uint64_t{first} * shape.head_dim, panels,
                   shape.head_dim, tile.scores);
    soften(args, kernels, shape, rows, first, count, tile);
    kernels.weigh(tile.scores, tile.rows, values + std::uint64_t{first} * shape.width, count,
                  shape.width, tile.state.acc);
  }
  finish(args, kernels, shape, rows, tile);
}

void attend_direct(const AttentionArgs& args, const TileKernels& kernels, const Geometry& shape,
                   const Rows& rows, Tile& tile) {
  begin(args, kernels, shape, rows, tile);
  const void* keys[kKeyBlock];
  const void* values[kKeyBlock];
  for (std::uint32_t first = 0; first < shape.keys; first += kKeyBlock) {
    const std::uint32_t count = std::min(kKeyBlock, shape.keys - first);
    for (std::uint32_t j = 0; j < count; ++j) {
      keys[j] = args.kv.key(first + j, rows.kv_head);
      values[j] = args.kv.value(first + j, rows.kv_head);
    }
    kernels.scores_direct(tile.queries, tile.rows, keys, count, shape.head_dim, tile.scores);
    soften(args, kernels, shape, rows, first, count, tile);
    kernels.weigh_direct(tile.scores, tile.rows, values, count, shape.head_dim, shape.width,
                         tile.state.acc);
  }
  finish(args, kernels, shape, rows, tile);
}

}  // namespace

Status AttentionKernel::run(const AttentionArgs& args) {
  const std::uint64_t keys = std::uint64_t{args.past} + args.tokens;
  if (keys > UINT32_MAX) return {Code::unsupported, "attention takes fewer than 2^32 keys"};
  if (Status status = args.kv.check_table(keys); !status.ok()) return status;
  const TileKernels& kernels = tile_kernels(args.kv.shape.dtype, isa_);
  const std::uint64_t rows = std::uint64_t{args.tokens} * (args.heads / args.kv.shape.kv_heads);
  if (rows <= kDirectRows) {
    run_direct(args, kernels);
  } else {
    run_packed(args, kernels);
  }
  return {};
}

void AttentionKernel::run_direct(const AttentionArgs& args, const TileKernels& kernels) {
  const Geometry shape(args, kernels);
  const std::uint32_t rows = args.tokens * shape.group;
  const std::uint64_t tile_floats = Tile::floats(rows, shape);
  float* tiles = tiles_.at_least(tile_floats * static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel for schedule(dynamic)
  for (std::uint32_t head = 0; head < args.kv.shape.kv_heads; ++head) {
    Tile tile(tiles + tile_floats * static_cast<unsigned>(omp_get_thread_num()), rows, shape);
    attend_direct(args, kernels, shape, {head, 0, args.tokens}, tile);
  }
}

void AttentionKernel::run_packed(const AttentionArgs& args, const TileKernels& kernels) {
  const Geometry shape(args, kernels);
  const std::uint32_t kv_heads = args.kv.shape.kv_heads;
  const std::uint64_t head_floats = shape.key_floats + shape.value_floats;
  const auto heads_a_pass = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kPackedFloats / head_floats, 1, kv_heads));
  const std::uint32_t tile_tokens = std::max(1u, kTileRows / shape.group);
  const std::uint32_t tile_rows =
      (tile_tokens * shape.group + kernels.row_unit - 1) / kernels.row_unit * kernels.row_unit;
  const std::uint64_t tile_floats = Tile::floats(tile_rows, shape);
  const std::uint32_t tiles_a_head = (args.tokens + tile_tokens - 1) / tile_tokens;
  float* packed = packed_.at_least(head_floats * heads_a_pass);
  float* tiles = tiles_.at_least(tile_floats * static_cast<unsigned>(omp_get_max_threads()));

  for (std::uint32_t from = 0; from < kv_heads; from += heads_a_pass) {
    const std::uint32_t heads = std::min(heads_a_pass, kv_heads - from);
#pragma omp parallel
    {
#pragma omp for collapse(2) schedule(static)
      for (std::uint32_t head = 0; head < heads; ++head) {
        for (std::uint32_t panel = 0; panel < shape.panels; ++panel) {
          float* keys = packed + head * head_floats;
          pack(args, kernels, shape, from + head, panel, keys, keys + shape.key_floats);
        }
      }
      Tile tile(tiles + tile_floats * static_cast<unsigned>(omp_get_thread_num()), tile_rows,
                shape);
      // Longest first: the last tokens see the most keys.
#pragma omp for schedule(dynamic)
      for (std::uint32_t i = 0; i < heads * tiles_a_head; ++i) {
        const std::uint32_t head = i % heads, block = tiles_a_head - 1 - i / heads;
        const std::uint32_t first = block * tile_tokens;
        const Rows rows{from + head, first, std::min(tile_tokens, args.tokens - first)};
        const float* keys = packed + head * head_floats;
        attend_packed(args, kernels, shape, rows, keys, keys + shape.key_floats, tile);
      }
    }
  }
}

}  // namespace kvroof
