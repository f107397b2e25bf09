#pragma once

#include <string_view>

// The profiles that come with RTI Connext, as far as policies of DDS are concerned.
namespace llamada::qos::xml {

/// A built-in profile, or all whose names begin alike, and the profile of builtin_profiles_text() that has
/// its policies.
struct BuiltinProfile {
  std::string_view begin;    ///< "Generic.StrictReliable"; also of "Generic.StrictReliable.LargeData".
  std::string_view profile;  ///< "RTI Connext::StrictReliable"
  std::string_view sets;     ///< "RELIABLE and KEEP_ALL", for warnings.
};

/// What stands for a file's name in messages about these profiles.
inline constexpr std::string_view builtin_profiles_file = "(built-in profiles of RTI Connext)";

/// A file of DDS-XML with one library, "RTI Connext".
std::string_view builtin_profiles_text();

/// Whether a base_name is in a library of RTI Connext's: BuiltinQosLib, BuiltinQosLibExp,
/// BuiltinQosSnippetLib.
bool is_builtin_name(std::string_view base_name);

/// The profile that a base_name means; null if its policies are not known here.
const BuiltinProfile* find_builtin_profile(std::string_view base_name);

}  // namespace llamada::qos::xml
