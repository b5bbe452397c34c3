// SPDX-License-Identifier: Apache-2.0
// A growing first-in, first-out ring: no allocation once it is as large as the longest backlog.
#pragma once
#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace kvroof {

template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  T& operator[](std::size_t i) { return items_[(head_ + i) & (items_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return items_[(head_ + i) & (items_.size() - 1)]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[size_ - 1]; }
  const T& back() const { return (*this)[size_ - 1]; }

  void push(T item) {
    if (size_ == items_.size()) grow();
    (*this)[size_++] = std::move(item);
  }

  T pop() {
    assert(!empty());
    T item = std::move(front());
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> wider(items_.empty() ? 16
                                        : items_.size() * 2);  // a power of two: see operator[]
    for (std::size_t i = 0; i < size_; ++i) wider[i] = std::move((*this)[i]);
    items_ = std::move(wider);
    head_ = 0;
  }

  std::vector<T> items_;
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace kvroof
