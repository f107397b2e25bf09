// llamada record and llamada replay, as a person runs them.

#include <filesystem>
#include <fstream>

#include "domain_fixture.hpp"
#include "llamada/recording/recording_reader.hpp"
#include "temporary_folder.hpp"

using namespace llamada;
using namespace llamada::test;

namespace {

struct Contents {
  std::vector<recording::Writer> writers;
  std::vector<recording::Sample> samples;
  std::size_t gone = 0;
  bool has_ended = false;
};

Contents contents_of(const std::string& file) {
  Contents contents;
  auto reader = recording::RecordingReader::open(file);
  REQUIRE(reader);
  while (true) {
    auto record = (*reader)->next();
    REQUIRE(record);
    if (!*record) break;
    if (auto* writer = std::get_if<recording::Writer>(&**record)) contents.writers.push_back(*writer);
    if (auto* sample = std::get_if<recording::Sample>(&**record)) contents.samples.push_back(*sample);
    contents.gone += std::holds_alternative<recording::WriterGone>(**record);
  }
  contents.has_ended = (*reader)->has_ended();
  return contents;
}

std::vector<std::string> with_command(std::vector<std::string> words) {
  words.insert(words.begin(), LLAMADA_COMMAND);
  return words;
}

/// `llamada record`, which records already.
struct Recorder : Running {
  explicit Recorder(std::vector<std::string> words) : Running(with_command(std::move(words))) {
    wait_until([this] { return has(err(), "llamada: recording "); });
  }
};

/// A recording of the first samples of a writer that has these options.
std::string recorded(const Fixture& fixture, const TemporaryFolder& folder, std::vector<std::string> options,
                     int count) {
  const std::string file = folder / "recorded.rec";
  options.push_back("transient_local");
  const Child writer = fixture.peer("sensor", "writer", options);
  const Ended ended =
      llamada_({"record", "-o", file, "--topic", fixture.topic, "--count", std::to_string(count)});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(has(ended.err, fmt::format("{} samples of 1 writer on 1 topic", count)));
  return file;
}

/// Replays into another recording.
Contents replayed(const Fixture& fixture, const TemporaryFolder& folder, const std::string& file,
                  std::size_t count) {
  const std::string again = folder / "replayed.rec";
  Recorder recorder({"record", "-o", again, "--topic", fixture.topic, "--count", std::to_string(count)});
  const Ended ended = llamada_({"replay", file});
  INFO(ended.err);
  CHECK(ended.exit_code == 0);
  CHECK(recorder.end().exit_code == 0);
  return contents_of(again);
}

void check_same(const Contents& first, const Contents& second) {
  REQUIRE(first.writers.size() == 1);
  REQUIRE(second.writers.size() == 1);
  CHECK(first.writers[0].type == second.writers[0].type);
  CHECK(first.writers[0].type_hash == second.writers[0].type_hash);
  CHECK(first.writers[0].type_description == second.writers[0].type_description);
  CHECK(first.writers[0].keyed == second.writers[0].keyed);
  CHECK(first.writers[0].qos == second.writers[0].qos);
  REQUIRE(first.samples.size() == second.samples.size());
  const auto moved_ns =
      second.samples[0].header.source_timestamp_ns - first.samples[0].header.source_timestamp_ns;
  for (std::size_t i = 0; i < first.samples.size(); ++i) {
    INFO(i);
    topics::SampleHeader expected = first.samples[i].header;
    expected.source_timestamp_ns += moved_ns;
    CHECK(second.samples[i].header == expected);
    CHECK(second.samples[i].data == first.samples[i].data);
  }
}

void write_text(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

std::string text_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("llamada record, replay: a topic with a key comes back, disposals and QoS included", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file =
      recorded(fixture, folder, {"typed", "disposes", "partition=east", "user_data=hi"}, 12);
  const Contents first = contents_of(file);
  CHECK(first.has_ended);
  CHECK(first.samples[3].header.kind == topics::ChangeKind::disposed);
  CHECK(first.samples[3].header.instance != 0);
  check_same(first, replayed(fixture, folder, file, 12));
}

TEST_CASE("llamada record, replay: a topic without a key comes back", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = recorded(fixture, folder, {"topic_data=air"}, 10);
  check_same(contents_of(file), replayed(fixture, folder, file, 10));
}

TEST_CASE("llamada replay --rate: keeps the distances between samples", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = folder / "live.rec";
  {
    const Child writer = fixture.peer("sensor", "writer");
    REQUIRE(llamada_({"record", "-o", file, "--count", "20"}).exit_code == 0);
  }
  const Contents recorded = contents_of(file);
  const std::chrono::nanoseconds span(recorded.samples.back().received_ns -
                                      recorded.samples.front().received_ns);
  const auto start = std::chrono::steady_clock::now();
  CHECK(llamada_({"replay", file, "--wait", "0", "--rate", "0.1"}).exit_code == 0);
  CHECK(std::chrono::steady_clock::now() - start >= 10 * span);
}

TEST_CASE("llamada replay: waits for a reader, at most so long", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = recorded(fixture, folder, {}, 3);
  const Ended alone = llamada_({"replay", file, "--wait", "0.05"});
  CHECK(alone.exit_code == 1);
  CHECK(has(alone.err, fmt::format("llamada: no matching reader of '{}' has come within", fixture.topic)));
  const Child unfit = fixture.peer("other", "reader", {"type=Number"});
  CHECK(llamada_({"replay", file, "--wait", "0.05"}).exit_code == 1);
  CHECK(llamada_({"replay", file, "--wait", "0"}).exit_code == 0);
  const Child fit = fixture.peer("viewer", "reader");
  CHECK(llamada_({"replay", file}).exit_code == 0);
  const Ended wrong = llamada_({"replay", file, "--topic", "sea"});
  CHECK(wrong.exit_code == 1);
  CHECK(has(wrong.err, fmt::format("there is no topic 'sea'; there are: {}", fixture.topic)));
}

TEST_CASE("llamada replay --loop: again and again until it is interrupted", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = recorded(fixture, folder, {}, 3);
  const std::string again = folder / "again.rec";
  Recorder recorder({"record", "-o", again, "--topic", fixture.topic, "--count", "7"});
  Running replay(with_command({"replay", file, "--loop"}));
  CHECK(recorder.end().exit_code == 0);
  replay.send(SIGINT);
  CHECK(replay.end().exit_code == 0);
  const Contents contents = contents_of(again);
  // The recorder may see the pass after its last sample begin.
  CHECK(contents.writers.size() >= 3);
  CHECK(contents.gone >= 2);
  REQUIRE(contents.samples.size() == 7);
  CHECK(contents.samples[3].data == contents.samples[0].data);
}

TEST_CASE("llamada record: an interrupt ends it in good order, a kill leaves whole records", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = folder / "some.rec";
  const Child writer = fixture.peer("sensor", "writer");
  const auto stop_by = [&](int signal) {
    Recorder recorder({"record", "-o", file});
    wait_until([&] { return std::filesystem::file_size(file) > 4000; });
    recorder.send(signal);
    return recorder.end();
  };
  const Ended interrupted = stop_by(SIGINT);
  CHECK(interrupted.exit_code == 0);
  CHECK(has(interrupted.err, "samples of 1 writer on 1 topic"));
  CHECK(contents_of(file).has_ended);
  std::filesystem::remove(file);
  CHECK(stop_by(SIGKILL).exit_code == 128 + SIGKILL);
  CHECK_FALSE(contents_of(file).has_ended);
  const Ended replayed = llamada_({"replay", file, "--wait", "0", "--rate", "1000"});
  CHECK(replayed.exit_code == 0);
  CHECK(has(replayed.err, "the recorder was killed, the end is missing; "));
}

TEST_CASE("llamada replay: a damaged file is one sentence, and replayed up to there", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const std::string file = recorded(fixture, folder, {}, 5);
  const std::string text = text_in(file);
  const auto replay = [&](const std::string& bytes) {
    write_text(file, bytes);
    return llamada_({"replay", file, "--wait", "0"});
  };
  // Behind the last sample there is only the end, which has 28 bytes.
  const Ended cut = replay(text.substr(0, text.size() - 29));
  CHECK(cut.exit_code == 1);
  CHECK(has(cut.err, "is damaged: it is cut off after "));
  CHECK(has(cut.err, "; 4 samples of 1 writer before it can be read"));
  CHECK(has(cut.err, "4 samples replayed"));
  std::string flipped = text;
  flipped[text.size() - 29] ^= 1;
  const Ended damaged = replay(flipped);
  CHECK(damaged.exit_code == 1);
  CHECK(has(damaged.err, "is damaged: its checksum is wrong; 4 samples of 1 writer before it can be read"));
  const Ended other = replay("some text");
  CHECK(other.exit_code == 1);
  CHECK(other.err == fmt::format("llamada: {}: this is not a recording of `llamada record`\n", file));
}

TEST_CASE("llamada record: a file that cannot be written is one sentence", "[tools]") {
  const Fixture fixture;
  const Child writer = fixture.peer("sensor", "writer");
  const Ended full = llamada_({"record", "-o", "/dev/full"});
  CHECK(full.exit_code == 1);
  CHECK(full.err == "llamada: write /dev/full: No space left on device\n");
  const Ended nowhere = llamada_({"record", "-o", "/no/such/file"});
  CHECK(nowhere.exit_code == 1);
  CHECK(nowhere.err == "llamada: create /no/such/file: No such file or directory\n");
}

TEST_CASE("llamada record: a writer whose partition is a pattern is named", "[tools]") {
  const Fixture fixture;
  const TemporaryFolder folder;
  const Child writer = fixture.peer("sensor", "writer", {"partition=ea*"});
  Recorder recorder({"record", "-o", folder / "none.rec"});
  wait_until([&] { return has(recorder.err(), "is left out: its partition is a pattern"); });
  recorder.send(SIGINT);
  CHECK(recorder.end().exit_code == 0);
}
