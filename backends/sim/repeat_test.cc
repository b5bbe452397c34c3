// SPDX-License-Identifier: Apache-2.0
// Random programs over many lanes: a run repeats to the nanosecond, nothing is faster than the
// link, and what fences order is ordered.
#include <algorithm>
#include <random>

#include "backends/sim/sim_fixture.h"

namespace kvroof::sim {
namespace {

constexpr std::size_t kLanes = 6;
constexpr int kWorks = 400;
constexpr std::uint64_t kMost = 1'000'000;

struct Landed {
  std::size_t lane;
  Ticket ticket;
  Nanos begin, end;
  bool operator==(const Landed&) const = default;
};

struct Outcome {
  std::vector<Landed> landed;
  std::uint64_t bytes_in = 0, bytes_out = 0;
  bool fences_kept = true;
  Nanos end{};
};

class Program {
 public:
  explicit Program(unsigned seed) : random_(seed) {
    DeviceSpec spec;
    spec.profile_text = test_profile();
    device_ = std::move(*open(spec));
    onto_ = std::move(*device_->allocate({.kind = MemoryKind::device, .bytes = kMost}));
    host_ = std::move(*device_->allocate({.kind = MemoryKind::pinned, .bytes = kMost}));
    for (std::size_t i = 0; i < kLanes; ++i) {
      lanes_.push_back(std::move(*device_->open_queue(kind(i), Priority::normal)));
      last_.push_back(0);
      ends_.emplace_back(1);
    }
  }

  Outcome run() {
    for (int i = 0; i < kWorks; ++i) step();
    for (std::size_t lane = 0; lane < kLanes; ++lane) finish(lane);
    check_fences();
    outcome_.end = device_->now();
    return outcome_;
  }

 private:
  static QueueKind kind(std::size_t lane) {
    return lane % 3 == 0   ? QueueKind::copy_in
           : lane % 3 == 1 ? QueueKind::copy_out
                           : QueueKind::compute;
  }
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  void step() {
    const std::size_t lane = below(kLanes), other = below(kLanes);
    std::vector<Point> fences;
    if (last_[other] > 0) fences.push_back({lanes_[other].get(), 1 + below(last_[other])});
    const std::uint64_t bytes = 1 + below(kMost);
    const Span host{host_.get(), 0, bytes}, onto{onto_.get(), 0, bytes};
    const bool in = kind(lane) == QueueKind::copy_in, out = kind(lane) == QueueKind::copy_out;
    const Region region{in ? host : onto, in ? onto : host};
    Work work{fences, Fill{onto, 1}};
    if (in || out) work.body = Regions{{&region, 1}, static_cast<CopyMethod>(below(3))};
    (in ? outcome_.bytes_in : outcome_.bytes_out) += in || out ? bytes : 0;
    last_[lane] = *lanes_[lane]->submit(work);
    for (const Point& fence : fences) waits_.push_back({lane, last_[lane], other, fence.ticket});
    if (below(10) == 0) (void)device_->wait_any({}, device_->now() + Nanos(below(50'000)));
  }

  void finish(std::size_t lane) {
    if (last_[lane] == 0) return;
    const Point point{lanes_[lane].get(), last_[lane]};
    EXPECT_TRUE(device_->wait_any({&point, 1}, Nanos::max()).ok());
    std::vector<Completion> done(kWorks);
    done.resize(*lanes_[lane]->reap(done));
    EXPECT_EQ(done.size(), last_[lane]);
    for (const Completion& each : done) {
      EXPECT_TRUE(each.status.ok());
      outcome_.landed.push_back({lane, each.ticket, each.interval->begin, each.interval->end});
      ends_[lane].push_back(each.interval->end);
    }
  }

  struct Wait {
    std::size_t lane;
    Ticket ticket;
    std::size_t other;
    Ticket before;
  };
  void check_fences() {
    for (const Landed& landed : outcome_.landed) {
      for (const Wait& wait : waits_) {
        if (wait.lane != landed.lane || wait.ticket != landed.ticket) continue;
        outcome_.fences_kept =
            outcome_.fences_kept && ends_[wait.other][wait.before] <= landed.begin;
      }
    }
  }

  std::mt19937 random_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Buffer> onto_, host_;
  std::vector<std::unique_ptr<Queue>> lanes_;
  std::vector<Ticket> last_;
  std::vector<std::vector<Nanos>> ends_;  // by lane and ticket
  std::vector<Wait> waits_;
  Outcome outcome_;
};

class RandomPrograms : public testing::TestWithParam<unsigned> {};

TEST_P(RandomPrograms, RepeatKeepTheirFencesAndStayWithinTheLink) {
  const Outcome first = Program(GetParam()).run(), second = Program(GetParam()).run();
  EXPECT_EQ(first.landed, second.landed);
  EXPECT_TRUE(first.fences_kept);
  const double seconds = static_cast<double>(first.end.count()) * 1e-9;
  EXPECT_LE(static_cast<double>(first.bytes_in), 10e9 * seconds);
  EXPECT_LE(static_cast<double>(first.bytes_out), 10e9 * seconds);
  EXPECT_LE(static_cast<double>(first.bytes_in + first.bytes_out), 16e9 * seconds);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range(1U, 9U));

}  // namespace
}  // namespace kvroof::sim
