// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/model_families.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

namespace kvroof {
namespace {

using Json = nlohmann::json;

// Together they keep a model's counts below 2^64.
constexpr std::uint32_t kMostLayers = 1000, kMostExperts = 4096, kMostHidden = 1u << 18,
                        kMostIntermediate = 1u << 20, kMostRank = 1u << 16;

void read_rope_scaling(Keys& keys, ModelShape& shape) {
  const Json* scaling = keys.find("rope_scaling");
  if (!scaling) return;
  if (!scaling->is_object()) return keys.refuse("rope_scaling", "an object or null");
  Keys inner(*scaling, keys.origin() + ": rope_scaling");
  const Json* type = inner.find("rope_type") ? inner.find("rope_type") : inner.find("type");
  constexpr std::array kOthers = {"linear", "dynamic", "yarn", "longrope"};
  if (type && *type == "default") return;
  if (type && std::ranges::any_of(kOthers, [&](const char* name) { return *type == name; })) {
    shape.other_rope = type->get<std::string>();
    return;
  }
  if (!type || *type != "llama3") {
    return keys.refuse("rope_scaling", "rope_type \"llama3\", \"yarn\", \"linear\" or null");
  }
  RopeScaling rope;
  rope.factor = inner.positive("factor", rope.factor);
  rope.low_freq_factor = inner.positive("low_freq_factor", rope.low_freq_factor);
  rope.high_freq_factor = inner.positive("high_freq_factor", rope.high_freq_factor);
  rope.original_max_position =
      inner.count("original_max_position_embeddings", 1u << 24, rope.original_max_position);
  if (rope.high_freq_factor <= rope.low_freq_factor) {
    inner.refuse("high_freq_factor", "more than low_freq_factor");
  }
  shape.rope_scaling = rope;
  keys.adopt(inner);
}

// What a family's config.json need not state.
struct HeadDefaults {
  std::optional<std::uint32_t> heads, kv_heads, head_dim;
};

void read_heads(Keys& keys, ModelShape& s, HeadDefaults defaults = {}) {
  s.heads = keys.count("num_attention_heads", 1024, defaults.heads);
  s.kv_heads = keys.count("num_key_value_heads", 1024, defaults.kv_heads.value_or(s.heads));
  if (s.heads % s.kv_heads != 0) {
    keys.refuse("num_key_value_heads", fmt::format("a divisor of the {} attention heads", s.heads));
  }
  if (!keys.find("head_dim") && !defaults.head_dim && s.hidden % s.heads != 0) {
    keys.refuse("num_attention_heads",
                fmt::format("a divisor of hidden_size {}, as there is no head_dim", s.hidden));
  }
  s.head_dim =
      keys.count("head_dim", 1024, defaults.head_dim.value_or(std::max(1u, s.hidden / s.heads)));
  if (s.head_dim % 2 != 0)
    keys.refuse("head_dim", "an even number: rotary positions pair elements");
}

void refuse_activation(Keys& keys, const char* key, const char* expected) {
  const Json* activation = keys.find(key);
  if (activation && *activation != expected) keys.refuse(key, fmt::format("\"{}\"", expected));
}

void refuse_experts(Keys& keys) {
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts", "kv_lora_rank"}) {
    if (keys.find(key)) keys.refuse(key, "a dense model without it, by this architecture's name");
  }
}

// What every family has. `vocab`, `positions`: where the family has a default of its own.
void read_size(Keys& keys, ModelShape& s, std::optional<std::uint32_t> vocab = {},
               std::optional<std::uint32_t> positions = {}) {
  s.layers = keys.count("num_hidden_layers", kMostLayers);
  s.hidden = keys.count("hidden_size", kMostHidden);
  s.intermediate = keys.count("intermediate_size", kMostIntermediate);
  s.vocab = keys.count("vocab_size", 1u << 24, vocab);
  s.max_position = keys.count("max_position_embeddings", 1u << 28, positions);
  s.norm_epsilon = keys.positive("rms_norm_eps", 1e-6);
  if (s.norm_epsilon > 1) keys.refuse("rms_norm_eps", "at most 1");
  s.rope_theta = keys.positive("rope_theta", 10000);
  if (s.rope_theta < 1 || s.rope_theta > 1e12) keys.refuse("rope_theta", "from 1 to 1e12");
  s.tied_embeddings = keys.flag("tie_word_embeddings", false);
  if (keys.positive("partial_rotary_factor", 1.0) != 1.0) keys.refuse("partial_rotary_factor", "1");
  read_rope_scaling(keys, s);
}

void make_kinds(ModelShape& s) {
  if (s.kinds.empty()) s.kinds.resize(s.layers);
}

std::uint32_t read_window(Keys& keys, const ModelShape& s) {
  return keys.count("sliding_window", s.max_position);
}

// One name a layer. `window` 0: the config has none.
void read_layer_types(Keys& keys, const Json& types, ModelShape& s, std::uint32_t window) {
  if (!types.is_array() || types.size() != s.layers) {
    return keys.refuse("layer_types",
                       fmt::format("a list of one name for each of {} layers", s.layers));
  }
  make_kinds(s);
  for (std::uint32_t i = 0; i < s.layers; ++i) {
    const Json& type = types[i];
    if (type == "sliding_attention") s.kinds[i].window = window;
    if (type != "sliding_attention" && type != "full_attention") {
      return keys.refuse("layer_types", "full_attention or sliding_attention for each layer");
    }
  }
  if (window == 0 && std::ranges::count(types, Json("sliding_attention")) > 0) {
    keys.refuse("sliding_window", "the window of the layers that layer_types calls sliding");
  }
}

// Windows in the layers for which `in_window` holds, where no layer_types say so. `fallback`: the
// family's own window where the key is absent; 0: none.
template <class InWindow>
void read_windows(Keys& keys, ModelShape& s, InWindow in_window, std::uint32_t fallback = 0) {
  const std::uint32_t window = keys.find("sliding_window") ? read_window(keys, s) : fallback;
  if (!keys.error().empty()) return;
  if (const Json* types = keys.find("layer_types")) {
    return read_layer_types(keys, *types, s, window);
  }
  if (window == 0) return;
  make_kinds(s);
  for (std::uint32_t i = 0; i < s.layers; ++i) {
    if (in_window(i)) s.kinds[i].window = window;
  }
}

// `experts` of each token out of `total`, in the layers for which `sparse` holds.
template <class Sparse>
void read_experts(Keys& keys, ModelShape& s, const char* total, const char* active,
                  const char* intermediate, Sparse sparse) {
  Experts e;
  e.total = keys.count(total, kMostExperts);
  e.active = keys.count(active, kMostExperts);
  if (e.active > e.total) keys.refuse(active, fmt::format("at most the {} experts", e.total));
  e.intermediate = keys.count(intermediate, kMostIntermediate);
  s.experts = e;
  make_kinds(s);
  for (std::uint32_t i = 0; i < s.layers; ++i) s.kinds[i].sparse = sparse(i);
}

bool every_layer(std::uint32_t) { return true; }

// Grouped-query attention and SiLU; biases where the config asks for them.
void read_grouped(Keys& keys, ModelShape& s) {
  read_size(keys, s);
  read_heads(keys, s);
  refuse_activation(keys, "hidden_act", "silu");
  s.biases.qkv = s.biases.output = keys.flag("attention_bias", false);
}

void read_dense_without_windows(Keys& keys, ModelShape& s) {
  read_grouped(keys, s);
  refuse_experts(keys);
  s.biases.feed_forward = keys.flag("mlp_bias", false);
}

void read_dense(Keys& keys, ModelShape& s) {
  read_dense_without_windows(keys, s);
  if (keys.flag("use_sliding_window", true)) read_windows(keys, s, every_layer);
}

// Phi-3's publishers write a window above the longest context where there is to be none.
void read_phi3(Keys& keys, ModelShape& s) {
  read_dense_without_windows(keys, s);
  const Json* window = keys.find("sliding_window");
  const bool none = window && window->is_number_unsigned() && *window > s.max_position;
  if (!none) read_windows(keys, s, every_layer);
}

// Windows, where they are switched on, from layer max_window_layers on.
void read_qwen_windows(Keys& keys, ModelShape& s) {
  if (!keys.flag("use_sliding_window", false)) return;
  const std::uint32_t first = keys.count_or_none("max_window_layers", kMostLayers, s.layers);
  read_windows(keys, s, [first](std::uint32_t layer) { return layer >= first; });
}

void read_qwen2(Keys& keys, ModelShape& s) {
  read_grouped(keys, s);
  refuse_experts(keys);
  s.biases.qkv = true;
  read_qwen_windows(keys, s);
}

void read_qwen3(Keys& keys, ModelShape& s) {
  read_grouped(keys, s);
  refuse_experts(keys);
  s.qk_norm = true;
  read_qwen_windows(keys, s);
}

void read_qwen3_moe(Keys& keys, ModelShape& s) {
  read_grouped(keys, s);
  s.qk_norm = true;
  read_qwen_windows(keys, s);
  const std::uint32_t step = keys.count("decoder_sparse_step", kMostLayers, 1);
  const Json* dense = keys.find("mlp_only_layers");
  const auto is_layer = [&](const Json& layer) {
    return layer.is_number_unsigned() && layer < s.layers;
  };
  if (dense && !(dense->is_array() && std::ranges::all_of(*dense, is_layer))) {
    return keys.refuse("mlp_only_layers",
                       fmt::format("a list of layers, from 0 to {}", std::max(1u, s.layers) - 1));
  }
  read_experts(keys, s, "num_experts", "num_experts_per_tok", "moe_intermediate_size",
               [&](std::uint32_t layer) {
                 const bool listed = dense && std::ranges::count(*dense, Json(layer)) > 0;
                 return !listed && (layer + 1) % step == 0;
               });
}

void read_mixtral(Keys& keys, ModelShape& s) {
  read_grouped(keys, s);
  read_windows(keys, s, every_layer);
  read_experts(keys, s, "num_local_experts", "num_experts_per_tok", "intermediate_size",
               every_layer);
}

void read_gpt_oss(Keys& keys, ModelShape& s) {
  read_size(keys, s);
  read_heads(keys, s);
  s.sinks = true;
  s.biases.qkv = s.biases.output = keys.flag("attention_bias", true);
  s.biases.feed_forward = true;
  read_windows(
      keys, s, [](std::uint32_t layer) { return layer % 2 == 0; }, 128);
  const char* active =
      keys.find("num_experts_per_tok") ? "num_experts_per_tok" : "experts_per_token";
  read_experts(keys, s, "num_local_experts", active, "intermediate_size", every_layer);
}

// Defaults: https://github.com/huggingface/transformers, Gemma3TextConfig; gpt-oss's above:
// GptOssConfig.
void read_gemma3(Keys& keys, ModelShape& s) {
  read_size(keys, s, 262208, 131072);
  s.tied_embeddings = keys.flag("tie_word_embeddings", true);
  s.rope_theta = keys.positive("rope_theta", 1e6);
  read_heads(keys, s, {8, 4, 256});
  refuse_activation(keys, "hidden_activation", "gelu_pytorch_tanh");
  s.qk_norm = s.outer_norms = true;
  const std::uint32_t pattern = keys.count("sliding_window_pattern", kMostLayers, 6);
  read_windows(
      keys, s, [pattern](std::uint32_t layer) { return (layer + 1) % pattern != 0; }, 4096);
}

void read_deepseek(Keys& keys, ModelShape& s) {
  read_size(keys, s);
  refuse_activation(keys, "hidden_act", "silu");
  s.heads = s.kv_heads = keys.count("num_attention_heads", 1024);
  LatentAttention a;
  if (keys.find("q_lora_rank")) a.q_rank = keys.count("q_lora_rank", kMostRank);
  a.kv_rank = keys.count("kv_lora_rank", kMostRank);
  a.nope_dim = keys.count("qk_nope_head_dim", 1024);
  a.rope_dim = keys.count("qk_rope_head_dim", 1024);
  a.v_dim = s.head_dim = keys.count("v_head_dim", 1024);
  if (a.rope_dim % 2 != 0) keys.refuse("qk_rope_head_dim", "an even number");
  s.latent = a;
  if (!keys.find("n_routed_experts")) return;
  const std::uint32_t first = keys.count_or_none("first_k_dense_replace", s.layers, 0);
  const std::uint32_t step = keys.count("moe_layer_freq", kMostLayers, 1);
  read_experts(keys, s, "n_routed_experts", "num_experts_per_tok", "moe_intermediate_size",
               [&](std::uint32_t layer) { return layer >= first && layer % step == 0; });
  if (keys.find("n_shared_experts")) {
    s.experts->shared = keys.count("n_shared_experts", kMostExperts);
  }
}

constexpr std::array kFamilies = {
    Family{"LlamaForCausalLM", nullptr, read_dense},
    Family{"MistralForCausalLM", nullptr, read_dense},
    Family{"Phi3ForCausalLM", nullptr, read_phi3},
    Family{"Qwen2ForCausalLM", nullptr, read_qwen2},
    Family{"Qwen3ForCausalLM", nullptr, read_qwen3},
    Family{"Qwen3MoeForCausalLM", nullptr, read_qwen3_moe},
    Family{"MixtralForCausalLM", nullptr, read_mixtral},
    Family{"GptOssForCausalLM", nullptr, read_gpt_oss},
    Family{"Gemma3ForCausalLM", nullptr, read_gemma3},
    Family{"Gemma3ForConditionalGeneration", "text_config", read_gemma3},
    Family{"DeepseekV2ForCausalLM", nullptr, read_deepseek},
    Family{"DeepseekV3ForCausalLM", nullptr, read_deepseek},
};

}  // namespace

const Family* find_family(std::string_view architecture) {
  const auto found = std::ranges::find(kFamilies, architecture, &Family::architecture);
  return found == kFamilies.end() ? nullptr : &*found;
}

std::string known_architectures() {
  std::vector<std::string_view> names;
  for (const Family& family : kFamilies) names.push_back(family.architecture);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace kvroof
