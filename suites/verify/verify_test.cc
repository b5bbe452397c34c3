// SPDX-License-Identifier: Apache-2.0
// Each check passes on honest devices, and finds the bug that it is there for.
#include <gtest/gtest.h>

#include <algorithm>

#include "backends/faults/faulty_device.h"
#include "suites/serving/test_rig.h"
#include "suites/verify/verify_kind.h"

namespace kvroof {
namespace {

constexpr std::uint64_t kSeed = 3;

std::vector<Case> run(std::string_view check, const VerifySetup& setup) {
  const auto kinds = verify_kinds();
  const auto kind = std::ranges::find(kinds, check, &VerifyKind::name);
  if (kind != kinds.end()) return kind->run(setup);
  ADD_FAILURE() << "no check is called " << check;
  return {};
}

std::uint64_t count(const std::vector<Case>& cases, Outcome outcome) {
  return static_cast<std::uint64_t>(std::ranges::count(cases, outcome, &Case::outcome));
}

using OpenDevice = std::unique_ptr<Device> (*)();

struct Honest {
  const char* name;
  OpenDevice open;
};

struct VerifyHonestTest : testing::TestWithParam<Honest> {};

TEST_P(VerifyHonestTest, EveryCheckComparesSomethingAndFindsNothing) {
  const auto device = GetParam().open();
  for (const VerifyKind& kind : verify_kinds()) {
    const std::vector<Case> cases = kind.run({.device = *device, .shape = small_model()});
    EXPECT_FALSE(cases.empty()) << kind.name;
    for (const Case& one : cases) {
      ASSERT_EQ(one.outcome, Outcome::ok) << one.params << one.reason;
      ASSERT_EQ(one.metrics.size(), 1u);
      EXPECT_GT(*one.metrics.front().second.value, 0u) << kind.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, VerifyHonestTest,
                         testing::Values(Honest{"sim", open_simulator}, Honest{"host", open_host}),
                         [](const auto& tested) { return std::string(tested.param.name); });

Faults garbles(QueueKind kind) {
  Faults faults;
  faults.fault_of = [kind](QueueKind queue, Ticket) {
    return queue == kind ? Fault::silent_garbled : Fault::none;
  };
  return faults;
}

Faults unfenced(QueueKind kind) {
  Faults faults;
  (kind == QueueKind::copy_in ? faults.unfenced_in : faults.unfenced_out) = true;
  return faults;
}

struct Planted {
  const char *name, *check;
  Faults faults;
};

struct VerifyPlantedTest : testing::TestWithParam<Planted> {};

TEST_P(VerifyPlantedTest, TheBugIsFound) {
  FaultyDevice device(open_simulator(), GetParam().faults);
  const auto cases =
      run(GetParam().check, {.device = device, .shape = small_model(), .seed = kSeed});
  EXPECT_EQ(count(cases, Outcome::incorrect), cases.size());
  for (const Case& one : cases) EXPECT_FALSE(one.reason.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Bugs, VerifyPlantedTest,
    testing::Values(Planted{"a_load_that_garbles", "round_trip", garbles(QueueKind::copy_in)},
                    Planted{"a_store_that_garbles", "round_trip", garbles(QueueKind::copy_out)},
                    Planted{"stores_do_not_wait", "store_race", unfenced(QueueKind::copy_out)},
                    Planted{"loads_do_not_wait", "load_race", unfenced(QueueKind::copy_in)},
                    Planted{"a_store_at_preemption_does_not_wait", "preemption",
                            unfenced(QueueKind::copy_out)},
                    Planted{"loaded_kv_is_another", "logits", garbles(QueueKind::copy_in)}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST(Verify, AFieldThatIsNotPartOfTheKeyIsFound) {
  const auto device = open_simulator();
  const RecordFlip forgotten{"numerics", [](CompatibilityRecord&) {}};
  std::vector<RecordFlip> flips(record_flips().begin(), record_flips().end());
  flips.push_back(forgotten);
  const auto cases =
      run("compatibility", {.device = *device, .shape = small_model(), .flips = flips});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].outcome, Outcome::incorrect);
  EXPECT_NE(cases[0].reason.find("numerics"), std::string::npos);
}

TEST(Verify, CollisionsAreFoundWhereTokensAreNotChecked) {
  const auto device = open_simulator();
  const auto cases =
      run("collisions", {.device = *device, .shape = small_model(), .check_tokens = false});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].outcome, Outcome::incorrect);
}

TEST(Verify, AFlippedBitIsFoundWhereChecksumsAreNotCompared) {
  const auto device = open_simulator();
  const auto cases =
      run("checksums", {.device = *device, .shape = small_model(), .checks_sums = false});
  EXPECT_EQ(count(cases, Outcome::incorrect), 2u * 2 * 4);
}

// A host computes values, so what comes back wrong is seen in the logits alone.
TEST(Verify, LogitsOfLoadedKvAreCompared) {
  FaultyDevice device(open_host(), garbles(QueueKind::copy_in));
  const auto cases = run("logits", {.device = device, .shape = small_model(), .seed = kSeed});
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_NE(cases[0].outcome, Outcome::ok);
  EXPECT_FALSE(cases[0].reason.empty());
}

// A file that suffered nothing stands for one whose damage goes unseen.
TEST(Verify, ASpoiltFileThatIsServedIsFound) {
  const auto device = open_simulator();
  const FileDamage unseen{"data",
                          [](const std::filesystem::path&, const std::filesystem::path&) {}};
  const auto cases = run("files", {.device = *device,
                                   .shape = small_model(),
                                   .damages = {&unseen, 1},
                                   .other_record = {5, 6}});  // and so do another record's
  ASSERT_EQ(cases.size(), 2u);
  for (const Case& one : cases) EXPECT_EQ(one.outcome, Outcome::incorrect) << one.reason;
}

TEST(Verify, ACopyThatFailsIsNoProof) {
  Faults faults;
  faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::copy_in; };
  FaultyDevice device(open_simulator(), faults);
  const auto cases = run("round_trip", {.device = device, .shape = small_model()});
  EXPECT_EQ(count(cases, Outcome::failed), cases.size());
}

}  // namespace
}  // namespace kvroof
