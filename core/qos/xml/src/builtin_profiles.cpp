#include "builtin_profiles.hpp"

#include <algorithm>
#include <array>

namespace llamada::qos::xml {
namespace {

constexpr std::string_view text = R"(<dds>
  <qos_library name="RTI Connext">
    <qos_profile name="Defaults"/>
    <qos_profile name="BestEffort">
      <datawriter_qos><reliability><kind>BEST_EFFORT</kind></reliability></datawriter_qos>
      <datareader_qos><reliability><kind>BEST_EFFORT</kind></reliability></datareader_qos>
    </qos_profile>
    <qos_profile name="Reliable">
      <datawriter_qos><reliability><kind>RELIABLE</kind></reliability></datawriter_qos>
      <datareader_qos><reliability><kind>RELIABLE</kind></reliability></datareader_qos>
    </qos_profile>
    <qos_profile name="KeepLast">
      <datawriter_qos><history><kind>KEEP_LAST</kind><depth>1</depth></history></datawriter_qos>
      <datareader_qos><history><kind>KEEP_LAST</kind><depth>1</depth></history></datareader_qos>
    </qos_profile>
    <qos_profile name="KeepAll">
      <datawriter_qos><history><kind>KEEP_ALL</kind></history></datawriter_qos>
      <datareader_qos><history><kind>KEEP_ALL</kind></history></datareader_qos>
    </qos_profile>
    <qos_profile name="TransientLocal">
      <datawriter_qos><durability><kind>TRANSIENT_LOCAL</kind></durability></datawriter_qos>
      <datareader_qos><durability><kind>TRANSIENT_LOCAL</kind></durability></datareader_qos>
    </qos_profile>
    <qos_profile name="StrictReliable">
      <base_name><element>Reliable</element><element>KeepAll</element></base_name>
    </qos_profile>
    <qos_profile name="KeepLastReliable">
      <base_name><element>Reliable</element><element>KeepLast</element></base_name>
    </qos_profile>
    <qos_profile name="KeepLastReliable.TransientLocal">
      <base_name><element>KeepLastReliable</element><element>TransientLocal</element></base_name>
    </qos_profile>
  </qos_library>
</dds>
)";

constexpr std::string_view defaults = "RTI Connext::Defaults";
constexpr std::string_view nothing = "no policy";

// Of two that fit, the first counts. The profiles with patterns of data (Pattern.*) set deadlines, leases and
// limits of their own, so they are not here; TRANSIENT and PERSISTENT need a service of RTI Connext's.
constexpr std::array<BuiltinProfile, 12> libraries{{
    {"Baseline", defaults, nothing},
    {"Generic.Common", defaults, nothing},
    {"Generic.Monitoring", defaults, nothing},
    {"Generic.Security", defaults, nothing},
    {"Generic.Participant", defaults, nothing},
    {"Generic.ConnextMicroCompatibility", defaults, nothing},
    {"Generic.OtherDDSVendorCompatibility", defaults, nothing},
    {"Generic.510TransportCompatibility", defaults, nothing},
    {"Generic.StrictReliable", "RTI Connext::StrictReliable", "RELIABLE and KEEP_ALL only"},
    {"Generic.KeepLastReliable.TransientLocal", "RTI Connext::KeepLastReliable.TransientLocal",
     "RELIABLE, KEEP_LAST of depth 1 and TRANSIENT_LOCAL only"},
    {"Generic.KeepLastReliable", "RTI Connext::KeepLastReliable", "RELIABLE and KEEP_LAST of depth 1 only"},
    {"Generic.BestEffort", "RTI Connext::BestEffort", "BEST_EFFORT only"},
}};

constexpr std::array<BuiltinProfile, 11> snippets{{
    {"QosPolicy.Durability.TransientLocal", "RTI Connext::TransientLocal", "TRANSIENT_LOCAL only"},
    {"QosPolicy.Reliability.Reliable", "RTI Connext::Reliable", "RELIABLE only"},
    {"QosPolicy.Reliability.BestEffort", "RTI Connext::BestEffort", "BEST_EFFORT only"},
    {"QosPolicy.History.KeepLast_1", "RTI Connext::KeepLast", "KEEP_LAST of depth 1 only"},
    {"QosPolicy.History.KeepAll", "RTI Connext::KeepAll", "KEEP_ALL only"},
    {"QosPolicy.PublishMode", defaults, nothing},
    {"QosPolicy.Batching", defaults, nothing},
    {"Feature", defaults, nothing},
    {"Transport", defaults, nothing},
    {"Optimization", defaults, nothing},
    {"Compatibility", defaults, nothing},
}};

/// "Generic.KeepLastReliable.LargeData" begins with "Generic.KeepLastReliable", but "Baselines" not with
/// "Baseline".
bool begins_with(std::string_view name, std::string_view begin) {
  return name.starts_with(begin) && (name.size() == begin.size() || name[begin.size()] == '.' ||
                                     (begin == "Generic.Monitoring" && name[begin.size()] == '2'));
}

bool needs_service(std::string_view name) {
  return name.ends_with(".Transient") || name.ends_with(".Persistent");
}

struct Split {
  std::string_view library;
  std::string_view name;
};

Split split(std::string_view base_name) {
  if (base_name.starts_with("::")) base_name.remove_prefix(2);
  const std::size_t scope = base_name.find("::");
  if (scope == base_name.npos) return {{}, base_name};
  return {base_name.substr(0, scope), base_name.substr(scope + 2)};
}

template <std::size_t size>
const BuiltinProfile* find_in(const std::array<BuiltinProfile, size>& table, std::string_view name) {
  const auto* found = std::find_if(table.begin(), table.end(), [name](const BuiltinProfile& each) {
    return begins_with(name, each.begin);
  });
  return found == table.end() ? nullptr : found;
}

}  // namespace

std::string_view builtin_profiles_text() { return text; }

bool is_builtin_name(std::string_view base_name) {
  const std::string_view library = split(base_name).library;
  return library == "BuiltinQosLib" || library == "BuiltinQosLibExp" || library == "BuiltinQosSnippetLib";
}

const BuiltinProfile* find_builtin_profile(std::string_view base_name) {
  const auto [library, name] = split(base_name);
  if (!is_builtin_name(base_name) || needs_service(name)) return nullptr;
  return library == "BuiltinQosSnippetLib" ? find_in(snippets, name) : find_in(libraries, name);
}

}  // namespace llamada::qos::xml
