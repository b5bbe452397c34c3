// SPDX-License-Identifier: Apache-2.0
// A measured quantity against a size, with its provenance: straight lines between points in
// log-log.
#pragma once
#include <string>
#include <vector>

#include "backends/api/device.h"

namespace kvroof::sim {

struct Point2 {
  double x, y;
};

struct Curve {
  std::vector<Point2> points;  // x strictly rising, x and y above zero, at least one
  double low = 1, high = 1;    // every y lies between y * low and y * high
  std::string unit, source, spread;
  Basis basis = Basis::datasheet;

  // The end points' values outside the range.
  double at(double x) const;

  double first_x() const { return points.front().x; }
  double last_x() const { return points.back().x; }
};

}  // namespace kvroof::sim
