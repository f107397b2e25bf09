#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "script.hpp"

// How two implementations may differ, by docs/interop.md, and whether they differ otherwise.
namespace llamada::interop {

enum class Difference : std::uint8_t {
  none,
  without_data,  ///< One shows a change of state as a sample without data, the other with the data there is.
  cut,           ///< The same; max_samples then leaves out others.
  generations,   ///< Cyclone DDS counts a rebirth after dispose and unregister in both generation counts.
  reborn_view,   ///< Ours is NEW until a sample of the latest generation was accessed, theirs until any was.
  late,          ///< BY_SOURCE_TIMESTAMP: Cyclone DDS drops what comes behind a later sample.
  purge,         ///< Cyclone DDS purges later than at once.
  follows,       ///< Of an instance of which the two hold different samples since one of the above.
  not_compared,  ///< Of such an instance, from then on.
  unlisted,
};
inline constexpr std::size_t difference_kinds = 10;
std::string_view to_string(Difference difference);

/// Judges the reads of one script, in their order, one instance at a time.
class Judge {
 public:
  explicit Judge(const Configuration& configuration) : configuration_(configuration) {}

  /// What a writer does, so that the judge knows which samples come late.
  void note(const Step& step);
  /// Compares what one read or take showed of one instance.
  Difference judge(const Step& step, std::int32_t key, const std::vector<Seen>& ours,
                   const std::vector<Seen>& theirs);

 private:
  Difference difference_of(const Step& step, const std::vector<Seen>& ours,
                           const std::vector<Seen>& theirs) const;

  struct History {
    std::int64_t latest_ns = 0;
    bool has_late = false;
    bool may_hold_others = false;
    bool is_over = false;
  };
  Configuration configuration_;
  std::map<std::int32_t, History> histories_;
};

}  // namespace llamada::interop
