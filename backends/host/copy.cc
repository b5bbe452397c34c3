// SPDX-License-Identifier: Apache-2.0
// Specification: memcpy(to, from, bytes).
#include "backends/host/copy.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>

namespace kvroof::host {
namespace {

constexpr std::uint64_t kLineBytes = 64;
// Below this, write-combining costs more than the cache lines that it saves.
constexpr std::uint64_t kLeastStreamed = 2048;

// Each copies whole lines to an aligned destination.
using StreamLines = void (*)(std::byte* to, const std::byte* from, std::uint64_t bytes);

void stream_sse2(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) {
    for (std::uint64_t lane = at; lane < at + kLineBytes; lane += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + lane),
                       _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + lane)));
    }
  }
}

__attribute__((target("avx2"))) void stream_avx2(std::byte* to, const std::byte* from,
                                                 std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) {
    const auto* in = reinterpret_cast<const __m256i*>(from + at);
    auto* out = reinterpret_cast<__m256i*>(to + at);
    const __m256i low = _mm256_loadu_si256(in), high = _mm256_loadu_si256(in + 1);
    _mm256_stream_si256(out, low);
    _mm256_stream_si256(out + 1, high);
  }
}

__attribute__((target("avx512f"))) void stream_avx512(std::byte* to, const std::byte* from,
                                                      std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kLineBytes) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to + at), _mm512_loadu_si512(from + at));
  }
}

StreamLines best_for_this_cpu() {
  if (__builtin_cpu_supports("avx512f")) return stream_avx512;
  if (__builtin_cpu_supports("avx2")) return stream_avx2;
  return stream_sse2;
}

}  // namespace

void stream_copy(std::byte* to, const std::byte* from, std::uint64_t bytes) {
  static const StreamLines stream = best_for_this_cpu();
  if (bytes == 0) return;  // then either address may be null, which memcpy must not see
  if (bytes < kLeastStreamed) {
    std::memcpy(to, from, bytes);
    return;
  }
  const std::uint64_t head = -reinterpret_cast<std::uintptr_t>(to) % kLineBytes;
  const std::uint64_t body = (bytes - head) / kLineBytes * kLineBytes;
  std::memcpy(to, from, head);
  stream(to + head, from + head, body);
  std::memcpy(to + head + body, from + head + body, bytes - head - body);
  _mm_sfence();  // streamed stores are weakly ordered: a lock released after them does not cover
                 // them
}

}  // namespace kvroof::host
