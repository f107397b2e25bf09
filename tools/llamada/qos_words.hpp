#pragma once

#include <string>
#include <vector>

#include "llamada/qos_xml/qos_provider.hpp"

namespace llamada::tools {

/// A profile in plain words, a sentence each.
struct Words {
  std::vector<std::string> survives;
  std::vector<std::string> costs;
};

/// What a job of ranks under it survives and costs. Only of profiles that ranks take.
Words words_for_ranks(const qos::ResolvedQos& qos);

/// The same of programs that publish and subscribe under it.
Words words_for_topics(const qos::ResolvedQos& qos);

}  // namespace llamada::tools
