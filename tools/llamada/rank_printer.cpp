#include "rank_printer.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "hex_dump.hpp"
#include "json_text.hpp"

namespace llamada::tools {
namespace {

using nlohmann::ordered_json;

std::string printable(const std::vector<std::byte>& bytes) {
  std::string text;
  for (const std::byte each : bytes) {
    const char character = static_cast<char>(each);
    text += character >= ' ' && character <= '~' ? character : '.';
  }
  return text;
}

/// "12 bytes  00 01 …  |..|".
std::string to_text(const SeenPayload& payload) {
  std::string text = fmt::format("{} byte{}", payload.size_bytes, payload.size_bytes == 1 ? "" : "s");
  if (!payload.first_bytes) return text + "  (its bytes are not in the log)";
  if (payload.first_bytes->empty()) return text;
  text += "  ";
  for (const std::byte each : *payload.first_bytes)
    text += fmt::format("{:02x} ", static_cast<unsigned>(each));
  if (payload.first_bytes->size() < payload.size_bytes) text += "… ";
  return text + " |" + printable(*payload.first_bytes) + "|";
}

ordered_json first_bytes_of(const SeenPayload& payload) {
  return payload.first_bytes ? ordered_json(hex_digits(*payload.first_bytes)) : ordered_json();
}

std::string sentence(const RankChange& change) {
  switch (change.kind) {
    case RankChangeKind::started:
      return fmt::format("rank {} runs (pid {}, incarnation {})", change.rank, change.pid,
                         change.incarnation);
    case RankChangeKind::died:
      return fmt::format("rank {} has died (incarnation {})", change.rank, change.incarnation);
    case RankChangeKind::replaced:
      return fmt::format("rank {} is replaced by incarnation {}, which repeats what its predecessor did",
                         change.rank, change.incarnation);
    case RankChangeKind::live:
      return fmt::format("rank {} is live again (pid {}, incarnation {})", change.rank, change.pid,
                         change.incarnation);
    case RankChangeKind::ended:
      return fmt::format("rank {} has ended", change.rank);
    case RankChangeKind::protection_ended:
      return "ranks of this job can no longer be replaced";
    case RankChangeKind::deadline_missed:
      return fmt::format("rank {} has been in {} (its MPI call {}) for longer than its DEADLINE", change.rank,
                         change.call, change.call_index);
  }
  return "";
}

}  // namespace

void RankPrinter::on_message(const SeenMessage& message) {
  if (is_done()) return;
  ++count_;
  if (as_json_) {
    const ordered_json line{
        {"source", message.source},
        {"destination", message.destination},
        {"context", message.context},
        {"communicator", communicator_name(message.context)},
        {"tag", message.tag},
        {"bytes", message.payload.size_bytes},
        {"first_bytes", first_bytes_of(message.payload)},
        {"synchronous", message.is_synchronous},
        {"number", message.number},
        {"ordinal", message.ordinal == 0 ? ordered_json() : ordered_json(message.ordinal)},
        {"incarnation", message.incarnation},
        {"call_index", message.call_index}};
    fmt::print("{}\n", dump(line, -1));
    return;
  }
  fmt::print("{} -> {}  {}  tag {}  {}{}\n", message.source, message.destination,
             communicator_name(message.context), message.tag, message.is_synchronous ? "synchronous  " : "",
             to_text(message.payload));
}

void RankPrinter::on_collective(const SeenCollective& collective) {
  if (is_done()) return;
  ++count_;
  const char* name = mpi::coll::to_string(collective.kind);
  if (as_json_) {
    const ordered_json line{{"source", collective.source},
                            {"context", collective.context},
                            {"communicator", communicator_name(collective.context)},
                            {"collective", name},
                            {"ordinal", collective.ordinal},
                            {"member", collective.member ? ordered_json(*collective.member) : ordered_json()},
                            {"bytes", collective.payload.size_bytes},
                            {"first_bytes", first_bytes_of(collective.payload)}};
    fmt::print("{}\n", dump(line, -1));
    return;
  }
  fmt::print("{} -> {}  {}  {} {}  {}\n", collective.source,
             collective.member ? fmt::format("member {}", *collective.member) : "all",
             communicator_name(collective.context), name, collective.ordinal, to_text(collective.payload));
}

void RankPrinter::on_missed(int source, std::optional<int> destination, std::uint64_t count) {
  missed_ += count;
  std::fflush(stdout);
  fmt::print(stderr, "llamada: {} records of rank {}{} came too fast to be shown\n", count, source,
             destination ? fmt::format(" to rank {}", *destination) : " for collectives");
}

void RankPrinter::on_change(const RankChange& change) {
  std::fflush(stdout);
  fmt::print(stderr, "llamada: {}\n", sentence(change));
}

}  // namespace llamada::tools
