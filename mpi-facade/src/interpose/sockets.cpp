#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <string_view>

#include "interpose/file_calls.hpp"

// Sockets reach processes outside the job, which would hear a replacement say everything again. The first
// connection that comes about ends the protection of the job.

using namespace llamada::mpi;
using interpose::NextFunction;

namespace {

constexpr const char* connection = "a connection with another process (connect)";
constexpr const char* server = "a connection with another process (accept)";
constexpr const char* address = "an address at which other processes find the rank (bind)";
constexpr const char* datagram = "a datagram to another process (sendto)";

/// The kernel itself answers on these, and nobody hears a question twice.
bool reaches_others(const sockaddr* name, socklen_t size_bytes) {
  if (!name || size_bytes < sizeof(sa_family_t)) return false;
  return name->sa_family != AF_UNSPEC && name->sa_family != AF_NETLINK && name->sa_family != AF_ALG;
}

/// libc's plug-ins that look up names of users and hosts (getpwuid) ask daemons, which change nothing.
bool is_name_service(const void* caller) {
  Dl_info found{};
  if (dladdr(caller, &found) == 0 || !found.dli_fname) return false;
  const std::string_view path = found.dli_fname;
  return path.substr(path.rfind('/') + 1).starts_with("libnss_");
}

void end_protection(const void* caller, const char* what) {
  const bool is_kept = interpose::recorder_of(caller) || interpose::opened_determinants();
  if (is_kept && !interpose::is_own(caller) && !is_name_service(caller))
    interpose::cannot_be_repeated(caller, what);
}

bool has_begun(int result) { return result >= 0 || errno == EINPROGRESS || errno == EINTR; }

/// Gives the result on, with errno as it is.
int judged(int result, const sockaddr* name, socklen_t size_bytes, const void* caller, const char* what) {
  const int error_number = errno;
  if (has_begun(result) && reaches_others(name, size_bytes)) end_protection(caller, what);
  errno = error_number;
  return result;
}

bool has_address(const msghdr* message) {
  return message && reaches_others(static_cast<const sockaddr*>(message->msg_name), message->msg_namelen);
}

}  // namespace

extern "C" {

// A connection that fails says nothing: it is made again, and its outcome judged by what the program does.

LLAMADA_INTERPOSED int connect(int socket, const sockaddr* name, socklen_t size_bytes) {
  static NextFunction<int(int, const sockaddr*, socklen_t)> next("connect");
  return judged(next.get()(socket, name, size_bytes), name, size_bytes, LLAMADA_CALLER, connection);
}

LLAMADA_INTERPOSED int bind(int socket, const sockaddr* name, socklen_t size_bytes) noexcept {
  static NextFunction<int(int, const sockaddr*, socklen_t)> next("bind");
  return judged(next.get()(socket, name, size_bytes), name, size_bytes, LLAMADA_CALLER, address);
}

LLAMADA_INTERPOSED int accept(int socket, sockaddr* name, socklen_t* size_bytes) {
  static NextFunction<int(int, sockaddr*, socklen_t*)> next("accept");
  end_protection(LLAMADA_CALLER, server);
  return next.get()(socket, name, size_bytes);
}

LLAMADA_INTERPOSED int accept4(int socket, sockaddr* name, socklen_t* size_bytes, int flags) {
  static NextFunction<int(int, sockaddr*, socklen_t*, int)> next("accept4");
  end_protection(LLAMADA_CALLER, server);
  return next.get()(socket, name, size_bytes, flags);
}

LLAMADA_INTERPOSED ssize_t sendto(int socket, const void* bytes, size_t size_bytes, int flags,
                                  const sockaddr* name, socklen_t name_size_bytes) {
  static NextFunction<ssize_t(int, const void*, size_t, int, const sockaddr*, socklen_t)> next("sendto");
  if (reaches_others(name, name_size_bytes)) end_protection(LLAMADA_CALLER, datagram);
  return next.get()(socket, bytes, size_bytes, flags, name, name_size_bytes);
}

LLAMADA_INTERPOSED ssize_t sendmsg(int socket, const msghdr* message, int flags) {
  static NextFunction<ssize_t(int, const msghdr*, int)> next("sendmsg");
  if (has_address(message)) end_protection(LLAMADA_CALLER, datagram);
  return next.get()(socket, message, flags);
}

LLAMADA_INTERPOSED int sendmmsg(int socket, mmsghdr* messages, unsigned count, int flags) {
  static NextFunction<int(int, mmsghdr*, unsigned, int)> next("sendmmsg");
  for (unsigned i = 0; i < count; ++i)
    if (has_address(&messages[i].msg_hdr)) end_protection(LLAMADA_CALLER, datagram);
  return next.get()(socket, messages, count, flags);
}

}  // extern "C"
