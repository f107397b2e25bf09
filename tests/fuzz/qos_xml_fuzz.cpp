// libFuzzer's harness for QoS profiles in XML: what is accepted must be consistent and survive its
// serialization, what is refused must be one printable sentence.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "llamada/qos/serialization.hpp"
#include "llamada/qos_xml/profile_file.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto profile = parse_profile(text, "x.xml");
  if (!profile) {
    const std::string& error = profile.error().text();
    require(std::all_of(error.begin(), error.end(), [](char each) { return each >= 0x20 && each < 0x7f; }));
    return 0;
  }
  require(check_consistent(*profile).has_value());
  require(check_enforced(*profile).has_value());
  auto back = deserialize(serialize(*profile));
  require(back.has_value() && *back == *profile);
  return 0;
}
