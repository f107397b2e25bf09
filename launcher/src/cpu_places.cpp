#include "cpu_places.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

namespace llamada::launcher {
namespace {

namespace fs = std::filesystem;

int read_number(const fs::path& path, int otherwise) {
  std::ifstream file(path);
  int value = otherwise;
  file >> value;
  return file && value >= 0 ? value : otherwise;
}

/// The node is a folder "node1" beside the topology of the CPU.
int numa_of(const fs::path& folder) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    int number = 0;
    if (name.starts_with("node") &&
        std::from_chars(name.data() + 4, name.data() + name.size(), number).ec == std::errc())
      return number;
  }
  return 0;
}

/// What makes two CPUs belong together at this level.
std::tuple<int, int, int> key_of(const Cpu& cpu, CpuLevel level) {
  switch (level) {
    case CpuLevel::none:
      return {0, 0, 0};
    case CpuLevel::socket:
      return {cpu.socket, 0, 0};
    case CpuLevel::numa:
      return {0, cpu.numa, 0};
    case CpuLevel::core:
      return {cpu.socket, cpu.core, 0};
    case CpuLevel::hwthread:
      return {cpu.socket, cpu.core, cpu.number};
  }
  return {0, 0, 0};
}

struct Place {
  const Cpu* first;
  std::string text;
};

std::vector<Place> places_in_order(const std::vector<Cpu>& cpus, CpuLevel binding) {
  std::vector<Place> places;
  std::map<std::tuple<int, int, int>, std::size_t> known;
  for (const Cpu& cpu : cpus) {
    const auto [entry, is_new] = known.try_emplace(key_of(cpu, binding), places.size());
    if (is_new)
      places.push_back({&cpu, std::to_string(cpu.number)});
    else
      places[entry->second].text += "," + std::to_string(cpu.number);
  }
  return places;
}

}  // namespace

std::vector<Cpu> usable_cpus() {
  std::vector<Cpu> cpus;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cpus;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(static_cast<unsigned>(number), &allowed)) continue;
    const fs::path folder = "/sys/devices/system/cpu/cpu" + std::to_string(number);
    cpus.push_back({number, read_number(folder / "topology/core_id", number), numa_of(folder),
                    read_number(folder / "topology/physical_package_id", 0)});
  }
  return cpus;
}

std::vector<std::string> cpu_places(const std::vector<Cpu>& cpus, CpuLevel binding, CpuLevel mapping) {
  std::vector<std::string> result;
  if (binding == CpuLevel::none) return result;
  // For each of what ranks are mapped by, the places in it that have not been taken.
  std::vector<std::vector<std::string>> groups;
  std::map<std::tuple<int, int, int>, std::size_t> known;
  const auto places = places_in_order(cpus, binding);
  for (const Place& place : places) {
    const auto [entry, is_new] = known.try_emplace(key_of(*place.first, mapping), groups.size());
    if (is_new) groups.emplace_back();
    groups[entry->second].push_back(place.text);
  }
  for (std::size_t round = 0; result.size() < places.size(); ++round)
    for (const auto& group : groups)
      if (round < group.size()) result.push_back(group[round]);
  return result;
}

cpu_set_t cpu_set_of(std::string_view place) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const char* at = place.data(); at < place.data() + place.size(); ++at) {
    int number = 0;
    at = std::from_chars(at, place.data() + place.size(), number).ptr;
    if (number >= 0 && number < CPU_SETSIZE) CPU_SET(static_cast<unsigned>(number), &set);
  }
  return set;
}

}  // namespace llamada::launcher
