// SPDX-License-Identifier: Apache-2.0
#include "transfer/eviction/test_plain_reference.h"

#include <algorithm>
#include <list>
#include <map>
#include <unordered_map>

namespace kvroof {
namespace {

// A queue of ids with what is known of each: front is next to leave.
template <class T>
class Queue {
 public:
  bool has(std::uint64_t id) const { return where_.count(id) != 0; }
  std::size_t size() const { return where_.size(); }
  std::uint64_t front() const { return order_.front().first; }
  T& value(std::uint64_t id) { return where_.at(id)->second; }
  void push(std::uint64_t id, T value) {
    order_.emplace_back(id, value);
    where_[id] = std::prev(order_.end());
  }
  void drop(std::uint64_t id) {
    order_.erase(where_.at(id));
    where_.erase(id);
  }
  std::uint64_t pop() {
    const std::uint64_t id = front();
    drop(id);
    return id;
  }

 private:
  std::list<std::pair<std::uint64_t, T>> order_;
  std::unordered_map<std::uint64_t, typename std::list<std::pair<std::uint64_t, T>>::iterator>
      where_;
};

struct Nothing {};
using Ids = Queue<Nothing>;

class PlainLru final : public PlainCache {
 public:
  explicit PlainLru(std::size_t slots) : slots_(slots) {}
  bool look_up(std::uint64_t id) override {
    const bool hit = ids_.has(id);
    if (hit) ids_.drop(id);
    if (ids_.size() == slots_) ids_.pop();
    ids_.push(id, {});
    return hit;
  }

 private:
  std::size_t slots_;
  Ids ids_;
};

// Figure 4 of the paper, by its names: c, p, T1, T2, B1, B2, and its cases I to IV.
class PlainArc final : public PlainCache {
 public:
  explicit PlainArc(std::size_t c) : c_(c) {}

  bool look_up(std::uint64_t x) override {
    if (t1_.has(x) || t2_.has(x)) {  // I
      (t1_.has(x) ? t1_ : t2_).drop(x);
      t2_.push(x, {});
      return true;
    }
    if (b1_.has(x)) {  // II
      p_ = std::min(static_cast<double>(c_), p_ + (b1_.size() >= b2_.size() ? 1 : ratio(b2_, b1_)));
      replace(x);
      b1_.drop(x);
      t2_.push(x, {});
      return false;
    }
    if (b2_.has(x)) {  // III
      p_ = std::max<double>(0, p_ - (b2_.size() >= b1_.size() ? 1 : ratio(b1_, b2_)));
      replace(x);
      b2_.drop(x);
      t2_.push(x, {});
      return false;
    }
    const std::size_t l1 = t1_.size() + b1_.size(), l2 = t2_.size() + b2_.size();  // IV
    if (l1 == c_) {
      if (t1_.size() < c_) {
        b1_.pop();
        replace(x);
      } else {
        t1_.pop();
      }
    } else if (l1 + l2 >= c_) {
      if (l1 + l2 == 2 * c_) b2_.pop();
      replace(x);
    }
    t1_.push(x, {});
    return false;
  }

 private:
  static double ratio(const Ids& a, const Ids& b) {
    return static_cast<double>(a.size()) / static_cast<double>(b.size());
  }
  void replace(std::uint64_t x) {
    const auto t1 = static_cast<double>(t1_.size());
    if (t1_.size() >= 1 && ((b2_.has(x) && t1 == p_) || t1 > p_)) {
      b1_.push(t1_.pop(), {});
    } else {
      b2_.push(t2_.pop(), {});
    }
  }

  std::size_t c_;
  double p_ = 0;
  Ids t1_, t2_, b1_, b2_;
};

// A short queue S of a tenth, a long one M, and a ghost queue G of as many ids as M's share.
class PlainS3Fifo final : public PlainCache {
 public:
  explicit PlainS3Fifo(std::size_t slots)
      : slots_(slots), long_(slots - std::max<std::size_t>(1, slots / 10)) {}

  bool look_up(std::uint64_t id) override {
    for (auto* const queue : {&s_, &m_}) {
      if (!queue->has(id)) continue;
      queue->value(id) = std::min(3, queue->value(id) + 1);
      return true;
    }
    if (s_.size() + m_.size() == slots_) make_room();
    if (g_.has(id)) {
      g_.drop(id);
      m_.push(id, 0);
    } else {
      s_.push(id, 0);
    }
    return false;
  }

 private:
  void make_room() {
    const bool from_short = s_.size() > 0 && m_.size() <= long_;
    while (from_short && s_.size() > 0) {
      const std::uint64_t id = s_.front();
      const int hits = s_.value(id);
      s_.drop(id);
      if (hits < 2) {
        g_.push(id, {});
        if (g_.size() > long_) g_.pop();
        return;
      }
      m_.push(id, 0);
    }
    while (true) {
      const std::uint64_t id = m_.front();
      const int hits = m_.value(id);
      m_.drop(id);
      if (hits == 0) return;
      m_.push(id, hits - 1);
    }
  }

  std::size_t slots_, long_;
  Queue<int> s_, m_;
  Ids g_;
};

}  // namespace

std::unique_ptr<PlainCache> plain_reference(Eviction eviction, std::size_t slots) {
  if (eviction == Eviction::arc) return std::make_unique<PlainArc>(slots);
  if (eviction == Eviction::s3fifo) return std::make_unique<PlainS3Fifo>(slots);
  return std::make_unique<PlainLru>(slots);
}

}  // namespace kvroof
