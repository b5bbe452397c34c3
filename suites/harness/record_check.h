// SPDX-License-Identifier: Apache-2.0
// The rules of a record that its schema can't express, because they compare values;
// results/schema/check.py has the same ones for files.
#pragma once
#include "backends/api/status.h"
#include "suites/harness/record.h"

namespace kvroof {

// `invalid` with the metric or param and the rule: figures finite; ci95 wider than zero and around
// the median; a count nothing but its value; a reason exactly where the outcome is not ok; params,
// metrics and units by their closed lists.
Status check_case(const Case& one);
Status check_answer(const Answer& answer);

}  // namespace kvroof
