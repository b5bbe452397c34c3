// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/reference_transformer.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "kernels/prefill/random_values.h"
#include "kernels/prefill/rope_table.h"

namespace kvroof {
namespace {

using Vector = std::vector<double>;
using Rows = std::vector<Vector>;

struct Weights {
  DType dtype;
  std::uint64_t seed;
  std::uint32_t next = 0;  // tensors are numbered in the order in which they are drawn

  Vector draw(std::size_t count, float center, float reach) {
    const RandomTensor tensor{seed, next++, center, reach, dtype};
    std::vector<std::byte> bytes(count * bytes_of(dtype));
    fill_random(tensor, 0, bytes);
    Vector out(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (dtype == DType::f32) {
        out[i] = reinterpret_cast<const float*>(bytes.data())[i];
      } else {
        const std::uint32_t bits = reinterpret_cast<const std::uint16_t*>(bytes.data())[i];
        out[i] = std::bit_cast<float>(bits << 16);
      }
    }
    return out;
  }

  Rows matrix(std::uint32_t out_features, std::uint32_t in_features) {
    const float reach = 1.0f / std::sqrt(static_cast<float>(in_features));
    const Vector all = draw(std::size_t{out_features} * in_features, 0, reach);
    Rows rows;
    for (std::uint32_t i = 0; i < out_features; ++i) {
      rows.emplace_back(all.begin() + i * in_features, all.begin() + (i + 1) * in_features);
    }
    return rows;
  }

  Vector norm(std::uint32_t width) { return draw(width, 1, 0.1f); }
};

double dot(const double* a, const double* b, std::size_t count) {
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

Vector times(const Rows& matrix, const Vector& x) {
  Vector out;
  for (const Vector& row : matrix) out.push_back(dot(row.data(), x.data(), x.size()));
  return out;
}

Vector rms_norm(const Vector& x, const Vector& weight, double epsilon) {
  const double mean = dot(x.data(), x.data(), x.size()) / static_cast<double>(x.size());
  Vector out(x);
  for (std::size_t i = 0; i < x.size(); ++i) out[i] *= weight[i] / std::sqrt(mean + epsilon);
  return out;
}

void rotate(double* head, const std::vector<float>& frequencies, std::size_t position) {
  const std::size_t half = frequencies.size();
  for (std::size_t i = 0; i < half; ++i) {
    const double angle = static_cast<double>(position) * static_cast<double>(frequencies[i]);
    const double a = head[i], b = head[i + half];
    head[i] = a * std::cos(angle) - b * std::sin(angle);
    head[i + half] = b * std::cos(angle) + a * std::sin(angle);
  }
}

// What head `head` of token `query` sees of tokens 0 .. query.
void attend(const ModelShape& s, const Rows& qkv, std::size_t query, std::uint32_t head,
            double* out) {
  const std::size_t d = s.head_dim, kv_head = head / (s.heads / s.kv_heads);
  const std::size_t k = (s.heads + kv_head) * d, v = (s.heads + s.kv_heads + kv_head) * d;
  Vector scores;
  for (std::size_t t = 0; t <= query; ++t) {
    const double score = dot(&qkv[query][head * d], &qkv[t][k], d);
    scores.push_back(score / std::sqrt(static_cast<double>(d)));
  }
  const double highest = *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double& score : scores) sum += score = std::exp(score - highest);
  for (std::size_t t = 0; t <= query; ++t) {
    for (std::size_t i = 0; i < d; ++i) out[i] += scores[t] / sum * qkv[t][v + i];
  }
}

void add(Vector& to, const Vector& what) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += what[i];
}

void layer(const ModelShape& s, Weights& weights, Rows& x) {
  const std::uint32_t q_width = s.heads * s.head_dim, kv_width = s.kv_heads * s.head_dim;
  const Vector input_norm = weights.norm(s.hidden);
  const Rows qkv_weights = weights.matrix(q_width + 2 * kv_width, s.hidden),
             o = weights.matrix(s.hidden, q_width);
  const Vector post_norm = weights.norm(s.hidden);
  const Rows gate_up = weights.matrix(2 * s.intermediate, s.hidden),
             down = weights.matrix(s.hidden, s.intermediate);
  const auto frequencies = inverse_frequencies(s);
  Rows qkv;
  for (std::size_t t = 0; t < x.size(); ++t) {
    qkv.push_back(times(qkv_weights, rms_norm(x[t], input_norm, s.norm_epsilon)));
    for (std::size_t h = 0; h < s.heads + s.kv_heads; ++h) {
      rotate(&qkv[t][h * s.head_dim], frequencies, t);
    }
  }
  for (std::size_t t = 0; t < x.size(); ++t) {
    Vector attended(q_width);
    for (std::uint32_t h = 0; h < s.heads; ++h) attend(s, qkv, t, h, &attended[h * s.head_dim]);
    add(x[t], times(o, attended));
    const Vector both = times(gate_up, rms_norm(x[t], post_norm, s.norm_epsilon));
    Vector activated(s.intermediate);
    for (std::size_t i = 0; i < s.intermediate; ++i) {
      activated[i] = both[i] / (1 + std::exp(-both[i])) * both[s.intermediate + i];
    }
    add(x[t], times(down, activated));
  }
}

}  // namespace

std::vector<double> reference_logits(const ModelShape& shape, DType dtype, std::uint64_t seed,
                                     std::span<const std::int32_t> ids) {
  Weights weights{dtype, seed};
  const Rows table = weights.matrix(shape.vocab, shape.hidden);
  const Vector final_norm = weights.norm(shape.hidden);
  Rows x;
  for (const std::int32_t id : ids) x.push_back(table[static_cast<std::size_t>(id)]);
  for (std::uint32_t i = 0; i < shape.layers; ++i) layer(shape, weights, x);
  const Rows head = shape.tied_embeddings ? table : weights.matrix(shape.vocab, shape.hidden);
  return times(head, rms_norm(x.back(), final_norm, shape.norm_epsilon));
}

}  // namespace kvroof
