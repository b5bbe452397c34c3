// SPDX-License-Identifier: Apache-2.0
// The transformer families whose config.json is understood, one reader each.
#pragma once
#include <string>
#include <string_view>

#include "kernels/model/model_shape.h"
#include "suites/catalog/config_keys.h"

namespace kvroof {

struct Family {
  std::string_view architecture;  // as config.json's `architectures` names it
  const char* part;               // the key that holds the text model; null: the whole
  void (*read)(Keys& keys, ModelShape& shape);
};

// Null where nobody reads it.
const Family* find_family(std::string_view architecture);

// "LlamaForCausalLM, MistralForCausalLM, ..."
std::string known_architectures();

}  // namespace kvroof
