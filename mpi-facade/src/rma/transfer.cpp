#include "rma/transfer.hpp"

#include <algorithm>
#include <vector>

#include "llamada/base/copy.hpp"
#include "rma/reach.hpp"

namespace llamada::mpi::rma {
namespace {

constexpr std::size_t chunk_bytes = 64 * 1024;

/// Memory for one chunk; in use only within one function here.
std::span<std::byte> chunk(std::size_t bytes) {
  static thread_local std::vector<std::byte> memory;
  if (memory.size() < bytes) memory.resize(chunk_bytes);
  return {memory.data(), bytes};
}

/// The pieces of memory that a range of a packed stream stands for, in its order; the stream lies `here`.
std::vector<Piece> pieces_of(const Target& target, std::size_t first_byte, std::byte* here,
                             std::size_t bytes) {
  const Datatype& type = *target.type;
  if (type.is_contiguous())
    return {{here, target.address + static_cast<std::uint64_t>(type.true_lower_bound()) + first_byte, bytes}};
  std::vector<Piece> pieces;
  const auto add = [&](std::uint64_t address, std::size_t size) {
    if (!pieces.empty() && pieces.back().address + pieces.back().bytes == address)
      pieces.back().bytes += size;
    else
      pieces.push_back({here, address, size});
    here += size;
  };
  const auto& runs = type.layout().runs;
  std::uint64_t element =
      target.address +
      static_cast<std::uint64_t>(type.extent() * static_cast<std::ptrdiff_t>(first_byte / type.size()));
  std::size_t within = first_byte % type.size();
  for (; bytes > 0; element += static_cast<std::uint64_t>(type.extent()))
    for (const Run& run : runs) {
      if (within >= run.bytes()) {
        within -= run.bytes();
        continue;
      }
      for (std::size_t block = within / run.length; block < run.count && bytes > 0; ++block) {
        const std::size_t skipped = within % run.length;
        const std::size_t size = std::min(bytes, run.length - skipped);
        add(element +
                static_cast<std::uint64_t>(run.offset + run.stride * static_cast<std::ptrdiff_t>(block)) +
                skipped,
            size);
        bytes -= size;
        within = 0;
      }
      if (bytes == 0) break;
    }
  return pieces;
}

/// Calls `move(first_byte, bytes)` for all of a stream, a chunk at a time; in one piece when it may be.
template <typename Move>
Status in_chunks(std::size_t bytes, bool whole, Move&& move) {
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t part = whole ? bytes : std::min(chunk_bytes, bytes - done);
    if (auto moved = move(done, part); !moved) return moved;
    done += part;
  }
  return {};
}

}  // namespace

Status fetch(const Target& target, std::size_t first_byte, std::span<std::byte> to) {
  if (target.direct) {
    target.type->pack(target.memory(), target.count, first_byte, to);
    return {};
  }
  return read_process(target.pid, pieces_of(target, first_byte, to.data(), to.size()));
}

Status store(const Target& target, std::size_t first_byte, std::span<const std::byte> from) {
  if (target.direct) {
    target.type->unpack(from, first_byte, target.memory(), target.count);
    return {};
  }
  return write_process(target.pid,
                       pieces_of(target, first_byte, const_cast<std::byte*>(from.data()), from.size()));
}

Status put(const Operand& origin, const Target& target) {
  const std::size_t bytes = origin.bytes();
  if (target.direct && target.type->is_contiguous()) {
    origin.type->pack(origin.base, origin.count, 0, {target.type->data(target.memory()), bytes});
    return {};
  }
  if (origin.type->is_contiguous()) {
    const std::byte* from = origin.type->data(origin.base);
    const bool whole = target.direct || target.type->is_contiguous();
    return in_chunks(bytes, whole, [&](std::size_t first, std::size_t part) {
      return store(target, first, {from + first, part});
    });
  }
  return in_chunks(bytes, false, [&](std::size_t first, std::size_t part) {
    auto packed = chunk(part);
    origin.type->pack(origin.base, origin.count, first, packed);
    return store(target, first, packed);
  });
}

Status get(const Operand& origin, const Target& target) {
  const std::size_t bytes = target.bytes();
  if (target.direct && target.type->is_contiguous()) {
    origin.type->unpack({target.type->data(target.memory()), bytes}, 0, origin.base, origin.count);
    return {};
  }
  if (origin.type->is_contiguous()) {
    std::byte* to = origin.type->data(origin.base);
    const bool whole = target.direct || target.type->is_contiguous();
    return in_chunks(bytes, whole, [&](std::size_t first, std::size_t part) {
      return fetch(target, first, {to + first, part});
    });
  }
  return in_chunks(bytes, false, [&](std::size_t first, std::size_t part) {
    auto packed = chunk(part);
    if (auto fetched = fetch(target, first, packed); !fetched) return fetched;
    origin.type->unpack(packed, first, origin.base, origin.count);
    return Status{};
  });
}

}  // namespace llamada::mpi::rma
