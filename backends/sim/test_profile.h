// SPDX-License-Identifier: Apache-2.0
// A made-up device with round figures, for tests of whatever runs on a simulator.
#pragma once
#include <string>

namespace kvroof::sim {

// 1 GB of device memory and 4 GB of the host's; HBM 1000 GB/s; 100 TFLOP/s at efficiency 1, f32 and
// bf16; a link of 10 GB/s a direction and 16 GB/s in all, at every region size and for each method;
// no launch floor; submitting costs 1 us a call and 1 us a region; a copying kernel takes a tenth
// of the compute units; host DRAM 100 GB/s, one core copies 5 GB/s.
std::string test_profile();

}  // namespace kvroof::sim
