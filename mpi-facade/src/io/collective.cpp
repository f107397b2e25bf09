#include "io/collective.hpp"

#include <algorithm>
#include <cstring>

#include "coll/agreement.hpp"
#include "runtime/runtime.hpp"
#include "world/world.hpp"

namespace llamada::mpi::io {
namespace {

/// Parts of a file of so many bytes go to the members in turn.
constexpr std::uint64_t chunk_bytes = std::uint64_t{1} << 20;
/// Runs of this length on average, and longer ones, are accessed by those whose they are.
constexpr std::uint64_t exchanged_run_bytes_max = 16 * 1024;
constexpr std::size_t sampled_runs = 16;

enum class Choice : std::uint64_t { automatic, enable, disable };

/// What each member says of its part.
struct Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t average_run_bytes = 0;
  Choice choice = Choice::automatic;
};

Choice choice_of(const File& file, bool reading) {
  const auto hint = file.hints.get(reading ? "romio_cb_read" : "romio_cb_write");
  // Exchanged data would stay in the histories that replacements need; and only an access of its own is
  // atomic.
  const bool kept = runtime().world->protection().keeps_messages;
  if (kept || file.atomic || !file.view.is_ordered() || hint == "disable") return Choice::disable;
  return hint == "enable" ? Choice::enable : Choice::automatic;
}

std::uint64_t average_run_bytes(const Access& access) {
  RunCursor cursor(access.file.view, access.position, access.bytes);
  std::uint64_t bytes = 0;
  std::size_t runs = 0;
  for (; runs < sampled_runs && cursor.current(); ++runs) {
    bytes += cursor.current()->length;
    cursor.advance(cursor.current()->length);
  }
  return runs == 0 ? 0 : bytes / runs;
}

bool interleave(std::vector<Part> parts) {
  std::erase_if(parts, [](const Part& part) { return part.begin == part.end; });
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.begin < b.begin; });
  for (std::size_t index = 1; index < parts.size(); ++index)
    if (parts[index].begin < parts[index - 1].end) return true;
  return false;
}

/// The same for all members.
bool is_exchanged(const std::vector<Part>& parts) {
  const auto any = [&](auto condition) { return std::any_of(parts.begin(), parts.end(), condition); };
  if (parts.size() == 1 || any([](const Part& part) { return part.choice == Choice::disable; })) return false;
  if (any([](const Part& part) { return part.choice == Choice::enable; })) return true;
  return interleave(parts) && any([](const Part& part) {
           return part.end > part.begin && part.average_run_bytes < exchanged_run_bytes_max;
         });
}

Result<std::vector<Part>> agree_on_parts(const Access& access, bool reading) {
  const Reach reach = reach_of(access);
  return gather_from_all(*access.file.communicator, Part{reach.begin, reach.end, average_run_bytes(access),
                                                         choice_of(access.file, reading)});
}

/// The error of any member, for all; one's own first.
Status agree_on_outcome(File& file, const Status& own) {
  auto all = gather_from_all(*file.communicator, own ? 0 : std::max(1, own.error().system_errno()));
  if (!own) return own;
  if (!all) return propagate(all);
  for (const int error_number : *all)
    if (error_number != 0) return file_failure(file.name, "accessed for all", error_number);
  return {};
}

/// The chunks of the part of a file that anybody accesses: in each round one for each member.
class Rounds {
 public:
  Rounds(const Access& access, const std::vector<Part>& parts)
      : members_(parts.size()), cursor_(access.file.view, access.position, access.bytes) {
    begin_ = UINT64_MAX;
    for (const Part& part : parts) {
      if (part.begin == part.end) continue;
      begin_ = std::min(begin_, part.begin);
      end_ = std::max(end_, part.end);
    }
    begin_ = begin_ / chunk_bytes * chunk_bytes;
  }

  bool done() const { return begin_ >= end_; }
  void next() { begin_ += chunk_bytes * members_; }
  std::size_t members() const { return members_; }

  /// Calls `visit(run)` for what this member accesses of the chunk of `owner` in this round.
  template <typename Visit>
  void for_each_run(std::size_t owner, Visit visit) {
    const std::uint64_t chunk_end = begin_ + chunk_bytes * (owner + 1);
    while (cursor_.current() && cursor_.current()->offset < chunk_end) {
      FileRun run = *cursor_.current();
      run.length = static_cast<std::size_t>(std::min<std::uint64_t>(run.length, chunk_end - run.offset));
      visit(run);
      cursor_.advance(run.length);
    }
  }

 private:
  std::size_t members_;
  RunCursor cursor_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

void append(std::vector<std::byte>& message, const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  message.insert(message.end(), first, first + size);
}

/// A run and where its data lie in a message.
struct Piece {
  FileRun run;
  const std::byte* data = nullptr;
};

/// What one owner was given in a round, in the order of the members, so that of overlapping writes the
/// highest rank's stays.
std::vector<Piece> pieces_of(const std::vector<std::vector<std::byte>>& messages) {
  std::vector<Piece> pieces;
  for (const auto& message : messages) {
    for (std::size_t at = 0; at < message.size();) {
      Piece piece;
      std::memcpy(&piece.run, message.data() + at, sizeof piece.run);
      at += sizeof piece.run;
      piece.data = message.data() + at;
      at += piece.run.length;
      pieces.push_back(piece);
    }
  }
  return pieces;
}

/// Writes pieces of a chunk, adjacent and overlapping ones at once.
Status write_pieces(Storage& storage, const std::vector<Piece>& pieces, std::vector<std::byte>& chunk) {
  std::vector<FileRun> covered;
  for (const Piece& piece : pieces) covered.push_back(piece.run);
  std::sort(covered.begin(), covered.end(),
            [](const FileRun& a, const FileRun& b) { return a.offset < b.offset; });
  std::vector<FileRun> merged;
  for (const FileRun& run : covered) {
    if (merged.empty() || run.offset > merged.back().end())
      merged.push_back(run);
    else
      merged.back().length = std::max(merged.back().end(), run.end()) - merged.back().offset;
  }
  if (merged.empty()) return {};
  const std::uint64_t origin = merged.front().offset;
  chunk.resize(merged.back().end() - origin);
  for (const Piece& piece : pieces)
    std::memcpy(chunk.data() + (piece.run.offset - origin), piece.data, piece.run.length);
  for (const FileRun& run : merged) {
    const auto bytes = std::span(chunk).subspan(run.offset - origin, run.length);
    if (auto status = storage.write(bytes, run.offset); !status) return status;
  }
  return {};
}

Status write_exchanged(const Access& access, std::span<const std::byte> stream,
                       const std::vector<Part>& parts) {
  File& file = access.file;
  Status outcome;
  std::vector<std::byte> chunk;
  std::size_t sent = 0;
  for (Rounds rounds(access, parts); !rounds.done(); rounds.next()) {
    std::vector<std::vector<std::byte>> outgoing(rounds.members());
    for (std::size_t owner = 0; owner < rounds.members(); ++owner) {
      rounds.for_each_run(owner, [&](const FileRun& run) {
        append(outgoing[owner], &run, sizeof run);
        append(outgoing[owner], stream.data() + sent, run.length);
        sent += run.length;
      });
    }
    auto incoming = send_around(*file.communicator, outgoing);
    if (!incoming) return propagate(incoming);
    if (outcome) outcome = write_pieces(file.storage, pieces_of(*incoming), chunk);
  }
  return agree_on_outcome(file, outcome);
}

/// What an owner reads for others in a round: for each run the bytes that there are.
Result<std::vector<std::vector<std::byte>>> read_pieces(Storage& storage,
                                                        const std::vector<std::vector<std::byte>>& wanted) {
  std::uint64_t begin = UINT64_MAX;
  std::uint64_t end = 0;
  std::vector<std::vector<FileRun>> runs(wanted.size());
  for (std::size_t member = 0; member < wanted.size(); ++member) {
    runs[member].resize(wanted[member].size() / sizeof(FileRun));
    if (!runs[member].empty()) std::memcpy(runs[member].data(), wanted[member].data(), wanted[member].size());
    for (const FileRun& run : runs[member]) {
      begin = std::min(begin, run.offset);
      end = std::max(end, run.end());
    }
  }
  std::vector<std::vector<std::byte>> answers(wanted.size());
  if (begin >= end) return answers;
  std::vector<std::byte> chunk(end - begin);
  auto got = storage.read(chunk, begin);
  if (!got) return propagate(got);
  for (std::size_t member = 0; member < wanted.size(); ++member) {
    for (const FileRun& run : runs[member]) {
      const std::uint64_t from = run.offset - begin;
      const std::uint64_t there = *got > from ? std::min<std::uint64_t>(run.length, *got - from) : 0;
      append(answers[member], &there, sizeof there);
      append(answers[member], chunk.data() + from, there);
    }
  }
  return answers;
}

/// Reads into `stream`; how many bytes there were before the end of the file.
Result<std::uint64_t> read_exchanged(const Access& access, std::span<std::byte> stream,
                                     const std::vector<Part>& parts) {
  File& file = access.file;
  Status outcome;
  std::uint64_t done = 0;
  bool at_end = false;
  for (Rounds rounds(access, parts); !rounds.done(); rounds.next()) {
    std::vector<std::vector<std::byte>> wanted(rounds.members());
    std::vector<std::vector<FileRun>> runs(rounds.members());
    for (std::size_t owner = 0; owner < rounds.members(); ++owner) {
      rounds.for_each_run(owner, [&](const FileRun& run) { runs[owner].push_back(run); });
      append(wanted[owner], runs[owner].data(), runs[owner].size() * sizeof(FileRun));
    }
    auto questions = send_around(*file.communicator, wanted);
    if (!questions) return propagate(questions);
    auto found = read_pieces(file.storage, *questions);
    if (!found && outcome) outcome = propagate(found);
    auto answers = send_around(*file.communicator,
                               found ? *found : std::vector<std::vector<std::byte>>(rounds.members()));
    if (!answers) return propagate(answers);
    for (std::size_t owner = 0; owner < rounds.members() && !at_end; ++owner) {
      std::size_t at = 0;
      for (const FileRun& run : runs[owner]) {
        std::uint64_t there = 0;
        if (at + sizeof there <= (*answers)[owner].size()) {
          std::memcpy(&there, (*answers)[owner].data() + at, sizeof there);
          at += sizeof there;
        }
        if (there > 0) std::memcpy(stream.data() + done, (*answers)[owner].data() + at, there);
        at += there;
        done += there;
        at_end = there < run.length;
        if (at_end) break;
      }
    }
  }
  auto agreed = agree_on_outcome(file, outcome);
  if (!agreed) return propagate(agreed);
  return done;
}

}  // namespace

Status write_all(const Access& access) {
  std::vector<std::byte> copy;
  auto parts = agree_on_parts(access, false);
  if (!parts) return propagate(parts);
  if (!is_exchanged(*parts)) return access.bytes > 0 ? write(access) : Status{};
  auto stream = stream_of(access, copy);
  if (!stream) {
    // The others count on this member.
    write_exchanged({access.file, 0, {}, 0}, {}, *parts).has_value();
    return propagate(stream);
  }
  return write_exchanged(access, *stream, *parts);
}

Result<std::uint64_t> read_all(const Access& access) {
  auto parts = agree_on_parts(access, true);
  if (!parts) return propagate(parts);
  if (!is_exchanged(*parts)) return access.bytes > 0 ? read(access) : Result<std::uint64_t>(0);
  const Representation& representation = *access.file.representation;
  std::byte* in_place =
      representation.is_plain(true) && access.bytes > 0 ? access.buffer.contiguous() : nullptr;
  std::vector<std::byte> copy(in_place ? 0 : access.bytes);
  const std::span<std::byte> stream = in_place ? std::span(in_place, access.bytes) : std::span(copy);
  auto done = read_exchanged(access, stream, *parts);
  if (!done || in_place || access.bytes == 0) return done;
  auto native =
      representation.from_file(stream, *done, access.buffer.base, access.buffer.count, *access.buffer.type);
  if (!native) return propagate(native);
  return static_cast<std::uint64_t>(*native);
}

}  // namespace llamada::mpi::io
