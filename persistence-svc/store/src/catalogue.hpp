#pragma once

#include <map>
#include <optional>
#include <string>

#include "llamada/store/store.hpp"

namespace llamada::store {

/// The streams that a store has declared, in the open batch, too, and the rules of Store::append(): the same
/// for each implementation.
class Catalogue {
 public:
  std::optional<StreamId> find(std::string_view name) const;
  static Status check_declaration(std::string_view name, std::span<const std::byte> description);
  /// The number that the next stream gets.
  StreamId next() const { return next_; }
  void declare(StreamId id, std::string_view name, std::uint64_t last_number = 0);
  /// Never gives this number, nor a smaller one, to a stream again.
  void pass_over(StreamId id);

  Status check(StreamId id) const;
  Status check(const Item& item) const;
  /// The greatest number that it has had; 0 for an unknown stream.
  std::uint64_t last_number(StreamId id) const;
  void appended(StreamId id, std::uint64_t number);
  /// No smaller number can be appended any longer.
  void dropped_below(StreamId id, std::uint64_t number) { appended(id, number == 0 ? 0 : number - 1); }
  void end(StreamId id);

 private:
  struct Entry {
    std::string name;
    std::uint64_t last_number = 0;
  };

  std::map<StreamId, Entry> entries_;
  std::map<std::string, StreamId, std::less<>> by_name_;
  StreamId next_ = 1;
};

/// The name of a stream as sentences say it. A name may have any bytes; control characters become '?'.
std::string in_sentence(std::string_view name);

/// Errors of sync() and of a batch that cannot take an item.
Status check_batch(BatchNumber batch, BatchNumber written);
tl::unexpected<Error> batch_is_full(std::uint64_t batch_bytes_max);

}  // namespace llamada::store
