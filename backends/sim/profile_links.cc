// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/profile_links.h"

#include <array>
#include <cstdio>
#include <string>

#include "backends/sim/json_object.h"

namespace kvroof::sim {
namespace {

std::string gigabytes(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g GB/s", rate * 1e-9);
  return text.data();
}

void check_at_most(double rate, const std::string& path, double limit, const std::string& what) {
  if (rate <= limit) return;
  throw ProfileError("'" + path + "' is " + gigabytes(rate) + ", but must be at most " + what +
                     " of " + gigabytes(limit));
}

void check_fastest(const std::optional<Curve>& curve, double limit, const std::string& path,
                   const std::string& direction) {
  if (!curve) return;
  for (const Point2& point : curve->points) {
    check_at_most(point.y, path, limit, "'link." + direction + "'");
  }
}

}  // namespace

void check_links(const Profile& profile) {
  const LinkProfile& link = profile.link;
  const double peak = link.peak.value, in = link.in.value, out = link.out.value;
  check_at_most(in, "link.in", peak, "'link.peak'");
  check_at_most(out, "link.out", peak, "'link.peak'");
  check_at_most(link.total_dma.value, "link.total_dma", in + out, "in plus out");
  check_at_most(link.total_kernel.value, "link.total_kernel", in + out, "in plus out");
  for (std::size_t i = 0; i < profile.copy.size(); ++i) {
    check_fastest(profile.copy[i].in, in, std::string("copy.") + kCopyMethodNames[i] + ".in", "in");
    check_fastest(profile.copy[i].out, out, std::string("copy.") + kCopyMethodNames[i] + ".out",
                  "out");
  }
}

}  // namespace kvroof::sim
