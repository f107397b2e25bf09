#pragma once

#include <string>
#include <string_view>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"

namespace llamada::qos {

/// The first line of the text that serialize() makes; another version begins otherwise.
inline constexpr std::string_view serialized_profile_header = "llamada-profile=1";

/// A resolved profile as text for another process: the header, then one line "key=value" for each field,
/// always all of them, in one order: "datawriter_qos.history.kind=KEEP_ALL". Durations are in nanoseconds or
/// "infinite", log sizes in bytes, the name has control characters and '%' as %XX. ASCII if the name is.
std::string serialize(const Profile& profile);

/// The profile that serialize() made the text from. Errc::parse_error if a line, a key or a value is not as
/// serialize() writes it; Errc::invalid_argument or Errc::unsupported as check_consistent() and
/// check_enforced() say.
Result<Profile> deserialize(std::string_view text);

}  // namespace llamada::qos
