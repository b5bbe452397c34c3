// SPDX-License-Identifier: Apache-2.0
// What a piece of work costs on a profile's device: how long it takes alone, and what it uses then.
#pragma once
#include "backends/api/queue.h"
#include "backends/sim/machine/flow.h"
#include "backends/sim/profile.h"

namespace kvroof::sim {

struct Price {
  double seconds = 0;  // alone on the machine
  Amounts amounts{};   // of each resource in all: bytes, or seconds of compute units and cores
};

// As a flow whose unit is a second of that work at full speed.
Flow flow_of(const Price& price, double seconds);

class Pricer {
 public:
  explicit Pricer(const Profile& profile) : profile_(profile) {}

  // `unsupported` where the profile has no figure for it.
  Result<Price> price(const Op& op) const;
  Result<Price> price(const OpRun& run) const;
  Result<Price> price(const Regions& regions) const;
  Result<Price> price(const Fill& fill) const;
  Price price(const ReadFile& file) const;
  Price price(const WriteFile& file) const;
  Price price(const RemoveFile& file) const;

  // Whether files have a price at all.
  bool has_disk() const { return profile_.disk.has_value(); }

  // What the machine of this profile has of each resource.
  Amounts capacity() const;

 private:
  Price file_price(std::uint64_t bytes, double rate) const;

  const Profile& profile_;
};

}  // namespace kvroof::sim
