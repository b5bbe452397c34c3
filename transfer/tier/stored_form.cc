// SPDX-License-Identifier: Apache-2.0
#include "transfer/tier/stored_form.h"

#include <string>

namespace kvroof {
namespace {

constexpr std::uint32_t kWidthMultiple = 4;  // see NarrowRow

}  // namespace

Status StoredForm::check() const {
  if (!narrow) return {};
  if (!is_quantised(*narrow) || is_quantised(kv.dtype)) {
    return {Code::invalid, "KV of " + std::string(name(kv.dtype)) + " can't be stored as " +
                               std::string(name(*narrow)) +
                               ": only f32 and bf16 are narrowed, to fp8 or int8."};
  }
  if (kv.head_dim % kWidthMultiple != 0) {
    return {Code::invalid, "Heads of " + std::to_string(kv.head_dim) +
                               " elements can't be narrowed, which takes a multiple of four: store "
                               "them as they are."};
  }
  return {};
}

}  // namespace kvroof
