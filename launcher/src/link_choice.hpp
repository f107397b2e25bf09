#pragma once

#include <span>
#include <string>
#include <vector>

#include "llamada/base/result.hpp"
#include "llamada/launcher/links.hpp"

namespace llamada::launcher {

/// The longest datagrams that two nodes exchange, from what each has found out of the other. Pure.
PairProbe there_and_back(const PairProbe& there, const PairProbe& back);

struct ChosenLink {
  LinkChoice choice;
  std::string what;  ///< "UDP, 1472 bytes a datagram"
  std::string why;   ///< without a full stop
};

/// The links of a job whose nodes have these names and have found out this; both by node. Each pair of nodes
/// must have a link that is chosen. Errors, in one sentence without a full stop: not_found (two nodes reach
/// each other by nothing, or not by what is wanted). Pure.
Result<ChosenLink> choose_link(LinkWish wish, std::span<const NodeProbe> probes,
                               std::span<const std::string> names);

}  // namespace llamada::launcher
