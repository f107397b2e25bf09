// libFuzzer's harness for recordings of topics: what is read must be what its own encoding makes, what is
// refused must be one printable sentence. An input that does not begin as a recording does stands for one,
// without checksums, which a fuzzer would not guess: each record is its kind, a byte, its size, two bytes,
// and its body.

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "llamada/base/crc32c.hpp"
#include "llamada/recording/recording_reader.hpp"

using namespace llamada;
using namespace llamada::recording;

namespace {

using Bytes = std::vector<std::byte>;

void require(bool condition) {
  if (!condition) std::abort();
}

bool is_sentence(const std::string& text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char each) { return each >= 0x20 && each < 0x7f; });
}

template <typename T>
void put(Bytes& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

void put_record(Bytes& file, std::uint8_t kind, std::span<const std::byte> body) {
  Bytes head;
  put(head, std::uint64_t{body.size()});
  put(head, std::uint32_t{kind});
  put(head, crc32c(body));
  put(head, crc32c(head));
  file.insert(file.end(), head.begin(), head.end());
  file.insert(file.end(), body.begin(), body.end());
}

Bytes file_of(std::span<const std::byte> input) {
  const Bytes start = file_head();
  if (input.size() >= 5 && std::equal(start.begin(), start.begin() + 5, input.begin()))
    return {input.begin(), input.end()};
  Bytes file = start;
  while (input.size() >= 3) {
    const auto kind = std::to_integer<std::uint8_t>(input[0]);
    const auto size = std::to_integer<std::size_t>(input[1]) | std::to_integer<std::size_t>(input[2]) << 8;
    input = input.subspan(3);
    const auto body = input.first(std::min(size, input.size()));
    put_record(file, kind, body);
    input = input.subspan(body.size());
  }
  return file;
}

Bytes encoded(const Record& record) {
  if (const auto* sample = std::get_if<Sample>(&record)) return encode(*sample, sample->data);
  return encode(record);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file = file_of(std::as_bytes(std::span(data, size)));
  const std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  auto reader = RecordingReader::open(std::make_unique<std::istringstream>(text), "fuzzed");
  if (!reader) {
    require(is_sentence(reader.error().text()));
    return 0;
  }
  Bytes again = file_head();
  while (true) {
    const auto record = (*reader)->next();
    if (!record) require(is_sentence(record.error().text()));
    if (!record || !*record) break;
    const Bytes bytes = encoded(**record);
    again.insert(again.end(), bytes.begin(), bytes.end());
  }
  require((*reader)->offset_bytes() == again.size());
  require(std::equal(again.begin(), again.end(), file.begin()));
  return 0;
}
