// SPDX-License-Identifier: Apache-2.0
#include "tests/doubles/cuda/world.h"

#include <atomic>
#include <cstring>
#include <random>

#include "tests/doubles/cuda/cuda_double.h"

namespace kvroof::cuda_double {

World& world() {
  static World* const one = new World;  // streams' threads may outlive static destruction
  return *one;
}

thread_local Context current = nullptr;

void Lane::run() {
  static std::atomic<unsigned> lanes{0};
  std::minstd_rand random(++lanes);
  World& w = world();
  std::unique_lock lock(w.mutex);
  while (true) {
    w.changed.wait(lock, [this] { return ending || !tasks.empty(); });
    if (tasks.empty()) return;
    const auto task = std::move(tasks.front());
    tasks.pop_front();
    busy = true;
    lock.unlock();
    if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
    task();
    lock.lock();
    busy = false;
    w.changed.notify_all();
  }
}

int injected(const char* entry) {
  World& w = world();
  std::lock_guard lock(w.mutex);
  const auto found = w.faults.find(entry);
  if (found == w.faults.end()) return kSuccess;
  Fault& fault = found->second;
  if (fault.after-- > 0) return kSuccess;
  if (fault.times-- <= 0) {
    w.faults.erase(found);
    return kSuccess;
  }
  return fault.answer;
}

int in_context(const char* entry) {
  if (const int answer = injected(entry); answer != kSuccess) return answer;
  World& w = world();
  std::lock_guard lock(w.mutex);
  if (current == nullptr) {
    w.broken(std::string(entry) + " on a thread without a context");
    return kInvalidContext;
  }
  return w.lost;
}

std::byte* behind(DevicePointer address, std::size_t bytes) {
  auto& memory = world().memory;
  auto after = memory.upper_bound(address);
  if (after == memory.begin()) return nullptr;
  auto& [begin, contents] = *std::prev(after);
  const std::uint64_t offset = address - begin;
  if (offset > contents.size() || bytes > contents.size() - offset) return nullptr;
  return contents.data() + offset;
}

bool pinned(const void* host, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(host);
  auto& registered = world().registered;
  auto after = registered.upper_bound(address);
  if (after == registered.begin()) return false;
  const auto& [begin, size] = *std::prev(after);
  return address - begin <= size && bytes <= size - (address - begin);
}

int enqueue(StreamHandle stream, const char* entry, std::function<void()> task) {
  World& w = world();
  std::lock_guard lock(w.mutex);
  Lane* const lane = reinterpret_cast<Lane*>(stream);
  if (!w.lanes.contains(lane)) {
    w.broken(std::string(entry) + " on a stream that does not exist");
    return kInvalidValue;
  }
  lane->tasks.push_back(std::move(task));
  w.changed.notify_all();
  return kSuccess;
}

bool resolve(const char* entry, const Place& to, const Place& from, std::size_t bytes,
             std::byte*& target, const std::byte*& source) {
  World& w = world();
  target = to.host != nullptr ? to.host : behind(to.device, bytes);
  source = from.host != nullptr ? from.host : behind(from.device, bytes);
  const char* wrong = nullptr;
  if (target == nullptr || source == nullptr) wrong = " of device memory that is not allocated";
  for (const Place& place : {to, from}) {
    if (place.host != nullptr && !pinned(place.host, bytes)) {
      wrong = " of host memory that is not pinned in one piece";
    }
  }
  if (wrong != nullptr) w.broken(std::string(entry) + wrong);
  return wrong == nullptr;
}

std::function<void()> copying(const char* entry, Place to, Place from, std::size_t bytes) {
  return [=] {
    World& w = world();
    std::byte* target = nullptr;
    const std::byte* source = nullptr;
    {
      std::lock_guard lock(w.mutex);
      if (w.lost != kSuccess) return;
      if (!resolve(entry, to, from, bytes, target, source)) {
        w.lost = kIllegalAddress;
        return;
      }
    }
    std::memcpy(target, source, bytes);
  };
}

void fail(const char* entry, int answer, int after, int times) {
  std::lock_guard lock(world().mutex);
  world().faults[entry] = {answer, after, times};
}

void fail_always(const char* entry, int answer) { fail(entry, answer, 0, 1 << 30); }

void reset() {
  std::lock_guard lock(world().mutex);
  world().faults.clear();
  world().violations.clear();
  world().lost = kSuccess;
  world().batch = true;
}

void have_batch(bool has) {
  std::lock_guard lock(world().mutex);
  world().batch = has;
}

std::size_t alive() {
  World& w = world();
  std::lock_guard lock(w.mutex);
  return w.memory.size() + w.registered.size() + w.events.size() + w.lanes.size() +
         static_cast<std::size_t>(w.contexts);
}

std::string violations() {
  std::lock_guard lock(world().mutex);
  return world().violations;
}

}  // namespace kvroof::cuda_double
