// SPDX-License-Identifier: Apache-2.0
// The places on the device that staged copies pass: in each, a chunk's bytes in the order that the
// host tier keeps them in and as it keeps them, which come from or go to the rows of the cache that
// an index names.
#pragma once
#include <cstdint>
#include <memory>

#include "backends/api/device.h"
#include "transfer/lanes/row_index.h"
#include "transfer/tier/stored_form.h"

namespace kvroof {

class Staging {
 public:
  // Of device memory that create() takes for one place.
  static std::uint64_t bytes_of_place(const StoredForm& form, std::uint32_t blocks_per_chunk);

  // `backed` as in BufferSpec.
  static Result<Staging> create(Device& device, const StoredForm& form,
                                std::uint32_t blocks_per_chunk, std::uint64_t places, bool backed);

  // Between the cache and the place, by the rows of `blocks` blocks that were set in the index: a
  // gather and a scatter, or what quantises and dequantises on the way.
  Op fill(Buffer& cache, const RowIndex& index, std::uint64_t place, std::size_t blocks) const;
  Op empty(Buffer& cache, const RowIndex& index, std::uint64_t place, std::size_t blocks) const;
  bool converts() const { return form_.narrow.has_value(); }

  // The place's bytes of so many blocks.
  Span span(std::uint64_t place, std::size_t blocks) const;

 private:
  Staging(const StoredForm& form, std::uint32_t blocks_per_chunk, std::unique_ptr<Buffer> chunks)
      : form_(form), blocks_per_chunk_(blocks_per_chunk), chunks_(std::move(chunks)) {}
  Span cache_span(Buffer& cache) const { return {&cache, 0, form_.kv.cache_bytes()}; }

  StoredForm form_;
  std::uint32_t blocks_per_chunk_;
  std::unique_ptr<Buffer> chunks_;  // device
};

}  // namespace kvroof
