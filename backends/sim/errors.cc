// SPDX-License-Identifier: Apache-2.0
// Statuses of the simulator.
#include "backends/sim/errors.h"

#include <utility>

namespace kvroof::sim {

Status invalid(std::string sentence) { return {Code::invalid, std::move(sentence)}; }
Status unsupported(std::string sentence) { return {Code::unsupported, std::move(sentence)}; }
Status no_memory(std::string sentence) { return {Code::no_memory, std::move(sentence)}; }
Status aborted(std::string sentence) { return {Code::aborted, std::move(sentence)}; }

}  // namespace kvroof::sim
