// SPDX-License-Identifier: Apache-2.0
// Ops: spans that are too short are refused by every adapter; those that compute values compute
// these. (What each op computes at size is tested beside its kernel.)
#include <cstring>
#include <tuple>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"

namespace kvroof::conformance {
namespace {

template <class T>
std::unique_ptr<Buffer> upload(Rig& rig, const std::vector<T>& values) {
  auto buffer = rig.buffer(MemoryKind::device, values.size() * sizeof(T));
  rig.write(*buffer, 0, std::as_bytes(std::span(values)));
  return buffer;
}

template <class T>
std::vector<T> download(Rig& rig, Buffer& buffer) {
  const Bytes bytes = rig.read(buffer, 0, buffer.facts().bytes);
  std::vector<T> out(bytes.size() / sizeof(T));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

Status run(Rig& rig, const Op& op) {
  return rig.run(*rig.queue(QueueKind::compute), {.fences = {}, .body = op});
}

// Every op over spans of exactly the bytes that its shape needs, with a way to shorten each.
struct Shapes {
  // Of the ops that take some, so many sequences.
  explicit Shapes(Buffer& buffer, std::uint32_t sequences = 1)
      : buffer_(buffer), sequences_(sequences) {}

  Span span(std::uint64_t bytes) {
    const bool shorten = next_++ == shortened_;
    return {&buffer_, 0, shorten ? bytes - 1 : bytes};
  }

  Span each(std::uint64_t bytes) { return span(sequences_ * bytes); }

  PagedKv paged() {  // one block of 4 tokens: K at 0, V at 512
    return {.cache = {&buffer_, 0, 1024},
            .block_table = each(4),
            .k_offset = 0,
            .v_offset = 512,
            .block_stride = 1024,
            .token_stride = 128,
            .head_stride = 64,
            .block_tokens = 4,
            .kv_heads = 2,
            .head_dim = 16,
            .dtype = DType::f32};
  }

  // Op number `index` with its span number `shortened` too short by one byte.
  Op make(std::size_t index, int shortened) {
    shortened_ = shortened;
    next_ = 0;
    constexpr DType kF32 = DType::f32;
    constexpr NarrowRow kNarrow = {.vectors = 3, .width = 16, .wide = kF32, .narrow = DType::fp8};
    switch (index) {
      case 0:
        return Gemm{span(2 * 16 * 4), span(3 * 16 * 4), span(2 * 3 * 4), 2, 3, 16, kF32, kF32};
      case 1:
        return Attention{
            each(3 * 32 * 4), each(3 * 32 * 4), 32 * 4, paged(), 3, 1, 2, 0.25f, kF32, 0,
            sequences_};
      case 2:
        return Norm{span(128), span(128), span(64), span(128), 2, 16, 1e-5f, kF32};
      case 3:
        return RopeAppend{each(3 * 96 * 4), span(8 * 4), paged(), 3, 1, 2, kF32, sequences_};
      case 4:
        return Activation{span(2 * 32 * 4), span(2 * 16 * 4), 2, 16, kF32};
      case 5:
        return Embedding{span(8), span(5 * 64), span(2 * 64), 2, 16, 5, kF32};
      case 6:
        return Gather{span(64), span(8), span(128), 2, 64};
      case 7:
        return Scatter{span(128), span(8), span(64), 2, 64};
      case 8: {  // 2 heads of 4 + 2 and 3, latents of 6
        PagedKv latents = paged();
        latents.kv_heads = 1, latents.head_dim = 8, latents.head_stride = 32;
        return MlaAttention{each(3 * 2 * 6 * 4),
                            each(3 * 8 * 4),
                            span(2 * 7 * 6 * 4),
                            each(3 * 2 * 3 * 4),
                            latents,
                            3,
                            1,
                            2,
                            6,
                            4,
                            2,
                            3,
                            kF32,
                            sequences_};
      }
      case 9:
        return MixtureOfExperts{span(2 * 8 * 4),
                                span(2 * 3 * 4),
                                span(3 * 2 * 4 * 8 * 4),
                                span(3 * 8 * 4 * 4),
                                span(2 * 8 * 4),
                                2,
                                8,
                                4,
                                3,
                                2,
                                false,
                                kF32};
      case 10:
        return AllReduce{span(2 * 16 * 4), 2, 16, 2, kF32};
      case 11:
        return Quantise{span(3 * 16 * 4), span(8), span(2 * (3 * 16 + 3 * 4)), 2, kNarrow};
      case 12:
        return Dequantise{span(2 * (3 * 16 + 3 * 4)), span(8), span(3 * 16 * 4), 2, kNarrow};
      default:
        return Checksum{span(64), span(8), span(2 * 4 * 8), 2, 64, 4};
    }
  }
  int spans() const { return next_; }

 private:
  Buffer& buffer_;
  const std::uint32_t sequences_;
  int shortened_ = -1, next_ = 0;
};

void refuse_short_spans(Rig& rig, std::uint32_t sequences) {
  const auto buffer = rig.buffer(MemoryKind::device, kBytes);
  const auto compute = rig.queue(QueueKind::compute);
  Shapes shapes(*buffer, sequences);
  for (std::size_t op = 0; op < std::variant_size_v<Op>; ++op) {
    (void)shapes.make(op, -1);
    const int spans = shapes.spans();
    for (int i = 0; i < spans; ++i) {
      const bool takes = op == 6 || op == 11, puts = op == 7 || op == 12;
      if ((takes && i == 0) || (puts && i == 2)) continue;  // as many rows as there are
      rig.expect_refused(
          *compute, {.fences = {}, .body = shapes.make(op, i)}, Code::invalid,
          "op " + std::to_string(op) + " with span " + std::to_string(i) + " one byte short");
    }
  }
}

void ops_refuse_short_spans(Rig& rig) { refuse_short_spans(rig, 1); }
void spans_grow_with_sequences(Rig& rig) { refuse_short_spans(rig, 3); }

void no_sequences_are_refused(Rig& rig) {
  const auto buffer = rig.buffer(MemoryKind::device, kBytes);
  const auto compute = rig.queue(QueueKind::compute);
  Shapes shapes(*buffer);
  const auto expect = [&](auto op) {
    op.sequences = 0;
    rig.expect_refused(*compute, {.fences = {}, .body = Op{op}}, Code::invalid, "no sequences");
  };
  expect(std::get<Attention>(shapes.make(1, -1)));
  expect(std::get<RopeAppend>(shapes.make(3, -1)));
  expect(std::get<MlaAttention>(shapes.make(8, -1)));
}

void gather_takes_rows(Rig& rig) {
  const auto source = upload<std::int32_t>(rig, {10, 11, 20, 21, 30, 31});
  const auto index = upload<std::int32_t>(rig, {2, 0, 2, 1});
  const auto out = upload<std::int32_t>(rig, std::vector<std::int32_t>(8));
  require(run(rig, Gather{all(*source), all(*index), all(*out), 4, 8}).ok(), "gather failed");
  require(download<std::int32_t>(rig, *out) ==
              std::vector<std::int32_t>{30, 31, 10, 11, 30, 31, 20, 21},
          "gather's row i is the source's row index[i]");
}

void scatter_puts_rows(Rig& rig) {
  const auto source = upload<std::int32_t>(rig, {10, 11, 20, 21});
  const auto index = upload<std::int32_t>(rig, {2, 0});
  const auto out = upload<std::int32_t>(rig, {1, 2, 3, 4, 5, 6});
  require(run(rig, Scatter{all(*source), all(*index), all(*out), 2, 8}).ok(), "scatter failed");
  require(download<std::int32_t>(rig, *out) == std::vector<std::int32_t>{20, 21, 3, 4, 10, 11},
          "scatter's row index[i] is the source's row i, and no other changes");
}

// Two rows of two vectors of four, whose numbers and scales (448 / 448, 127 / 127) are exact.
struct NarrowCase {
  DType narrow;
  float largest;
  std::vector<std::uint8_t> numbers;  // of the largest, 2, -1 and 0
};
const NarrowCase kNarrowCases[] = {{DType::fp8, 448, {0x7e, 0x40, 0xb8, 0x00}},
                                   {DType::int8, 127, {0x7f, 0x02, 0xff, 0x00}}};

std::vector<std::uint8_t> narrow_row(const NarrowCase& c, const std::vector<float>& scales) {
  std::vector<std::uint8_t> row = c.numbers;
  row.insert(row.end(), c.numbers.begin(), c.numbers.end());
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(scales.data());
  row.insert(row.end(), bytes, bytes + scales.size() * sizeof(float));
  return row;
}

std::vector<float> wide_row(const NarrowCase& c, const std::vector<float>& scales) {
  std::vector<float> row;
  for (const float s : scales) row.insert(row.end(), {c.largest * s, 2 * s, -s, 0});
  return row;
}

template <class T>
std::vector<T> joined(std::vector<T> a, const std::vector<T>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void quantise_takes_rows_and_their_scales(Rig& rig) {
  for (const NarrowCase& c : kNarrowCases) {
    const NarrowRow row{2, 4, DType::f32, c.narrow};
    const auto source = upload(rig, joined(wide_row(c, {1, 2}), wide_row(c, {0.5f, 4})));
    const auto index = upload<std::int32_t>(rig, {1, 0});
    const auto out = upload(rig, std::vector<std::uint8_t>(2 * row.narrow_bytes()));
    require(run(rig, Quantise{all(*source), all(*index), all(*out), 2, row}).ok(),
            "quantise failed");
    require(download<std::uint8_t>(rig, *out) ==
                joined(narrow_row(c, {0.5f, 4}), narrow_row(c, {1, 2})),
            "quantise's row i is the source's row index[i]: its values, and then their scales");
  }
}

void dequantise_puts_rows(Rig& rig) {
  for (const NarrowCase& c : kNarrowCases) {
    const NarrowRow row{2, 4, DType::f32, c.narrow};
    const auto source = upload(rig, joined(narrow_row(c, {1, 2}), narrow_row(c, {0.5f, 4})));
    const auto index = upload<std::int32_t>(rig, {2, 0});
    const auto out = upload(rig, std::vector<float>(3 * 8, 7));
    require(run(rig, Dequantise{all(*source), all(*index), all(*out), 2, row}).ok(),
            "dequantise failed");
    require(
        download<float>(rig, *out) ==
            joined(joined(wide_row(c, {0.5f, 4}), std::vector<float>(8, 7)), wide_row(c, {1, 2})),
        "dequantise's row index[i] is the source's row i, and no other changes");
  }
}

// Of 0 to 7 and of 8 to 15, as bytes: XXH3_64 by the reference implementation.
void checksum_sums_parts_of_rows(Rig& rig) {
  constexpr std::uint64_t kLow = 0x3a1c2d7c85af88f8u, kHigh = 0x28a3052305d44b01u;
  std::vector<std::uint8_t> bytes(32);
  for (std::uint8_t i = 0; i < 16; ++i) bytes[i] = bytes[16 + (i + 8) % 16] = i;
  const auto source = upload(rig, bytes), index = upload<std::int32_t>(rig, {1, 0, 1});
  const auto out = upload(rig, std::vector<std::uint64_t>(6));
  require(run(rig, Checksum{all(*source), all(*index), all(*out), 3, 16, 2}).ok(),
          "checksum failed");
  require(download<std::uint64_t>(rig, *out) ==
              std::vector<std::uint64_t>{kHigh, kLow, kLow, kHigh, kHigh, kLow},
          "checksum gives XXH3_64 of each part of the rows that the index names");
  const auto two = upload(rig, std::vector<std::uint64_t>(2));
  require(run(rig, Checksum{all(*source), {}, all(*two), 2, 8, 1}).ok(), "without an index");
  require(download<std::uint64_t>(rig, *two) == std::vector<std::uint64_t>{kLow, kHigh},
          "rows are summed in order");
}

void a_row_outside_fails_and_writes_nothing(Rig& rig) {
  const NarrowRow row{1, 4, DType::bf16, DType::int8};
  const auto rows = upload(rig, std::vector<std::uint16_t>(2 * 4, 0x3f80));
  const auto narrow = upload(rig, std::vector<std::uint8_t>(2 * row.narrow_bytes(), 1));
  for (const std::int32_t bad : {2, -1}) {
    const auto index = upload<std::int32_t>(rig, {0, bad});
    const Op ops[] = {Quantise{all(*rows), all(*index), all(*narrow), 2, row},
                      Dequantise{all(*narrow), all(*index), all(*rows), 2, row},
                      Gather{all(*rows), all(*index), all(*narrow), 2, 8},
                      Scatter{all(*narrow), all(*index), all(*rows), 2, 8},
                      Checksum{all(*rows), all(*index), all(*narrow), 2, 8, 1}};
    for (const Op& op : ops) {
      require(run(rig, op).code == Code::failed, "an index outside fails what moves rows");
    }
  }
  require(download<std::uint16_t>(rig, *rows) == std::vector<std::uint16_t>(2 * 4, 0x3f80),
          "and nothing was put");
  require(
      download<std::uint8_t>(rig, *narrow) == std::vector<std::uint8_t>(2 * row.narrow_bytes(), 1),
      "nor taken");
}

void embedding_looks_up(Rig& rig) {
  const auto ids = upload<std::int32_t>(rig, {1, 0, 1});
  const auto table = upload<float>(rig, {1, 2, 3, 4});
  const auto out = upload<float>(rig, std::vector<float>(6));
  const Embedding op{all(*ids), all(*table), all(*out), 3, 2, 2, DType::f32};
  require(run(rig, op).ok(), "embedding failed");
  require(download<float>(rig, *out) == std::vector<float>{3, 4, 1, 2, 3, 4},
          "embedding's row t is the table's row ids[t]");
}

void gemm_multiplies_by_the_transpose(Rig& rig) {
  const auto a = upload<float>(rig, {1, 2, 3, 4, 5, 6});                    // 2 x 3
  const auto b = upload<float>(rig, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1});  // 4 x 3
  const auto c = upload<float>(rig, std::vector<float>(8));
  const Gemm op{all(*a), all(*b), all(*c), 2, 4, 3, DType::f32, DType::f32};
  require(run(rig, op).ok(), "gemm failed");
  require(download<float>(rig, *c) == std::vector<float>{1, 2, 3, 6, 4, 5, 6, 15},
          "c = a b^T, exactly so for small integers");
  const std::vector<float> twos(12, 2.0f);
  rig.write(*b, 0, std::as_bytes(std::span(twos)));
  require(run(rig, op).ok(), "gemm failed");
  require(download<float>(rig, *c) == std::vector<float>{12, 12, 12, 12, 30, 30, 30, 30},
          "weights that were written again are read again");
}

// Two sequences of two tokens behind three, whose rows and block tables lie in one buffer each,
// together and one by one.
void sequences_are_as_ops_of_their_own(Rig& rig) {
  constexpr std::uint32_t kTokens = 2, kPast = 3, kHeads = 2, kWidth = 4 * 4;  // q, q, k, v of 4
  std::vector<float> values(2 * kTokens * kWidth), past(4 * 4 * 8);  // four blocks of four tokens
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 13) - 6;
  for (std::size_t i = 0; i < past.size(); ++i) past[i] = static_cast<float>(i * 5 % 11) - 5;
  const auto frequency = upload<float>(rig, {1, 0.1f});
  const auto table = upload<std::int32_t>(rig, {2, 0, 3, 1});
  const auto compute = [&](std::uint32_t sequences) {
    const auto qkv = upload(rig, values), cache = upload(rig, past);
    const auto out = upload(rig, std::vector<float>(2 * kTokens * kHeads * 4));
    for (std::uint32_t first = 0; first < 2; first += sequences) {
      const auto part = [&](Buffer& buffer) {
        const std::uint64_t bytes = buffer.facts().bytes / 2;
        return Span{&buffer, first * bytes, sequences * bytes};
      };
      const PagedKv kv{all(*cache), part(*table), 0, 64, 128, 16, 16, 4, 1, 4, DType::f32};
      const Op ops[] = {RopeAppend{part(*qkv), all(*frequency), kv, kTokens, kPast, kHeads,
                                   DType::f32, sequences},
                        Attention{part(*qkv), part(*out), kWidth * 4, kv, kTokens, kPast, kHeads,
                                  0.5f, DType::f32, 0, sequences}};
      for (const Op& op : ops) require(run(rig, op).ok(), "an op of sequences failed");
    }
    return std::tuple(download<float>(rig, *qkv), download<float>(rig, *cache),
                      download<float>(rig, *out));
  };
  const auto together = compute(2), apart = compute(1);
  require(together == apart, "sequences of one op are as ops of their own");
  require(std::get<1>(together) != past, "and their k and v are in the cache");
}

void a_bad_index_fails_and_aborts(Rig& rig) {
  const auto source = upload<std::int32_t>(rig, {1, 2}), out = upload<std::int32_t>(rig, {0, 0});
  const auto compute = rig.queue(QueueKind::compute);
  for (const std::int32_t bad : {2, -1}) {
    const auto index = upload<std::int32_t>(rig, {0, bad});
    const auto lane = rig.queue(QueueKind::copy_out);
    const Op ops[] = {Gather{all(*source), all(*index), all(*out), 2, 4},
                      Scatter{all(*source), all(*index), all(*out), 2, 4},
                      Embedding{all(*index), all(*source), all(*out), 2, 1, 2, DType::f32}};
    for (const Op& op : ops) {
      const Point fence{compute.get(), rig.submit(*compute, {.fences = {}, .body = op})};
      require(rig.run(*lane, {.fences = {&fence, 1}, .body = Regions{}}).code == Code::aborted,
              "work fenced on an op that failed is aborted");
      const auto done = rig.drain(*compute, fence.ticket);
      require(done.back().status.code == Code::failed, "an index outside fails the op");
      require(!done.back().status.text.empty(), "and says what is wrong");
    }
  }
}

// residual += x, three times over; the norm's output doesn't matter here.
void a_run_repeats_its_ops_in_order(Rig& rig) {
  const auto x = upload<float>(rig, {1, 2, 3, 4}), residual = upload<float>(rig, {10, 20, 30, 40});
  const auto weight = upload<float>(rig, {1, 1, 1, 1}), out = upload<float>(rig, {0, 0, 0, 0});
  const Op add = Norm{all(*x), all(*residual), all(*weight), all(*out), 1, 4, 1e-5f, DType::f32};
  const auto compute = rig.queue(QueueKind::compute);
  require(rig.run(*compute, {.fences = {}, .body = OpRun{{&add, 1}, 3}}).ok(), "a run succeeds");
  require(download<float>(rig, *residual) == std::vector<float>{13, 26, 39, 52},
          "a run does its ops as often as it says");
}

void a_run_ends_at_its_first_failure(Rig& rig) {
  const auto table = upload<float>(rig, {1, 2}), out = upload<float>(rig, {0, 0});
  const auto good = upload<std::int32_t>(rig, {0, 1}), bad = upload<std::int32_t>(rig, {0, 9});
  const Op ops[] = {Embedding{all(*bad), all(*table), all(*out), 2, 1, 2, DType::f32},
                    Embedding{all(*good), all(*table), all(*out), 2, 1, 2, DType::f32}};
  const auto compute = rig.queue(QueueKind::compute);
  require(rig.run(*compute, {.fences = {}, .body = OpRun{ops, 1}}).code == Code::failed,
          "a run fails with its op");
  require(download<float>(rig, *out) == std::vector<float>{0, 0}, "and what follows does not run");
}

void runs_are_checked_like_their_ops(Rig& rig) {
  const auto buffer = rig.buffer(MemoryKind::device, 4096);
  const auto compute = rig.queue(QueueKind::compute), copies = rig.queue(QueueKind::copy_in);
  Shapes shapes(*buffer);
  const Op good = shapes.make(4, -1), bad = shapes.make(4, 0);
  const Op moves[] = {shapes.make(6, -1), shapes.make(7, -1), shapes.make(11, -1),
                      shapes.make(12, -1), shapes.make(13, -1)};
  const auto code = [](Queue& queue, const OpRun& run) {
    return queue.submit({.fences = {}, .body = run}).code();
  };
  require(code(*compute, {{}, 1}) == Code::invalid, "an empty run is refused");
  require(code(*compute, {{&good, 1}, 0}) == Code::invalid, "a run of no times is refused");
  require(code(*compute, {{&bad, 1}, 1}) == Code::invalid, "short spans are refused in a run too");
  for (const Op& op : moves) {
    require(code(*compute, {{&op, 1}, 1}) == Code::invalid, "rows are moved by ops of their own");
  }
  require(code(*copies, {{&good, 1}, 1}) == Code::invalid, "a run belongs on a compute queue");
}

constexpr Check kRefusals[] = {
    {"ops_refuse_short_spans", ops_refuse_short_spans},
    {"spans_grow_with_sequences", spans_grow_with_sequences},
    {"no_sequences_are_refused", no_sequences_are_refused},
    {"runs_are_checked_like_their_ops", runs_are_checked_like_their_ops}};

constexpr Check kRows[] = {
    {"gather_takes_rows", gather_takes_rows},
    {"scatter_puts_rows", scatter_puts_rows},
    {"quantise_takes_rows_and_their_scales", quantise_takes_rows_and_their_scales},
    {"dequantise_puts_rows", dequantise_puts_rows},
    {"checksum_sums_parts_of_rows", checksum_sums_parts_of_rows},
    {"a_row_outside_fails_and_writes_nothing", a_row_outside_fails_and_writes_nothing},
};

constexpr Check kValues[] = {
    {"embedding_looks_up", embedding_looks_up},
    {"gemm_multiplies_by_the_transpose", gemm_multiplies_by_the_transpose},
    {"sequences_are_as_ops_of_their_own", sequences_are_as_ops_of_their_own},
    {"a_run_repeats_its_ops_in_order", a_run_repeats_its_ops_in_order},
    {"a_run_ends_at_its_first_failure", a_run_ends_at_its_first_failure},
    {"a_bad_index_fails_and_aborts", a_bad_index_fails_and_aborts},
};

}  // namespace

std::span<const Check> op_checks() { return kRefusals; }
std::span<const Check> row_checks() { return kRows; }
std::span<const Check> value_checks() { return kValues; }

}  // namespace kvroof::conformance
