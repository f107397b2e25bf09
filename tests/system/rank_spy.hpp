#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "command.hpp"
#include "job_process.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

// A job of known_messages.c, and the messages that it sends.

namespace llamada::system_test {

/// A message as the program sends it.
struct Known {
  int source = 0;
  int destination = 0;
  std::uint32_t context = 0;  ///< 1: MPI_COMM_WORLD; 0: the duplicate, whose id is agreed on
  int tag = 0;
  std::uint64_t length = 0;
  std::string first_bytes;  ///< hexadecimal, at most 16 bytes
  bool operator==(const Known&) const = default;
  auto operator<=>(const Known&) const = default;
};

inline constexpr int series_count = 20;

/// In the order of each source and destination. `kept`: the job keeps histories, so its logs have all bytes.
inline std::vector<Known> known_messages() {
  std::vector<Known> all = {{0, 1, 1, 7, 5, "68656c6c6f"},
                            {0, 2, 1, 9, 100, "000102030405060708090a0b0c0d0e0f"},
                            {0, 1, 0, 3, 8, "000000000000e03f"},
                            {0, 2, 1, 11, 3, "73796e"},
                            {0, 1, 1, 13, 300000, "4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c4c"},
                            {0, 1, 1, 14, 300000, "4c784c4c4c4c4c4c4c4c4c4c4c4c4c4c"}};
  for (int i = 0; i < series_count; ++i) all.push_back({0, 1, 1, 100, 4, fmt::format("{:02x}000000", i)});
  all.push_back({1, 2, 1, 21, 4, "92100000"});
  return all;
}

/// The job with its two files.
class KnownJob {
 public:
  explicit KnownJob(std::vector<std::string> options) : job_(words(std::move(options))) {}

  Job& process() { return job_; }
  void go() { std::ofstream(go_) << "go"; }
  /// Waits until all messages are sent.
  void await_sent() {
    REQUIRE(wait_for([&] { return job_.output() == "sent\n" || job_.ended(); }));
  }
  /// Lets the job end; its exit code.
  int end() {
    std::ofstream(end_) << "end";
    return job_.wait();
  }

 private:
  std::vector<std::string> words(std::vector<std::string> options) {
    options.insert(options.begin(), {"-n", "3"});
    options.insert(options.end(), {LLAMADA_KNOWN_MESSAGES, go_, end_});
    return options;
  }

  test::TemporaryFolder folder_;
  const std::string go_ = folder_ / "go";
  const std::string end_ = folder_ / "end";
  Job job_;
};

inline std::vector<std::string> spy_command(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {LLAMADA_COMMAND, "spy", "ranks"});
  return arguments;
}

/// The lines of `spy ranks --json`.
inline std::vector<nlohmann::json> lines_of(const std::string& text) {
  std::vector<nlohmann::json> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

inline Known known_of(const nlohmann::json& line) {
  const std::uint32_t context = line["context"];
  return {line["source"],
          line["destination"],
          context == 1 ? context : 0,
          line["tag"],
          line["bytes"],
          line["first_bytes"].is_null() ? "" : line["first_bytes"].get<std::string>()};
}

/// Of one source and destination, in their order.
inline std::vector<Known> between(const std::vector<Known>& all, int source, int destination) {
  std::vector<Known> some;
  for (const Known& each : all)
    if (each.source == source && each.destination == destination) some.push_back(each);
  return some;
}

/// Whether both have the same messages, in the same order for each source and destination.
inline void check_same(const std::vector<Known>& seen, const std::vector<Known>& expected) {
  CHECK(seen.size() == expected.size());
  for (int source = 0; source < 3; ++source)
    for (int destination = 0; destination < 3; ++destination) {
      INFO("from " << source << " to " << destination);
      CHECK(between(seen, source, destination) == between(expected, source, destination));
    }
}

}  // namespace llamada::system_test
