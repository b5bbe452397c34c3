// SPDX-License-Identifier: Apache-2.0
// A CUDA driver that has no GPU: each stream is a thread that takes its time, device memory is host
// memory behind addresses that no host can follow, and rules that the real one leaves to chance are
// kept. It proves arguments and order; no GPU, and no rate of one.
#pragma once
#include <cstddef>
#include <string>

namespace kvroof::cuda_double {

// From its `after`th next call on, `entry` ("cuMemAlloc_v2") answers `answer`, so many `times`.
void fail(const char* entry, int answer, int after = 0, int times = 1);
void fail_always(const char* entry, int answer);
// Forgets faults, what was broken, and a lost context; all that is alive stays.
void reset();

void have_batch(bool has);  // as a driver from 12.8 on does

// Streams, events, allocations, registrations and contexts that were not given back.
std::size_t alive();

// The rules that a caller broke, a line each: memory gone or not pinned, no context, none's stream.
std::string violations();

}  // namespace kvroof::cuda_double
