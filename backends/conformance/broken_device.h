// SPDX-License-Identifier: Apache-2.0
// Tests only: a good device made to break one sentence of the contract, to show that the suite
// notices.
#pragma once
#include <memory>

#include "backends/api/device.h"

namespace kvroof::conformance {

enum class Fault {
  none,
  drops_fences,         // work starts at once, whatever it waits for
  reaps_twice,          // every completion comes again
  reaps_in_reverse,     // what is reaped together comes last first
  completes_early,      // a ticket has completed as soon as it is submitted
  hides_failures,       // all completions are ok
  forgets_reaped,       // a fence on a reaped ticket is refused
  reads_early,          // the host's bytes are taken at submit
  drops_last_region,    // one region of many is not copied
  waits_for_the_last,   // wait_any returns the highest index
  refuses_in_silence,   // no sentence with a refusal
  has_no_end_of_memory  // too much is given out as if it were there
};

std::unique_ptr<Device> make_broken(Fault fault, std::unique_ptr<Device> device);

}  // namespace kvroof::conformance
