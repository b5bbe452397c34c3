// SPDX-License-Identifier: Apache-2.0
#include "suites/catalog/model_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "suites/catalog/catalog.h"
#include "suites/catalog/config_keys.h"
#include "suites/catalog/model_families.h"
#include "suites/harness/text_file.h"

namespace kvroof {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxFileBytes = 4u << 20;  // the largest published configs are some 100 KB
constexpr int kMaxDepth = 32;

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

Result<const Family*> find_architecture(const json& config, std::string_view origin) {
  const auto it = config.find("architectures");
  const bool named =
      it != config.end() && it->is_array() && it->size() == 1 && (*it)[0].is_string();
  if (!named) {
    return Status{Code::invalid, fmt::format("{}: key 'architectures' must be a list of one name, "
                                             "known are {}",
                                             origin, known_architectures())};
  }
  const std::string name = (*it)[0].get<std::string>();
  if (const Family* family = find_family(name)) return family;
  return Status{Code::invalid, fmt::format("{}: architecture '{}' is not known, known are {}",
                                           origin, shorten(name), known_architectures())};
}

bool is_path(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".json");
}

// "models/phi-4/config.json" is phi-4, "phi-4.json" too: most downloads are all called config.json.
std::string name_of(const std::filesystem::path& path) {
  const auto folder = std::filesystem::absolute(path).parent_path().filename().string();
  return path.filename() == "config.json" && !folder.empty() ? folder : path.stem().string();
}

void read_quantization(Keys& keys, ModelShape& shape) {
  const json* config = keys.find("quantization_config");
  if (!config) return;
  const json method = config->is_object() ? config->value("quant_method", json()) : json();
  if (!method.is_string()) {
    return keys.refuse("quantization_config", "an object with the name of a quant_method");
  }
  shape.quantization = shorten(method.get<std::string>());
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
  const auto family = find_architecture(*config, origin);
  if (!family) return family.status();
  ModelShape s;
  s.name = s.source = origin;
  Keys whole(*config, std::string(origin));
  const char* part = (*family)->part;
  if (!part) {
    (*family)->read(whole, s);
  } else if (const json* inner = whole.find(part); inner && inner->is_object()) {
    Keys keys(*inner, fmt::format("{}: {}", origin, part));
    (*family)->read(keys, s);
    whole.adopt(keys);
  } else {
    whole.refuse(part, "an object: the text model's own config");
  }
  read_quantization(whole, s);
  if (!whole.error().empty()) return Status{Code::invalid, whole.error()};
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
