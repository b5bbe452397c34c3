// SPDX-License-Identifier: Apache-2.0
// What the double's entry points act on: memory, streams, events, faults, and the rules that
// callers broke.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/entry_points.h"

namespace kvroof::cuda_double {

using namespace kvroof::cuda;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kDeviceBytes = 64ull << 20;
constexpr DevicePointer kDisguise = 1ull << 60;  // no canonical address: following it faults

struct Event {
  std::uint64_t recorded = 0, reached = 0;  // of its records
  Clock::time_point at;
};

struct Fault {
  int answer, after, times;
};

struct Lane;

struct World {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Fault> faults;
  std::map<DevicePointer, std::vector<std::byte>> memory;
  std::map<std::uintptr_t, std::size_t> registered;
  std::set<Event*> events;
  std::set<Lane*> lanes;
  int contexts = 0, lost = kSuccess;
  bool batch = true;
  std::string violations;

  void broken(const std::string& rule) { violations += rule + "\n"; }
};

World& world();

extern thread_local Context current;
inline const Context kContext = reinterpret_cast<Context>(0x10);

// A stream: a thread that takes its tasks in order, each after a while.
struct Lane {
  std::deque<std::function<void()>> tasks;  // under the world's lock
  bool ending = false, busy = false;
  std::thread thread{[this] { run(); }};

  void run();
};

// Every entry point begins so: an injected answer, or 0.
int injected(const char* entry);
// And those that act on a context go on so.
int in_context(const char* entry);

// Where device memory really is; null where no allocation holds all of it. Under the lock.
std::byte* behind(DevicePointer address, std::size_t bytes);
bool pinned(const void* host, std::size_t bytes);  // in one registration; under the lock

int enqueue(StreamHandle stream, const char* entry, std::function<void()> task);

// One side of a copy.
struct Place {
  DevicePointer device = 0;   // else
  std::byte* host = nullptr;  // pinned
};

// Both sides as they are now; false, and why it was, where one is gone. Under the lock.
bool resolve(const char* entry, const Place& to, const Place& from, std::size_t bytes,
             std::byte*& target, const std::byte*& source);

// The copy as a task: a place that is gone by then loses the device.
std::function<void()> copying(const char* entry, Place to, Place from, std::size_t bytes);

}  // namespace kvroof::cuda_double
