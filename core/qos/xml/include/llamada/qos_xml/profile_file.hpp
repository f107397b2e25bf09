#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/qos/profile.hpp"
#include "llamada/qos_xml/qos_provider.hpp"

namespace llamada::qos {

/// A larger file is refused.
inline constexpr std::size_t profile_file_size_max_bytes = 1 << 20;
/// A longer chain of base_name is refused.
inline constexpr std::size_t base_name_chain_length_max = 32;
/// A longer name of a library or profile is refused (DDS-XML 1.0, 7.3.2).
inline constexpr std::size_t profile_name_length_max = 255;

/// Reads the text of a profile file (docs/qos.md) and resolves one profile: `name` is "Library::Profile", or
/// "Profile" where only one library has it; without a name it is the file's only profile, or the one with
/// is_default_qos="true". Of the other profiles only the frame is looked at. The result is what ranks take of
/// it, and is consistent; what ranks do not enforce is refused unless it is the default, also in the other
/// entities. Ranks' topics have no names that a topic_filter could fit.
///
/// Errors are one sentence "file:line: element/path: what is wrong": Errc::parse_error for the text,
/// Errc::not_found for the name, Errc::invalid_argument and Errc::unsupported as check_consistent() and
/// check_enforced() say.
Result<Profile> parse_profile(std::string_view text, std::string_view file_name_for_messages,
                              std::optional<std::string_view> name = std::nullopt);

/// parse_profile() of a file. Also Errc::not_found, Errc::system and Errc::out_of_resources for the file
/// itself. A base_name in a library that is not in it is looked for in the files of `directories`.
/// `warnings`, if given, gets a sentence for each element that was met and has no effect.
Result<Profile> load_profile(const std::filesystem::path& path,
                             std::optional<std::string_view> name = std::nullopt,
                             std::span<const std::filesystem::path> directories = {},
                             std::vector<std::string>* warnings = nullptr);

/// The reader that a rank is. A rank is both ends, so a DURABILITY that datareader_qos leaves out is
/// datawriter_qos's.
DataReaderQos reader_qos_for_ranks(const ResolvedQos& resolved);

/// What ranks take of a profile, or why they refuse it, with the place of what they refuse.
Result<Profile> profile_for_ranks(const ResolvedQos& resolved);

/// A file and, if one was named, the profile in it.
struct ProfileReference {
  std::filesystem::path path;
  std::optional<std::string> name;

  bool operator==(const ProfileReference&) const = default;
};

/// What a person writes after `--qos`: "fault-tolerant" is fault-tolerant.xml in the first of the directories
/// that has it; what ends with ".xml" or has a '/' is a path; behind either ":Library::Profile" or ":Profile"
/// may follow. Errc::not_found lists the profiles that there are and the nearest name.
Result<ProfileReference> find_profile_file(std::string_view name_or_path,
                                           std::span<const std::filesystem::path> directories);

/// find_profile_file() and load_profile() in one.
Result<Profile> find_profile(std::string_view name_or_path,
                             std::span<const std::filesystem::path> directories,
                             std::vector<std::string>* warnings = nullptr);

}  // namespace llamada::qos
