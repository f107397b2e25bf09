#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"
#include "socket.hpp"

namespace llamada::llamanet {

/// The descriptors that travel with an answer.
struct Passengers {
  std::vector<int> descriptors;
  std::vector<FileDescriptor> opened;  ///< those of them that are closed once the answer is sent
};

struct Answer {
  std::vector<std::byte> bytes;
  /// Called whenever the answer is tried, so that one which has to wait holds no descriptors. Empty: none
  /// travel with it. Errors refuse the connection.
  std::function<Status(Passengers&)> board;
};

/// Who is at the other end of a connection, and what the driver knows of it.
struct Caller {
  std::uint32_t pid = 0;
  std::optional<std::uint32_t> slot;  ///< of the application, from its attach on
  bool greeted = false;               ///< has attached or is inspecting
};

/// The driver's end of all connections: accepts them, receives what comes, sends the answers, those that the
/// kernel does not take at once later. Waits for the ends of processes, too. Knows no message but
/// ErrorMessage.
///
/// Connections have numbers that never come again. Threads: one at a time, the driver's.
class DriverSocket {
 public:
  /// What poll() and the others call. They may call the socket in turn.
  class Host {
   public:
    /// An error closes the connection, with a last word to its other end.
    virtual Status on_datagram(std::uint64_t connection, Datagram datagram) = 0;
    /// A connection is about to go, from whichever side it was closed.
    virtual void on_close(const Caller& caller) = 0;
    /// A connection is closed, or was not accepted, because of `why`.
    virtual void on_refused(const Caller& caller, const std::string& why) = 0;
    /// A pidfd that was watched for `slot` is readable.
    virtual void on_process_end(std::uint32_t slot) = 0;
    /// The eventfd of watch_bell() has been rung, and is cleared.
    virtual void on_bell() = 0;
    /// A descriptor of watch_links() is readable.
    virtual void on_links() = 0;

   protected:
    ~Host() = default;
  };

  /// With so many answers unsent nothing more is read from a connection.
  static constexpr std::size_t unsent_answers_max = 16;

  /// `host` is borrowed, and must stay where it is. Errors: those of the system, as where connections cannot
  /// be accepted at all.
  static Result<DriverSocket> open(FileDescriptor listener, Host& host);

  /// Readable when poll() has something to do.
  int descriptor() const { return epoll_.get(); }
  /// Does what there is to do, waiting for it at most `timeout` (negative: for ever).
  void poll(std::chrono::milliseconds timeout);
  /// Calls on_process_end(slot) when the process of this pidfd has ended, until the pidfd is closed.
  Status watch_process(int process, std::uint32_t slot);

  /// Calls on_bell() when somebody rings this eventfd, until it is closed. Once.
  Status watch_bell(int event);
  /// Calls on_links() while one of these is readable, until it is closed.
  Status watch_links(const std::vector<int>& descriptors);

  bool has(std::uint64_t connection) const { return connections_.contains(connection); }
  /// Of a connection that is there. Valid until it is closed.
  Caller& caller(std::uint64_t connection) { return connections_.at(connection).caller; }
  /// A pidfd of the process at the other end. Errors: closed (it is dead already), those of the system.
  Result<FileDescriptor> process_of(std::uint64_t connection) const;
  void answer(std::uint64_t connection, Answer answer);
  /// Handles what has come on the connection by now. Nothing when it is gone.
  void serve(std::uint64_t connection);
  void close(std::uint64_t connection);
  bool has_unsent() const;

  /// Takes in all who have connected.
  void accept_all();
  bool has_connections() const { return !connections_.empty(); }
  /// Whoever connects later finds nobody.
  void stop_listening() { listener_.reset(); }

 private:
  // What a descriptor in the epoll set stands for: this in the top byte of its key, a number below.
  enum class Source : std::uint64_t {
    listener = 1,
    connection = 2,
    process = 3,
    retry = 4,
    bell = 5,
    link = 6
  };
  struct Connection {
    FileDescriptor socket;
    Caller caller;
    std::deque<Answer> unsent;
  };

  explicit DriverSocket(Host& host) : host_(&host) {}
  Status watch(int descriptor, Source source, std::uint64_t number);
  void handle(std::uint64_t key);
  void admit(FileDescriptor socket);
  Status transmit(Connection& connection, const Answer& answer);
  void refuse(std::uint64_t number, const Error& error);
  void retry_unsent();
  void schedule_retry();

  Host* host_;
  FileDescriptor epoll_;
  FileDescriptor listener_;
  FileDescriptor retry_;  // a timer
  bool cannot_accept_ = false;
  std::map<std::uint64_t, Connection> connections_;
  std::uint64_t connection_last_ = 0;
};

}  // namespace llamada::llamanet
