// SPDX-License-Identifier: Apache-2.0
// Lines of the tables of published figures, which the catalogue's tests read.
#pragma once
#include <string>
#include <vector>

namespace kvroof {

// Of one line of a CSV file; quotes may hold commas.
std::vector<std::string> csv_fields(const std::string& line);

}  // namespace kvroof
