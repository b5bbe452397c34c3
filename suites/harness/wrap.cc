// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/wrap.h"

#include <algorithm>

namespace kvroof {

std::string wrap(std::string_view text, std::size_t indent, std::size_t width) {
  std::string wrapped;
  std::size_t column = 0;
  bool line_is_new = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    if (!line_is_new && column + 1 + end > width) {
      wrapped += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!line_is_new) {
      wrapped += ' ';
      ++column;
    }
    wrapped += text.substr(0, end);
    column += end;
    line_is_new = false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrapped;
}

}  // namespace kvroof
