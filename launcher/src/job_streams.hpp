#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>

#include "job_past.hpp"
#include "llamada/store/store.hpp"

namespace llamada::launcher {

/// Writes the streams of a job's store (job_stream), each item for the cut that is written next.
///
/// One thread; another one may call store().sync().
class JobStreams {
 public:
  /// Finds all streams, or declares them. Errors: those of the store.
  static Result<std::unique_ptr<JobStreams>> open(std::unique_ptr<store::Store> store);

  store::Store& store() { return *store_; }
  /// The store is somebody else's from now on. Nothing may be called afterwards.
  std::unique_ptr<store::Store> release() { return std::move(store_); }

  /// The number of a stream's newest item; 0 if it never had one.
  std::uint64_t last(const char* name) const { return streams_.at(name).last; }
  /// The number of the cut that is written next.
  std::uint64_t next_cut() const { return last(job_stream::cuts) + 1; }

  // Each takes the next batch if the open one has no room. Errors: those of the store.
  Status append(const char* name, std::uint64_t group, std::span<const std::byte> head,
                std::span<const std::byte> body);
  Status drop(const char* name, std::uint64_t number);
  Status drop_below(const char* name, std::uint64_t number);
  /// Items of cuts behind this one, which never became whole.
  Status drop_behind(const char* name, std::uint64_t last_cut);
  /// Calls `take` for all items of a stream. Errors: those of the store.
  Status read(const char* name, const std::function<void(const store::Item&)>& take) const;

 private:
  struct Stream {
    store::StreamId id = 0;
    std::uint64_t last = 0;
  };

  explicit JobStreams(std::unique_ptr<store::Store> store) : store_(std::move(store)) {}
  Status open(const char* name);

  std::unique_ptr<store::Store> store_;
  std::map<std::string_view, Stream> streams_;
};

}  // namespace llamada::launcher
