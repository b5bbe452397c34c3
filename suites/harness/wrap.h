// SPDX-License-Identifier: Apache-2.0
// Sentences for an 80-column terminal.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace kvroof {

// Breaks `text` at spaces so that no line is wider than `width` (a longer word stands alone), and
// indents every line but the first by `indent`. Ends without a newline.
std::string wrap(std::string_view text, std::size_t indent = 2, std::size_t width = 80);

}  // namespace kvroof
