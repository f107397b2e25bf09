#include "output_journal.hpp"

#include <algorithm>

#include "llamada/base/crc32c.hpp"

namespace llamada::launcher {
namespace {

std::uint32_t crc_of(std::string_view bytes) {
  return crc32c({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
}

}  // namespace

void OutputJournal::restore(std::string_view bytes, std::uint64_t known_bytes, std::uint64_t unknown_bytes) {
  if (unknown_bytes == 0) known_bytes = bytes.size();
  record(bytes.substr(0, known_bytes));
  record_unknown(unknown_bytes);
  record(bytes.substr(known_bytes));
  begin_incarnation();
}

void OutputJournal::begin_incarnation() {
  position_ = 0;
  block_.clear();
  has_gap_ = false;
}

void OutputJournal::go_on_at(std::uint64_t place) {
  position_ = std::min(place, delivered_);
  block_.clear();
  has_gap_ = position_ % block_size_bytes != 0;
}

OutputJournal::Taken OutputJournal::take(std::string_view bytes) {
  Taken taken;
  bytes.remove_prefix(compare(bytes, taken.difference));
  if (taken.difference) position_ = delivered_;
  taken.fresh = bytes;
  record(bytes);
  return taken;
}

std::size_t OutputJournal::compare(std::string_view bytes, std::optional<Difference>& difference) {
  std::size_t done = 0;
  while (repeating() && done < bytes.size()) {
    const std::uint64_t block = position_ / block_size_bytes;
    const std::uint64_t block_end = std::min<std::uint64_t>((block + 1) * block_size_bytes, delivered_);
    const std::size_t count = std::min<std::uint64_t>(block_end - position_, bytes.size() - done);
    block_ += bytes.substr(done, count);
    done += count;
    position_ += count;
    const bool whole_block = block < block_crcs_.size();
    if (has_gap_ || (unknown_begin_ <= block && block < unknown_end_)) {
      if (position_ == block_end) {
        block_.clear();
        has_gap_ = false;
      }
      continue;
    }
    const auto unequal = std::mismatch(block_.begin(), block_.end(), tail_.begin(), tail_.end()).first;
    if (whole_block && position_ == block_end && crc_of(block_) != block_crcs_[block])
      difference = Difference{block * block_size_bytes, block_end - 1, block_};
    if (!whole_block && unequal != block_.end()) {
      const std::uint64_t at =
          block * block_size_bytes + static_cast<std::uint64_t>(unequal - block_.begin());
      difference = Difference{at, at, block_};
    }
    if (difference) return done;
    if (position_ == block_end) block_.clear();
  }
  return done;
}

void OutputJournal::record(std::string_view fresh) {
  delivered_ += fresh.size();
  position_ += fresh.size();
  tail_ += fresh;
  std::size_t at = 0;
  for (; tail_.size() - at >= block_size_bytes; at += block_size_bytes)
    block_crcs_.push_back(crc_of(std::string_view(tail_).substr(at, block_size_bytes)));
  tail_.erase(0, at);
}

/// Zeros stand for them.
void OutputJournal::record_unknown(std::uint64_t count) {
  if (count == 0) return;
  const auto some = [this, &count](std::uint64_t most) {
    const std::uint64_t taken = std::min(count, most);
    record(std::string(taken, '\0'));
    count -= taken;
  };
  unknown_begin_ = delivered_ / block_size_bytes;
  some((block_size_bytes - tail_.size()) % block_size_bytes);
  const std::uint64_t blocks = count / block_size_bytes;
  block_crcs_.resize(block_crcs_.size() + blocks);
  delivered_ += blocks * block_size_bytes;
  position_ += blocks * block_size_bytes;
  count -= blocks * block_size_bytes;
  some(count);
  unknown_end_ = (delivered_ + block_size_bytes - 1) / block_size_bytes;
}

}  // namespace llamada::launcher
