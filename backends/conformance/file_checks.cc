// SPDX-License-Identifier: Apache-2.0
// Disk queues write and read exactly the files that they are told to, and nothing else.
#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "backends/conformance/check.h"
#include "backends/conformance/rig.h"
#include "backends/conformance/scratch.h"

namespace kvroof::conformance {
namespace {

constexpr std::uint64_t kHeader = 4096, kData = 3 * 4096;
constexpr Gate kGate = 3;

// A header and its data, each in memory of its own.
struct Pieces {
  Pieces(Rig& rig, unsigned seed, std::uint64_t head = kHeader, std::uint64_t tail = kData)
      : first(rig.buffer(MemoryKind::pinned, head)),
        second(rig.buffer(MemoryKind::pageable, tail)),
        spans{all(*first), all(*second)} {
    const Bytes bytes = pattern(head + tail, seed);
    std::memcpy(first->host().data(), bytes.data(), head);
    std::memcpy(second->host().data(), bytes.data() + head, tail);
  }

  Bytes bytes() const {
    Bytes all_of(first->host().begin(), first->host().end());
    all_of.insert(all_of.end(), second->host().begin(), second->host().end());
    return all_of;
  }

  std::unique_ptr<Buffer> first, second;
  std::array<Span, 2> spans;
};

struct Disk {
  explicit Disk(Rig& target)
      : rig(target),
        reads(rig.queue(QueueKind::disk_read)),
        writes(rig.queue(QueueKind::disk_write)) {
    std::filesystem::create_directory(scratch / "aa");
  }

  Work write(std::string_view name, const Pieces& pieces, std::string_view temporary = "aa/t") {
    return {.fences = {}, .body = WriteFile{&scratch.directory, temporary, name, pieces.spans}};
  }
  Work read(std::string_view name, const Pieces& pieces) {
    return {.fences = {}, .body = ReadFile{&scratch.directory, name, pieces.spans}};
  }
  Work remove(std::string_view name) {
    return {.fences = {}, .body = RemoveFile{&scratch.directory, name}};
  }
  void must_write(std::string_view name, const Pieces& pieces) {
    const Status status = rig.run(*writes, write(name, pieces));
    require(status.ok(), "a write failed: " + status.text);
  }
  // What it says where a file can't be read, which it must.
  std::string refusal_to_read(std::string_view name) {
    const Pieces into(rig, 9);
    const Status status = rig.run(*reads, read(name, into));
    require(status.code == Code::failed, "reading " + std::string(name) + " must fail");
    require(status.text.find(scratch.path() / name) != std::string::npos, "and name the file");
    return status.text;
  }

  Rig& rig;
  const Scratch scratch;
  const std::unique_ptr<Queue> reads, writes;
};

void round_trip(Rig& rig, std::uint64_t head, std::uint64_t tail) {
  Disk disk(rig);
  const Pieces from(rig, 1, head, tail), into(rig, 2, head, tail);
  disk.must_write("aa/f.kv", from);
  const std::string file = disk.scratch.contents("aa/f.kv");
  const Bytes expected = from.bytes();
  require(file.size() == expected.size(), "the file has all bytes and no more");
  require(std::memcmp(file.data(), expected.data(), file.size()) == 0, "the file has the bytes");
  require(!disk.scratch.has("aa/t"), "the temporary name is gone");
  const Status status = rig.run(*disk.reads, disk.read("aa/f.kv", into));
  require(status.ok(), "a read failed: " + status.text);
  require(into.bytes() == expected, "what was written is read");
}

void an_aligned_file_round_trip(Rig& rig) { round_trip(rig, kHeader, kData); }

void an_unaligned_file_round_trip(Rig& rig) { round_trip(rig, 77, kBytes + 1); }

void files_are_their_owners_alone(Rig& rig) {
  Disk disk(rig);
  disk.must_write("f.kv", Pieces(rig, 1));
  const auto mode = std::filesystem::status(disk.scratch / "f.kv").permissions();
  using std::filesystem::perms;
  require(mode == (perms::owner_read | perms::owner_write), "a file's mode is 0600");
}

void many_files_at_once(Rig& rig) {
  constexpr unsigned kFiles = 100;
  Disk disk(rig);
  std::vector<std::unique_ptr<Pieces>> files, back;
  for (unsigned i = 0; i < kFiles; ++i) {
    files.push_back(std::make_unique<Pieces>(rig, i));
    back.push_back(std::make_unique<Pieces>(rig, i + kFiles));
  }
  std::vector<Point> written;
  for (unsigned i = 0; i < kFiles; ++i) {
    const std::string name = "aa/" + std::to_string(i), temporary = name + ".t";
    written.push_back(
        {disk.writes.get(), rig.submit(*disk.writes, disk.write(name, *files[i], temporary))});
  }
  Ticket last = 0;
  for (unsigned i = 0; i < kFiles; ++i) {
    const std::string name = "aa/" + std::to_string(i);
    Work work = disk.read(name, *back[i]);
    work.fences = {&written[i], 1};
    last = rig.submit(*disk.reads, work);
  }
  Ticket next = 1;
  for (const Completion& done : rig.drain(*disk.reads, last)) {
    require(done.ticket == next++, "completions come in ticket order");
    require(done.status.ok(), "a read failed: " + done.status.text);
  }
  for (unsigned i = 0; i < kFiles; ++i) {
    require(back[i]->bytes() == files[i]->bytes(), "each file has its own bytes");
  }
}

void a_missing_file_fails_alone(Rig& rig) {
  Disk disk(rig);
  require(disk.refusal_to_read("aa/none").find("No such file") != std::string::npos,
          "a missing file is said to be missing");
  disk.must_write("aa/f", Pieces(rig, 1));
  const Pieces into(rig, 2);
  require(rig.run(*disk.reads, disk.read("aa/f", into)).ok(), "the lane goes on");
}

void a_short_file_fails(Rig& rig) {
  Disk disk(rig);
  disk.must_write("aa/f", Pieces(rig, 1));
  for (const std::uint64_t bytes : {0ul, 1ul, 4095ul, 4096ul, kHeader + kData - 1}) {
    std::filesystem::resize_file(disk.scratch / "aa/f", bytes);
    disk.refusal_to_read("aa/f");
  }
}

void what_is_no_file_fails(Rig& rig) {
  Disk disk(rig);
  disk.must_write("aa/f", Pieces(rig, 1));
  std::filesystem::create_symlink("f", disk.scratch / "aa/link");
  std::filesystem::create_directory_symlink("aa", disk.scratch / "bb");
  std::filesystem::create_directory(disk.scratch / "aa/folder");
  for (const char* name : {"aa/link", "bb/f", "aa/folder"}) disk.refusal_to_read(name);
}

void a_write_does_not_follow_links(Rig& rig) {
  Disk disk(rig);
  const Scratch outside;
  std::filesystem::create_directory_symlink(outside.path(), disk.scratch / "bb");
  const Status status = rig.run(*disk.writes, disk.write("bb/f", Pieces(rig, 1), "bb/t"));
  require(status.code == Code::failed, "a sub-directory that is a link takes no file");
  require(!outside.has("f") && !outside.has("t"), "nothing was written outside");
  outside.put("victim", "precious");
  std::filesystem::create_symlink(outside / "victim", disk.scratch / "aa/f");
  disk.must_write("aa/f", Pieces(rig, 1));
  require(outside.contents("victim") == "precious", "a link is replaced, not followed");
}

void a_write_replaces_what_was_there(Rig& rig) {
  Disk disk(rig);
  const Pieces first(rig, 1), second(rig, 2, kHeader, 4096), into(rig, 3, kHeader, 4096);
  disk.must_write("aa/f", first);
  disk.must_write("aa/f", second);
  require(disk.scratch.contents("aa/f").size() == kHeader + 4096, "nothing is left of it");
  require(rig.run(*disk.reads, disk.read("aa/f", into)).ok(), "the new file is read");
  require(into.bytes() == second.bytes(), "and has the new bytes");
}

void a_failed_write_leaves_what_was_there(Rig& rig) {
  Disk disk(rig);
  const Pieces pieces(rig, 1);
  disk.scratch.put("aa/f", "before");
  disk.scratch.put("aa/t", "of another");
  require(rig.run(*disk.writes, disk.write("aa/f", pieces)).code == Code::failed,
          "a temporary name that is taken fails the write");
  require(disk.scratch.contents("aa/f") == "before", "the name keeps what it had");
  require(disk.scratch.contents("aa/t") == "of another", "and so does the other's temporary");
  std::filesystem::create_directory(disk.scratch / "aa/d");
  const Status status = rig.run(*disk.writes, disk.write("aa/d", pieces, "aa/u"));
  require(status.code == Code::failed, "a folder in its place fails the write");
  require(!disk.scratch.has("aa/u"), "a failed write leaves no temporary");
}

void a_removed_file_is_gone(Rig& rig) {
  Disk disk(rig);
  const Pieces first(rig, 1), second(rig, 2);
  disk.must_write("aa/f", first);
  require(rig.run(*disk.writes, disk.remove("aa/f")).ok(), "a file is removed");
  require(!disk.scratch.has("aa/f"), "it is gone");
  require(rig.run(*disk.writes, disk.remove("aa/f")).ok(), "removing nothing is no failure");
  rig.submit(*disk.writes, disk.remove("aa/f"));
  disk.must_write("aa/f", second);
  require(disk.scratch.has("aa/f"), "a removal does not reach what is written after it");
}

void a_write_waits_for_its_fence(Rig& rig) {
  Disk disk(rig);
  const Pieces pieces(rig, 1);
  const auto lane = rig.queue(QueueKind::copy_out);
  const auto there = rig.buffer(MemoryKind::device, kData);
  const Bytes fresh = pattern(kData, 5);
  rig.write(*there, 0, fresh);
  rig.submit(*lane, {.fences = {}, .body = Hold{kGate}});
  const Region leave{all(*there), all(*pieces.second)};
  const Point landed{lane.get(),
                     rig.submit(*lane, {.fences = {}, .body = Regions{.list = {&leave, 1}}})};
  Work work = disk.write("aa/f", pieces);
  work.fences = {&landed, 1};
  const Ticket written = rig.submit(*disk.writes, work);
  require(rig.still_open({disk.writes.get(), written}), "a write waits for its fence");
  require(!disk.scratch.has("aa/f"), "and nothing is there yet");
  require(rig.device.open_gate(kGate).ok(), "open_gate failed");
  require(rig.drain(*disk.writes, written).back().status.ok(), "then it is written");
  const std::string file = disk.scratch.contents("aa/f").substr(kHeader);
  require(std::memcmp(file.data(), fresh.data(), kData) == 0, "with what has landed before it");
}

void a_failed_read_aborts_what_waits(Rig& rig) {
  Disk disk(rig);
  const Pieces into(rig, 2);
  const auto there = rig.buffer(MemoryKind::device, kData);
  rig.write(*there, 0, Bytes(kData));
  const Point read{disk.reads.get(), rig.submit(*disk.reads, disk.read("aa/none", into))};
  const Region enter{all(*into.second), all(*there)};
  const auto lane = rig.queue(QueueKind::copy_in);
  const Status status =
      rig.run(*lane, {.fences = {&read, 1}, .body = Regions{.list = {&enter, 1}}});
  require(status.code == Code::aborted, "a copy of what could not be read is aborted");
  require(rig.read(*there, 0, kData) == Bytes(kData), "and moves nothing");
}

void a_file_may_be_fenced_on_its_own_lane(Rig& rig) {
  Disk disk(rig);
  const Pieces first(rig, 1), second(rig, 2);
  const Point before{disk.writes.get(), rig.submit(*disk.writes, disk.write("aa/f", first))};
  Work work = disk.write("aa/f", second);
  work.fences = {&before, 1};
  require(rig.run(*disk.writes, work).ok(), "the second write of a name");
  const std::string file = disk.scratch.contents("aa/f");
  const Bytes expected = second.bytes();
  require(
      file.size() == expected.size() && std::memcmp(file.data(), expected.data(), file.size()) == 0,
      "what is fenced comes last");
}

void disk_queues_hold_and_mark(Rig& rig) {
  Disk disk(rig);
  const Pieces pieces(rig, 1);
  const Ticket held = rig.submit(*disk.writes, {.fences = {}, .body = Hold{kGate}});
  const Ticket marker = rig.submit(*disk.writes, {.fences = {}, .body = Regions{}});
  const Ticket file = rig.submit(*disk.writes, disk.write("aa/f", pieces));
  require(rig.still_open({disk.writes.get(), held}), "a hold waits for its gate");
  require(!disk.scratch.has("aa/f"), "what is behind it has not run");
  require(rig.device.open_gate(kGate).ok(), "open_gate failed");
  const auto done = rig.drain(*disk.writes, file);
  require(done.size() == 3 && done[1].ticket == marker, "all of it completes in order");
}

void a_disk_queue_is_bounded(Rig& rig) {
  Disk disk(rig);
  rig.submit(*disk.reads, {.fences = {}, .body = Hold{kGate}});
  const std::uint64_t most = rig.device.info().max_open_tickets;
  for (std::uint64_t i = 1; i < most; ++i)
    rig.submit(*disk.reads, {.fences = {}, .body = Regions{}});
  rig.expect_refused(*disk.reads, {.fences = {}, .body = Regions{}}, Code::busy, "one too many");
  require(rig.device.open_gate(kGate).ok(), "open_gate failed");
  rig.drain(*disk.reads, most);
  require(rig.run(*disk.reads, {.fences = {}, .body = Regions{}}).ok(), "it takes more then");
}

void a_closing_disk_queue_aborts_its_hold(Rig& rig) {
  Disk disk(rig);
  disk.must_write("aa/f", Pieces(rig, 1));
  const Pieces into(rig, 2);
  const auto waits = rig.queue(QueueKind::disk_read);
  Ticket last = 0;
  {
    const auto holds = rig.queue(QueueKind::disk_read);
    rig.submit(*holds, disk.read("aa/f", into));
    const Point held{holds.get(), rig.submit(*holds, {.fences = {}, .body = Hold{kGate}})};
    Work work = disk.read("aa/f", into);
    work.fences = {&held, 1};
    last = rig.submit(*waits, work);
  }
  require(rig.drain(*waits, last).back().status.code == Code::aborted,
          "what waited for a hold that was closed is aborted");
}

void files_that_cannot_be_are_refused(Rig& rig) {
  Disk disk(rig);
  const Pieces pieces(rig, 1);
  const auto refuse = [&](Queue& queue, const Work& work, const std::string& what) {
    rig.expect_refused(queue, work, Code::invalid, what);
  };
  for (const char* name : {"", "/f", "..", "../f", "aa/../f", "aa/", ".f", "aa/.f", "aa/bb/f", "F",
                           "a b", "a\nb", "aa//f"}) {
    refuse(*disk.reads, disk.read(name, pieces), std::string("reading '") + name + "'");
    refuse(*disk.writes, disk.write(name, pieces), std::string("writing '") + name + "'");
    refuse(*disk.writes, disk.write("f", pieces, name), std::string("a temporary '") + name + "'");
    refuse(*disk.writes, disk.remove(name), std::string("removing '") + name + "'");
  }
  refuse(*disk.reads, disk.read(std::string(201, 'a'), pieces), "a name that is too long");
  refuse(*disk.writes, disk.read("f", pieces), "a read on a write queue");
  refuse(*disk.reads, disk.write("f", pieces), "a write on a read queue");
  refuse(*disk.reads, disk.remove("f"), "a removal on a read queue");
  refuse(*rig.queue(QueueKind::copy_in), disk.read("f", pieces), "a file on a copy queue");
  refuse(*disk.writes, disk.write("f", pieces, "f"), "a temporary name that is the name");
  refuse(*disk.reads, {.fences = {}, .body = ReadFile{nullptr, "f", pieces.spans}}, "no directory");
  require(!disk.scratch.has("f"), "nothing was written");
}

void pieces_that_cannot_be_are_refused(Rig& rig) {
  Disk disk(rig);
  const auto device = rig.buffer(MemoryKind::device, kData);
  const auto host = rig.buffer(MemoryKind::pinned, kData);
  const auto refuse = [&](std::span<const Span> pieces, const std::string& what) {
    rig.expect_refused(*disk.reads,
                       {.fences = {}, .body = ReadFile{&disk.scratch.directory, "f", pieces}},
                       Code::invalid, what);
  };
  const Span there = all(*device), outside{host.get(), kData - 1, 2}, none{host.get(), 0, 0};
  refuse({&there, 1}, "device memory");
  refuse({&outside, 1}, "a piece past its buffer's end");
  refuse({&none, 1}, "a piece without bytes");
  refuse({}, "no piece");
  refuse(std::vector<Span>(kMaxFilePieces + 1, all(*host)), "too many pieces");
  const Region region{all(*host), all(*host)};
  rig.expect_refused(*disk.reads, {.fences = {}, .body = Regions{.list = {&region, 1}}},
                     Code::invalid, "a copy on a disk queue");
  rig.expect_refused(*disk.reads, {.fences = {}, .body = Fill{all(*host), 1}}, Code::invalid,
                     "a fill on a disk queue");
}

void a_disk_queue_says_how_files_go(Rig& rig) {
  Disk disk(rig);
  disk.must_write("aa/f", Pieces(rig, 1));
  disk.must_write("aa/g", Pieces(rig, 1, 100, 100));
  const DiskFacts facts = disk.writes->disk_facts();
  require(!facts.engine.empty(), "a disk queue names what moves its files");
  require(facts.direct_files + facts.buffered_files == 2, "and counts them");
  require(facts.buffered_files >= 1 && !facts.buffered.empty(), "and says why some are buffered");
  require(rig.queue(QueueKind::copy_in)->disk_facts().engine.empty(), "other queues have no files");
}

constexpr Check kChecks[] = {
    {"an_aligned_file_round_trip", an_aligned_file_round_trip},
    {"an_unaligned_file_round_trip", an_unaligned_file_round_trip},
    {"files_are_their_owners_alone", files_are_their_owners_alone},
    {"many_files_at_once", many_files_at_once},
    {"a_missing_file_fails_alone", a_missing_file_fails_alone},
    {"a_short_file_fails", a_short_file_fails},
    {"what_is_no_file_fails", what_is_no_file_fails},
    {"a_write_does_not_follow_links", a_write_does_not_follow_links},
    {"a_write_replaces_what_was_there", a_write_replaces_what_was_there},
    {"a_failed_write_leaves_what_was_there", a_failed_write_leaves_what_was_there},
    {"a_removed_file_is_gone", a_removed_file_is_gone},
    {"a_write_waits_for_its_fence", a_write_waits_for_its_fence},
    {"a_failed_read_aborts_what_waits", a_failed_read_aborts_what_waits},
    {"a_file_may_be_fenced_on_its_own_lane", a_file_may_be_fenced_on_its_own_lane},
    {"disk_queues_hold_and_mark", disk_queues_hold_and_mark},
    {"a_disk_queue_is_bounded", a_disk_queue_is_bounded},
    {"a_closing_disk_queue_aborts_its_hold", a_closing_disk_queue_aborts_its_hold},
    {"files_that_cannot_be_are_refused", files_that_cannot_be_are_refused},
    {"pieces_that_cannot_be_are_refused", pieces_that_cannot_be_are_refused},
    {"a_disk_queue_says_how_files_go", a_disk_queue_says_how_files_go},
};

}  // namespace

std::span<const Check> file_checks() { return kChecks; }

}  // namespace kvroof::conformance
