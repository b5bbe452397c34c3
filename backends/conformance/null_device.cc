// SPDX-License-Identifier: Apache-2.0
#include "backends/conformance/null_device.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace kvroof {
namespace {

constexpr std::uint64_t kMaxRegions = 1u << 16;
constexpr std::uint64_t kMaxOpenTickets = 1u << 16;
constexpr std::uint64_t kMemoryBytes = 1ull << 40;
constexpr std::uint64_t kPageBytes = 4096;

class NullBuffer final : public Buffer {
 public:
  NullBuffer(const BufferFacts& facts, void* memory, bool owns)
      : facts_(facts), memory_(static_cast<std::byte*>(memory)), owns_(owns) {}
  ~NullBuffer() override {
    if (owns_) munmap(memory_, facts_.bytes);
  }

  const BufferFacts& facts() const noexcept override { return facts_; }
  std::span<std::byte> host() noexcept override {
    return {memory_, memory_ == nullptr ? 0 : facts_.bytes};
  }

 private:
  BufferFacts facts_;
  std::byte* memory_;
  bool owns_;
};

bool fits(const Span& span) {
  if (span.buffer == nullptr) return false;
  const std::uint64_t bytes = span.buffer->facts().bytes;
  return span.bytes > 0 && span.bytes <= bytes && span.offset <= bytes - span.bytes;
}

bool on_device(const Span& span) { return span.buffer->facts().kind == MemoryKind::device; }

// Nothing on this device can fail, so the last ticket and the last one reaped are the whole state.
class NullQueue final : public Queue {
 public:
  explicit NullQueue(QueueKind kind) : kind_(kind) {}

  QueueKind kind() const noexcept override { return kind_; }

  bool has(Ticket ticket) const { return ticket > 0 && ticket <= last_.load(); }

  Result<Ticket> submit(const Work& work) noexcept override {
    for (const Point& fence : work.fences) {
      if (!static_cast<const NullQueue*>(fence.queue)->has(fence.ticket)) {
        return Status{Code::invalid, "A fence must name a ticket that submit has returned."};
      }
    }
    if (const char* problem = refusal(work)) return Status{Code::invalid, problem};
    return last_.fetch_add(1) + 1;
  }

  Result<std::size_t> reap(std::span<Completion> out) noexcept override {
    const auto count = std::min<std::size_t>(out.size(), last_.load() - reaped_);
    for (std::size_t i = 0; i < count; ++i)
      out[i] = {.ticket = ++reaped_, .status = {}, .interval = {}};
    return count;
  }

 private:
  bool is_copy() const { return kind_ == QueueKind::copy_in || kind_ == QueueKind::copy_out; }

  const char* refusal(const Work& work) const {
    if (const auto* regions = std::get_if<Regions>(&work.body)) return refusal(*regions);
    if (const auto* fill = std::get_if<Fill>(&work.body); fill != nullptr && !fits(fill->span)) {
      return "A fill's span must lie inside its buffer and have bytes.";
    }
    if (const auto* file = std::get_if<ReadFile>(&work.body)) {
      return refusal(QueueKind::disk_read, file->directory, file->name, file->pieces);
    }
    if (const auto* file = std::get_if<WriteFile>(&work.body)) {
      const char* const temporary =
          is_file_name(file->temporary) ? nullptr : "A file's temporary name is none of a file.";
      const char* const rest =
          refusal(QueueKind::disk_write, file->directory, file->name, file->pieces);
      return rest != nullptr ? rest : temporary;
    }
    if (const auto* file = std::get_if<RemoveFile>(&work.body)) {
      return refusal(QueueKind::disk_write, file->directory, file->name, {});
    }
    if (std::holds_alternative<Op>(work.body) && kind_ != QueueKind::compute) {
      return "An op belongs on a compute queue.";
    }
    return nullptr;
  }

  const char* refusal(QueueKind kind, const Directory* directory, std::string_view name,
                      std::span<const Span> pieces) const {
    if (kind_ != kind) return "A file belongs on the disk queue of its direction.";
    if (directory == nullptr || !is_file_name(name)) return "A file needs a directory and a name.";
    const bool all = std::all_of(pieces.begin(), pieces.end(),
                                 [](const Span& span) { return fits(span) && !on_device(span); });
    return all ? nullptr : "A file's pieces must lie inside host buffers.";
  }

  const char* refusal(const Regions& regions) const {
    if (regions.list.size() > kMaxRegions) return "A copy has more regions than max_regions.";
    for (const Region& region : regions.list) {
      const auto& [source, destination] = region;
      if (!fits(source) || !fits(destination)) return "A region must lie inside its buffers.";
      if (source.bytes != destination.bytes) return "A region's two sides must be equally long.";
      if (is_copy() && (on_device(source) != (kind_ == QueueKind::copy_out) ||
                        on_device(destination) != (kind_ == QueueKind::copy_in))) {
        return "A region runs against the queue's direction.";
      }
    }
    return nullptr;
  }

  QueueKind kind_;
  std::atomic<Ticket> last_{0};
  Ticket reaped_ = 0;
};

class NullDevice final : public Device {
 public:
  NullDevice() {
    info_.backend = info_.name = "null";
    info_.memory_bytes = info_.host_memory_bytes = kMemoryBytes;
    info_.computes_values = false;
    info_.max_regions = kMaxRegions;
    info_.max_open_tickets = kMaxOpenTickets;
  }

  const DeviceInfo& info() const noexcept override { return info_; }
  Nanos now() const noexcept override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }

  Result<std::size_t> wait_any(std::span<const Point> points, Nanos deadline) noexcept override {
    if (points.empty() && deadline != Nanos::max()) return sleep_until(deadline);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (static_cast<const NullQueue*>(points[i].queue)->has(points[i].ticket)) return i;
    }
    return Status{Code::invalid, "wait_any needs a point whose ticket submit has returned."};
  }

  Result<std::unique_ptr<Buffer>> allocate(const BufferSpec& spec) noexcept override {
    if (spec.bytes == 0) return Status{Code::invalid, "A buffer needs at least one byte."};
    if (spec.bytes > kMemoryBytes) return Status{Code::no_memory, "The null device has 1 TiB."};
    BufferFacts facts{.kind = spec.kind,
                      .bytes = spec.bytes,
                      .numa_node = spec.numa_node,
                      .page_bytes = kPageBytes};
    facts.backed = spec.backed && spec.kind != MemoryKind::device;
    if (!facts.backed) return std::unique_ptr<Buffer>(new NullBuffer(facts, nullptr, false));
    void* memory = mmap(nullptr, spec.bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return Status{Code::no_memory, "mmap has no room for this buffer."};
    return std::unique_ptr<Buffer>(new NullBuffer(facts, memory, true));
  }

  Result<std::unique_ptr<Buffer>> adopt(void* host, std::uint64_t bytes) noexcept override {
    if (host == nullptr || bytes == 0) return Status{Code::invalid, "adopt needs memory."};
    const BufferFacts facts{.kind = MemoryKind::pinned, .bytes = bytes, .page_bytes = kPageBytes};
    return std::unique_ptr<Buffer>(new NullBuffer(facts, host, false));
  }

  Result<std::unique_ptr<Queue>> open_queue(QueueKind kind, Priority) noexcept override {
    return std::unique_ptr<Queue>(new NullQueue(kind));
  }

  Status open_gate(Gate) noexcept override { return {}; }

 private:
  static Status sleep_until(Nanos deadline) {
    std::this_thread::sleep_until(std::chrono::steady_clock::time_point(deadline));
    return {Code::timeout, "The deadline passed."};
  }

  DeviceInfo info_;
};

}  // namespace

std::unique_ptr<Device> make_null_device() { return std::make_unique<NullDevice>(); }

}  // namespace kvroof
