// SPDX-License-Identifier: Apache-2.0
// Statuses of the simulator.
#include "backends/sim/errors.h"

#include <cerrno>
#include <system_error>
#include <utility>

namespace kvroof::sim {

Status invalid(std::string sentence) { return {Code::invalid, std::move(sentence)}; }
Status unsupported(std::string sentence) { return {Code::unsupported, std::move(sentence)}; }
Status no_memory(std::string sentence) { return {Code::no_memory, std::move(sentence)}; }
Status aborted(std::string sentence) { return {Code::aborted, std::move(sentence)}; }

Status from_errno(int error, const std::string& what) {
  const Code code = error == ENOMEM ? Code::no_memory : Code::failed;
  return {code, what + ": " + std::generic_category().message(error) + "."};
}

}  // namespace kvroof::sim
