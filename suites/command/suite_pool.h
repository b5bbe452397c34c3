// SPDX-License-Identifier: Apache-2.0
// Suites made for a job's links, one at a time.
#pragma once
#include <memory>
#include <string>

#include "suites/command/job.h"

namespace kvroof {

class SuitePool {
 public:
  explicit SuitePool(Job& job) : job_(job) {}

  // `kind` on the job's device with `link`. A link is what the whole device has: another one, or
  // another suite, ends the suite that was returned before, and what it has open.
  Suite& get(const SuiteKind& kind, const std::string& link);

  // Of the suite that was returned last, or the job's own.
  Device& device() const { return linked_ ? *linked_ : *job_.device; }

 private:
  Status open(const std::string& link);

  Job& job_;
  const SuiteKind* kind_ = nullptr;
  std::string link_ = "native";
  Status linked_status_;
  std::unique_ptr<Device> linked_;  // null: the job's own
  std::unique_ptr<Suite> suite_;
};

}  // namespace kvroof
