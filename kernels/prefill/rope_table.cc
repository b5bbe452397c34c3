// SPDX-License-Identifier: Apache-2.0
#include "kernels/prefill/rope_table.h"

#include <cmath>
#include <numbers>

namespace kvroof {
namespace {

// Short waves stay, long ones are slowed by `factor`, those between are blended. From Hugging
// Face's _compute_llama3_parameters, https://github.com/huggingface/transformers
// src/transformers/modeling_rope_utils.py
double stretched(double inverse, const RopeScaling& scaling) {
  const double original = scaling.original_max_position;
  const double wavelength = 2 * std::numbers::pi / inverse;
  if (wavelength < original / scaling.high_freq_factor) return inverse;
  if (wavelength > original / scaling.low_freq_factor) return inverse / scaling.factor;
  const double smooth = (original / wavelength - scaling.low_freq_factor) /
                        (scaling.high_freq_factor - scaling.low_freq_factor);
  return (1 - smooth) * inverse / scaling.factor + smooth * inverse;
}

}  // namespace

std::vector<float> inverse_frequencies(const ModelShape& shape) {
  std::vector<float> out(shape.head_dim / 2);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / shape.head_dim;
    const double inverse = std::pow(shape.rope_theta, exponent);
    out[i] =
        static_cast<float>(shape.rope_scaling ? stretched(inverse, *shape.rope_scaling) : inverse);
  }
  return out;
}

}  // namespace kvroof
