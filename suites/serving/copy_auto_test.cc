// SPDX-License-Identifier: Apache-2.0
// Copying by the fastest way: what a calibration run finds on devices whose ways differ as planted,
// and what is said where a choice was not the best.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "suites/serving/copy_check.h"
#include "suites/serving/test_rig.h"

namespace kvroof {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kKiB = 1024, kMiB = 1024 * kKiB;

std::unique_ptr<Device> open_profile(const nlohmann::json& profile) {
  DeviceSpec spec;
  spec.adapter = "sim";
  spec.profile_text = profile.dump();
  return std::move(*sim::open(spec));
}

// Up to 16 KiB a region dma has 1 GB/s and kernels 9; from 64 KiB on it is 10 and 0.9. Nothing is
// batched.
std::unique_ptr<Device> open_two_ways() {
  auto profile = nlohmann::json::parse(sim::test_profile());
  for (const char* way : {"in", "out"}) {
    profile["copy"]["dma"][way]["points"] = {{16 * kKiB, 1e9}, {64 * kKiB, 10e9}};
    profile["copy"]["kernel"][way]["points"] = {{16 * kKiB, 9e9}, {64 * kKiB, 0.9e9}};
  }
  profile["copy"]["batch"] = nlohmann::json::object();
  return open_profile(profile);
}

const std::vector<double>& seconds_of(const CalibrationCell& cell, Direction direction,
                                      CopyPath path) {
  return cell.times.of(direction)[static_cast<std::size_t>(path)];
}

TEST(CopyCalibration, TimesEveryWayThatTheDeviceHasAndSaysWhyNotTheOthers) {
  const auto device = open_two_ways();
  const auto found = calibrate_copy(*device, 16);
  ASSERT_TRUE(found.ok()) << found.status().text;
  EXPECT_TRUE(found->virtual_time);
  ASSERT_GE(found->table.size(), 7u);
  for (const CalibrationCell& cell : found->table) {
    for (const Direction direction : {Direction::offload, Direction::load}) {
      for (const CopyPath path : {CopyPath::dma, CopyPath::kernel, CopyPath::staged}) {
        EXPECT_EQ(seconds_of(cell, direction, path).size(), 1u) << name(path);
      }
      EXPECT_TRUE(seconds_of(cell, direction, CopyPath::batch).empty());
    }
    EXPECT_NE(cell.times.unavailable[static_cast<std::size_t>(CopyPath::batch)], "");
  }
}

// One region a chunk leaves a gather nothing to win, so dma and kernel are alone: kernel where its
// rate is higher, dma from where that is.
TEST(CopyCalibration, ChangesItsWayWhereTheDevicesRatesCross) {
  const auto device = open_two_ways();
  const auto found = calibrate_copy(*device, 1);
  ASSERT_TRUE(found.ok()) << found.status().text;
  for (const Direction direction : {Direction::offload, Direction::load}) {
    EXPECT_EQ(found->choice.choose(direction, 512, 1), CopyPath::kernel);
    EXPECT_EQ(found->choice.choose(direction, 16 * kKiB, 16), CopyPath::kernel);
    EXPECT_EQ(found->choice.choose(direction, 64 * kKiB, 16), CopyPath::dma);
    EXPECT_EQ(found->choice.choose(direction, 64 * kMiB, 64), CopyPath::dma);
  }
}

// 10 GB/s at every size, and 1 us a region that only a gather saves.
TEST(CopyCalibration, GathersManySmallRegions) {
  auto profile = nlohmann::json::parse(sim::test_profile());
  for (const char* way : {"batch", "kernel"}) profile["copy"][way] = nlohmann::json::object();
  const auto device = open_profile(profile);
  const auto found = calibrate_copy(*device, 64);
  ASSERT_TRUE(found.ok()) << found.status().text;
  EXPECT_EQ(found->choice.choose(Direction::load, kKiB, 1024), CopyPath::staged);
  EXPECT_EQ(found->choice.choose(Direction::offload, kKiB, 1024), CopyPath::staged);
}

TEST(CopyCalibration, OnTheHostTimesSeveralPassesOnItsOwnClock) {
  const auto device = open_host();
  const auto found = calibrate_copy(*device, 4);
  ASSERT_TRUE(found.ok()) << found.status().text;
  EXPECT_FALSE(found->virtual_time);
  EXPECT_EQ(seconds_of(found->table.front(), Direction::load, CopyPath::dma).size(), 3u);
  const std::string& why =
      found->table.front().times.unavailable[static_cast<std::size_t>(CopyPath::batch)];
  EXPECT_THAT(why, HasSubstr("--copy dma"));
  EXPECT_FALSE(found->choice.may_take(Direction::load, CopyPath::batch));
}

TEST(CopyCalibration, ADeviceThatFailsIsNoReasonToTakeAnotherWay) {
  FaultyDevice device(open_simulator());
  device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::copy_in; };
  EXPECT_EQ(calibrate_copy(device, 16).code(), Code::failed);
}

struct Checked {
  explicit Checked(std::unique_ptr<Device> opened, CopyChoice choice) : device(std::move(opened)) {
    SessionSpec spec = spec_of(small_model(), 64, 1);
    spec.copy = std::move(choice);
    session = std::move(*Session::create(*device, small_model(), spec));
    const auto batch = RequestBatch::create(*session, 64, 1, 5);
    checked = check_copies(*session, *batch);
  }

  std::unique_ptr<Device> device;
  std::unique_ptr<Session> session;
  std::vector<CheckedChoice> checked;
};

CopyChoice always(CopyPath offload, CopyPath load) {
  return CopyChoice({{.direction = Direction::offload, .path = offload},
                     {.direction = Direction::load, .path = load}});
}

// Regions are of 2 KiB, where dma has a ninth of the kernel's rate.
TEST(CopyCheck, SaysByHowMuchAWayWasWorseThanTheBest) {
  const Checked rig(open_two_ways(), always(CopyPath::kernel, CopyPath::dma));
  ASSERT_EQ(rig.checked.size(), 2u);
  const CheckedChoice &offload = rig.checked[0], &load = rig.checked[1];
  EXPECT_EQ(load.region_bytes, 2 * kKiB);
  EXPECT_EQ(load.regions, 16u);
  EXPECT_EQ(load.taken, CopyPath::dma);
  EXPECT_EQ(offload.taken, CopyPath::kernel);
  const auto best = fastest(load.times, Direction::load);
  ASSERT_TRUE(best.has_value());
  EXPECT_NE(*best, CopyPath::dma);
  const auto& seconds = load.times.load;
  EXPECT_NEAR(worse_by(load), seconds[0][0] / seconds[static_cast<std::size_t>(*best)][0] - 1,
              1e-9);
  EXPECT_GT(worse_by(load), 0.1);
}

TEST(CopyCheck, TheBestWayIsWorseByNothing) {
  const Checked found(open_two_ways(), always(CopyPath::dma, CopyPath::dma));
  const auto best = fastest(found.checked[1].times, Direction::load);
  ASSERT_TRUE(best.has_value());
  const Checked rig(open_two_ways(), always(*best, *best));
  EXPECT_EQ(worse_by(rig.checked[1]), 0);
  const auto calibrated = calibrate_copy(*rig.device, 2);
  ASSERT_TRUE(calibrated.ok());
  const Json json = copy_auto_json(*calibrated, rig.checked);
  EXPECT_EQ(json["source"], "profile");
  EXPECT_EQ(json["choices"][1]["taken"], name(*best));
  EXPECT_EQ(json["choices"][1]["fastest"], name(*best));
  EXPECT_EQ(json["choices"][1]["worse_by"], 0);
  EXPECT_TRUE(json["unavailable"].contains("batch"));
}

TEST(CopyCheck, WhatCouldNotBeTimedSaysWhy) {
  SessionSpec spec = spec_of(small_model(), 64, 1);
  spec.copy = always(CopyPath::dma, CopyPath::dma);
  FaultyDevice device(open_simulator());
  const auto session = Session::create(device, small_model(), spec);
  ASSERT_TRUE(session.ok());
  const auto batch = RequestBatch::create(**session, 64, 1, 5);
  device.faults.fails = [](QueueKind kind, Ticket) { return kind == QueueKind::copy_in; };
  const auto checked = check_copies(**session, *batch);
  ASSERT_EQ(checked.size(), 2u);
  EXPECT_NE(checked[0].unchecked, "");
  const auto calibrated = calibrate_copy(*open_simulator(), 2);
  const Json json = copy_auto_json(*calibrated, checked);
  EXPECT_EQ(json["choices"][0]["unchecked"], checked[0].unchecked);
  EXPECT_FALSE(json["choices"][0].contains("worse_by"));
}

}  // namespace
}  // namespace kvroof
