// SPDX-License-Identifier: Apache-2.0
// The checks themselves, for the table in verify_kind.cc.
#pragma once
#include <vector>

#include "suites/verify/verify_kind.h"

namespace kvroof {

std::vector<Case> round_trips(const VerifySetup& setup);
std::vector<Case> compatibility(const VerifySetup& setup);
std::vector<Case> store_races(const VerifySetup& setup);
std::vector<Case> load_races(const VerifySetup& setup);
std::vector<Case> preemption(const VerifySetup& setup);
std::vector<Case> collisions(const VerifySetup& setup);
std::vector<Case> checksums(const VerifySetup& setup);
std::vector<Case> files(const VerifySetup& setup);
std::vector<Case> logits(const VerifySetup& setup);

}  // namespace kvroof
