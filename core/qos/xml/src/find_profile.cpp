#include <algorithm>
#include <set>
#include <system_error>
#include <vector>

#include "llamada/qos_xml/profile_file.hpp"
#include "words.hpp"

namespace llamada::qos {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_path(std::string_view text) { return text.find('/') != text.npos || text.ends_with(".xml"); }

/// The file that `text`, without a profile's name behind it, stands for; empty if there is none.
fs::path file_of(std::string_view text, std::span<const fs::path> directories) {
  if (text.empty()) return {};
  if (is_path(text)) return is_there(text) ? fs::path(text) : fs::path();
  for (const fs::path& directory : directories) {
    fs::path path = directory / (std::string(text) + ".xml");
    if (is_there(path)) return path;
  }
  return {};
}

std::vector<std::string> names_in(std::span<const fs::path> directories) {
  std::set<std::string> names;
  for (const fs::path& directory : directories) {
    std::error_code error;
    for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
         entry.increment(error)) {
      if (entry->path().extension() == ".xml") names.insert(entry->path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

/// "default, fault-tolerant in /usr/share/...; did you mean ...?"
tl::unexpected<Error> no_such_profile(std::string_view word, std::span<const fs::path> directories) {
  const std::vector<std::string> found = names_in(directories);
  const std::vector<std::string_view> names(found.begin(), found.end());
  std::string searched;
  for (const fs::path& directory : directories)
    searched += (searched.empty() ? "" : ", ") + directory.string();
  if (searched.empty()) searched = "no directory";
  if (names.empty()) {
    return failure(Errc::not_found, "there is no QoS profile {}; there are none in {}", xml::quoted(word),
                   searched);
  }
  return failure(Errc::not_found, "there is no QoS profile {}; in {} there are: {}{}", xml::quoted(word),
                 searched, xml::listed(names), xml::suggestion(word, names));
}

/// The places of single colons, at which a profile's name may begin; "::" belongs to such a name.
std::vector<std::size_t> separators(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t at = text.find(':'); at != text.npos; at = text.find(':', at + 1)) {
    if (text.substr(at, 2) == "::") {
      ++at;
    } else {
      places.push_back(at);
    }
  }
  return places;
}

}  // namespace

Result<ProfileReference> find_profile_file(std::string_view name_or_path,
                                           std::span<const fs::path> directories) {
  if (fs::path file = file_of(name_or_path, directories); !file.empty()) {
    return ProfileReference{std::move(file), std::nullopt};
  }
  std::string_view word = name_or_path;
  for (std::size_t place : separators(name_or_path)) {
    const std::string_view before = name_or_path.substr(0, place);
    const std::string_view name = name_or_path.substr(place + 1);
    if (fs::path file = file_of(before, directories); !file.empty()) {
      if (name.empty()) {
        return failure(Errc::invalid_argument, "{} has no profile's name behind the colon",
                       xml::quoted(name_or_path));
      }
      return ProfileReference{std::move(file), std::string(name)};
    }
    if (word.size() == name_or_path.size()) word = before;
  }
  if (is_path(word)) return failure(Errc::not_found, "there is no QoS profile file {}", xml::quoted(word));
  return no_such_profile(word, directories);
}

Result<Profile> find_profile(std::string_view name_or_path, std::span<const fs::path> directories,
                             std::vector<std::string>* warnings) {
  auto reference = find_profile_file(name_or_path, directories);
  if (!reference) return propagate(reference);
  return load_profile(reference->path, reference->name, directories, warnings);
}

}  // namespace llamada::qos
