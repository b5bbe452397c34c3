// SPDX-License-Identifier: Apache-2.0
// What happens to bytes when a ticket lands, and not before: sources are read at that moment.
#pragma once
#include "backends/sim/job.h"

namespace kvroof::sim {

// What of `work` moves bytes; nothing where a side of it is not backed.
Job::Landing landing_of(const Work& work);

// `failed` for an index outside its buffer; then nothing was moved. Likewise for a file that can't
// be read or written; `files` counts how those go.
Status land(const Job::Landing& landing, DiskFacts& files);

}  // namespace kvroof::sim
