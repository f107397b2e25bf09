#include "llamada/llamanet/application.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ask.hpp"
#include "claim.hpp"
#include "driver_connection.hpp"
#include "driver_search.hpp"
#include "llamada/base/crash_point.hpp"
#include "node_links.hpp"
#include "socket.hpp"

namespace llamada::llamanet {
namespace {

// libc's getpid() is the MPI library's within a rank.
std::int32_t own_pid() { return static_cast<std::int32_t>(::syscall(SYS_getpid)); }

}  // namespace

Application::Application() : owner_pid_(own_pid()) {}

Result<std::unique_ptr<Application>> Application::attach(const ApplicationOptions& options) {
  if (auto checked = check_name_space(); !checked) return propagate(checked);
  auto chosen = options;
  if (chosen.socket_name.empty()) chosen.socket_name = llamanet::socket_name(::geteuid(), "node");
  auto attached = join_driver(chosen, [](const ApplicationOptions& at) { return attach_to(at); });
  if (!attached) return attached;
  (*attached)->options_ = std::move(chosen);
  if ((*attached)->rejoins()) (*attached)->guard_against_fork();
  return attached;
}

Result<std::unique_ptr<Application>> Application::attach_to(const ApplicationOptions& options) {
  std::unique_ptr<Application> application(new Application);
  if (auto attached = application->shake_hands(options); !attached) return propagate(attached);
  return application;
}

Status Application::shake_hands(const ApplicationOptions& options) {
  auto driver = DriverConnection::open(options.socket_name, options.start_driver);
  if (!driver) return propagate(driver);
  driver_ = std::move(*driver);
  LLAMADA_CRASH_POINT("attach:connected");
  const bool needs_fence = !Bell::enter_barriers();
  std::vector<FileDescriptor> descriptors;
  auto attached = driver_->ask<Attached>(
      Attach{static_cast<std::uint32_t>(owner_pid_), options.slot, options.token, options.name}, descriptors,
      with_book_descriptors_count);
  if (!attached) return propagate(attached);
  const bool has_book = (attached->flags & attached_has_book) != 0;
  const std::size_t expected = has_book ? with_book_descriptors_count : attached_descriptors_count;
  if (descriptors.size() != expected)
    return failure(Errc::parse_error, "the driver sent {} descriptors instead of {}", descriptors.size(),
                   expected);
  LLAMADA_CRASH_POINT("attach:answered");
  incarnation_ = attached->incarnation;
  profile_ = attached->qos;
  identity_ = attached->identity;
  auto page = MappedPage::map(descriptors[0].get());
  if (!page) return propagate(page);
  roster_.emplace(*driver_, std::move(*page), attached->slot);
  KeptDescriptor event(std::move(descriptors[2]));
  if (auto opened = open_arena(options, std::move(descriptors[1])); !opened) return opened;
  bell_.emplace(std::move(event), arena(), needs_fence);
  bell_->add(*driver_);
  if (has_book) {
    auto links = NodeLinks::open(attached->slot, std::move(descriptors[3]), std::move(descriptors[4]),
                                 std::move(descriptors[5]));
    if (!links) return propagate(links);
    links_ = std::move(*links);
    links_->add_to(*bell_);
    LLAMADA_CRASH_POINT("attach:links-opened");
  }
  LLAMADA_CRASH_POINT("attach:arena-opened");
  if (options.follows_driver)
    if (auto met = roster_->meet_driver(); !met) return met;
  if (options.peer_count == any_slot) {
    if (auto refreshed = roster_->refresh(); !refreshed) return propagate(refreshed);
  } else {
    if (auto mapped = roster_->map(options.first_peer, options.peer_count); !mapped) return mapped;
  }
  LLAMADA_CRASH_POINT("attach:peers-mapped");
  arena().set_state(log::ArenaState::attached);
  silent_ = false;
  LLAMADA_CRASH_POINT("attach:announced");
  return {};
}

Status Application::open_arena(const ApplicationOptions& options, FileDescriptor file) {
  auto arena_options = options.arena;
  arena_options.incarnation = incarnation_;
  arena_options.pid = static_cast<std::uint32_t>(owner_pid_);
  // Called for each extent, so rarely enough to look at everybody's arena.
  arena_options.may_grow = [this](std::uint64_t more_bytes) { return roster_->may_keep(more_bytes); };
  const bool is_on_disk = roster_->page().arenas_on_disk != 0;
  auto opened = OwnArena::open(
      std::move(file), roster_->page().arena_size_bytes,
      [this] { return driver_->ask<Lengthened>(Lengthen{}).has_value(); }, std::move(arena_options),
      is_on_disk ? OwnArena::Place::disk : OwnArena::Place::memory);
  if (!opened) {
    if (opened.error().code() == Errc::parse_error)
      (void)say(SayKind::damaged, static_cast<std::int32_t>(slot()), opened.error().text());
    return propagate(opened);
  }
  own_ = std::move(*opened);
  return {};
}

Application::~Application() {
  if (is_child_of_fork()) return;
  if (rejoins()) forget_forks();
  if (silent_) return;
  const Status said = driver_->tell(Bye{});
  // A driver that has come in the meantime keeps a place for this application.
  if (!said && said.error().code() == Errc::closed && rejoins() && rejoin(false)) (void)driver_->tell(Bye{});
}

Status Application::leave() {
  silent_ = true;
  return driver_->tell(Bye{});
}

bool Application::is_child_of_fork() const { return own_pid() != owner_pid_; }

int Application::closed_descriptor() const {
  if (!driver_->is_open()) return driver_->socket();
  if (::fcntl(bell_->event(), F_GETFD) < 0) return bell_->event();
  return links_ ? links_->closed_descriptor() : -1;
}

const NodeBook* Application::book() const { return links_ ? &links_->book() : nullptr; }
Status Application::refresh_book() {
  std::vector<FileDescriptor> descriptors;
  auto answer = driver_->ask<BookIs>(Book{}, descriptors, 1);
  if (!answer) return propagate(answer);
  if (descriptors.size() != 1)
    return failure(Errc::parse_error, "the driver sent {} descriptors of a book", descriptors.size());
  return links_->take_book(std::move(descriptors[0]));
}

replication::Link& Application::small_link() { return links_->small(); }
replication::Link& Application::bulk_link() { return links_->bulk(); }

Status Application::check_driver() { return driver_->check(); }
bool Application::is_alone() const { return rejoins() && driver_->is_lost(); }
void Application::lose_driver() { driver_->lose(); }

Result<Mapping> Application::shared_segment(std::uint64_t name, std::uint64_t size_bytes) {
  std::vector<FileDescriptor> descriptors;
  auto answer = driver_->ask<Shared>(Share{name, size_bytes}, descriptors, 1);
  if (!answer) return propagate(answer);
  if (!answer->granted) return failure(answer->code, "{}", answer->text);
  if (descriptors.size() != 1)
    return failure(Errc::parse_error, "the driver sent {} descriptors of shared memory", descriptors.size());
  return Mapping::map(descriptors[0].get(), size_bytes, Mapping::Access::read_write);
}

Status Application::release_segment(std::uint64_t name) {
  auto answer = driver_->ask<Released>(Release{name});
  return answer ? Status() : Status(propagate(answer));
}

Status Application::say(SayKind kind, std::int32_t code, std::string_view text) {
  return say(prepare_say(kind, code, text));
}

std::vector<std::byte> Application::prepare_say(SayKind kind, std::int32_t code, std::string_view text) {
  return driver_->prepare(Say{kind, code, std::string(text)});
}

Status Application::say(std::span<const std::byte> prepared) const { return driver_->send(prepared); }

Result<Spawned> Application::spawn(const Spawn& spawn) {
  const std::size_t size = encode({0, spawn}).size();
  if (size > message_size_bytes_max)
    return failure(Errc::invalid_argument, "the commands and their arguments have {} bytes; the most is {}",
                   size, message_size_bytes_max);
  return driver_->ask<Spawned>(spawn);
}

Result<Reached> Application::reach(const Reach& reach) { return driver_->ask<Reached>(reach); }

Result<Named> Application::name(const Name& name) { return driver_->ask<Named>(name); }
Result<Moved> Application::move(const Move& move) { return driver_->ask<Moved>(move); }
Result<Agreed> Application::agree(const AgreementVote& vote) { return driver_->ask<Agreed>(Agree{vote}); }

}  // namespace llamada::llamanet
