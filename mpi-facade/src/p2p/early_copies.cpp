#include "p2p/early_copies.hpp"

#include <algorithm>
#include <utility>

#include "llamada/base/copy.hpp"
#include "p2p/record.hpp"

namespace llamada::mpi {

bool EarlyCopies::copy(int from, const log::LogReader& reader, const log::Record& record, Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= copies_.size()) copies_.resize(index + 1);
  Copy& copy = copies_[index];
  const log::LogPosition position = reader.position();
  if (copy.request != &request || copy.record != position)
    copy = {&request, position, record.payload.data(), 0};
  const std::size_t before = copy.bytes;
  for (std::size_t filled; (filled = reader.announced_bytes(record)) > copy.bytes; copy.bytes = filled)
    copy_bytes(request.buffer.contiguous() + copy.bytes, record.payload.data() + copy.bytes,
               filled - copy.bytes);
  return copy.bytes > before;
}

std::size_t EarlyCopies::take(int from, const log::LogReader& reader, const log::Record& record,
                              const Request& request) {
  const auto index = static_cast<std::size_t>(from);
  if (index >= copies_.size()) return 0;
  const Copy copy = std::exchange(copies_[index], {});
  // A patched message refers to what was there before it was announced, and is there still.
  const bool same = copy.record == reader.position() ||
                    ((record.flags & flag_patched) != 0 && copy.payload == record.payload.data());
  return same && copy.request == &request ? std::min(copy.bytes, record.payload.size()) : 0;
}

bool EarlyCopies::has_begun(const Request& request) const {
  return std::any_of(copies_.begin(), copies_.end(),
                     [&](const Copy& copy) { return copy.request == &request; });
}

}  // namespace llamada::mpi
