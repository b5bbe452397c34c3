// SPDX-License-Identifier: Apache-2.0
// Reads a device profile, key by key.
#include "backends/sim/profile.h"

#include <algorithm>
#include <utility>

#include "backends/sim/errors.h"
#include "backends/sim/json_object.h"
#include "backends/sim/profile_links.h"

namespace kvroof::sim {
namespace {

constexpr double kUnbounded = 1e300;

struct Range {
  double least, most;
};
constexpr Range kPositive{1e-300, kUnbounded};
constexpr Range kNotNegative{0, kUnbounded};
constexpr Range kShare{1e-300, 1};
constexpr Range kDerate{1, kUnbounded};  // a factor on durations, which can only lengthen them

// Collects the weakest basis of all figures that durations depend on.
class ProfileReader {
 public:
  Profile read(JsonObject root);

 private:
  Value value(JsonObject& parent, const char* key, const char* unit, Range range = kPositive);
  Value fact(JsonObject& parent, const char* key, const char* unit);
  Value apart(JsonObject& parent, const char* key, const char* unit, Range range = kPositive);
  std::optional<PeerLink> peer(JsonObject& root);
  std::optional<DiskProfile> disk(JsonObject& root);
  Curve curve(JsonObject object, const char* unit);
  CopyCurves copy_curves(JsonObject object);
  GemmRates gemm(JsonObject object);
  AttentionRates attention(JsonObject object);
  LinkProfile link(JsonObject object);
  Derates derates(JsonObject object);
  void by_dtype(JsonObject root, Profile& profile);
  std::vector<Point2> points(JsonObject& object);
  Basis basis(JsonObject& object);

  Basis weakest_ = Basis::measured;
};

// Whether some draw of the host's memory is slower than some draw of the link, as where ranks share
// a host: durations come of its rate then.
bool host_memory_may_bind(const Profile& profile) {
  const LinkProfile& link = profile.link;
  return profile.host_dram_rate.low <
         std::max({link.in.high, link.out.high, link.total_dma.high, link.total_kernel.high});
}

Basis ProfileReader::basis(JsonObject& object) {
  const std::string text = object.text("basis");
  for (Basis each : {Basis::calibrated, Basis::published, Basis::datasheet}) {
    if (text != name(each)) continue;
    weakest_ = std::max(weakest_, each);
    return each;
  }
  object.fail("basis", "calibrated, published or datasheet");
}

Value ProfileReader::value(JsonObject& parent, const char* key, const char* unit, Range range) {
  JsonObject object = parent.object(key);
  Value value{.value = object.number("value"),
              .low = object.number("low"),
              .high = object.number("high"),
              .unit = object.text("unit"),
              .source = object.text("source"),
              .basis = basis(object)};
  object.allow("note");
  object.allow("rows");
  object.finish();
  if (value.unit != unit) object.fail("unit", std::string("'") + unit + "'");
  if (value.low < range.least) {
    const bool derate = range.least == 1;
    object.fail("low", derate ? "1 or more" : range.least > 0 ? "above zero" : "zero or more");
  }
  if (value.high > range.most) object.fail("high", "at most 1");
  if (value.low > value.value) object.fail("low", "at most the value");
  if (value.high < value.value) object.fail("high", "at least the value");
  return value;
}

// What doesn't count towards the profile's basis.
Value ProfileReader::apart(JsonObject& parent, const char* key, const char* unit, Range range) {
  const Basis before = weakest_;
  Value read = value(parent, key, unit, range);
  weakest_ = before;
  return read;
}

// A capacity or a peak: it limits or is compared with.
Value ProfileReader::fact(JsonObject& parent, const char* key, const char* unit) {
  return apart(parent, key, unit);
}

std::optional<PeerLink> ProfileReader::peer(JsonObject& root) {
  if (!root.has("peer")) return std::nullopt;
  JsonObject object = root.object("peer");
  PeerLink peer{.rate = apart(object, "rate", "B/s"),
                .latency = apart(object, "latency", "s", kNotNegative)};
  object.finish();
  return peer;
}

std::optional<DiskProfile> ProfileReader::disk(JsonObject& root) {
  if (!root.has("disk")) return std::nullopt;
  JsonObject object = root.object("disk");
  DiskProfile disk{.read = apart(object, "read", "B/s"),
                   .write = apart(object, "write", "B/s"),
                   .file = apart(object, "file", "s", kNotNegative)};
  object.finish();
  return disk;
}

std::vector<Point2> ProfileReader::points(JsonObject& object) {
  std::vector<Point2> points;
  for (const nlohmann::json& point : object.array("points")) {
    if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number()) {
      object.fail("points", "a list of [size, figure] pairs");
    }
    points.push_back({point[0].get<double>(), point[1].get<double>()});
    const bool rising = points.size() < 2 || points[points.size() - 2].x < points.back().x;
    if (!rising || points.back().x <= 0 || points.back().y <= 0) {
      object.fail("points", "pairs above zero in rising order of size");
    }
  }
  return points;
}

Curve ProfileReader::curve(JsonObject object, const char* unit) {
  Curve curve;
  curve.points = points(object);
  curve.low = object.number("low");
  curve.high = object.number("high");
  curve.unit = object.text("unit");
  curve.source = object.text("source");
  curve.spread = object.text("spread");
  curve.basis = basis(object);
  object.allow("rows");
  object.finish();
  if (curve.unit != unit) object.fail("unit", std::string("'") + unit + "'");
  if (curve.low <= 0 || curve.low > 1) object.fail("low", "a factor above 0 and at most 1");
  if (curve.high < 1) object.fail("high", "a factor of at least 1");
  return curve;
}

CopyCurves ProfileReader::copy_curves(JsonObject object) {
  CopyCurves curves;
  if (object.has("in")) curves.in = curve(object.object("in"), "B/s");
  if (object.has("out")) curves.out = curve(object.object("out"), "B/s");
  object.finish();
  return curves;
}

GemmRates ProfileReader::gemm(JsonObject object) {
  GemmRates rates;
  if (object.has("efficiency")) {
    rates.efficiency = value(object, "efficiency", "1", kShare);
  } else {
    for (const nlohmann::json& each : object.array("shapes")) {
      JsonObject shape(each, object.path_of("shapes"));
      GemmShape read;
      read.n = shape.count("n");
      read.k = shape.count("k");
      read.seconds = curve(shape.object("latency"), "s");
      if (read.n < 1 || read.k < 1) shape.fail("n", "at least 1, and so must k");
      shape.finish();
      rates.shapes.push_back(std::move(read));
    }
  }
  object.finish();
  return rates;
}

AttentionRates ProfileReader::attention(JsonObject object) {
  AttentionRates rates;
  if (object.has("efficiency")) {
    rates.efficiency = value(object, "efficiency", "1", kShare);
  } else {
    for (const nlohmann::json& each : object.array("shapes")) {
      JsonObject shape(each, object.path_of("shapes"));
      AttentionShape read;
      read.heads = shape.count("heads");
      read.kv_heads = shape.count("kv_heads");
      read.head_dim = shape.count("head_dim");
      if (shape.has("kv_dtype")) {
        if (shape.text("kv_dtype") != "fp8") shape.fail("kv_dtype", "fp8, or no such key");
        read.kv_dtype = DType::fp8;
      }
      read.seconds = curve(shape.object("latency"), "s");
      if (read.heads < 1 || read.kv_heads < 1 || read.head_dim < 1) {
        shape.fail("heads", "at least 1, and so must kv_heads and head_dim");
      }
      shape.finish();
      rates.shapes.push_back(std::move(read));
    }
  }
  object.finish();
  return rates;
}

LinkProfile ProfileReader::link(JsonObject object) {
  LinkProfile link;
  link.state = {object.count("generation"), object.count("width")};
  link.peak = fact(object, "peak", "B/s");
  link.in = value(object, "in", "B/s");
  link.out = value(object, "out", "B/s");
  link.total_dma = value(object, "total_dma", "B/s");
  link.total_kernel = value(object, "total_kernel", "B/s");
  object.finish();
  return link;
}

Derates ProfileReader::derates(JsonObject object) {
  Derates derates{.gemm = value(object, "gemm", "1", kDerate),
                  .attention = value(object, "attention", "1", kDerate),
                  .memory = value(object, "memory", "1", kDerate),
                  .copy = value(object, "copy", "1", kDerate)};
  object.finish();
  return derates;
}

void ProfileReader::by_dtype(JsonObject root, Profile& profile) {
  for (DType dtype : {DType::f32, DType::bf16}) {
    const std::string key(name(dtype));
    if (!root.has(key.c_str())) continue;
    JsonObject object = root.object(key.c_str());
    profile.peak_flops[dtype] = fact(object, "peak", "FLOP/s");
    profile.gemm[dtype] = gemm(object.object("gemm"));
    profile.attention[dtype] = attention(object.object("attention"));
    for (auto [share, to] : {std::pair{"experts", &profile.experts},
                             {"latent_attention", &profile.latent_attention}}) {
      if (object.has(share)) (*to)[dtype] = apart(object, share, "1", kShare);
    }
    object.finish();
  }
  root.finish();
}

Profile ProfileReader::read(JsonObject root) {
  Profile profile;
  if (root.text("format") != "kvroof device profile 1") {
    root.fail("format", "'kvroof device profile 1'");
  }
  profile.name = root.text("name");
  profile.memory_bytes = fact(root, "memory", "B");
  profile.host_memory_bytes = fact(root, "host_memory", "B");
  profile.hbm_rate = value(root, "hbm_achieved", "B/s");
  profile.launch_floor = value(root, "launch_floor", "s", kNotNegative);
  profile.submit_call = value(root, "submit_call", "s", kNotNegative);
  profile.submit_region = value(root, "submit_region", "s", kNotNegative);
  profile.kernel_copy_compute = value(root, "kernel_copy_compute", "1", {0, 1});
  profile.host_dram_rate = fact(root, "host_dram", "B/s");
  profile.host_copy_rate = value(root, "host_copy", "B/s");
  profile.link = link(root.object("link"));
  profile.derates = derates(root.object("derates"));
  JsonObject copy = root.object("copy");
  for (std::size_t i = 0; i < profile.copy.size(); ++i) {
    profile.copy[i] = copy_curves(copy.object(kCopyMethodNames[i]));
  }
  copy.finish();
  by_dtype(root.object("compute"), profile);
  profile.peer = peer(root);
  profile.disk = disk(root);
  root.finish();
  if (host_memory_may_bind(profile)) weakest_ = std::max(weakest_, profile.host_dram_rate.basis);
  profile.basis = weakest_;
  check_links(profile);
  return profile;
}

}  // namespace

Result<Profile> parse_profile(std::string_view text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_discarded()) return invalid("The device profile is not valid JSON.");
  try {
    return ProfileReader().read(JsonObject(json, ""));
  } catch (const ProfileError& error) {
    return invalid(std::string("Device profile: ") + error.what() + ".");
  }
}

}  // namespace kvroof::sim
