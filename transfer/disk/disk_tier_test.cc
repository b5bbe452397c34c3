// SPDX-License-Identifier: Apache-2.0
#include "transfer/disk/disk_tier.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <csignal>
#include <fstream>

#include "transfer/disk/test_disk_rig.h"

namespace kvroof {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

// So many seconds older than it is.
void age(const fs::path& path, int seconds) {
  fs::last_write_time(path, fs::last_write_time(path) - std::chrono::seconds(seconds));
}

void flip_bit(const fs::path& path, std::uint64_t byte) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(byte));
  const auto was = static_cast<char>(file.get());
  file.seekp(static_cast<std::streamoff>(byte));
  file.put(static_cast<char>(was ^ 4));
}

std::size_t temporaries(const DiskRig& rig) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(rig.scratch / "tmp"), fs::directory_iterator()));
}

// It fails, is gone from the disk, is not found again, and can be written anew.
void expect_miss(DiskRig& rig, DiskTier& tier, std::uint64_t n, const std::string& why) {
  const Status status = rig.read(tier, n);
  EXPECT_EQ(status.code, Code::failed);
  EXPECT_THAT(status.text, HasSubstr(why));
  EXPECT_FALSE(fs::exists(rig.file(n)));
  EXPECT_FALSE(tier.find(DiskRig::key(n)));
  EXPECT_TRUE(rig.write(tier, n).ok());
  EXPECT_TRUE(rig.read(tier, n).ok());
}

TEST(DiskTier, GivesBackWhatItWasGiven) {
  DiskRig rig;
  DiskTier tier = rig.open();
  EXPECT_FALSE(tier.find(DiskRig::key(1)));
  ASSERT_TRUE(rig.write(tier, 1).ok());
  ASSERT_TRUE(rig.write(tier, 2).ok());
  EXPECT_TRUE(rig.read(tier, 1).ok());
  EXPECT_TRUE(rig.read(tier, 2).ok());
  EXPECT_EQ(tier.bytes(), 2 * DiskRig::kFile);
  EXPECT_EQ(tier.counters().written_bytes, 2 * DiskRig::kFile);
  EXPECT_EQ(tier.counters().read_bytes, 2 * DiskRig::kFile);
  struct stat facts {};
  ASSERT_EQ(::lstat(rig.file(1).c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0600u);
  EXPECT_EQ(static_cast<std::uint64_t>(facts.st_size), DiskRig::kFile);
}

TEST(DiskTier, FindsNothingThatIsBeingWritten) {
  DiskRig rig;
  DiskTier tier = rig.open();
  const auto write = tier.begin_write(DiskRig::key(1));
  ASSERT_TRUE(write);
  EXPECT_FALSE(tier.find(DiskRig::key(1)));
  EXPECT_FALSE(tier.begin_read(DiskRig::key(1)));
  EXPECT_FALSE(tier.begin_write(DiskRig::key(1)));
  ASSERT_TRUE(rig.finish(tier, 1, *write).ok());
  EXPECT_TRUE(tier.find(DiskRig::key(1)));
  EXPECT_FALSE(tier.begin_write(DiskRig::key(1)));
}

TEST(DiskTier, CountsLeadingKeys) {
  DiskRig rig;
  DiskTier tier = rig.open();
  for (const std::uint64_t n : {1, 2, 4}) ASSERT_TRUE(rig.write(tier, n).ok());
  const std::vector<ChunkKey> keys{DiskRig::key(1), DiskRig::key(2), DiskRig::key(3),
                                   DiskRig::key(4)};
  EXPECT_EQ(tier.lookup(keys), 2u);
}

TEST(DiskTier, SurvivesARestart) {
  DiskRig rig;
  {
    DiskTier tier = rig.open();
    for (const std::uint64_t n : {1, 2, 3}) ASSERT_TRUE(rig.write(tier, n).ok());
  }
  DiskTier tier = rig.open();
  EXPECT_EQ(tier.chunks(), 3u);
  EXPECT_EQ(tier.bytes(), 3 * DiskRig::kFile);
  for (const std::uint64_t n : {1, 2, 3}) EXPECT_TRUE(rig.read(tier, n).ok());
  EXPECT_EQ(tier.counters().adopted, 0u);
}

TEST(DiskTier, KeepsItsBound) {
  DiskRig rig;
  DiskTier tier = rig.open(3);
  for (const std::uint64_t n : {1, 2, 3}) ASSERT_TRUE(rig.write(tier, n).ok());
  ASSERT_TRUE(rig.read(tier, 1).ok());
  ASSERT_TRUE(rig.write(tier, 4).ok());
  EXPECT_FALSE(fs::exists(rig.file(2)));  // the one unused for longest
  for (const std::uint64_t n : {1, 3, 4}) EXPECT_TRUE(fs::exists(rig.file(n))) << n;
  EXPECT_EQ(tier.bytes(), tier.max_bytes());
  EXPECT_EQ(tier.counters().evicted, 1u);
}

TEST(DiskTier, KeepsTheLastWrittenWhereARestartHasLessRoom) {
  DiskRig rig;
  {
    DiskTier tier = rig.open(4);
    for (const std::uint64_t n : {1, 2, 3, 4}) ASSERT_TRUE(rig.write(tier, n).ok());
  }
  age(rig.file(3), 30);
  age(rig.file(2), 20);
  age(rig.file(4), 10);
  DiskTier tier = rig.open(3);
  EXPECT_FALSE(fs::exists(rig.file(3)));
  EXPECT_EQ(tier.chunks(), 3u);
  ASSERT_TRUE(rig.write(tier, 5).ok());  // and the oldest of the rest goes next
  EXPECT_FALSE(fs::exists(rig.file(2)));
  EXPECT_TRUE(fs::exists(rig.file(4)));
  EXPECT_TRUE(fs::exists(rig.file(1)));
}

TEST(DiskTier, EvictsNothingThatIsRead) {
  DiskRig rig;
  DiskTier tier = rig.open(1);
  ASSERT_TRUE(rig.write(tier, 1).ok());
  const auto read = tier.begin_read(DiskRig::key(1));
  ASSERT_TRUE(read);
  EXPECT_FALSE(tier.begin_write(DiskRig::key(2)));
  EXPECT_EQ(tier.counters().refused, 1u);
  EXPECT_TRUE(tier.take_removals().empty());
  EXPECT_TRUE(tier.find(DiskRig::key(1)));
  EXPECT_TRUE(rig.finish(tier, *read).ok());
  EXPECT_TRUE(rig.write(tier, 2).ok());
  EXPECT_FALSE(fs::exists(rig.file(1)));
}

TEST(DiskTier, MissesWhatIsCutShort) {
  DiskRig rig;
  DiskTier tier = rig.open();
  constexpr std::uint64_t kHead = kChunkHeaderBytes;
  for (const std::uint64_t length : {std::uint64_t{0}, std::uint64_t{1}, kHead - 1, kHead,
                                     kHead + 1, DiskRig::kFile - 4096, DiskRig::kFile - 1}) {
    if (!tier.find(DiskRig::key(1))) {
      ASSERT_TRUE(rig.write(tier, 1).ok());
    }
    fs::resize_file(rig.file(1), length);
    expect_miss(rig, tier, 1, "it ends before");
  }
  EXPECT_EQ(tier.counters().failed_reads, 7u);
}

TEST(DiskTier, MissesWhatIsNotWhatWasWritten) {
  DiskRig rig;
  DiskTier tier = rig.open();
  ASSERT_TRUE(rig.write(tier, 1).ok());
  flip_bit(rig.file(1), 20);
  expect_miss(rig, tier, 1, "its header does not have its own checksum");
  flip_bit(rig.file(1), kChunkHeaderBytes + 5000);
  expect_miss(rig, tier, 1, "its data do not have the checksum");
  // Blocks that were allocated and never reached the disk.
  fs::resize_file(rig.file(1), 0);
  fs::resize_file(rig.file(1), DiskRig::kFile);
  expect_miss(rig, tier, 1, "it does not begin with a chunk's header");
  EXPECT_EQ(tier.counters().torn, 3u);
  EXPECT_EQ(tier.counters().foreign, 0u);
}

TEST(DiskTier, MissesAnotherKeysFileUnderThisName) {
  DiskRig rig;
  DiskTier tier = rig.open();
  ASSERT_TRUE(rig.write(tier, 1).ok());
  ASSERT_TRUE(rig.write(tier, 2).ok());
  fs::rename(rig.file(2), rig.file(1));
  expect_miss(rig, tier, 1, "it holds another key's chunk");
  EXPECT_EQ(tier.counters().foreign, 1u);
}

TEST(DiskTier, MissesAChunkOfAnotherRecord) {
  DiskRig rig;
  DiskTierConfig config = rig.config();
  {
    DiskTier tier = rig.open(config);
    ASSERT_TRUE(rig.write(tier, 1).ok());
  }
  config.record.high ^= 1;
  DiskTier tier = rig.open(config);
  expect_miss(rig, tier, 1, "it was computed under another compatibility record");
  EXPECT_EQ(tier.counters().foreign, 1u);
}

TEST(DiskTier, LeavesAloneWhatIsNoFileOfItsOwn) {
  DiskRig rig;
  {
    DiskTier tier = rig.open();
    for (const std::uint64_t n : {1, 2}) ASSERT_TRUE(rig.write(tier, n).ok());
  }
  fs::permissions(rig.file(1), fs::perms::group_write, fs::perm_options::add);
  fs::rename(rig.file(2), rig.scratch / "target");
  fs::create_symlink(rig.scratch / "target", rig.file(2));
  DiskTier tier = rig.open();
  EXPECT_EQ(tier.chunks(), 0u);
  for (const std::uint64_t n : {1, 2}) EXPECT_FALSE(tier.find(DiskRig::key(n))) << n;
  // Writing takes the name, not what a link leads to.
  ASSERT_TRUE(rig.write(tier, 2).ok());
  EXPECT_TRUE(rig.read(tier, 2).ok());
  EXPECT_FALSE(fs::is_symlink(rig.file(2)));
  EXPECT_TRUE(fs::exists(rig.scratch / "target"));
}

TEST(DiskTier, ReadsNoLinkThatTookAFilesPlace) {
  DiskRig rig;
  DiskTier tier = rig.open();
  ASSERT_TRUE(rig.write(tier, 1).ok());
  fs::rename(rig.file(1), rig.scratch / "target");
  fs::create_symlink(rig.scratch / "target", rig.file(1));
  expect_miss(rig, tier, 1, chunk_file_name(DiskRig::key(1)));
  EXPECT_TRUE(fs::exists(rig.scratch / "target"));
}

TEST(DiskTier, SharesItsDirectory) {
  DiskRig rig;
  DiskTier one = rig.open(), other = rig.open();
  ASSERT_TRUE(rig.write(one, 1).ok());
  EXPECT_TRUE(rig.read(other, 1).ok());
  EXPECT_EQ(other.counters().adopted, 1u);
  EXPECT_EQ(other.bytes(), DiskRig::kFile);
  ASSERT_TRUE(rig.write(one, 2).ok());
  ASSERT_TRUE(rig.write(other, 2).ok());  // over the same
  EXPECT_TRUE(rig.read(one, 2).ok());
  fs::remove(rig.file(1));  // as another process evicts it
  EXPECT_EQ(rig.read(one, 1).code, Code::failed);
  EXPECT_FALSE(one.find(DiskRig::key(1)));
}

TEST(DiskTier, EvictsForWhatAnotherProcessWrote) {
  DiskRig rig;
  DiskTier one = rig.open(2), other = rig.open(2);
  for (const std::uint64_t n : {1, 2}) ASSERT_TRUE(rig.write(one, n).ok());
  ASSERT_TRUE(rig.write(other, 3).ok());
  EXPECT_TRUE(rig.read(one, 3).ok());
  EXPECT_FALSE(fs::exists(rig.file(1)));
  EXPECT_EQ(one.bytes(), one.max_bytes());
}

TEST(DiskTier, RemovesTemporariesOfTheDeadAlone) {
  DiskRig rig;
  DiskTier living = rig.open();
  const auto write = living.begin_write(DiskRig::key(1));
  ASSERT_TRUE(write);
  rig.scratch.put(write->temporary, "half of it");
  const std::string dead = "tmp/" + std::string(32, 'a');
  for (const char* const end : {".lock", "-0.kv", "-12.kv"}) rig.scratch.put(dead + end, "");
  rig.scratch.put("tmp/notes", "somebody else's");
  const DiskTier tier = rig.open();
  EXPECT_TRUE(rig.scratch.has(write->temporary));
  EXPECT_TRUE(rig.scratch.has("tmp/notes"));
  for (const char* const end : {".lock", "-0.kv", "-12.kv"}) {
    EXPECT_FALSE(rig.scratch.has(dead + end)) << end;
  }
  EXPECT_EQ(temporaries(rig), 4u);  // two locks besides those two
}

TEST(DiskTier, LeavesNoLockBehind) {
  DiskRig rig;
  { const DiskTier tier = rig.open(); }
  EXPECT_EQ(temporaries(rig), 0u);
}

// A limit on a file's size fails a write where a full disk does.
TEST(DiskTier, CountsAWriteThatFails) {
  DiskRig rig;
  DiskTier tier = rig.open();
  rlimit was{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &was), 0);
  const auto signal_was = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit low{4096, was.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status status = rig.write(tier, 1);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &was), 0);
  (void)std::signal(SIGXFSZ, signal_was);
  EXPECT_EQ(status.code, Code::failed);
  EXPECT_THAT(status.text, HasSubstr(chunk_file_name(DiskRig::key(1))));
  EXPECT_EQ(tier.counters().failed_writes, 1u);
  EXPECT_FALSE(tier.find(DiskRig::key(1)));
  EXPECT_EQ(tier.bytes(), 0u);
  EXPECT_EQ(temporaries(rig), 1u);  // its lock
  EXPECT_TRUE(rig.write(tier, 1).ok());
}

TEST(DiskTier, BlamesNoFileForWorkThatDidNotRun) {
  DiskRig rig;
  DiskTier tier = rig.open();
  ASSERT_TRUE(rig.write(tier, 1).ok());
  const auto read = tier.begin_read(DiskRig::key(1));
  ASSERT_TRUE(read);
  EXPECT_EQ(tier.end_read(*read, {Code::aborted, "a fence failed"}, {}, {}).code, Code::aborted);
  EXPECT_TRUE(tier.take_removals().empty());
  EXPECT_TRUE(rig.read(tier, 1).ok());
}

TEST(DiskTier, RemovesASpoiltFileOnceForTwoReaders) {
  DiskRig rig;
  DiskTier tier = rig.open(1);
  ASSERT_TRUE(rig.write(tier, 1).ok());
  flip_bit(rig.file(1), kChunkHeaderBytes);
  const auto first = tier.begin_read(DiskRig::key(1)), second = tier.begin_read(DiskRig::key(1));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(rig.finish(tier, *first).code, Code::failed);
  EXPECT_FALSE(tier.begin_write(DiskRig::key(1)));  // its only slot is still read
  EXPECT_EQ(tier.end_read(*second, {Code::failed, "gone"}, {}, {}).code, Code::failed);
  EXPECT_TRUE(tier.take_removals().empty());
  EXPECT_TRUE(rig.write(tier, 1).ok());
  EXPECT_TRUE(rig.read(tier, 1).ok());
}

TEST(DiskTier, CountsFilesOfOtherSizesAndLetsThemGoFirst) {
  DiskRig rig;
  {
    DiskTier tier = rig.open();
    for (const std::uint64_t n : {1, 2, 3}) ASSERT_TRUE(rig.write(tier, n).ok());
  }
  fs::resize_file(rig.file(2), 2 * DiskRig::kFile);
  age(rig.file(1), 10);
  DiskTier tier = rig.open(4);
  EXPECT_EQ(tier.chunks(), 2u);
  EXPECT_EQ(tier.bytes(), tier.max_bytes());
  EXPECT_FALSE(tier.find(DiskRig::key(2)));
  ASSERT_TRUE(rig.write(tier, 4).ok());
  EXPECT_FALSE(fs::exists(rig.file(2)));
  EXPECT_TRUE(fs::exists(rig.file(1)));
  EXPECT_EQ(tier.bytes(), 3 * DiskRig::kFile);
}

TEST(DiskTier, WritesOverAFileOfAnotherSize) {
  DiskRig rig;
  {
    DiskTier tier = rig.open();
    ASSERT_TRUE(rig.write(tier, 1).ok());
  }
  fs::resize_file(rig.file(1), 100);
  DiskTier tier = rig.open(2);
  ASSERT_TRUE(rig.write(tier, 1).ok());
  ASSERT_TRUE(rig.write(tier, 2).ok());
  EXPECT_EQ(tier.bytes(), 2 * DiskRig::kFile);
  EXPECT_TRUE(rig.read(tier, 1).ok());
}

TEST(DiskTier, HasNoFilesWhereNothingIsBacked) {
  DiskRig rig;
  DiskTierConfig config = rig.config(1);
  config.backed = false;
  DiskTier tier = rig.open(config);
  const auto write = tier.begin_write(DiskRig::key(1));
  ASSERT_TRUE(write);
  EXPECT_TRUE(is_file_name(write->temporary));
  tier.end_write(*write, {});
  const auto read = tier.begin_read(DiskRig::key(1));
  ASSERT_TRUE(read);
  EXPECT_TRUE(tier.end_read(*read, {}, {}, {}).ok());
  ASSERT_TRUE(tier.begin_write(DiskRig::key(2)));
  EXPECT_EQ(tier.take_removals(), std::vector<std::string>{chunk_file_name(DiskRig::key(1))});
  EXPECT_TRUE(fs::is_empty(rig.scratch.path()));
}

TEST(DiskTier, NeedsRoomForAChunk) {
  const DiskRig rig;
  DiskTierConfig config = rig.config(1);
  config.bytes -= 1;
  const auto tier = DiskTier::open(config);
  EXPECT_EQ(tier.code(), Code::invalid);
  EXPECT_THAT(tier.status().text, HasSubstr("12287 bytes must hold between 1 and"));
  EXPECT_TRUE(fs::is_empty(rig.scratch.path()));
}

}  // namespace
}  // namespace kvroof
