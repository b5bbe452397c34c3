// SPDX-License-Identifier: Apache-2.0
// Specification, for each token t and head h with g = h / (heads / kv_heads):
//   s[j] = scale * sum over i of q[t][h][i] * k[j][g][i]      for j in 0 .. past + t
//   p = exp(s - max s) / sum of exp(s - max s);  out[t][h] = sum over j of p[j] * v[j][g]
// K and V are gathered into f32 panels; the query heads that share a KV head are stacked into the
// rows of a tile, token by token, so that few tokens still make a tall product. Where there are
// several tiles a KV head they share its panels; a single tile gathers a block of keys at a time.
#include "kernels/attention/attention.h"

#include <omp.h>

#include <algorithm>

namespace kvroof {
namespace {

constexpr std::uint32_t kTileRows = 96;  // a multiple of every row_unit
// Gathered K and V of one pass; more KV heads than fit take their turn.
constexpr std::uint64_t kPackedFloats = 32ull << 20;

}  // namespace

struct AttentionGeometry {
  AttentionGeometry(const AttentionArgs& args, const TileKernels& kernels)
      : head_dim(args.kv.shape.head_dim),
        width((head_dim + kernels.panel - 1) / kernels.panel * kernels.panel),
        group(args.heads / args.kv.shape.kv_heads),
        keys(args.past + args.tokens),
        panels((keys + kernels.panel - 1) / kernels.panel),
        tile_tokens(std::clamp(kTileRows / group, 1u, args.tokens)),
        tile_rows((tile_tokens * group + kernels.row_unit - 1) / kernels.row_unit *
                  kernels.row_unit),
        tiles_a_head((args.tokens + tile_tokens - 1) / tile_tokens),
        key_floats(std::uint64_t{panels} * kernels.panel * head_dim),
        value_floats(std::uint64_t{keys} * width) {}

  std::uint32_t head_dim, width, group, keys, panels, tile_tokens, tile_rows, tiles_a_head;
  std::uint64_t key_floats, value_floats;  // of one KV head
};

namespace {

// One thread's workspace for a tile of `rows` rows.
struct Tile {
  static std::uint64_t floats(const AttentionGeometry& shape) {
    const std::uint64_t row = shape.head_dim + kKeyBlock + shape.width + 2;
    return (shape.tile_rows * row + 15) / 16 * 16;
  }
  Tile(float* base, const AttentionGeometry& shape)
      : rows(shape.tile_rows),
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

void begin(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
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
void soften(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
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

void finish(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
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

// Rows of one head are far apart in the cache: no hardware prefetcher follows them.
void prefetch(const std::byte* row, std::uint64_t bytes) {
  constexpr std::uint64_t kLineBytes = 64;
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) __builtin_prefetch(row + at);
}

// Packs one panel: the keys from `first` on and their values.
void pack(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
          std::uint32_t kv_head, std::uint32_t first, float* keys, float* values) {
  const void* rows[64];
  const std::uint32_t count = std::min(kernels.panel, shape.keys - first);
  const std::uint64_t row_bytes = shape.head_dim * bytes_of(args.kv.shape.dtype);
  for (std::uint32_t j = 0; j < count; ++j) {
    if (const std::uint32_t ahead = first + j + kernels.panel; ahead < shape.keys) {
      prefetch(args.kv.key(ahead, kv_head), row_bytes);
      prefetch(args.kv.value(ahead, kv_head), row_bytes);
    }
    rows[j] = args.kv.key(first + j, kv_head);
    kernels.pack_value(args.kv.value(first + j, kv_head), shape.head_dim, shape.width,
                       values + std::uint64_t{j} * shape.width);
  }
  kernels.pack_keys(rows, count, shape.head_dim, keys);
}

// `gather` puts a block of keys and values into place and returns where they are.
template <class GatherBlock>
void attend(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
            const Rows& rows, Tile& tile, GatherBlock&& gather) {
  begin(args, kernels, shape, rows, tile);
  const std::uint32_t end = args.past + rows.first_token + rows.tokens;
  for (std::uint32_t first = 0; first < end; first += kKeyBlock) {
    const std::uint32_t count = std::min(kKeyBlock, end - first);
    const std::uint32_t panels = (count + kernels.panel - 1) / kernels.panel;
    const auto [keys, values] = gather(first, count);
    kernels.scores(tile.queries, tile.rows, keys, panels, shape.head_dim, tile.scores);
    soften(args, kernels, shape, rows, first, count, tile);
    kernels.weigh(tile.scores, tile.rows, values, count, shape.width, tile.state.acc);
  }
  finish(args, kernels, shape, rows, tile);
}

struct Block {
  const float *keys, *values;
};

}  // namespace

Status AttentionKernel::run(const AttentionArgs& args) {
  const std::uint64_t keys = std::uint64_t{args.past} + args.tokens;
  if (keys > UINT32_MAX) return {Code::unsupported, "attention takes fewer than 2^32 keys"};
  if (Status status = args.kv.check_table(keys); !status.ok()) return status;
  const TileKernels& kernels = tile_kernels(args.kv.shape.dtype, isa_);
  const AttentionGeometry shape(args, kernels);
  if (shape.tiles_a_head == 1) {
    run_streamed(args, kernels, shape);
  } else {
    run_packed(args, kernels, shape);
  }
  return {};
}

void AttentionKernel::run_streamed(const AttentionArgs& args, const TileKernels& kernels,
                                   const AttentionGeometry& shape) {
  const std::uint64_t tile_floats = Tile::floats(shape);
  const std::uint64_t key_floats = std::uint64_t{kKeyBlock} * shape.head_dim;
  const std::uint64_t own_floats =
      tile_floats + key_floats + std::uint64_t{kKeyBlock} * shape.width;
  float* all = tiles_.at_least(own_floats * static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel for schedule(dynamic)
  for (std::uint32_t head = 0; head < args.kv.shape.kv_heads; ++head) {
    float* own = all + own_floats * static_cast<unsigned>(omp_get_thread_num());
    float *keys = own + tile_floats, *values = keys + key_floats;
    Tile tile(own, shape);
    attend(args, kernels, shape, {head, 0, args.tokens}, tile,
           [&](std::uint32_t first, std::uint32_t count) {
             for (std::uint32_t j = 0; j < count; j += kernels.panel) {
               pack(args, kernels, shape, head, first + j, keys + std::uint64_t{j} * shape.head_dim,
                    values + std::uint64_t{j} * shape.width);
             }
             return Block{keys, values};
           });
  }
}

void AttentionKernel::run_packed(const AttentionArgs& args, const TileKernels& kernels,
                                 const AttentionGeometry& shape) {
  const std::uint32_t kv_heads = args.kv.shape.kv_heads;
  const std::uint64_t head_floats = shape.key_floats + shape.value_floats;
  const auto heads_a_pass = static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(kPackedFloats / head_floats, 1, kv_heads));
  packed_.at_least(head_floats * heads_a_pass);
  for (std::uint32_t from = 0; from < kv_heads; from += heads_a_pass) {
    run_pass(args, kernels, shape, from, std::min(heads_a_pass, kv_heads - from));
  }
}

void AttentionKernel::run_pass(const AttentionArgs& args, const TileKernels& kernels,
                               const AttentionGeometry& shape, std::uint32_t from,
                               std::uint32_t heads) {
  const std::uint64_t tile_floats = Tile::floats(shape);
  const std::uint64_t head_floats = shape.key_floats + shape.value_floats;
  float* packed = packed_.at_least(head_floats * heads);
  float* tiles = tiles_.at_least(tile_floats * static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (std::uint32_t head = 0; head < heads; ++head) {
      for (std::uint32_t panel = 0; panel < shape.panels; ++panel) {
        const std::uint32_t first = panel * kernels.panel;
        float* keys = packed + head * head_floats;
        pack(args, kernels, shape, from + head, first, keys + std::uint64_t{first} * shape.head_dim,
             keys + shape.key_floats + std::uint64_t{first} * shape.width);
      }
    }
    Tile tile(tiles + tile_floats * static_cast<unsigned>(omp_get_thread_num()), shape);
    // Longest first: the last tokens see the most keys.
#pragma omp for schedule(dynamic)
    for (std::uint32_t i = 0; i < heads * shape.tiles_a_head; ++i) {
      const std::uint32_t first = (shape.tiles_a_head - 1 - i / heads) * shape.tile_tokens;
      const Rows rows{from + i % heads, first, std::min(shape.tile_tokens, args.tokens - first)};
      const float* keys = packed + i % heads * head_floats;
      attend(args, kernels, shape, rows, tile, [&](std::uint32_t key, std::uint32_t) {
        return Block{keys + std::uint64_t{key} * shape.head_dim,
                     keys + shape.key_floats + std::uint64_t{key} * shape.width};
      });
    }
  }
}

}  // namespace kvroof
