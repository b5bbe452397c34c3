// SPDX-License-Identifier: Apache-2.0
// The inner loops of attention where the CPU multiplies bf16 (VDPBF16PS: two products a lane,
// summed in f32). Scores are exact but for the order of their sums; weights are rounded to bf16 as
// the values are, and their sum is that of the rounded ones. Calls nothing of the standard library.
#include <immintrin.h>

#include "kernels/attention/tile_kernels.h"
#include "kernels/portable/bf16.h"

namespace kvroof::avx512_bf16 {
namespace {

constexpr int kLanes = 16, kRows = 12;  // 24 sums, two of b and one of a fill the register file
constexpr std::uint32_t kPanel = 2 * kLanes;

typedef std::uint32_t Word __attribute__((aligned(4), may_alias));

inline __m512bh pairs(const float* from) {
  return reinterpret_cast<__m512bh>(_mm512_loadu_si512(from));
}

inline __m512bh broadcast(const float* from) {
  return reinterpret_cast<__m512bh>(
      _mm512_set1_epi32(static_cast<int>(*reinterpret_cast<const Word*>(from))));
}

inline std::uint32_t word(Bf16 first, Bf16 second) {
  return first.bits | static_cast<std::uint32_t>(second.bits) << 16;
}

// c[kRows][kPanel] = (kAdd ? c : 0) + a[kRows][depth] * b[depth][kPanel], strides in words.
template <bool kAdd>
inline void multiply(const float* a, std::uint64_t a_stride, const float* b, std::uint64_t b_stride,
                     std::uint32_t depth, float* c, std::uint64_t c_stride) {
  __m512 sums[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    sums[i][0] = kAdd ? _mm512_loadu_ps(c + i * c_stride) : _mm512_setzero_ps();
    sums[i][1] = kAdd ? _mm512_loadu_ps(c + i * c_stride + kLanes) : _mm512_setzero_ps();
  }
  for (std::uint32_t l = 0; l < depth; ++l, b += b_stride) {
    const __m512bh low = pairs(b), high = pairs(b + kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const __m512bh element = broadcast(a + i * a_stride + l);
      sums[i][0] = _mm512_dpbf16_ps(sums[i][0], element, low);
      sums[i][1] = _mm512_dpbf16_ps(sums[i][1], element, high);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    _mm512_storeu_ps(c + i * c_stride, sums[i][0]);
    _mm512_storeu_ps(c + i * c_stride + kLanes, sums[i][1]);
  }
}

void load_query(const void* in, std::uint32_t head_dim, float* out) {
  const Bf16* from = static_cast<const Bf16*>(in);
  Word* to = reinterpret_cast<Word*>(out);
  for (std::uint32_t l = 0; l + 1 < head_dim; l += 2) to[l / 2] = word(from[l], from[l + 1]);
  if (head_dim % 2 != 0) to[head_dim / 2] = word(from[head_dim - 1], {});
}

void pack_keys(const void* const* rows, std::uint32_t count, std::uint32_t head_dim, float* out) {
  Word* to = reinterpret_cast<Word*>(out);
  const std::uint32_t depth = (head_dim + 1) / 2;
  for (std::uint32_t j = 0; j < kPanel; ++j) {
    const Bf16* row = j < count ? static_cast<const Bf16*>(rows[j]) : nullptr;
    for (std::uint32_t l = 0; l < depth; ++l) {
      const Bf16 second = row != nullptr && 2 * l + 1 < head_dim ? row[2 * l + 1] : Bf16{};
      to[l * kPanel + j] = row != nullptr ? word(row[2 * l], second) : 0;
    }
  }
}

void pack_values(const void* const* rows, std::uint32_t count, std::uint32_t head_dim,
                 std::uint32_t width, std::uint64_t column, float* out) {
  for (std::uint32_t j = 0; j < count; j += 2, out += kPanel) {
    const Bf16* first = static_cast<const Bf16*>(rows[j]);
    const Bf16* second = j + 1 < count ? static_cast<const Bf16*>(rows[j + 1]) : nullptr;
    Word* to = reinterpret_cast<Word*>(out);
    for (std::uint32_t c = 0; c < width; c += kPanel, to += column) {
      const std::uint32_t left = c < head_dim ? head_dim - c : 0;
      const std::uint32_t present = left < kPanel ? left : kPanel;
      for (std::uint32_t i = 0; i < present; ++i) {
        to[i] = word(first[c + i], second != nullptr ? second[c + i] : Bf16{});
      }
      for (std::uint32_t i = present; i < kPanel; ++i) to[i] = 0;
    }
  }
}

void scores(const float* queries, std::uint32_t rows, const float* panels,
            std::uint32_t panel_count, std::uint32_t depth, float* out) {
  for (std::uint32_t p = 0; p < panel_count; ++p) {
    const float* panel = panels + p * static_cast<std::uint64_t>(kPanel) * depth;
    for (std::uint32_t i = 0; i < rows; i += kRows) {
      multiply<false>(queries + i * static_cast<std::uint64_t>(depth), depth, panel, kPanel, depth,
                      out + i * kKeyBlock + p * kPanel, kKeyBlock);
    }
  }
}

// 2^x for x <= 0, as near as bf16 can tell: the Taylor series of 2^f, |f| <= 1/2, to its fourth
// power, whose next term is below 5e-5.
inline __m512 exp2_rough(__m512 x) {
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = x - whole;
  __m512 p = _mm512_set1_ps(9.6181291076284770e-3f);
  p = p * f + 5.5504108664821580e-2f;
  p = p * f + 2.4022650695910072e-1f;
  p = p * f + 6.9314718055994531e-1f;
  p = p * f + 1.0f;
  return _mm512_scalef_ps(p, whole);
}

inline __mmask16 first_lanes(std::uint32_t count) {
  return static_cast<__mmask16>(count >= kLanes ? 0xffffu : (1u << count) - 1u);
}

float highest(const float* row, std::uint32_t count) {
  __m512 top = _mm512_set1_ps(kNoMaximum);
  for (std::uint32_t j = 0; j < count; j += kLanes) {
    top = _mm512_mask_max_ps(top, first_lanes(count - j), top, _mm512_loadu_ps(row + j));
  }
  return _mm512_reduce_max_ps(top);
}

// The words of 32 weights are written where scores were that have been read.
float exponentiate(float* row, float scale, std::uint32_t visible, float top) {
  const __m512bh ones = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3f803f80));
  const __m512 shift = _mm512_set1_ps(top), factor = _mm512_set1_ps(scale);
  __m512 total = _mm512_setzero_ps();
  for (std::uint32_t j = 0; j < visible; j += kPanel) {
    const std::uint32_t left = visible - j;
    const __m512 low = _mm512_maskz_mov_ps(
        first_lanes(left), exp2_rough(_mm512_fmsub_ps(_mm512_loadu_ps(row + j), factor, shift)));
    const __m512 high = _mm512_maskz_mov_ps(
        first_lanes(left > kLanes ? left - kLanes : 0),
        exp2_rough(_mm512_fmsub_ps(_mm512_loadu_ps(row + j + kLanes), factor, shift)));
    const __m512bh weights = _mm512_cvtne2ps_pbh(high, low);
    total = _mm512_dpbf16_ps(total, weights, ones);
    _mm512_storeu_si512(row + j / 2, reinterpret_cast<__m512i>(weights));
  }
  return _mm512_reduce_add_ps(total);
}

void soften(float* row, float scale, std::uint32_t visible, std::uint32_t count,
            std::uint32_t width, float* acc, float* maximum, float* sum) {
  float top = highest(row, visible) * scale;
  top = visible > 0 && top > *maximum ? top : *maximum;
  const float total = exponentiate(row, scale, visible, top);
  const std::uint32_t written = (visible + kPanel - 1) / kPanel * kLanes;
  for (std::uint32_t j = written; j < (count + 1) / 2; ++j) row[j] = 0.0f;
  if (top != *maximum) {
    const __m512 difference = _mm512_set1_ps(*maximum - top);
    const __m512 shrink = exp2_rough(_mm512_max_ps(difference, _mm512_set1_ps(-1000.0f)));
    *sum *= _mm512_cvtss_f32(shrink);
    for (std::uint32_t c = 0; c < width; c += kLanes) {
      _mm512_storeu_ps(acc + c, _mm512_loadu_ps(acc + c) * shrink);
    }
  }
  *sum += total;
  *maximum = top;
}

void weigh(const float* weights, std::uint32_t rows, const float* values, std::uint32_t count,
           std::uint32_t width, std::uint64_t column, float* acc) {
  for (std::uint32_t c = 0; c < width; c += kPanel, values += column) {
    for (std::uint32_t i = 0; i < rows; i += kRows) {
      multiply<true>(weights + i * kKeyBlock, kKeyBlock, values, kPanel, (count + 1) / 2,
                     acc + i * static_cast<std::uint64_t>(width) + c, width);
    }
  }
}

void finish(const float* acc, float sum, std::uint32_t head_dim, void* out) {
  Bf16* to = static_cast<Bf16*>(out);
  const float scale = 1.0f / sum;
  for (std::uint32_t i = 0; i < head_dim; ++i) store(to[i], acc[i] * scale);
}

}  // namespace

extern const TileKernels kTileKernelsBf16;
const TileKernels kTileKernelsBf16 = {kPanel,      kRows,  2,      load_query, pack_keys,
                                      pack_values, scores, soften, weigh,      finish};

}  // namespace kvroof::avx512_bf16
