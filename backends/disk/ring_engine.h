// SPDX-License-Identifier: Apache-2.0
// Files by io_uring. Who starts a file opens it and hands its pieces to the kernel; a thread takes
// the pieces that have ended, and closes and renames.
#pragma once
#include <memory>
#include <mutex>
#include <thread>

#include "backends/disk/buffer_table.h"
#include "backends/disk/engine.h"
#include "backends/disk/open_file.h"
#include "backends/disk/ring.h"

namespace kvroof::disk {

class RingEngine final : public Engine {
 public:
  RingEngine(std::unique_ptr<Ring> ring, Done done);
  ~RingEngine() override;

  void start(std::unique_ptr<FileJob> job) override;
  DiskFacts facts() const override;

 private:
  struct Flight;
  struct Part {
    Flight* flight = nullptr;
    const Piece* piece = nullptr;
  };
  struct Flight {
    Flight(std::unique_ptr<FileJob> whose, OpenFile opened);

    std::unique_ptr<FileJob> job;
    OpenFile file;
    std::vector<Part> parts;
    std::size_t left;
    Status status;
  };

  void send(Flight& flight);
  void prepare(Part& part);
  void look_at(const BufferTable& buffers);
  void take_ended();
  void end(Part& part, int result);
  void finish(Flight* flight);

  const Done done_;
  const std::unique_ptr<Ring> ring_;
  BufferTable buffers_;
  // Guards the facts. Taken around what one thread hands to the other, too: the kernel, which
  // orders the two, is not seen by who checks for races.
  mutable std::mutex mutex_;
  DiskFacts facts_;
  std::thread thread_;
};

}  // namespace kvroof::disk
