// Keys that are different and have the same hash.
#include "entity_fixture.hpp"

namespace llamada::dcps::test {
namespace {

/// Readings whose keys all have the same hash.
class Colliding final : public types::TypeSupport {
 public:
  const std::string& name() const override { return base_->name(); }
  const std::string& descriptor() const override { return base_->descriptor(); }
  std::uint64_t descriptor_hash() const override { return base_->descriptor_hash(); }
  types::Extensibility extensibility() const override { return base_->extensibility(); }
  bool is_keyed() const override { return true; }
  bool is_plain() const override { return base_->is_plain(); }
  std::size_t plain_size() const override { return base_->plain_size(); }
  Result<std::vector<std::byte>> key_of(std::span<const std::byte> sample) const override {
    return base_->key_of(sample);
  }
  Result<std::vector<std::byte>> sample_of_key(std::span<const std::byte> key) const override {
    return base_->sample_of_key(key);
  }
  Result<std::shared_ptr<const void>> object_of(std::span<const std::byte> sample) const override {
    return base_->object_of(sample);
  }
  Result<types::Field> field(std::string_view path) const override { return base_->field(path); }
  std::uint64_t hash_of(std::span<const std::byte>) const override { return 77; }

 private:
  std::shared_ptr<const types::TypeSupport> base_ = type_of<Reading>();
};

struct CollidingDomain : Domain {
  CollidingDomain() { type = std::make_shared<Colliding>(); }
};

TEST_CASE("key collisions: a writer says so and writes nothing", "[dcps]") {
  CollidingDomain domain;
  auto writer = domain.writer();
  auto reader = domain.reader();
  await_match(*writer);
  REQUIRE(writer->write(reading(1, 10)));
  const InstanceHandle first = *writer->lookup_instance(reading(1, 0));
  CHECK_FALSE(first.is_nil());
  CHECK(writer->lookup_instance(reading(2, 0))->is_nil());
  const Status status = writer->write(reading(2, 20));
  REQUIRE(!status);
  CHECK(status.error().code() == Errc::unsupported);
  CHECK(status.error().text() ==
        "topic 'readings': two keys have the same hash 0x4d, and the writer has registered one of them: "
        "unregister it before the other is written");
  CHECK(writer->write(reading(2, 20), first).error().code() == Errc::unsupported);
  CHECK(writer->register_instance(reading(2, 0)).error().code() == Errc::unsupported);
  CHECK(writer->dispose(reading(2, 0)).error().code() == Errc::unsupported);
  CHECK(writer->unregister_instance(reading(2, 0)).error().code() == Errc::unsupported);
  REQUIRE(writer->write(reading(1, 11)));
  CHECK(take_until(*reader, "1:10 1:11") == "1:10 1:11");

  REQUIRE(writer->unregister_instance(reading(1, 0)));
  CHECK(take_until(*reader, "-D") == "-D");
  REQUIRE(writer->write(reading(2, 20)));  // both ends have forgotten the first
  CHECK(take_until(*reader, "2:20") == "2:20");
  CHECK(reader->sample_rejected_status().total_count == 0);
}

TEST_CASE("key collisions: a reader rejects what it cannot tell from an instance that it knows", "[dcps]") {
  CollidingDomain domain;
  auto one = domain.writer();
  auto two = domain.writer();
  auto reader = domain.reader();
  await_match(*reader, 2);
  await_match(*one);
  await_match(*two);
  REQUIRE(one->write(reading(1, 10)));
  REQUIRE(eventually([&] { return reader->read()->size() == 1; }));
  REQUIRE(two->write(reading(2, 20)));
  REQUIRE(two->dispose(reading(2, 0)));
  REQUIRE(two->wait_for_acknowledgments(watchdog));  // nobody waits for ever
  SampleRejectedStatus status;
  REQUIRE(eventually([&] { return (status = reader->sample_rejected_status()).total_count == 2; }));
  CHECK(status.last_reason == SampleRejectedKind::rejected_by_key_hash);
  CHECK(status.last_instance_handle == *reader->lookup_instance(reading(1, 0)));
  CHECK(reader->sample_lost_status().total_count == 2);
  CHECK(reader->lookup_instance(reading(2, 0))->is_nil());
  REQUIRE(one->write(reading(1, 11)));
  CHECK(take_until(*reader, "1:10 1:11") == "1:10 1:11");  // alive, in spite of the other's end
}

}  // namespace
}  // namespace llamada::dcps::test
