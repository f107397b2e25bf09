// libFuzzer's harness for the bytes of an endpoint's QoS: what is accepted must be consistent and come out as
// the same bytes, what is refused must be one printable sentence.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "llamada/qos/endpoint_qos.hpp"

using namespace llamada;
using namespace llamada::qos;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_sentence(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  auto qos = deserialize(bytes);
  if (!qos) {
    require(is_sentence(qos.error().text()));
    return 0;
  }
  require(check_consistent(*qos).has_value());
  const auto again = serialize(*qos);
  require(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()));
  require(size <= serialized_endpoint_qos_size_max_bytes);
  require(check_changeable(*qos, *qos).has_value());
  // An endpoint against its like and against the defaults: no answer may break anything.
  (void)incompatibilities(*qos, *qos);
  (void)partitions_match(partition_of(*qos), partition_of(*qos));
  return 0;
}
