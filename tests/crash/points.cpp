#include "points.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <sstream>

#include "crash_points.hpp"
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

bool is_of_standbys(const std::string& point) { return point.starts_with("standby:"); }

bool is_of_checkpoints(const std::string& point) { return point.starts_with("shorten:"); }

std::set<std::string> points_in(const char* folder) {
  return test::crash_points_in(std::filesystem::path(LLAMADA_SOURCES) / folder);
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
