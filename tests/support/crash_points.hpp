#pragma once

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

// What tests that kill a process at its crash points (core/base/crash_point.hpp) share.

namespace llamada::test {

/// The names of all LLAMADA_CRASH_POINT() in the files below this folder.
inline std::set<std::string> crash_points_in(const std::filesystem::path& folder) {
  std::set<std::string> points;
  const std::regex macro("LLAMADA_CRASH_POINT\\(\"([^\"]+)\"\\)");
  for (const auto& file : std::filesystem::recursive_directory_iterator(folder)) {
    if (!file.is_regular_file()) continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string content = text.str();
    for (std::sregex_iterator found(content.begin(), content.end(), macro), end; found != end; ++found)
      points.insert((*found)[1]);
  }
  return points;
}

/// The steps of core/log in alphabetical order, without those that change the shape of its memory. A step
/// that is added there is to be added here.
inline constexpr std::string_view log_crash_points[] = {
    "allocate:header-committed",
    "allocate:header-written",
    "arena:header-committed",
    "arena:header-written",
    "consume:advanced",
    "consume:cursor-stored",
    "consume:link-followed",
    "consume:peeked",
    "directory:cursor-committed",
    "directory:cursor-written",
    "directory:endpoint-committed",
    "directory:endpoint-written",
    "directory:log-committed",
    "directory:log-written",
    "journal:chunk-initialised",
    "journal:count-stored",
    "journal:entry-committed",
    "journal:entry-written",
    "journal:link-committed",
    "journal:link-written",
    "journal:value-stored",
    "publish:announced",
    "publish:cell-written",
    "publish:chunk-allocated",
    "publish:chunk-initialised",
    "publish:committed",
    "publish:first-chunk-committed",
    "publish:link-committed",
    "publish:link-written",
    "publish:payload-written",
    "publish:reserve",
    "publish:some-equal",
    "publish:some-filled",
    "publish:withdrawal-written",
    "publish:withdrawn",
    "recycle:consumed",
    "recycle:freed",
    "recycle:header-written",
    "recycle:reused",
    "recycle:unlinked",
};

}  // namespace llamada::test
