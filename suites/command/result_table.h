// SPDX-License-Identifier: Apache-2.0
// What a run prints on the terminal when it is done: the question, and each suite's answer.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "backends/api/device.h"
#include "kernels/model/model_shape.h"
#include "suites/harness/record.h"
#include "suites/harness/suite.h"

namespace kvroof {

struct ResultHeading {
  std::string spec;  // the device as it was asked for
  const DeviceInfo& device;
  const ModelShape& shape;
  std::uint32_t full_layers;  // the model's own where `shape` was cut to fewer, else 0
  std::string note;           // what else to say of the device; empty: nothing
};

// Of one suite; fits 80 columns. Below the suite's own text skipped, failed and incorrect cases are
// listed with their reasons, and so are figures above a ceiling.
std::string result_text(const ResultHeading& heading, const SuiteKind& suite,
                        std::span<const Case> cases, std::span<const Answer> answers);

}  // namespace kvroof
