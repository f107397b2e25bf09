// A writer, or a late reader, of a PERSISTENT topic, for persistence.py.
//
// kept_topic QOS write FIRST COUNT BYTES KEYS: writes samples, each with its number, and says how far the
// service has acknowledged them: "kept N". It ends when all are, and waits for that as long as need be.
// kept_topic QOS read: prints the number of each sample of the past, in the order in which they came for each
// key, or WRONG and what is.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

#include "dds/dds.hpp"

namespace {

struct Numbered {
  std::int32_t key = 0;
  std::int32_t number = 0;
  std::vector<std::uint8_t> bytes;
};
LLAMADA_TYPE(Numbered, LLAMADA_KEY(key), number, bytes);

constexpr int samples_between_waits = 8;
constexpr int patience_s = 60;

std::vector<std::uint8_t> bytes_of(std::int32_t number, std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  auto seed = static_cast<std::uint32_t>(number) * 2654435761U + 1;
  for (std::uint8_t& each : bytes) {
    seed = seed * 1664525U + 1013904223U;
    each = static_cast<std::uint8_t>(seed >> 24U);
  }
  return bytes;
}

bool wait_until_kept(dds::pub::DataWriter<Numbered>& writer) {
  try {
    writer.wait_for_acknowledgments(dds::core::Duration(1));
    return true;
  } catch (const dds::core::TimeoutError& error) {
    std::printf("waiting: %s\n", error.what());
    return false;
  }
}

int write(dds::pub::DataWriter<Numbered> writer, int first, int count, std::size_t size, int keys) {
  for (int number = first; number < first + count; number++) {
    writer.write(Numbered{number % keys, number, bytes_of(number, size)});
    if ((number - first + 1) % samples_between_waits != 0 && number != first + count - 1) continue;
    while (!wait_until_kept(writer)) std::fflush(stdout);
    std::printf("kept %d\n", number);
    std::fflush(stdout);
  }
  return 0;
}

int read(dds::sub::DataReader<Numbered> reader) {
  reader.wait_for_historical_data(dds::core::Duration(patience_s));
  std::map<int, int> last;
  for (const auto& sample : reader.take()) {
    if (!sample.info().valid()) continue;
    const Numbered& each = sample.data();
    if (each.bytes != bytes_of(each.number, each.bytes.size()))
      std::printf("WRONG bytes of %d\n", each.number);
    if (last[each.key] >= each.number) std::printf("WRONG order: %d after %d\n", each.number, last[each.key]);
    last[each.key] = each.number;
    std::printf("%d\n", each.number);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto number = [&](int index) { return std::atoi(argv[index]); };
  try {
    const dds::core::QosProvider provider{std::string(argv[1])};
    dds::domain::DomainParticipant participant(0);
    const dds::topic::Topic<Numbered> topic(participant, "numbered");
    if (std::strcmp(argv[2], "write") == 0 && argc == 7)
      return write({dds::pub::Publisher(participant), topic, provider.datawriter_qos()}, number(3), number(4),
                   static_cast<std::size_t>(number(5)), number(6));
    return read(
        dds::sub::DataReader<Numbered>(dds::sub::Subscriber(participant), topic,
                                       provider.datareader_qos() << dds::core::policy::History::KeepAll()));
  } catch (const dds::core::Exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
