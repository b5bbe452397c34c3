// SPDX-License-Identifier: Apache-2.0
// What a submission does instead where it is to go wrong.
#pragma once
#include <cstdint>
#include <vector>

#include "backends/faults/faults.h"

namespace kvroof::faults {

using Body = decltype(Work::body);

// True where bytes don't arrive as they should.
bool damages(Fault fault);

// Keeps what the body that it made points to.
class Damage {
 public:
  // `draw` says where a body is cut and what is written. One that can't be cut or garbled does
  // nothing; a hold still holds. A file that is written short is short; where writing is seen to
  // fail, no file is left.
  Damage(Fault fault, std::uint64_t draw) : fault_(fault), draw_(draw) {}

  Body body(const Body& whole);

 private:
  Body change(const Regions& copy);
  Body change(const Fill& fill) const;
  Body change(const ReadFile& file);
  Body change(const WriteFile& file);
  Body change(const Hold& hold) const { return hold; }
  template <class Other>
  Body change(const Other&) const {
    return Regions{};
  }
  bool cuts() const { return fault_ == Fault::cut_short || fault_ == Fault::silent_short; }
  bool garbles() const { return fault_ == Fault::garbled || fault_ == Fault::silent_garbled; }

  Fault fault_;
  std::uint64_t draw_;
  std::vector<Region> regions_;
  std::vector<Span> pieces_;
};

}  // namespace kvroof::faults
