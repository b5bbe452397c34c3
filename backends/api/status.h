// SPDX-License-Identifier: Apache-2.0
// How anything at the seam fails: a code chosen by what the caller does next, and one sentence.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace kvroof {

enum class Code : std::uint8_t {
  ok,
  busy,         // nothing was enqueued; wait for a completion and submit again
  invalid,      // the call can never succeed as written
  unsupported,  // this device or build does not do it
  no_memory,    // allocate less, or free something first
  failed,       // the work ran and failed; its destination bytes are undefined
  aborted,      // the work did not run: something that it waited for failed
  lost,         // the device is gone, and every open ticket with it
  timeout,      // wait_any: the deadline passed first
  stuck,        // wait_any: virtual time has no event left, so no point can ever complete
};

constexpr std::string_view name(Code code) {
  constexpr std::string_view kNames[] = {"ok",     "busy",    "invalid", "unsupported", "no_memory",
                                         "failed", "aborted", "lost",    "timeout",     "stuck"};
  return kNames[static_cast<std::size_t>(code)];
}

struct [[nodiscard]] Status {
  Code code = Code::ok;
  std::string text;  // empty when ok; otherwise a sentence, with the vendor's own words kept

  bool ok() const noexcept { return code == Code::ok; }
};

// A value, or the Status (never ok) that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : held_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : held_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const noexcept { return held_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }
  T& operator*() { return std::get<0>(held_); }
  const T& operator*() const { return std::get<0>(held_); }
  T* operator->() { return &std::get<0>(held_); }
  const T* operator->() const { return &std::get<0>(held_); }
  Status status() const { return ok() ? Status{} : std::get<1>(held_); }
  Code code() const noexcept { return ok() ? Code::ok : std::get<1>(held_).code; }

 private:
  std::variant<T, Status> held_;
};

}  // namespace kvroof
