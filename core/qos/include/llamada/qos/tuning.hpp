#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "llamada/base/result.hpp"
#include "llamada/qos/tuning_table.hpp"

// The values of the settings in tuning_table.hpp.
namespace llamada::qos {

inline std::span<const TuningVariable> tuning_variables() { return tuning_table; }

/// The variable with that name. Errc::not_found with the nearest name.
Result<const TuningVariable*> find_tuning_variable(std::string_view name);

/// "65536" or "64 KiB" of bytes, "true", "false", "1" or "0" of yes_or_no, else a whole number.
/// Errc::invalid_argument with the legal values.
Result<std::uint64_t> parse_tuning_value(const TuningVariable& variable, std::string_view text);

/// "64 KiB", "true", "1000".
std::string tuning_value_to_string(const TuningVariable& variable, std::uint64_t value);

/// The legal values: "0 bytes to 64 KiB", "true, false".
std::string tuning_range(const TuningVariable& variable);

/// The values of one job.
class Tuning {
 public:
  /// The value that was set, or the one to start with.
  std::uint64_t value(TuningId id) const { return given(id).value_or(tuning_variable(id).start); }
  /// Only what was set.
  std::optional<std::uint64_t> given(TuningId id) const { return given_[static_cast<std::size_t>(id)]; }
  void set(TuningId id, std::uint64_t value) { given_[static_cast<std::size_t>(id)] = value; }

  /// The values of `over` replace those here.
  void put_over(const Tuning& over);

  bool operator==(const Tuning&) const = default;

 private:
  std::array<std::optional<std::uint64_t>, tuning_count> given_;
};

/// "NAME=VALUE", as mpirun --set takes it. Errors as the functions above.
Status set_tuning(Tuning& tuning, std::string_view assignment);

/// Errc::invalid_argument if a value is outside its range, or an eager message could fill the log.
Status check_consistent(const Tuning& tuning);

}  // namespace llamada::qos
