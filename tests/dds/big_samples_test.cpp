// Samples larger than a stack. This file is compiled with a limit on stack frames, which a sample exceeds
// wherever a template of the API has one there, also on a path that no test runs.
#include <pthread.h>

#include <exception>

#include "support.hpp"

using namespace dds_test;

namespace {

using Pixels = std::array<std::uint8_t, 16 * 1024 * 1024>;

struct Frame {
  std::int32_t number = 0;
  Pixels pixels{};
};
LLAMADA_TYPE(Frame, number, pixels);

struct CameraFrame {
  std::int32_t camera = 0;
  std::int32_t number = 0;
  Pixels pixels{};
};
LLAMADA_TYPE(CameraFrame, LLAMADA_KEY(camera), number, pixels);

// Serialised, with samples within samples.
struct Album {
  std::int32_t number = 0;
  std::string title;
  Pixels pixels{};
  std::optional<Frame> cover;
  std::vector<Frame> frames;
  std::map<std::int32_t, Frame> by_number;
  std::variant<std::monostate, Frame> last;
};
LLAMADA_TYPE_APPENDABLE(Album, number, title, pixels, cover, frames, by_number, last);

struct Page {
  std::int32_t number = 0;
  std::string title;
  Pixels pixels{};
};
LLAMADA_TYPE_MUTABLE(Page, number, LLAMADA_KEY(title), pixels);

// A key that no stack holds.
struct Mask {
  std::int32_t number = 0;
  Pixels pixels{};
};
LLAMADA_TYPE(Mask, number, LLAMADA_KEY(pixels));

/// Runs `work` in a thread with a stack of 256 KiB.
template <typename Work>
void on_small_stack(Work work) {
  struct Task {
    Work& work;
    std::exception_ptr failure;
  } task{work, nullptr};
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    Task& task = *static_cast<Task*>(argument);
    try {
      task.work();
    } catch (...) {
      task.failure = std::current_exception();
    }
    return nullptr;
  };
  const int error = pthread_create(&thread, &attributes, run, &task);
  if (error == 0) pthread_join(thread, nullptr);
  REQUIRE(error == 0);  // not before the join: the thread's own assertions are Catch2's, too
  pthread_attr_destroy(&attributes);
  if (task.failure) std::rethrow_exception(task.failure);
}

template <typename T>
std::unique_ptr<T> make(std::int32_t number) {
  auto sample = std::make_unique<T>();
  sample->number = number;
  sample->pixels.back() = 7;
  return sample;
}

template <typename T>
void check_data(const T& sample, std::int32_t number) {
  CHECK(sample.number == number);
  CHECK(sample.pixels.back() == 7);
}

template <typename T>
void check_reads(Pair<T>& pair) {
  auto& reader = pair.reader;
  REQUIRE(eventually([&] { return reader.read().length() == 2; }));
  check_data(reader.read()[0].data(), 1);
  CHECK(reader.select().max_samples(1).read().length() == 1);
  const dds::sub::Query query(reader, "number > %0 ORDER BY number", {"1"});
  check_data(reader.select().content(query).read()[0].data(), 2);

  std::vector<dds::sub::Sample<T>> copies;
  CHECK(reader.read(std::back_inserter(copies)) == 2);
  CHECK(reader.read(copies.begin(), 1) == 1);
  check_data(copies[1].data(), 2);
  copies[1].data(copies[0].data());
  check_data(copies[1].data(), 1);
  std::vector<T> values;
  CHECK(reader.select().read(std::back_inserter(values), 1) == 1);
  check_data(values[0], 1);
}

template <typename T>
void check_filter(Pair<T>& pair) {
  const dds::topic::ContentFilteredTopic<T> topic(pair.topic_there, unique("second"),
                                                  dds::topic::Filter("number = 2"));
  dds::sub::DataReader<T> reader(pair.subscriber, topic, durable(pair.subscriber.default_datareader_qos()));
  REQUIRE(eventually([&] { return !reader.read().empty(); }));
  check_data(reader.take()[0].data(), 2);
}

template <typename T>
void check_instances(Pair<T>& pair) {
  const auto key = make<T>(3);
  const auto there = pair.reader.lookup_instance(*key);
  const auto here = pair.writer.lookup_instance(*key);
  CHECK_FALSE(there.is_nil());
  CHECK_FALSE(here.is_nil());
  const auto known = make<T>(4);
  CHECK(pair.reader.key_value(*known, there).number != 4);
  CHECK(pair.writer.key_value(*known, here).number != 4);
  CHECK(pair.writer.register_instance(*key) == here);
  pair.writer.dispose_instance(*key);
  const auto samples = take(pair.reader, 3);
  CHECK_FALSE(samples[2].info().valid());
  pair.writer.unregister_instance(*key);
}

template <typename T>
void check_all() {
  on_small_stack([] {
    Pair<T> pair;
    pair.writer << *make<T>(1);
    if constexpr (llamada::types::is_plain_v<T>) {
      auto loan = pair.writer.loan_sample();
      std::memcpy(&loan.data(), make<T>(2).get(), sizeof(T));
      pair.writer.write(std::move(loan));
    } else {
      using Instance = dds::topic::TopicInstance<T>;
      pair.writer << *std::make_unique<Instance>(dds::core::InstanceHandle::nil(), *make<T>(2));
    }
    check_reads(pair);
    check_filter(pair);
    if constexpr (llamada::types::is_keyed_v<T>) check_instances(pair);
  });
}

}  // namespace

TEST_CASE("dds: plain samples larger than the stack", "[dds]") {
  check_all<Frame>();
  check_all<CameraFrame>();
}

TEST_CASE("dds: serialised samples larger than the stack", "[dds]") {
  check_all<Page>();
  check_all<Album>();
}

TEST_CASE("dds: a key larger than the stack", "[dds]") { check_all<Mask>(); }

TEST_CASE("dds: samples larger than the stack within one", "[dds]") {
  on_small_stack([] {
    Pair<Album> pair;
    const auto album = make<Album>(1);
    const auto frame = make<Frame>(5);
    album->cover.emplace().pixels.back() = 5;
    album->frames.push_back(*frame);
    album->by_number.emplace(5, *frame);
    album->last.emplace<Frame>().pixels.back() = 6;
    pair.writer << *album;
    const auto samples = take(pair.reader, 1);
    const Album& back = samples[0].data();
    CHECK(back.cover->pixels.back() == 5);
    CHECK(back.frames.at(0).pixels.back() == 7);
    CHECK(back.by_number.at(5).number == 5);
    CHECK(std::get<Frame>(back.last).pixels.back() == 6);
  });
}
