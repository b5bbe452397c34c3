// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/unavailable.h"

#include <array>

namespace kvroof {
namespace {

struct Row {
  bool (*concerns)(const GridPoint& point);
  std::string_view reason;
};

bool by_layer(const GridPoint& point) { return point.pipeline == PipelineKind::layer; }

constexpr std::array kRows = {
    Row{[](const GridPoint& point) { return point.kv_dtype == DType::int8; },
        "this build has no int8 KV, whose scales nothing keeps: use --kv-dtype bf16 or fp8"},
    Row{[](const GridPoint& point) {
          return by_layer(point) && point.layout == Layout::block_first;
        },
        "a region of block_first holds all layers of a block, so that none can be loaded alone: "
        "use --layout layer_first or --pipeline request"},
    Row{[](const GridPoint& point) {
          return by_layer(point) && point.copy == CopyKind{CopyPath::staged};
        },
        "a staged copy moves whole chunks, no layer alone: use another --copy or --pipeline "
        "request"},
    Row{[](const GridPoint& point) { return by_layer(point) && point.copy == kCopyAuto; },
        "auto may choose staged copies, which move whole chunks, no layer alone: name another "
        "--copy, or use --pipeline request"},
    Row{[](const GridPoint& point) { return by_layer(point) && point.disk.bytes > 0; },
        "what comes from a disk tier comes in whole chunks, no layer alone: use --pipeline request "
        "or --disk-bytes none"},
    Row{[](const GridPoint& point) { return by_layer(point) && point.checksum != Integrity::off; },
        "a checksum is compared once its chunk has landed whole, and layers are read before that: "
        "use --checksum off or --pipeline request"},
};

}  // namespace

std::string_view unavailable(const GridPoint& point) {
  for (const Row& row : kRows) {
    if (row.concerns(point)) return row.reason;
  }
  return {};
}

}  // namespace kvroof
