// SPDX-License-Identifier: Apache-2.0
// Reads a Hugging Face config.json into a ModelShape, trusting nothing in it.
#pragma once
#include <string>
#include <string_view>

#include "backends/api/status.h"
#include "kernels/model/model_shape.h"

namespace kvroof {

// `origin` names the text in errors (a path or a catalogue name) and becomes the shape's source.
// `invalid`: one sentence that names the key, what it holds and what is expected. Architectures
// that no reader of model_families.cc knows are refused by name.
Result<ModelShape> parse_model_config(std::string_view json_text, std::string_view origin);

// A catalogue name, or the path of a config.json (anything that ends in .json or holds a slash).
Result<ModelShape> find_model(const std::string& name_or_path);

}  // namespace kvroof
