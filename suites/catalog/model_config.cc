// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "suites/catalog/catalog.h"
#include "suites/harness/text_file.h"

namespace kvroof {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxFileBytes = 4u << 20;  // the largest published configs are some 100 KB
constexpr int kMaxDepth = 32;

struct Architecture {
  std::string_view name;
  bool qk_norm;
};
// Dense transformers with grouped-query attention, rotary positions and a gated SiLU feed-forward.
constexpr Architecture kArchitectures[] = {
    {"LlamaForCausalLM", false},
    {"MistralForCausalLM", false},
    {"Phi3ForCausalLM", false},
    {"Qwen3ForCausalLM", true},
};

std::string known_architectures() {
  std::vector<std::string_view> names;
  for (const Architecture& a : kArchitectures) names.push_back(a.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string shorten(const std::string& text) {
  std::string short_text = text.size() <= 60 ? text : text.substr(0, 57) + "...";
  for (char& c : short_text) {
    if (static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~') c = '?';
  }
  return short_text;
}

// Reads keys one after another and keeps the first complaint; later reads then do nothing.
class Keys {
 public:
  Keys(const json& object, std::string_view origin) : object_(object), origin_(origin) {}

  const json* find(const char* key) const {
    const auto it = object_.find(key);
    return it == object_.end() || it->is_null() ? nullptr : &*it;
  }

  void refuse(std::string_view key, std::string_view expected) {
    if (!error_.empty()) return;
    const json* found = find(std::string(key).c_str());
    const std::string value =
        found ? shorten(found->dump(-1, ' ', false, json::error_handler_t::replace)) : "missing";
    error_ = fmt::format("{}: key '{}' is {}, expected {}", origin_, key, value, expected);
  }

  // A whole number in 1..most; `fallback` where the key is absent, or an error without one.
  std::uint32_t count(const char* key, std::uint32_t most,
                      std::optional<std::uint32_t> fallback = {}) {
    const json* found = find(key);
    if (!found && fallback) return *fallback;
    if (!found || !found->is_number_integer() || found->get<json::number_integer_t>() < 1 ||
        found->get<json::number_unsigned_t>() > most) {
      refuse(key, fmt::format("a whole number from 1 to {}", most));
      return 1;
    }
    return found->get<std::uint32_t>();
  }

  double positive(const char* key, double fallback) {
    const json* found = find(key);
    if (!found) return fallback;
    if (!found->is_number() || !(found->get<double>() > 0) ||
        !std::isfinite(found->get<double>())) {
      refuse(key, "a positive number");
      return fallback;
    }
    return found->get<double>();
  }

  bool flag(const char* key, bool fallback) {
    const json* found = find(key);
    if (!found) return fallback;
    if (!found->is_boolean()) refuse(key, "true or false");
    return found->is_boolean() ? found->get<bool>() : fallback;
  }

  const std::string& error() const { return error_; }

 private:
  const json& object_;
  std::string_view origin_;
  std::string error_;
};

// What a dense model of this version must not have, each by its key.
void refuse_what_is_not_dense(Keys& keys) {
  if (keys.flag("attention_bias", false))
    keys.refuse("attention_bias", "false: biases are not known");
  if (keys.flag("mlp_bias", false)) keys.refuse("mlp_bias", "false: biases are not known");
  if (keys.find("sliding_window") && keys.flag("use_sliding_window", true)) {
    keys.refuse("sliding_window", "null: window layers are not known");
  }
  for (const char* key : {"num_local_experts", "num_experts", "n_routed_experts", "kv_lora_rank"}) {
    if (keys.find(key)) keys.refuse(key, "a dense model without it");
  }
  const json* activation = keys.find("hidden_act");
  if (activation && *activation != "silu") keys.refuse("hidden_act", "\"silu\"");
  if (keys.positive("partial_rotary_factor", 1.0) != 1.0) keys.refuse("partial_rotary_factor", "1");
}

void read_rope_scaling(Keys& keys, const std::string& origin, ModelShape& shape,
                       std::string& error) {
  const json* scaling = keys.find("rope_scaling");
  if (!scaling) return;
  if (!scaling->is_object()) return keys.refuse("rope_scaling", "an object or null");
  Keys inner(*scaling, origin);
  const json* type = inner.find("rope_type") ? inner.find("rope_type") : inner.find("type");
  if (type && *type == "default") return;
  if (!type || *type != "llama3")
    return keys.refuse("rope_scaling", "rope_type \"llama3\" or null");
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
  error = inner.error();
}

void read_heads(Keys& keys, ModelShape& s) {
  s.heads = keys.count("num_attention_heads", 1024);
  s.kv_heads = keys.count("num_key_value_heads", 1024, s.heads);
  if (s.heads % s.kv_heads != 0) {
    keys.refuse("num_key_value_heads", fmt::format("a divisor of the {} attention heads", s.heads));
  }
  if (!keys.find("head_dim") && s.hidden % s.heads != 0) {
    keys.refuse("num_attention_heads",
                fmt::format("a divisor of hidden_size {}, as there is no head_dim", s.hidden));
  }
  s.head_dim = keys.count("head_dim", 1024, std::max(1u, s.hidden / s.heads));
  if (s.head_dim % 2 != 0)
    keys.refuse("head_dim", "an even number: rotary positions pair elements");
}

Result<json> parse_object(std::string_view text, std::string_view origin) {
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t, json&) {
    too_deep |= depth > kMaxDepth;
    return !too_deep;
  };
  const json parsed = json::parse(text, watch, /*allow_exceptions=*/false);
  if (too_deep) {
    return Status{Code::invalid,
                  fmt::format("{}: nested more than {} levels deep, expected a model's "
                              "config.json",
                              origin, kMaxDepth)};
  }
  if (!parsed.is_object()) {
    return Status{
        Code::invalid,
        fmt::format("{}: not a JSON object of finite numbers, expected a model's config.json",
                    origin)};
  }
  return parsed;
}

Result<Architecture> find_architecture(const json& config, std::string_view origin) {
  const auto it = config.find("architectures");
  const bool named =
      it != config.end() && it->is_array() && it->size() == 1 && (*it)[0].is_string();
  if (!named) {
    return Status{Code::invalid, fmt::format("{}: key 'architectures' must be a list of one name, "
                                             "known are {}",
                                             origin, known_architectures())};
  }
  const std::string name = (*it)[0].get<std::string>();
  for (const Architecture& a : kArchitectures) {
    if (a.name == name) return a;
  }
  return Status{Code::invalid,
                fmt::format("{}: architecture '{}' is not known, known are the dense {}", origin,
                            shorten(name), known_architectures())};
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

// "models/phi-4/config.json" is phi-4, "phi-4.json" too: most downloads are all called config.json.
std::string name_of(const std::filesystem::path& path) {
  const auto folder = std::filesystem::absolute(path).parent_path().filename().string();
  return path.filename() == "config.json" && !folder.empty() ? folder : path.stem().string();
}

Result<ModelShape> from_catalog(const CatalogEntry& entry) {
  const json wrapped = json::parse(entry.text);
  auto shape = parse_model_config(wrapped.at("config").dump(), entry.name);
  if (!shape) return shape;
  shape->name = entry.name;
  shape->source = wrapped.at("source").get<std::string>();
  return shape;
}

}  // namespace

Result<ModelShape> parse_model_config(std::string_view text, std::string_view origin) {
  const auto config = parse_object(text, origin);
  if (!config) return config.status();
  const auto architecture = find_architecture(*config, origin);
  if (!architecture) return architecture.status();
  ModelShape s;
  s.name = s.source = origin;
  s.qk_norm = architecture->qk_norm;
  Keys keys(*config, origin);
  refuse_what_is_not_dense(keys);
  s.layers = keys.count("num_hidden_layers", 1000);
  s.hidden = keys.count("hidden_size", 1u << 20);
  s.intermediate = keys.count("intermediate_size", 1u << 22);
  s.vocab = keys.count("vocab_size", 1u << 24);
  s.max_position = keys.count("max_position_embeddings", 1u << 28);
  read_heads(keys, s);
  s.norm_epsilon = keys.positive("rms_norm_eps", 1e-6);
  if (s.norm_epsilon > 1) keys.refuse("rms_norm_eps", "at most 1");
  s.rope_theta = keys.positive("rope_theta", 10000);
  if (s.rope_theta < 1 || s.rope_theta > 1e12) keys.refuse("rope_theta", "from 1 to 1e12");
  s.tied_embeddings = keys.flag("tie_word_embeddings", false);
  std::string rope_error;
  read_rope_scaling(keys, std::string(origin) + ": rope_scaling", s, rope_error);
  const std::string& error = keys.error().empty() ? rope_error : keys.error();
  if (!error.empty()) return Status{Code::invalid, error};
  return s;
}

Result<ModelShape> find_model(const std::string& name_or_path) {
  if (is_path(name_or_path)) {
    const auto text =
        read_text_file(name_or_path, "the path of a model's config.json", kMaxFileBytes);
    if (!text) return text.status();
    auto shape = parse_model_config(*text, name_or_path);
    if (shape) shape->name = name_of(name_or_path);
    return shape;
  }
  if (const CatalogEntry* entry = find_entry(model_configs(), name_or_path)) {
    return from_catalog(*entry);
  }
  std::vector<std::string_view> names;
  for (const CatalogEntry& entry : model_configs()) names.push_back(entry.name);
  return Status{Code::invalid,
                fmt::format("model '{}' is not in the catalogue, expected one of {}, or "
                            "the path of a config.json",
                            name_or_path, fmt::join(names, ", "))};
}

}  // namespace kvroof
