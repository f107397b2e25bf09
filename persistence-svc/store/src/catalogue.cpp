#include "catalogue.hpp"

#include <algorithm>

namespace llamada::store {

std::optional<StreamId> Catalogue::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return std::nullopt;
  return found->second;
}

Status Catalogue::check_declaration(std::string_view name, std::span<const std::byte> description) {
  if (name.empty() || name.size() > name_bytes_max)
    return failure(Errc::invalid_argument, "a stream's name has 1 to {} bytes, this one has {}",
                   name_bytes_max, name.size());
  if (description.size() > description_bytes_max)
    return failure(Errc::invalid_argument, "the description of stream {} has {} bytes, {} at most",
                   in_sentence(name), description.size(), description_bytes_max);
  return {};
}

void Catalogue::declare(StreamId id, std::string_view name, std::uint64_t last_number) {
  entries_[id] = {std::string(name), last_number};
  by_name_.insert_or_assign(std::string(name), id);
  pass_over(id);
}

void Catalogue::pass_over(StreamId id) { next_ = std::max(next_, id + 1); }

Status Catalogue::check(StreamId id) const {
  if (!entries_.contains(id)) return failure(Errc::not_found, "the store has no stream with number {}", id);
  return {};
}

Status Catalogue::check(const Item& item) const {
  const auto found = entries_.find(item.stream);
  if (found == entries_.end()) return check(item.stream);
  const Entry& stream = found->second;
  if (item.number <= stream.last_number)
    return failure(Errc::invalid_argument, "stream {}: item {} comes after item {}; numbers must grow",
                   in_sentence(stream.name), item.number, stream.last_number);
  if (item.kind >= kind_reserved)
    return failure(Errc::invalid_argument,
                   "stream {}: item {} has kind {}; those from {} on are the store's own",
                   in_sentence(stream.name), item.number, item.kind, kind_reserved);
  if (item.head.size() > head_bytes_max || item.body.size() > body_bytes_max)
    return failure(Errc::invalid_argument,
                   "stream {}: item {} has a head of {} bytes ({} at most) and a body of {} ({} at most)",
                   in_sentence(stream.name), item.number, item.head.size(), head_bytes_max, item.body.size(),
                   body_bytes_max);
  return {};
}

std::uint64_t Catalogue::last_number(StreamId id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? 0 : found->second.last_number;
}

void Catalogue::appended(StreamId id, std::uint64_t number) {
  std::uint64_t& last = entries_.at(id).last_number;
  last = std::max(last, number);
}

void Catalogue::end(StreamId id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const auto named = by_name_.find(found->second.name);
  if (named != by_name_.end() && named->second == id) by_name_.erase(named);
  entries_.erase(found);
}

std::string in_sentence(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](char each) { return static_cast<unsigned char>(each) < ' ' || each == '\x7f'; }, '?');
  return text;
}

Status check_batch(BatchNumber batch, BatchNumber written) {
  if (batch > written)
    return failure(Errc::invalid_argument, "batch {} cannot be synced: the last one written is {}", batch,
                   written);
  return {};
}

tl::unexpected<Error> batch_is_full(std::uint64_t batch_bytes_max) {
  return failure(Errc::would_block, "the batch is full ({} bytes at most): write it first", batch_bytes_max);
}

}  // namespace llamada::store
