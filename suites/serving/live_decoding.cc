// SPDX-License-Identifier: Apache-2.0
#include "suites/serving/live_decoding.h"

namespace kvroof {

std::vector<PrefillRequest> LiveDecoding::requests(std::size_t index) const {
  std::vector<PrefillRequest> live;
  const std::uint64_t bytes = s_.shape.vocab * sizeof(float);
  for (const Request& each : batch_.live) {
    live.push_back(each.prefill(s_, batch_.context_tokens - 1));
    live.back().logits = {batch_.requests[index].logits.get(), live.size() * bytes, bytes};
  }
  return live;
}

Status LiveDecoding::step() {
  const auto ticket = s_.prefill->submit(requests(0), {});
  if (ticket) last_ = *ticket;
  steps_ += 1;
  return ticket.status();
}

bool LiveDecoding::lane_is_idle() const {
  const Point end = last();
  return last_ == 0 || s_.device.wait_any({&end, 1}, s_.device.now()).ok();
}

}  // namespace kvroof
