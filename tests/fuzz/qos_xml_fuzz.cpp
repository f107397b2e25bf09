// libFuzzer's harness for QoS in XML: what is accepted must be consistent and survive its serialization, what
// is refused must be one printable sentence. The profile is asked for as ranks do, and each profile as
// programs with topics do.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "llamada/qos/endpoint_qos.hpp"
#include "llamada/qos/serialization.hpp"
#include "llamada/qos_xml/profile_file.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void require_sentence(const Error& error) {
  const std::string& text = error.text();
  require(!text.empty());
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    require(byte >= 0x20 && byte != 0x7f);
    // The control characters of Latin-1.
    const bool is_c1 =
        byte == 0xc2 && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xa0;
    require(!is_c1);
  }
}

void ask_as_ranks(std::string_view text) {
  auto profile = parse_profile(text, "x.xml");
  if (!profile) return require_sentence(profile.error());
  require(check_consistent(*profile).has_value());
  require(check_enforced(*profile).has_value());
  auto back = deserialize(serialize(*profile));
  require(back.has_value() && *back == *profile);
}

void ask_for_profile(const QosProvider& provider, const QosQuery& query) {
  auto qos = provider.resolve(query);
  if (!qos) return require_sentence(qos.error());
  each_entity(*qos,
              [](std::string_view, const auto& entity) { require(check_consistent(entity).has_value()); });
  for (const std::string& warning : qos->warnings) require_sentence(Error(Errc::parse_error, warning));
  const EndpointQos writer = endpoint_qos(qos->datawriter_qos, qos->publisher_qos, qos->topic_qos.topic_data);
  auto back = deserialize(std::span<const std::byte>(serialize(writer)));
  require(back.has_value() && *back == writer);
  // One entity alone says the same.
  auto alone = provider.datareader_qos(query);
  require(alone.has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ask_as_ranks(text);
  auto provider = QosProvider::parse(text, "x.xml");
  if (!provider) {
    require_sentence(provider.error());
    return 0;
  }
  const auto names = provider->profiles();
  // A chain is followed anew for each name, so that many names take time by the square.
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) {
    ask_for_profile(*provider, {.profile = names[i]});
    ask_for_profile(*provider, {.profile = names[i], .topic = "News of the day"});
  }
  return 0;
}
