// SPDX-License-Identifier: Apache-2.0
// `kvroof models`: what a model's geometry means for copying and recomputing it.
#include <fmt/core.h>

#include "kernels/model/kv_layout.h"
#include "kernels/prefill/prefill.h"
#include "suites/catalog/catalog.h"
#include "suites/catalog/model_config.h"
#include "suites/command/commands.h"
#include "suites/harness/geometry_json.h"
#include "suites/harness/table.h"

namespace kvroof {
namespace {

constexpr Layout kLayouts[] = {Layout::block_first, Layout::layer_first};
constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::fp8, DType::int8};
constexpr std::uint32_t kBlockTokens = 16;
constexpr std::uint64_t kContext = 10240;

// FLOPs to recompute the first kContext tokens over the KV bytes that copying them moves.
double flops_per_kv_byte(const ModelShape& s) {
  return prefill_flops(s, 0, kContext) / static_cast<double>(kv_bytes(s, DType::bf16, kContext));
}

// Of one token that sees `context` others, or its window's.
double attention_flops_per_token(const ModelShape& s, std::uint64_t context) {
  return prefill_flops(s, context - 1, 1) - 2.0 * static_cast<double>(body_parameters(s));
}

// A region is a block in block_first; in layer_first K or V of one layer of it, or its latents.
// Layers with a window have blocks of their own: these are the others'.
std::uint64_t region_bytes(const ModelShape& s, DType dtype, Layout layout) {
  return make_kv_layout(s, dtype, layout, kBlockTokens, 1).region_bytes();
}

Json all_region_bytes(const ModelShape& s) {
  Json all;
  for (const Layout layout : kLayouts) {
    for (const DType dtype : kDTypes) {
      all[std::string(name(layout))][std::string(name(dtype))] = region_bytes(s, dtype, layout);
    }
  }
  return all;
}

Json to_json(const ModelShape& s) {
  Json json = geometry_json(s);
  json["params_total"] = total_parameters(s);
  json["params_active_body"] = body_parameters(s);
  json["kv_dtype"] = name(DType::bf16);
  json["kv_bytes_per_token"] = kv_bytes_per_token(s, DType::bf16);
  json["kv_bytes_per_token_growing"] = growing_kv_bytes_per_token(s, DType::bf16);
  json["linear_flops_per_token"] = 2 * body_parameters(s);
  json["attention_flops_per_token_at_10240"] = attention_flops_per_token(s, kContext);
  json["flops_per_kv_byte_at_10240"] = flops_per_kv_byte(s);
  json["region_bytes_of_16_token_blocks"] = all_region_bytes(s);
  if (const std::string why = not_computed(s); !why.empty()) json["not_computed"] = why;
  return json;
}

// Of a token in all layers, and in those without a window where that is less.
std::string kv_text(const ModelShape& s) {
  const auto kib = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1024; };
  const double all = kib(kv_bytes_per_token(s, DType::bf16)),
               growing = kib(growing_kv_bytes_per_token(s, DType::bf16));
  return all == growing ? fmt::format("{:g}", all) : fmt::format("{:g}/{:g}", all, growing);
}

std::vector<std::string> to_row(const ModelShape& s) {
  const auto kib = [&](Layout layout) { return region_bytes(s, DType::bf16, layout) / 1024; };
  return {s.name,
          fmt::format("{}", s.layers),
          s.latent ? fmt::format("{}/{}+{}", s.heads, s.latent->kv_rank, s.latent->rope_dim)
                   : fmt::format("{}/{}x{}", s.heads, s.kv_heads, s.head_dim),
          fmt::format("{:.3f}", static_cast<double>(body_parameters(s)) / 1e9),
          kv_text(s),
          fmt::format("{}/{}", kib(Layout::block_first), kib(Layout::layer_first)),
          fmt::format("{:.0f}", flops_per_kv_byte(s))};
}

void print_table(const std::vector<ModelShape>& shapes) {
  Table table({{"model", Table::Align::left},
               {"layers"},
               {"q/kv x dim"},
               {"P, 1e9"},
               {"KV KiB/tok"},
               {"region KiB"},
               {"FLOP/KV B"}});
  for (const ModelShape& shape : shapes) table.add_row(to_row(shape));
  fmt::print(
      "{}\nHeads of queries/KV x their size (or rank of the latent + rotary size); P: the\n"
      "weights that a token is multiplied by; KV of a token in bf16, in all layers/in\n"
      "those without a window; regions of 16-token blocks, block_first/layer_first;\n"
      "FLOP per KV byte of the first {} tokens. --json has every dtype, the whole\n"
      "geometry, and which models the host can't compute.\n",
      table.text(), kContext);
}

Result<std::vector<ModelShape>> find_all(std::vector<std::string> wanted) {
  if (wanted.empty()) {
    for (const CatalogEntry& entry : model_configs()) wanted.emplace_back(entry.name);
  }
  std::vector<ModelShape> shapes;
  for (const std::string& one : wanted) {
    auto shape = find_model(one);
    if (!shape) return shape.status();
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

}  // namespace

int show_models(const ModelsOptions& options) {
  const auto shapes = find_all(options.models);
  if (!shapes) return fail(kBadUsage, shapes.status().text);
  if (!options.json) {
    print_table(*shapes);
    return kDone;
  }
  Json all = Json::array();
  for (const ModelShape& shape : *shapes) all.push_back(to_json(shape));
  fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  return kDone;
}

}  // namespace kvroof
