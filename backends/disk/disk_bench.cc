// SPDX-License-Identifier: Apache-2.0
// What the host's disk queues reach: files of a 4096-byte header and 2 MiB of data, written under a
// temporary name and renamed, or read, 32 at a time past the page cache, without any sync. In the
// directory that KVROOF_BENCH_DIR names, else the current one; scripts/disk_ratio.py sets it beside
// fio.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "backends/host/adapter.h"
#include "backends/registry/device_spec.h"

namespace kvroof::disk {
namespace {

constexpr std::uint64_t kHeader = 4096, kData = 2 << 20;
constexpr unsigned kFiles = 256, kSlots = 64;

std::filesystem::path make_directory() {
  const char* const parent = std::getenv("KVROOF_BENCH_DIR");
  std::string name = (std::filesystem::path(parent ? parent : ".") / "disk-bench-XXXXXX").string();
  return ::mkdtemp(name.data());
}

class Files {
 public:
  explicit Files(QueueKind kind)
      : path_(make_directory()),
        directory_(UniqueFd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY)), path_.string()),
        device_(std::move(*host::open({"host", "", {}, ""}))),
        headers_(std::move(*device_->allocate({MemoryKind::pinned, kSlots * kHeader}))),
        data_(std::move(*device_->allocate({MemoryKind::pinned, kSlots * kData}))),
        lane_(std::move(*device_->open_queue(kind, Priority::normal))) {
    for (Buffer* each : {headers_.get(), data_.get()}) fill(each->host());
  }
  ~Files() { std::filesystem::remove_all(path_); }
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // Seconds from the first submission to the last completion; below zero where any failed.
  double pass() {
    const auto begin = std::chrono::steady_clock::now();
    bool good = true;
    for (unsigned i = 0; i < kFiles; ++i) {
      if (i >= kSlots) good = take_one() && good;  // its slot is free then
      const Ticket ticket = submit(i);
      good = good && ticket > 0;
    }
    for (unsigned i = 0; i < kSlots; ++i) good = take_one() && good;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    return good ? took.count() : -1;
  }

  void forget() {
    for (unsigned i = 0; i < kFiles; ++i) std::filesystem::remove(path_ / name(i));
  }

  void describe(benchmark::State& state) const {
    const DiskFacts facts = lane_->disk_facts();
    state.SetLabel(facts.engine + (facts.unregistered.empty() ? ", registered" : ", unregistered"));
    state.counters["direct_files"] = static_cast<double>(facts.direct_files);
    state.counters["buffered_files"] = static_cast<double>(facts.buffered_files);
  }

  void go_on_with(QueueKind kind) {
    lane_ = std::move(*device_->open_queue(kind, Priority::normal));
    last_ = 0;
  }

 private:
  // Bytes that nothing below can compress, as fio's are.
  static void fill(std::span<std::byte> bytes) {
    std::mt19937_64 random(1);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  }

  static std::string name(unsigned i) { return std::to_string(i) + ".kv"; }

  Ticket submit(unsigned i) {
    const unsigned slot = i % kSlots;
    const std::array<Span, 2> pieces{Span{headers_.get(), slot * kHeader, kHeader},
                                     Span{data_.get(), slot * kData, kData}};
    const std::string file = name(i), temporary = file + ".tmp";
    const bool reads = lane_->kind() == QueueKind::disk_read;
    const auto ticket = reads
                            ? lane_->submit({{}, ReadFile{&directory_, file, pieces}})
                            : lane_->submit({{}, WriteFile{&directory_, temporary, file, pieces}});
    return ticket ? *ticket : 0;
  }

  bool take_one() {
    const Point next{lane_.get(), ++last_};
    Completion done;
    return device_->wait_any({&next, 1}, Nanos::max()).ok() && *lane_->reap({&done, 1}) == 1 &&
           done.status.ok();
  }

  const std::filesystem::path path_;
  const Directory directory_;
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<Buffer> headers_, data_;
  std::unique_ptr<Queue> lane_;
  Ticket last_ = 0;
};

void report(benchmark::State& state, const Files& files, double seconds) {
  if (seconds <= 0) return state.SkipWithError("a file failed");
  state.SetIterationTime(seconds);
  state.counters["bytes_per_second"] = kFiles * (kHeader + kData) / seconds;
  files.describe(state);
}

void write(benchmark::State& state) {
  Files files(QueueKind::disk_write);
  for (auto _ : state) {
    report(state, files, files.pass());
    files.forget();
  }
}

void read(benchmark::State& state) {
  Files files(QueueKind::disk_write);
  if (files.pass() < 0) return state.SkipWithError("a file could not be written");
  files.go_on_with(QueueKind::disk_read);
  for (auto _ : state) report(state, files, files.pass());
}

BENCHMARK(write)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(read)->UseManualTime()->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace kvroof::disk

BENCHMARK_MAIN();
