// SPDX-License-Identifier: Apache-2.0
#include "backends/sim/link_option.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "backends/registry/device_spec.h"
#include "backends/sim/errors.h"

namespace kvroof::sim {
namespace {

// Effective rates of large copies as shares of the link's theoretical one, with their range.
struct Effective {
  double value, low, high;
};

struct Generation {
  int number;
  double lane;  // bytes/s of one lane and direction, after line coding
  Effective in, out;
  Basis basis;
  const char* source;
};

constexpr double kBitsPerByte = 8;
constexpr double kCoding3 = 128.0 / 130.0;  // PCIe 3 to 5
constexpr double kFlit6 = 242.0 / 256.0;    // PCIe 6: 242 of a flit's 256 bytes carry packets

constexpr std::array kGenerations = {
    Generation{
        3,
        8e9 * kCoding3 / kBitsPerByte,
        {0.771, 0.74, 0.80},
        {0.818, 0.78, 0.83},
        Basis::published,
        "https://github.com/mpicbg-scicomp/gearshifft/pull/82: 12.15 GB/s in, 12.89 out, x16"},
    Generation{4,
               16e9 * kCoding3 / kBitsPerByte,
               {0.80, 0.762, 0.838},
               {0.835, 0.80, 0.86},
               Basis::published,
               "https://github.com/NVIDIA/nvbandwidth: 24 to 26.4 GB/s in, 26.3 to 27.1 out, x16"},
    Generation{
        5,
        32e9 * kCoding3 / kBitsPerByte,
        {0.873, 0.863, 0.883},
        {0.873, 0.854, 0.91},
        Basis::published,
        "https://blog.vllm.ai/2026/01/08/kv-offloading-connector.html and public nvbandwidth "
        "logs: 54.4 to 55.6 GB/s, x16"},
    Generation{6,
               64e9 * kFlit6 / kBitsPerByte,
               {0.873, 0.80, 0.90},
               {0.873, 0.80, 0.90},
               Basis::datasheet,
               "https://pcisig.com/specifications: 64 GT/s and 242 of 256 bytes, times the share "
               "that generation 5 reaches; no published copy rate is known"},
};

// NVLink-C2C of Grace Hopper: 450 GB/s a direction.
constexpr double kC2cPeak = 450e9;
constexpr Effective kC2cIn{346e9, 337.5e9, 380e9}, kC2cOut{297e9, 295e9, 298e9};
constexpr double kC2cBothOverIn = 0.93;  // 160 GB/s a direction while both run, over 346
constexpr const char* kC2cSource =
    "https://github.com/NVIDIA/nvbandwidth (346 GB/s in), "
    "https://github.com/microsoft/superbenchmark (337.6 in, 295.2 out, 160 both)";

struct Link {
  LinkState state;
  Value peak, in, out;
  std::optional<double> both;  // of both directions together, where it is known
};

Value value(Effective rate, double scale, Basis basis, const std::string& source) {
  return {rate.value * scale, rate.low * scale, rate.high * scale, "B/s", source, basis};
}

Value exact(double rate, Basis basis, const std::string& source) {
  return {rate, rate, rate, "B/s", source, basis};
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_width(int lanes) { return lanes >= 1 && lanes <= 16 && (lanes & (lanes - 1)) == 0; }

// "pcie4x16".
std::optional<Link> pcie(std::string_view text) {
  if (!text.starts_with("pcie")) return std::nullopt;
  text.remove_prefix(4);
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const auto generation = number(text.substr(0, cross)), width = number(text.substr(cross + 1));
  if (!generation || !width || !is_width(*width)) return std::nullopt;
  for (const Generation& each : kGenerations) {
    if (each.number != *generation) continue;
    const double peak = each.lane * *width;
    return Link{{*generation, *width},
                exact(peak, Basis::datasheet, "https://pcisig.com/specifications"),
                value(each.in, peak, each.basis, each.source),
                value(each.out, peak, each.basis, each.source),
                {}};
  }
  return std::nullopt;
}

std::optional<Link> find_link(std::string_view text, Basis own) {
  if (auto found = pcie(text)) return found;
  if (text == "nvlink-c2c") {
    return Link{{},
                exact(kC2cPeak, Basis::datasheet,
                      "https://www.nvidia.com/en-us/data-center/grace-hopper-superchip/"),
                value(kC2cIn, 1, Basis::published, kC2cSource),
                value(kC2cOut, 1, Basis::published, kC2cSource),
                kC2cBothOverIn * kC2cIn.value};
  }
  if (const auto rate = parse_rate(text)) {
    const std::string source = "as asked for: link=" + std::string(text);
    return Link{
        {}, exact(*rate, own, source), exact(*rate, own, source), exact(*rate, own, source), {}};
  }
  return std::nullopt;
}

void exchange(std::optional<Curve>& curve, double old_rate, double new_rate) {
  if (!curve) return;
  for (Point2& point : curve->points) {
    const double beyond = std::max(0.0, point.x / point.y - point.x / old_rate);
    point.y = point.x / (beyond + point.x / new_rate);
  }
}

nlohmann::json to_json(const Value& value) {
  return {{"value", value.value}, {"low", value.low},       {"high", value.high},
          {"unit", value.unit},   {"source", value.source}, {"basis", name(value.basis)}};
}

void replace_points(nlohmann::json& method, const char* direction,
                    const std::optional<Curve>& curve) {
  if (!curve) return;
  nlohmann::json points = nlohmann::json::array();
  for (const Point2& point : curve->points) points.push_back({point.x, point.y});
  method[direction]["points"] = std::move(points);
}

Value scaled(const Value& both, double factor, double most) {
  Value made = both;
  for (double* each : {&made.value, &made.low, &made.high}) *each = std::min(*each * factor, most);
  return made;
}

}  // namespace

Result<Profile> with_link(Profile profile, std::string_view text) {
  const auto link = find_link(text, profile.basis);
  if (!link) {
    return invalid("Option link: '" + std::string(text) +
                   "' is not known, expected pcie3x16 to pcie6x16 (or x1, x2, x4, x8), nvlink-c2c "
                   "or a rate such as 5GB/s.");
  }
  LinkProfile& own = profile.link;
  for (CopyCurves& curves : profile.copy) {
    exchange(curves.in, own.in.value, link->in.value);
    exchange(curves.out, own.out.value, link->out.value);
  }
  const double most = link->in.value + link->out.value;
  const double factor = link->in.value / own.in.value;
  own.total_kernel = scaled(own.total_kernel, factor, most);
  own.total_dma = link->both ? exact(*link->both, link->in.basis, link->in.source)
                             : scaled(own.total_dma, factor, most);
  own.state = link->state;
  own.peak = link->peak;
  own.in = link->in;
  own.out = link->out;
  profile.basis = std::max({profile.basis, own.in.basis, own.out.basis});
  profile.name += ", link " + std::string(text);
  return profile;
}

std::string profile_text_with_link(std::string_view text, const Profile& profile) {
  nlohmann::json json = nlohmann::json::parse(text);
  const LinkProfile& link = profile.link;
  json["name"] = profile.name;
  json["link"] = {{"generation", link.state.generation},
                  {"width", link.state.width},
                  {"peak", to_json(link.peak)},
                  {"in", to_json(link.in)},
                  {"out", to_json(link.out)},
                  {"total_dma", to_json(link.total_dma)},
                  {"total_kernel", to_json(link.total_kernel)}};
  for (std::size_t i = 0; i < profile.copy.size(); ++i) {
    replace_points(json["copy"][kCopyMethodNames[i]], "in", profile.copy[i].in);
    replace_points(json["copy"][kCopyMethodNames[i]], "out", profile.copy[i].out);
  }
  return json.dump();
}

}  // namespace kvroof::sim
