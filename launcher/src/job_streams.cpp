#include "job_streams.hpp"

#include <utility>
#include <vector>

#include "llamada/store/in_batch.hpp"

namespace llamada::launcher {

Result<std::unique_ptr<JobStreams>> JobStreams::open(std::unique_ptr<store::Store> store) {
  std::unique_ptr<JobStreams> streams(new JobStreams(std::move(store)));
  for (const char* name : job_stream::all)
    if (auto status = streams->open(name); !status) return propagate(status);
  return streams;
}

Status JobStreams::open(const char* name) {
  auto id = store_->stream(name, {});
  if (!id) return propagate(id);
  Stream& stream = streams_[name];
  stream.id = *id;
  for (const store::StreamInfo& info : store_->streams())
    if (info.id == *id) stream.last = info.used;
  return {};
}

Status JobStreams::append(const char* name, std::uint64_t group, std::span<const std::byte> head,
                          std::span<const std::byte> body) {
  Stream& stream = streams_.at(name);
  store::Item item;
  item.stream = stream.id;
  item.number = stream.last + 1;
  item.group = group;
  item.time_ns = static_cast<std::int64_t>(next_cut());
  item.head = head;
  item.body = body;
  auto status = store::in_batch(*store_, [&] { return store_->append(item); });
  if (status) ++stream.last;
  return status;
}

Status JobStreams::drop(const char* name, std::uint64_t number) {
  return store::in_batch(*store_, [&] { return store_->drop(streams_.at(name).id, number); });
}

Status JobStreams::drop_below(const char* name, std::uint64_t number) {
  return store::in_batch(*store_, [&] { return store_->drop_below(streams_.at(name).id, number); });
}

Status JobStreams::drop_behind(const char* name, std::uint64_t last_cut) {
  std::vector<std::uint64_t> numbers;
  auto status = read(name, [&](const store::Item& item) {
    if (static_cast<std::uint64_t>(item.time_ns) > last_cut) numbers.push_back(item.number);
  });
  for (const std::uint64_t number : numbers)
    if (status) status = drop(name, number);
  return status;
}

Status JobStreams::read(const char* name, const std::function<void(const store::Item&)>& take) const {
  auto read = store_->read(streams_.at(name).id, 0, [&](const store::Item& item) {
    take(item);
    return true;
  });
  // It has no item yet.
  return !read && read.error().code() == Errc::not_found ? Status() : read;
}

}  // namespace llamada::launcher
