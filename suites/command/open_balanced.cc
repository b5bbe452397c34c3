// SPDX-License-Identifier: Apache-2.0
#include "suites/command/open_balanced.h"

#include <fmt/format.h>

#include <utility>

#include "backends/registry/registry.h"
#include "suites/command/open_named.h"

namespace kvroof {
namespace {

constexpr const char* kOption = "balance";

Status check_run(const std::string& text, const ModelShape& shape,
                 std::span<const ComparisonGroup> groups) {
  if (shape.ranks > 1) {
    return {Code::invalid,
            fmt::format("--tp: {} imitates one device; leave --tp {} out", text, shape.ranks)};
  }
  if (!is_tunnel_model(shape)) {
    const std::string& other = shape.name == kTunnelModel ? shape.source : shape.name;
    return {Code::invalid, fmt::format("--model: {} imitates that machine with the catalogue's {} "
                                       "alone, not with {}; use --model {}",
                                       text, kTunnelModel, other, kTunnelModel)};
  }
  const GridPoint& first = groups.front().point;
  for (const ComparisonGroup& group : groups) {
    if (group.point.link != "native") {
      return {Code::invalid, fmt::format("--link: {} paces the link itself; leave --link {} out",
                                         text, group.point.link)};
    }
    if (group.point.kv_dtype != first.kv_dtype) {
      return {Code::invalid, fmt::format("--kv-dtype: {} sets one link rate for the whole run; "
                                         "give one dtype",
                                         text)};
    }
  }
  return {};
}

// Where every case will be skipped, there is nothing to balance.
bool computes(const DeviceInfo& info, DType dtype) {
  return dtype == DType::f32 || (dtype == DType::bf16 && info.bf16_unavailable.empty());
}

bool was_balanced(const Json& recorded, const std::string& text) {
  return recorded.is_object() && recorded.contains("balance") && recorded.contains("spec") &&
         recorded["spec"] == text;
}

Result<OpenedDevice> without_balance(Result<std::unique_ptr<Device>> device) {
  if (!device) return device.status();
  return OpenedDevice{std::move(*device), std::nullopt};
}

}  // namespace

Result<OpenedDevice> open_balanced(const std::string& text, const ModelShape& shape,
                                   std::span<const ComparisonGroup> groups, std::uint64_t seed,
                                   const Json& recorded) {
  auto spec = parse_device(text);
  if (!spec) return spec.status();
  const auto option = spec->options.find(kOption);
  if (spec->adapter != "host" || option == spec->options.end()) {
    return without_balance(open_named(text, shape.ranks));
  }
  if (spec->options.contains("link")) {
    return Status{Code::invalid,
                  fmt::format("--device: option balance sets the link's rate; leave link={} out",
                              spec->options.at("link"))};
  }
  const auto machine = open_named("sim:" + option->second);
  if (!machine) return machine.status();
  if (Status e = check_run(text, shape, groups); !e.ok()) return e;
  spec->options.erase(option);
  auto host = open_device(*spec);
  const DType dtype = groups.front().point.kv_dtype;
  if (!host || !computes((*host)->info(), dtype)) return without_balance(std::move(host));
  auto balance = was_balanced(recorded, text) ? parse_balance(recorded["balance"])
                                              : find_balance(**machine, **host, shape, dtype, seed);
  if (!balance) return Status{balance.code(), fmt::format("{}: {}", text, balance.status().text)};
  host->reset();
  spec->options["link"] = balance->link;
  auto paced = without_balance(open_device(*spec));
  if (paced) paced->balance = std::move(*balance);
  return paced;
}

}  // namespace kvroof
