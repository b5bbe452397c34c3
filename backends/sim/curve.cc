// SPDX-License-Identifier: Apache-2.0
// Log-log interpolation.
#include "backends/sim/curve.h"

#include <algorithm>
#include <cmath>

namespace kvroof::sim {

double Curve::at(double x) const {
  if (x <= first_x()) return points.front().y;
  if (x >= last_x()) return points.back().y;
  const auto after = std::upper_bound(points.begin(), points.end(), x,
                                      [](double value, const Point2& p) { return value < p.x; });
  const Point2& a = *(after - 1);
  const Point2& b = *after;
  const double share = std::log(x / a.x) / std::log(b.x / a.x);
  return a.y * std::pow(b.y / a.y, share);
}

}  // namespace kvroof::sim
