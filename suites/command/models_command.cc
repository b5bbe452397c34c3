// SPDX-License-Identifier: Apache-2.0
// `kvroof models`: what a model's geometry means for copying and recomputing it.
#include <fmt/core.h>

#include "kernels/model/kv_layout.h"
#include "suites/catalog/catalog.h"
#include "suites/catalog/model_config.h"
#include "suites/command/commands.h"
#include "suites/harness/json.h"
#include "suites/harness/table.h"

namespace kvroof {
namespace {

constexpr Layout kLayouts[] = {Layout::block_first, Layout::layer_first};
constexpr DType kDTypes[] = {DType::f32, DType::bf16, DType::fp8, DType::int8};
constexpr std::uint32_t kBlockTokens = 16;
constexpr std::uint64_t kContext = 10240;

// FLOPs to recompute the first kContext tokens over the KV bytes that copying them moves.
double flops_per_kv_byte(const ModelShape& s) {
  return prefill_flops(s, 0, kContext) /
         static_cast<double>(kContext * kv_bytes_per_token(s, DType::bf16));
}

Json region_bytes(const ModelShape& s) {
  Json all;
  for (const Layout layout : kLayouts) {
    for (const DType dtype : kDTypes) {
      const KvLayout kv = make_kv_layout(s, dtype, layout, kBlockTokens, 1);
      all[std::string(name(layout))][std::string(name(dtype))] = kv.region_bytes();
    }
  }
  return all;
}

Json to_json(const ModelShape& s) {
  const std::uint64_t kv = kv_bytes_per_token(s, DType::bf16);
  return {{"name", s.name},
          {"source", s.source},
          {"layers", s.layers},
          {"hidden", s.hidden},
          {"heads", s.heads},
          {"kv_heads", s.kv_heads},
          {"head_dim", s.head_dim},
          {"intermediate", s.intermediate},
          {"vocab", s.vocab},
          {"max_position", s.max_position},
          {"tied_embeddings", s.tied_embeddings},
          {"params_total", total_parameters(s)},
          {"params_active_body", body_parameters(s)},
          {"kv_dtype", name(DType::bf16)},
          {"kv_bytes_per_token", kv},
          {"kv_bytes_per_token_growing", kv},
          {"linear_flops_per_token", 2 * body_parameters(s)},
          {"attention_flops_per_token_at_10240",
           4.0 * s.layers * s.heads * s.head_dim * static_cast<double>(kContext)},
          {"flops_per_kv_byte_at_10240", flops_per_kv_byte(s)},
          {"region_bytes_of_16_token_blocks", region_bytes(s)}};
}

std::vector<std::string> to_row(const ModelShape& s) {
  const KvLayout whole = make_kv_layout(s, DType::bf16, Layout::block_first, kBlockTokens, 1);
  const KvLayout split = make_kv_layout(s, DType::bf16, Layout::layer_first, kBlockTokens, 1);
  return {s.name,
          fmt::format("{}", s.layers),
          fmt::format("{}/{}x{}", s.heads, s.kv_heads, s.head_dim),
          fmt::format("{:.3f}", static_cast<double>(body_parameters(s)) / 1e9),
          fmt::format("{}", kv_bytes_per_token(s, DType::bf16)),
          fmt::format("{}/{}", whole.region_bytes() / 1024, split.region_bytes() / 1024),
          fmt::format("{:.0f}", flops_per_kv_byte(s))};
}

void print_table(const std::vector<ModelShape>& shapes) {
  Table table({{"model", Table::Align::left},
               {"layers"},
               {"q/kv x dim"},
               {"body 1e9"},
               {"KV B/tok"},
               {"region KiB"},
               {"FLOP/KV B"}});
  for (const ModelShape& shape : shapes) table.add_row(to_row(shape));
  fmt::print(
      "{}\nHeads of queries/KV x their size; KV and regions in bf16, 16-token blocks,\n"
      "block_first/layer_first; FLOP per KV byte of the first {} tokens.\n"
      "--json has every dtype and the whole geometry.\n",
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
