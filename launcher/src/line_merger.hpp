#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llamada::launcher {

/// Merges what the ranks write to one stream, line by line, so that lines of different ranks never mix. An
/// unfinished line waits until it is finished, the stream ends, it is longer than a line may be, or
/// flush_partial() is called.
class LineMerger {
 public:
  static constexpr std::size_t line_size_bytes_max = 64 * 1024;

  /// Each line begins with `prefix`, in which fill_pattern() puts the rank and its host. Empty: with nothing.
  /// `hosts` are those of the ranks; a rank that is not among them is on this one.
  explicit LineMerger(std::string prefix, std::vector<std::string> hosts = {})
      : prefix_(std::move(prefix)), hosts_(std::move(hosts)) {}

  /// These ranks are called "number:rank in the world". `hosts` are theirs; empty: they are on this one.
  void name_world(std::uint32_t first, std::uint32_t count, std::uint32_t number,
                  const std::vector<std::string>& hosts = {});
  /// Appends to `out` what can be written now.
  void take(std::uint32_t rank, std::string_view bytes, std::string& out);
  /// The stream of this rank has ended.
  void end(std::uint32_t rank, std::string& out);
  /// Whether an unfinished line waits.
  bool has_partial() const;
  /// Gives out unfinished lines, as a person at a terminal wants to see a prompt.
  void flush_partial(std::string& out);
  /// Whether what was given out last is an unfinished line, so that other text should begin a new one.
  bool within_line() const { return open_rank_.has_value(); }
  /// The caller has written a newline on its own account.
  void line_was_closed() { open_rank_.reset(); }

 private:
  void give(std::uint32_t rank, std::string_view bytes, std::string& out);
  std::string label_of(std::uint32_t rank) const;

  std::string prefix_;
  std::vector<std::string> hosts_;               ///< by rank
  std::map<std::uint32_t, std::string> labels_;  ///< of spawned ranks
  std::map<std::uint32_t, std::string> partial_;
  std::optional<std::uint32_t> open_rank_;  ///< the rank whose unfinished line was given out last
};

}  // namespace llamada::launcher
