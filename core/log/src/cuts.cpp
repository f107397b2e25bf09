#include "llamada/log/cuts.hpp"

namespace llamada::log {

Result<CutReader::Piece> CutReader::read(std::uint64_t next_cut) {
  Piece piece{told_, {}};
  if (stopped_at_ >= next_cut && stopped_at_ != 0) return piece;
  stopped_at_ = 0;
  // What is no journal must not keep the reader busy for ever.
  for (std::uint64_t left = reader_.entries_max(); left > 0 && reader_.is_next(); --left) {
    // The one before is final now.
    settle(piece);
    last_told_.reset();
    const auto entry = reader_.read_next();
    if (!entry) break;
    if (restored_left_ > 0) {
      --restored_left_;
      continue;
    }
    if (is_cut_mark(*entry)) {
      if (entry->value < next_cut) continue;
      stopped_at_ = entry->value;
      break;
    }
    piece.entries.push_back(*entry);
    last_told_ = *entry;
    ++told_;
  }
  settle(piece);
  if (reader_.is_damaged()) return failure(Errc::parse_error, "a journal of a rank is damaged");
  return piece;
}

/// Tells the last entry as it is now.
void CutReader::settle(Piece& piece) {
  if (!last_told_) return;
  const auto now = reader_.last();
  if (!now || *now == *last_told_) return;
  last_told_ = now;
  if (!piece.entries.empty()) {
    piece.entries.back() = *now;
    return;
  }
  piece.first = told_ - 1;
  piece.entries.push_back(*now);
}

}  // namespace llamada::log
