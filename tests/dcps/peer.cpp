#include "peer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace llamada::dcps::test {

Peer::Peer(const std::string& socket_name, const std::string& name, const std::string& user_data) {
  int to_peer[2];
  int from_peer[2];
  REQUIRE(::pipe2(to_peer, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(from_peer, O_CLOEXEC) == 0);
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    ::dup2(to_peer[0], 0);
    ::dup2(from_peer[1], 1);
    ::execl(DCPS_PEER, DCPS_PEER, socket_name.c_str(), nullptr);
    ::_exit(127);
  }
  ::close(to_peer[0]);
  ::close(from_peer[1]);
  to_peer_ = to_peer[1];
  from_peer_ = ::fdopen(from_peer[0], "r");
  (void)ask("join " + name + ' ' + user_data);
}

// Its input ends, and so does it; one that does not is killed by the watchdog.
Peer::~Peer() {
  if (to_peer_ >= 0) ::close(to_peer_);
  if (pid_ > 0) {
    go_on();
    if (!eventually([this] { return ::waitpid(pid_, nullptr, WNOHANG) == pid_; })) {
      kill();
      FAIL_CHECK("the peer did not end with its input");
    }
  }
  if (from_peer_ != nullptr) ::fclose(from_peer_);
}

void Peer::tell(const std::string& line) {
  const std::string text = line + '\n';
  REQUIRE(::write(to_peer_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

std::string Peer::answer() {
  std::string line;
  for (int each = std::fgetc(from_peer_); each != '\n'; each = std::fgetc(from_peer_)) {
    REQUIRE(each != EOF);
    line += static_cast<char>(each);
  }
  return line;
}

std::string Peer::try_asking(const std::string& line) {
  tell(line);
  return answer();
}

std::string Peer::ask(const std::string& line) {
  const std::string said = try_asking(line);
  INFO(line << " -> " << said);
  REQUIRE(said.substr(0, 2) == "ok");
  return said.size() > 3 ? said.substr(3) : std::string();
}

std::string publisher_words(const Policies& policies) {
  return hex_of(serialize(qos::endpoint_qos(policies.writer, policies.publisher, policies.topic_data)));
}

std::string writer_words(const Policies& policies) { return publisher_words(policies); }

namespace {

std::string reader_words(const Policies& policies) {
  return hex_of(serialize(qos::endpoint_qos(policies.reader, policies.subscriber, policies.topic_data)));
}

}  // namespace

void Peer::make_writer(const std::string& name, const Policies& policies, const std::string& topic) {
  (void)ask(fmt::format("publisher {} {}", name, publisher_words(policies)));
  add_writer(name, name, policies, topic);
}

void Peer::add_writer(const std::string& name, const std::string& publisher, const Policies& policies,
                      const std::string& topic) {
  (void)ask(fmt::format("writer {} {} {} {}", name, publisher, topic, writer_words(policies)));
}

void Peer::make_reader(const std::string& name, const Policies& policies, const std::string& topic) {
  (void)ask(fmt::format("subscriber {} {}", name, reader_words(policies)));
  (void)ask(fmt::format("reader {} {} {} {}", name, name, topic, reader_words(policies)));
}

void Peer::write(const std::string& writer, std::int32_t sensor, std::int32_t first, std::int32_t count,
                 std::int64_t timestamp_ns) {
  (void)ask(fmt::format("write {} {} {} {} 0 {}", writer, sensor, first, count, timestamp_ns));
}

std::int64_t Peer::status(const std::string& writer, std::string_view which) {
  const std::string text = ' ' + ask("status " + writer);
  const auto at = text.find(fmt::format(" {} ", which));
  REQUIRE(at != text.npos);
  return std::stoll(text.substr(at + which.size() + 2));
}

void Peer::await_status(const std::string& writer, std::string_view which, std::int64_t at_least) {
  REQUIRE(eventually([&] { return status(writer, which) >= at_least; }));
}

void Peer::await_matched(const std::string& writer, std::int64_t count) {
  REQUIRE(eventually([&] { return status(writer, "current") == count; }));
}

std::string Peer::take_until(const std::string& reader, const std::string& expected) {
  std::string all;
  (void)eventually([&] {
    const std::string more = ask("take " + reader);
    if (!more.empty()) all += (all.empty() ? "" : " ") + more;
    return all.size() >= expected.size();
  });
  return all;
}

void Peer::stop() {
  REQUIRE(::kill(pid_, SIGSTOP) == 0);
  // Until all its threads have stopped it goes on reading.
  int status = 0;
  REQUIRE(::waitpid(pid_, &status, WUNTRACED) == pid_);
  REQUIRE(WIFSTOPPED(status));
}

void Peer::go_on() { ::kill(pid_, SIGCONT); }

void Peer::kill() {
  REQUIRE(pid_ > 0);  // kill(-1) would reach every process
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

llamanet::DriverOptions World::driver_options(std::uint64_t arena_bytes) {
  llamanet::DriverOptions options;
  options.on_demand = true;
  options.slot_count_max = 16;
  options.arena_size_bytes = arena_bytes;
  return options;
}

World::World(std::uint64_t arena_bytes)
    : node_(driver_options(arena_bytes)), factory_(join_node(node_.socket_name()), clock_) {
  node_.start();
  auto participant = factory_.create_participant(0, {.name = "test"});
  REQUIRE(participant);
  participant_ = *participant;
}

World::~World() {
  CHECK(participant_->delete_contained_entities());
  CHECK(factory_.delete_participant(participant_));
}

std::shared_ptr<Topic> World::topic(const std::string& name) {
  auto topic = participant_->create_topic(name, type_of<Reading>(), {});
  REQUIRE(topic);
  return *topic;
}

std::shared_ptr<Subscriber> World::subscriber(const Policies& policies) {
  auto subscriber = participant_->create_subscriber(policies.subscriber);
  REQUIRE(subscriber);
  return *subscriber;
}

std::shared_ptr<DataReader> World::reader_of(const std::shared_ptr<Subscriber>& subscriber,
                                             const Policies& policies, const std::string& topic_name) {
  auto reader = subscriber->create_datareader(topic(topic_name), policies.reader);
  REQUIRE(reader);
  return *reader;
}

std::shared_ptr<DataReader> World::reader(const Policies& policies, const std::string& topic_name) {
  return reader_of(subscriber(policies), policies, topic_name);
}

std::shared_ptr<DataWriter> World::writer(const Policies& policies, const std::string& topic_name) {
  auto publisher = participant_->create_publisher(policies.publisher);
  REQUIRE(publisher);
  auto writer = (*publisher)->create_datawriter(topic(topic_name), policies.writer);
  REQUIRE(writer);
  return *writer;
}

}  // namespace llamada::dcps::test
