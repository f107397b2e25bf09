#include "cpu_places.hpp"

#include "test.hpp"

using namespace llamada::launcher;

namespace {

/// Two sockets of two cores of two threads each, numbered as Linux does: second threads behind all first
/// ones.
std::vector<Cpu> machine() {
  std::vector<Cpu> cpus;
  for (int number = 0; number < 8; ++number)
    cpus.push_back({number, number % 4 % 2, number % 4 / 2, number % 4 / 2});
  return cpus;
}

using Places = std::vector<std::string>;

}  // namespace

TEST_CASE("cpu places: each rank has what it is bound to", "[launcher]") {
  CHECK(cpu_places(machine(), CpuLevel::none, CpuLevel::core).empty());
  CHECK(cpu_places(machine(), CpuLevel::core, CpuLevel::none) == Places{"0,4", "1,5", "2,6", "3,7"});
  CHECK(cpu_places(machine(), CpuLevel::socket, CpuLevel::none) == Places{"0,1,4,5", "2,3,6,7"});
  CHECK(cpu_places(machine(), CpuLevel::numa, CpuLevel::none) == Places{"0,1,4,5", "2,3,6,7"});
  CHECK(cpu_places(machine(), CpuLevel::hwthread, CpuLevel::none).size() == 8);
}

TEST_CASE("cpu places: consecutive ranks take turns", "[launcher]") {
  CHECK(cpu_places(machine(), CpuLevel::core, CpuLevel::socket) == Places{"0,4", "2,6", "1,5", "3,7"});
  CHECK(cpu_places(machine(), CpuLevel::hwthread, CpuLevel::core) ==
        Places{"0", "1", "2", "3", "4", "5", "6", "7"});
  // Sockets that do not have equally many cores.
  const std::vector<Cpu> uneven = {{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 0, 0}, {3, 0, 1, 1}};
  CHECK(cpu_places(uneven, CpuLevel::core, CpuLevel::socket) == Places{"0", "3", "1", "2"});
}

TEST_CASE("cpu places: a text names a set", "[launcher]") {
  const cpu_set_t set = cpu_set_of("0,12,3");
  CHECK(CPU_COUNT(&set) == 3);
  CHECK((CPU_ISSET(0, &set) && CPU_ISSET(12, &set) && CPU_ISSET(3, &set)));
}
