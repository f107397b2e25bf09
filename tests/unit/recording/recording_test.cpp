// The files of `llamada record`: what is written comes back, and nothing else does.

#include <signal.h>
#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include "llamada/base/crc32c.hpp"
#include "llamada/recording/recording_reader.hpp"
#include "llamada/recording/recording_writer.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::recording;

namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Writer some_writer(std::uint32_t number) {
  Writer writer;
  writer.number = number;
  writer.topic = "readings";
  writer.type = "world::Reading";
  writer.type_hash = 17;
  writer.type_description = "@final struct world::Reading { @key long sensor; };\n";
  writer.keyed = true;
  qos::DataWriterQos qos;
  qos.durability.kind = qos::DurabilityKind::transient_local;
  qos.ownership_strength.value = 5;
  qos::PublisherQos publisher;
  publisher.partition.name = {"east", "west"};
  writer.qos = qos::endpoint_qos(qos, publisher);
  writer.publisher = 3;
  writer.participant = "sensor (pid 17)";
  return writer;
}

Sample some_sample(std::uint32_t writer, std::int64_t received_ns) {
  return {writer,
          received_ns,
          {7, -5, 0x1234567890abcdef, topics::ChangeKind::disposed, 9, 11},
          bytes_of("some data")};
}

std::string text_of(const std::vector<Record>& records) {
  std::vector<std::byte> bytes = file_head();
  for (const Record& each : records) {
    std::vector<std::byte> encoded;
    if (const auto* sample = std::get_if<Sample>(&each))
      encoded = encode(*sample, sample->data);
    else
      encoded = encode(each);
    bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  }
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Read {
  std::vector<Record> records;
  std::string error;
  bool has_ended = false;
};

Read read(const std::string& text) {
  Read read;
  auto reader = RecordingReader::open(std::make_unique<std::istringstream>(text), "some.rec");
  if (!reader) {
    read.error = reader.error().text();
    return read;
  }
  while (true) {
    auto record = (*reader)->next();
    if (!record) read.error = record.error().text();
    if (!record || !*record) break;
    read.records.push_back(std::move(**record));
  }
  read.has_ended = (*reader)->has_ended();
  return read;
}

const std::vector<Record> some_records{Start{1'700'000'000'000'000'000, 4},
                                       some_writer(1),
                                       some_sample(1, 10),
                                       QosChange{1, some_writer(1).qos},
                                       SamplesLost{1, 1000},
                                       some_writer(2),
                                       WriterGone{1, 20, true},
                                       some_sample(2, 1 << 30),
                                       End{1 << 30}};

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("recording: what is written comes back", "[recording]") {
  const Read back = read(text_of(some_records));
  CHECK(back.error.empty());
  CHECK(back.has_ended);
  REQUIRE(back.records.size() == some_records.size());
  CHECK(std::get<Start>(back.records[0]).domain == 4);
  const auto& writer = std::get<Writer>(back.records[1]);
  CHECK(writer.type_description == some_writer(1).type_description);
  CHECK(writer.qos == some_writer(1).qos);
  CHECK(writer.publisher == 3);
  CHECK(writer.participant == "sensor (pid 17)");
  const auto& sample = std::get<Sample>(back.records[2]);
  CHECK(sample.header == some_sample(1, 10).header);
  CHECK(sample.data == some_sample(1, 10).data);
  CHECK(std::get<WriterGone>(back.records[6]).died);
  CHECK(text_of(back.records) == text_of(some_records));
}

TEST_CASE("recording: a file that was cut off is read up to its last whole record", "[recording]") {
  const std::string whole = text_of(some_records);
  std::size_t records_before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Read back = read(whole.substr(0, size));
    CHECK_FALSE(back.has_ended);
    CHECK(back.records.size() >= records_before);
    records_before = back.records.size();
    const bool at_a_boundary =
        text_of({some_records.begin(), some_records.begin() + static_cast<std::ptrdiff_t>(records_before)})
            .size() == size;
    CHECK(back.error.empty() == at_a_boundary);
    if (!back.error.empty() && size >= file_head_size_bytes) CHECK(has(back.error, "it is cut off"));
  }
  CHECK(records_before == some_records.size() - 1);
}

TEST_CASE("recording: no changed byte goes unnoticed", "[recording]") {
  const std::string whole = text_of(some_records);
  for (std::size_t place = 0; place < whole.size(); ++place) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x40);
    INFO(place);
    const Read back = read(damaged);
    CHECK_FALSE(back.error.empty());
    CHECK(back.error.starts_with("some.rec: "));
    CHECK(back.records.size() < some_records.size());
  }
}

TEST_CASE("recording: a huge size makes no room and is one sentence", "[recording]") {
  std::string text = text_of({some_records[0]});
  const std::size_t offset = text.size();
  std::vector<std::byte> head(16, std::byte{0xff});
  const std::uint32_t crc = crc32c(head);
  for (int i = 0; i < 4; ++i) head.push_back(static_cast<std::byte>(crc >> (8 * i) & 0xff));
  text.append(reinterpret_cast<const char*>(head.data()), head.size());
  CHECK(read(text).error ==
        fmt::format("some.rec: the record at byte {} is damaged: it is cut off after 20 of {} bytes", offset,
                    UINT64_MAX));
}

TEST_CASE("recording: records that contradict each other are refused", "[recording]") {
  const auto error_of = [](std::vector<Record> records) { return read(text_of(records)).error; };
  const Record start = some_records[0];
  CHECK(has(error_of({some_writer(1)}), "the beginning is missing"));
  CHECK(has(error_of({start, start}), "it begins the recording a second time"));
  CHECK(has(error_of({start, some_writer(2)}), "it describes writer 2, and 1 is next"));
  CHECK(has(error_of({start, some_sample(1, 0)}),
            "it is a sample of writer 1, which the recording does not describe"));
  CHECK(has(error_of({start, some_writer(1), WriterGone{1, 0, false}, some_sample(1, 0)}),
            "does not describe"));
  CHECK(has(error_of({start, End{0}, some_writer(1)}), "it follows the end"));
  CHECK(has(error_of({start, some_writer(1), some_sample(1, -1)}), "its fields do not fit its kind"));
  Writer as_reader = some_writer(1);
  as_reader.qos = qos::endpoint_qos(qos::DataReaderQos(), qos::SubscriberQos());
  CHECK(has(error_of({start, as_reader}), "its policies are those of a reader"));
}

TEST_CASE("recording: other files and other versions are named", "[recording]") {
  CHECK(read("<dds/>").error == "some.rec: this is not a recording of `llamada record`");
  CHECK(read("").error == "some.rec: this is not a recording of `llamada record`");
  std::string other = text_of({});
  other[magic_size_bytes] = 2;
  CHECK(has(read(other).error, "the format of this recording is not version 1"));
  CHECK(RecordingReader::open("/dev/null").error().text() ==
        "/dev/null: this is not a regular file, so it is not a recording");
  CHECK(RecordingReader::open("/no/such").error().code() == Errc::not_found);
}

TEST_CASE("recording: when the disk is full the file ends with a whole record", "[recording]") {
  const llamada::test::TemporaryFolder folder;
  const std::string path = folder / "small.rec";
  const auto before = ::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{5000, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  auto writer = RecordingWriter::create(path, {1, 0});
  REQUIRE(writer);
  Status status = writer->add(Record(some_writer(1)));
  for (int i = 0; i < 1000 && status; ++i) {
    status = writer->add(some_sample(1, i), bytes_of("some data"));
    if (status) status = writer->flush();
  }
  ::setrlimit(RLIMIT_FSIZE, &limit);
  ::signal(SIGXFSZ, before);
  REQUIRE_FALSE(status);
  CHECK(status.error().code() == Errc::system);
  auto reader = RecordingReader::open(path);
  REQUIRE(reader);
  int count = 0;
  for (auto record = (*reader)->next();; record = (*reader)->next()) {
    REQUIRE(record);
    if (!*record) break;
    ++count;
  }
  CHECK(count > 10);
}
