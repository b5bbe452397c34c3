// SPDX-License-Identifier: Apache-2.0
#include "suites/harness/system_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "suites/harness/provenance.h"
#include "suites/harness/wall_clock.h"

namespace kvroof {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::MatchesRegex;

class SystemInfoTest : public testing::Test {
 protected:
  SystemInfoTest() {
    std::string name = (fs::temp_directory_path() / "kvroof-root-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~SystemInfoTest() override { fs::remove_all(root_); }
  void put(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  fs::path root_;
};

TEST_F(SystemInfoTest, ReadsATwoSocketServer) {
  put("proc/cpuinfo",
      "processor\t: 0\nmodel name\t: Fast CPU 9000\nflags\t\t: fpu avx2 avx512f hypervisor\n");
  put("proc/meminfo",
      "MemTotal:       1024 kB\nHugePages_Total:       3\nHugepagesize:       2048 kB\n");
  put("proc/loadavg", "1.25 0.5 0.1 1/100 4242\n");
  put("etc/os-release", "NAME=\"X\"\nPRETTY_NAME=\"Some Linux 12\"\n");
  put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  put("sys/kernel/iommu_groups/0/type", "DMA\n");
  put("sys/kernel/iommu_groups/1/type", "DMA\n");
  put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
  for (int cpu = 0; cpu < 8; ++cpu) {  // two sockets of two cores of two threads
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    put(folder + "physical_package_id", std::to_string(cpu / 4) + "\n");
    put(folder + "core_id", std::to_string(cpu / 2 % 2) + "\n");
  }
  put("sys/devices/system/node/node0/meminfo", "Node 0 MemTotal:  600 kB\n");
  put("sys/devices/system/node/node1/meminfo", "Node 1 MemTotal:  424 kB\n");

  const SystemInfo info = read_system_info(root_);
  EXPECT_EQ(info.cpu, "Fast CPU 9000");
  EXPECT_EQ(info.sockets, 2);
  EXPECT_EQ(info.cores, 4);
  EXPECT_EQ(info.threads, 8);
  EXPECT_THAT(info.isa, ElementsAre("avx2", "avx512f"));
  EXPECT_EQ(info.virtualised, true);
  EXPECT_EQ(info.memory_bytes, 1024 * 1024);
  EXPECT_THAT(info.numa_node_bytes, ElementsAre(600 * 1024, 424 * 1024));
  EXPECT_EQ(info.distribution, "Some Linux 12");
  EXPECT_EQ(info.governor, "performance");
  EXPECT_EQ(info.transparent_huge_pages, "madvise");
  EXPECT_EQ(info.huge_page_bytes, 2u << 20);
  EXPECT_EQ(info.huge_pages, 3);
  EXPECT_EQ(info.iommu_groups, 2);
  EXPECT_EQ(info.load_average_1min, 1.25);
}

TEST_F(SystemInfoTest, SaysWhatTheSystemDoesNotTell) {
  const SystemInfo info = read_system_info(root_);
  EXPECT_EQ(info.cpu, "unknown");
  EXPECT_EQ(info.threads, 0);
  EXPECT_FALSE(info.virtualised);
  EXPECT_EQ(info.memory_bytes, 0);
  EXPECT_TRUE(info.numa_node_bytes.empty());
  EXPECT_EQ(info.distribution, "unknown");
  EXPECT_EQ(info.governor, "not exposed");
  EXPECT_EQ(info.transparent_huge_pages, "unknown");
  EXPECT_FALSE(system_json(info).contains("virtualised"));
}

TEST(SystemInfo, OfThisMachineHasTheFactsThatEveryLinuxTells) {
  const SystemInfo info = read_system_info();
  EXPECT_GE(info.threads, 1);
  EXPECT_GE(info.threads_allowed, 1);
  EXPECT_GT(info.memory_bytes, 64u << 20);
  EXPECT_NE(info.kernel, "unknown");
}

TEST(SystemJson, WritesAnUnlimitedMemlockAsAWord) {
  SystemInfo info;
  info.memlock_bytes = UINT64_MAX;
  EXPECT_EQ(system_json(info)["memlock_bytes"], "unlimited");
  info.memlock_bytes = 8 << 20;
  EXPECT_EQ(system_json(info)["memlock_bytes"], 8 << 20);
}

TEST(ToolJson, HasTheCommitOrSaysThatItIsUnknown) {
  const Json tool = tool_json();
  EXPECT_THAT(tool["commit"].get<std::string>(),
              testing::AnyOf("unknown", MatchesRegex("[0-9a-f]{40}")));
  EXPECT_TRUE(tool["dirty"].is_boolean());
  EXPECT_THAT(tool["version"].get<std::string>(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
  EXPECT_FALSE(tool["build"]["type"].get<std::string>().empty());
}

TEST(UtcNow, IsAnIsoTime) {
  EXPECT_THAT(utc_now(), MatchesRegex("20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9:]{8}Z"));
}

}  // namespace
}  // namespace kvroof
