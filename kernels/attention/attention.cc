// SPDX-License-Identifier: Apache-2.0
// Specification, for each token t and head h with g = h / (heads / kv_heads):
//   s[j] = scale * sum over i of q[t][h][i] * k[j][g][i]      for j in 0 .. past + t
//   p = exp(s - max s) / sum of exp(s - max s);  out[t][h] = sum over j of p[j] * v[j][g]
// K and V are gathered into panels; the query heads that share a KV head are stacked into the
// rows of a tile, token by token, so that few tokens still make a tall product. Where there are
// several tiles a KV head they share its panels; a single tile gathers a block of keys at a time.
#include "kernels/attention/attention.h"

#include <omp.h>

#include <algorithm>

#include "kernels/portable/exp2.h"

namespace kvroof {
namespace {

constexpr std::uint32_t kTileRows = 192;  // a multiple of every row_unit
// Gathered K and V of one pass; more KV heads than fit take their turn.
constexpr std::uint64_t kPackedWords = 32ull << 20;

}  // namespace

struct AttentionGeometry {
  AttentionGeometry(const AttentionArgs& args, const TileKernels& kernels)
      : head_dim(args.kv.shape.head_dim),
        width((head_dim + kernels.panel - 1) / kernels.panel * kernels.panel),
        group(args.heads / args.kv.shape.kv_heads),
        keys(args.past + args.tokens),
        panels((keys + kernels.panel - 1) / kernels.panel),
        pair(kernels.pair),
        depth((head_dim + pair - 1) / pair),
        panel(kernels.panel),
        tile_tokens(std::clamp(kTileRows / group, 1u, args.tokens)),
        tile_rows((tile_tokens * group + kernels.row_unit - 1) / kernels.row_unit *
                  kernels.row_unit),
        tiles_a_head((args.tokens + tile_tokens - 1) / tile_tokens),
        key_words(words_of_keys(panels * kernels.panel)),
        value_words(words_of_values(panels * kernels.panel)) {}

  // Of `count` keys, a multiple of `panel`; a column is `panel` elements of each value.
  std::uint64_t words_of_keys(std::uint64_t count) const { return count * depth; }
  std::uint64_t words_of_column(std::uint64_t count) const { return count / pair * panel; }
  std::uint64_t words_of_values(std::uint64_t count) const {
    return words_of_column(count) * (width / panel);
  }

  std::uint32_t head_dim, width, group, keys, panels, pair, depth, panel, tile_tokens, tile_rows,
      tiles_a_head;
  std::uint64_t key_words, value_words;  // of one KV head
};

namespace {

// One thread's workspace for a tile of `rows` rows.
struct Tile {
  static std::uint64_t words(const AttentionGeometry& shape) {
    const std::uint64_t row = shape.depth + kKeyBlock + shape.width + 2;
    return (shape.tile_rows * row + 15) / 16 * 16;
  }
  Tile(float* base, const AttentionGeometry& shape)
      : rows(shape.tile_rows),
        scores(base),
        queries(scores + std::uint64_t{rows} * kKeyBlock),
        state{queries + std::uint64_t{rows} * shape.depth, nullptr, nullptr} {
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
  std::fill_n(tile.queries, std::uint64_t{tile.rows} * shape.depth, 0.0f);
  std::fill_n(tile.state.acc, std::uint64_t{tile.rows} * shape.width, 0.0f);
  std::fill_n(tile.state.maximum, tile.rows, kNoMaximum);
  std::fill_n(tile.state.sum, tile.rows, 0.0f);
  for (std::uint32_t i = 0; i < rows.tokens * shape.group; ++i) {
    const std::byte* in =
        element(const_cast<std::byte*>(args.q), args, args.q_row_bytes,
                rows.first_token + i / shape.group, rows.kv_head * shape.group + i % shape.group);
    kernels.load_query(in, shape.head_dim, tile.queries + std::uint64_t{i} * shape.depth);
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
    kernels.soften(tile.scores + std::uint64_t{i} * kKeyBlock, args.scale * kLog2E, visible, count,
                   shape.width, tile.state.acc + std::uint64_t{i} * shape.width,
                   tile.state.maximum + i, tile.state.sum + i);
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

// Packed keys and values of one KV head, and how far the columns of the values lie apart.
struct PackedKv {
  PackedKv(float* base, const AttentionGeometry& shape, std::uint64_t count)
      : keys(base),
        values(base + shape.words_of_keys(count)),
        column(shape.words_of_column(count)) {}

  PackedKv from(const AttentionGeometry& shape, std::uint32_t key) const {
    PackedKv later = *this;
    later.keys += shape.words_of_keys(key);
    later.values += shape.words_of_column(key);
    return later;
  }

  float *keys, *values;
  std::uint64_t column;
};

// Packs one panel: the keys from `first` on and their values.
void pack(const AttentionArgs& args, const TileKernels& kernels, const AttentionGeometry& shape,
          std::uint32_t kv_head, std::uint32_t first, const PackedKv& to) {
  const void *keys[64], *values[64];
  const std::uint32_t count = std::min(kernels.panel, shape.keys - first);
  const std::uint64_t row_bytes = shape.head_dim * bytes_of(args.kv.shape.dtype);
  for (std::uint32_t j = 0; j < count; ++j) {
    if (const std::uint32_t ahead = first + j + kernels.panel; ahead < shape.keys) {
      prefetch(args.kv.key(ahead, kv_head), row_bytes);
      prefetch(args.kv.value(ahead, kv_head), row_bytes);
    }
    keys[j] = args.kv.key(first + j, kv_head);
    values[j] = args.kv.value(first + j, kv_head);
  }
  kernels.pack_values(values, count, shape.head_dim, shape.width, to.column, to.values);
  kernels.pack_keys(keys, count, shape.head_dim, to.keys);
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
    const PackedKv kv = gather(first, count);
    kernels.scores(tile.queries, tile.rows, kv.keys, panels, shape.depth, tile.scores);
    soften(args, kernels, shape, rows, first, count, tile);
    kernels.weigh(tile.scores, tile.rows, kv.values, count, shape.width, kv.column, tile.state.acc);
  }
  finish(args, kernels, shape, rows, tile);
}

}  // namespace

Status AttentionKernel::run(const AttentionArgs& args) {
  const std::uint64_t keys = std::uint64_t{args.past} + args.tokens;
  if (keys > UINT32_MAX) return {Code::unsupported, "attention takes fewer than 2^32 keys"};
  if (Status status = args.kv.check_table(keys, args.sequences); !status.ok()) return status;
  const std::uint64_t out_row_bytes =
      std::uint64_t{args.heads} * args.kv.shape.head_dim * bytes_of(args.kv.shape.dtype);
  for (std::uint64_t i = 0; i < args.sequences; ++i) {
    AttentionArgs own = args;
    own.q += i * args.tokens * args.q_row_bytes;
    own.out += i * args.tokens * out_row_bytes;
    own.kv = args.kv.of_sequence(i, keys);
    run_sequence(own);
  }
  return {};
}

void AttentionKernel::run_sequence(const AttentionArgs& args) {
  const TileKernels& kernels = tile_kernels(args.kv.shape.dtype, isa_);
  const AttentionGeometry shape(args, kernels);
  if (shape.tiles_a_head == 1) {
    run_streamed(args, kernels, shape);
  } else {
    run_packed(args, kernels, shape);
  }
}

void AttentionKernel::run_streamed(const AttentionArgs& args, const TileKernels& kernels,
                                   const AttentionGeometry& shape) {
  const std::uint64_t tile_words = Tile::words(shape);
  const std::uint64_t own_words =
      tile_words + shape.words_of_keys(kKeyBlock) + shape.words_of_values(kKeyBlock);
  float* all = tiles_.at_least(own_words * static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel for schedule(dynamic) if (args.kv.shape.kv_heads > 1)
  for (std::uint32_t head = 0; head < args.kv.shape.kv_heads; ++head) {
    float* own = all + own_words * static_cast<unsigned>(omp_get_thread_num());
    const PackedKv packed(own + tile_words, shape, kKeyBlock);
    Tile tile(own, shape);
    attend(args, kernels, shape, {head, 0, args.tokens}, tile,
           [&](std::uint32_t first, std::uint32_t count) {
             for (std::uint32_t j = 0; j < count; j += kernels.panel) {
               pack(args, kernels, shape, head, first + j, packed.from(shape, j));
             }
             return packed;
           });
  }
}

void AttentionKernel::run_packed(const AttentionArgs& args, const TileKernels& kernels,
                                 const AttentionGeometry& shape) {
  const std::uint32_t kv_heads = args.kv.shape.kv_heads;
  const std::uint64_t head_words = shape.key_words + shape.value_words;
  const auto heads_a_pass =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(kPackedWords / head_words, 1, kv_heads));
  packed_.at_least(head_words * heads_a_pass);
  for (std::uint32_t from = 0; from < kv_heads; from += heads_a_pass) {
    run_pass(args, kernels, shape, from, std::min(heads_a_pass, kv_heads - from));
  }
}

void AttentionKernel::run_pass(const AttentionArgs& args, const TileKernels& kernels,
                               const AttentionGeometry& shape, std::uint32_t from,
                               std::uint32_t heads) {
  const std::uint64_t tile_words = Tile::words(shape);
  const std::uint64_t head_words = shape.key_words + shape.value_words;
  const std::uint64_t all_keys = std::uint64_t{shape.panels} * shape.panel;
  float* packed = packed_.at_least(head_words * heads);
  float* tiles = tiles_.at_least(tile_words * static_cast<unsigned>(omp_get_max_threads()));
#pragma omp parallel
  {
#pragma omp for collapse(2) schedule(static)
    for (std::uint32_t head = 0; head < heads; ++head) {
      for (std::uint32_t panel = 0; panel < shape.panels; ++panel) {
        const std::uint32_t first = panel * kernels.panel;
        const PackedKv whole(packed + head * head_words, shape, all_keys);
        pack(args, kernels, shape, from + head, first, whole.from(shape, first));
      }
    }
    Tile tile(tiles + tile_words * static_cast<unsigned>(omp_get_thread_num()), shape);
    // Longest first: the last tokens see the most keys.
#pragma omp for schedule(dynamic)
    for (std::uint32_t i = 0; i < heads * shape.tiles_a_head; ++i) {
      const std::uint32_t first = (shape.tiles_a_head - 1 - i / heads) * shape.tile_tokens;
      const Rows rows{from + i % heads, first, std::min(shape.tile_tokens, args.tokens - first)};
      const PackedKv whole(packed + i % heads * head_words, shape, all_keys);
      attend(args, kernels, shape, rows, tile,
             [&](std::uint32_t key, std::uint32_t) { return whole.from(shape, key); });
    }
  }
}

}  // namespace kvroof
