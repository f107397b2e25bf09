#pragma once

#include <sched.h>

#include <string>
#include <string_view>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/options.hpp"

namespace llamada::launcher {

/// Where one CPU (a hardware thread) lies.
struct Cpu {
  int number;
  int core;  ///< equal for the threads of a core, within its socket
  int numa;
  int socket;
};

/// The CPUs that this process may use, as /sys tells of them.
std::vector<Cpu> usable_cpus();

/// The sets of CPUs that ranks 0, 1, … are bound to, over and over: each set what `binding` names, and
/// consecutive sets in different ones of what `mapping` names (none: in the order of the CPUs). Empty for
/// CpuLevel::none. As text: "0,4".
std::vector<std::string> cpu_places(const std::vector<Cpu>& cpus, CpuLevel binding, CpuLevel mapping);

/// The set that such a text names.
cpu_set_t cpu_set_of(std::string_view place);

}  // namespace llamada::launcher
