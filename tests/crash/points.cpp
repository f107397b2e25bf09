#include "points.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "llamada/base/crash_point.hpp"

namespace llamada::crash {

Passes parse_passes(const char* text) {
  Passes passes;
  std::istringstream lines(text);
  std::string name;
  for (std::uint64_t count; lines >> name >> count;) passes[name] = count;
  return passes;
}

std::string passes_so_far() {
  std::string text;
  for (auto name : crash_points_passed()) text += fmt::format("{} {}\n", name, crash_point_passes(name));
  return text;
}

bool is_of_endpoints(const std::string& point) {
  const std::string operation = point.substr(0, point.find(':'));
  return std::set<std::string>{"endpoint", "describe", "match", "grant", "discard",
                               "slot",     "holds",    "join",  "split"}
      .contains(operation);
}

std::set<std::string> points_in(const char* folder) {
  std::set<std::string> points;
  const std::regex macro("LLAMADA_CRASH_POINT\\(\"([^\"]+)\"\\)");
  for (auto& file :
       std::filesystem::recursive_directory_iterator(std::filesystem::path(LLAMADA_SOURCES) / folder)) {
    if (!file.is_regular_file()) continue;
    std::stringstream text;
    text << std::ifstream(file.path()).rdbuf();
    const std::string content = text.str();
    for (std::sregex_iterator found(content.begin(), content.end(), macro), end; found != end; ++found)
      points.insert((*found)[1]);
  }
  return points;
}

std::set<std::string> points_in_sources() {
  std::set<std::string> points = points_in("core/log");
  points.merge(points_in("core/topics"));
  points.merge(points_in("transport/llamanet"));
  return points;
}

std::string only_in(const std::set<std::string>& left, const std::set<std::string>& right) {
  std::string names;
  for (auto& name : left)
    if (!right.contains(name)) names += name + " ";
  return names;
}

}  // namespace llamada::crash
