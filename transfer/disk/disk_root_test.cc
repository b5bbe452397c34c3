// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/disk_root.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "backends/conformance/scratch.h"

namespace kvroof {
namespace {

using conformance::Scratch;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string refusal(const std::string& path) {
  const auto root = open_disk_root(path);
  return root ? "" : root.status().text;
}

std::size_t entries_in(const fs::path& path) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(path), {}));
}

mode_t mode_of(const fs::path& path) {
  struct stat facts {};
  EXPECT_EQ(::lstat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

TEST(DiskRoot, IsLaidOutForItsOwnerAlone) {
  const Scratch scratch;
  fs::create_directory(scratch / "lost+found");
  ASSERT_EQ(refusal(scratch.path().string()), "");
  EXPECT_EQ(scratch.contents("kvroof-disk-tier"), "kvroof disk tier, format 2\n");
  EXPECT_EQ(mode_of(scratch / "kvroof-disk-tier"), 0600u);
  EXPECT_EQ(entries_in(scratch.path()), 256u + 3);
  for (const char* const name : {"tmp", "00", "9f", "ff"})
    EXPECT_EQ(mode_of(scratch / name), 0700u);
}

TEST(DiskRoot, IsOpenedAgain) {
  const Scratch scratch;
  ASSERT_EQ(refusal(scratch.path().string()), "");
  scratch.put("somebody-elses", "text");
  EXPECT_EQ(refusal(scratch.path().string() + "//"), "");
  EXPECT_EQ(scratch.contents("somebody-elses"), "text");
}

TEST(DiskRoot, MustBeADirectory) {
  const Scratch scratch;
  scratch.put("file", "");
  fs::create_directory(scratch / "real");
  fs::create_directory_symlink(scratch / "real", scratch / "link");
  EXPECT_THAT(refusal(scratch / "missing"), HasSubstr("missing does not exist"));
  EXPECT_THAT(refusal(scratch / "file"), HasSubstr("file is no directory"));
  EXPECT_THAT(refusal(scratch / "link"), HasSubstr("link is a symbolic link"));
  EXPECT_THAT(refusal(scratch / "link/"), HasSubstr("link is a symbolic link"));
  EXPECT_EQ(entries_in(scratch / "real"), 0u);
}

TEST(DiskRoot, IsNotInMemory) {
  struct statfs facts {};
  if (::statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC) {
    GTEST_SKIP() << "/dev/shm is no tmpfs here";
  }
  EXPECT_THAT(refusal("/dev/shm"), HasSubstr("/dev/shm is on tmpfs, which keeps files in memory"));
}

TEST(DiskRoot, OfOtherFilesIsLeftAsItIs) {
  const Scratch scratch;
  scratch.put("thesis", "text");
  EXPECT_THAT(refusal(scratch.path().string()),
              HasSubstr("holds files that are not a disk tier's"));
  EXPECT_EQ(entries_in(scratch.path()), 1u);
  EXPECT_EQ(scratch.contents("thesis"), "text");
}

TEST(DiskRoot, OfAnotherFormatIsLeftAsItIs) {
  for (const char* const text :
       {"kvroof disk tier, format 1\n", "kvroof disk tier, format 2\n\n"}) {
    const Scratch scratch;
    scratch.put("kvroof-disk-tier", text);
    EXPECT_THAT(refusal(scratch.path().string()), HasSubstr("holds another format"));
    EXPECT_EQ(entries_in(scratch.path()), 1u);
    EXPECT_EQ(scratch.contents("kvroof-disk-tier"), text);
  }
}

TEST(DiskRoot, GetsItsMarkerAgainWhereThatWasCutShort) {
  for (const char* const text : {"", "kvroof disk"}) {
    const Scratch scratch;
    scratch.put("kvroof-disk-tier", text);
    EXPECT_EQ(refusal(scratch.path().string()), "");
    EXPECT_EQ(scratch.contents("kvroof-disk-tier"), "kvroof disk tier, format 2\n");
  }
}

TEST(DiskRoot, HasNoLinkOrFileForASubDirectory) {
  const Scratch scratch, elsewhere;
  ASSERT_EQ(refusal(scratch.path().string()), "");
  fs::remove(scratch / "5f");
  fs::create_directory_symlink(elsewhere.path(), scratch / "5f");
  EXPECT_THAT(refusal(scratch.path().string()), HasSubstr("holds 5f, which must be a directory"));
}

// The superuser writes everywhere, so that the test becomes nobody where it is he.
TEST(DiskRoot, MustBeWritable) {
  const Scratch scratch;
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0555), 0);
  const bool superuser = ::geteuid() == 0;
  if (superuser) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const bool reachable = ::access(scratch.path().c_str(), F_OK) == 0;
  const std::string text = refusal(scratch.path().string());
  if (superuser) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(scratch.path().c_str(), 0700), 0);
  EXPECT_EQ(entries_in(scratch.path()), 0u);
  if (!reachable) GTEST_SKIP() << "nobody may not enter the build's folder";
  EXPECT_THAT(text, HasSubstr("The disk tier can't write to " + scratch.path().string()));
}

}  // namespace
}  // namespace kvroof
