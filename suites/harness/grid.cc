// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/grid.h"

#include <fmt/format.h>

#include <limits>
#include <random>

namespace kvroof {
namespace {

// Values of every axis multiplied in: the axis that comes last varies fastest.
template <class T>
void spread(std::vector<GridPoint>& points, const std::vector<T>& values, T GridPoint::*member) {
  std::vector<GridPoint> product;
  product.reserve(points.size() * values.size());
  for (const GridPoint& point : points) {
    for (const T& value : values) {
      product.push_back(point);
      product.back().*member = value;
    }
  }
  points = std::move(product);
}

}  // namespace

std::uint64_t Grid::cases() const {
  std::uint64_t product = 1;
  for (const std::size_t values :
       {context_tokens.size(), batch.size(), live.size(), kv_dtype.size(), block_tokens.size(),
        blocks_per_chunk.size(), layout.size(), copy.size(), plan.size(), pipeline.size(),
        link.size()}) {
    if (__builtin_mul_overflow(product, values, &product)) {
      return std::numeric_limits<std::uint64_t>::max();
    }
  }
  return product;
}

Result<std::vector<ComparisonGroup>> expand(const Grid& grid) {
  if (grid.cases() > kMaxCases) {
    return Status{Code::invalid,
                  fmt::format("the grid has more than {} cases: give fewer values", kMaxCases)};
  }
  GridPoint first;
  first.serving_cost = grid.serving_cost;
  std::vector<GridPoint> points = {first};
  spread(points, grid.link, &GridPoint::link);
  spread(points, grid.pipeline, &GridPoint::pipeline);
  spread(points, grid.copy, &GridPoint::copy);
  spread(points, grid.layout, &GridPoint::layout);
  spread(points, grid.blocks_per_chunk, &GridPoint::blocks_per_chunk);
  spread(points, grid.block_tokens, &GridPoint::block_tokens);
  spread(points, grid.kv_dtype, &GridPoint::kv_dtype);
  spread(points, grid.live, &GridPoint::live);
  spread(points, grid.batch, &GridPoint::batch);
  spread(points, grid.context_tokens, &GridPoint::context_tokens);
  std::vector<ComparisonGroup> groups;
  for (GridPoint& point : points) groups.push_back({std::move(point), grid.plan});
  return groups;
}

Json grid_json(const Grid& grid) {
  const auto names = [](const auto& values) {
    Json list = Json::array();
    for (const auto value : values) list.push_back(name(value));
    return list;
  };
  return {{"context_tokens", grid.context_tokens},
          {"batch", grid.batch},
          {"live", grid.live},
          {"kv_dtype", names(grid.kv_dtype)},
          {"block_tokens", grid.block_tokens},
          {"blocks_per_chunk", grid.blocks_per_chunk},
          {"layout", names(grid.layout)},
          {"copy", names(grid.copy)},
          {"pipeline", names(grid.pipeline)},
          {"link", grid.link},
          {"serving_cost", grid.serving_cost.text},
          {"plan", names(grid.plan)}};
}

Json group_params(const GridPoint& point) {
  return {{"context_tokens", point.context_tokens},
          {"batch", point.batch},
          {"live", point.live},
          {"kv_dtype", name(point.kv_dtype)},
          {"block_tokens", point.block_tokens},
          {"blocks_per_chunk", point.blocks_per_chunk},
          {"layout", name(point.layout)},
          {"copy", name(point.copy)},
          {"pipeline", name(point.pipeline)},
          {"link", point.link},
          {"serving_cost", point.serving_cost.text}};
}

Json case_params(const GridPoint& point, PlanKind plan) {
  Json params = group_params(point);
  params["plan"] = name(plan);
  return params;
}

std::string group_name(std::string_view suite, std::string_view model, const GridPoint& point) {
  std::string text = fmt::format("{}/{}", suite, model);
  const Json params = group_params(point);
  for (const auto& [key, value] : params.items()) {
    const std::string_view shown = key == "context_tokens" ? "context" : std::string_view(key);
    text +=
        fmt::format("/{}:{}", shown, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

ServingCost draw(const ServingCost& cost, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto between = [&random](const std::optional<Bounds>& range, double value) {
    const double share = static_cast<double>(random() >> 11) * 0x1p-53;
    return range ? range->low + share * (range->high - range->low) : value;
  };
  ServingCost drawn = cost;
  drawn.first_step_seconds = between(cost.first_step_range, cost.first_step_seconds);
  drawn.prepare_seconds_per_16_tokens =
      between(cost.prepare_range, cost.prepare_seconds_per_16_tokens);
  return drawn;
}

}  // namespace kvroof
