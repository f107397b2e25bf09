#include "network.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "llamada/base/file_descriptor.hpp"

namespace llamada::bed {
namespace {

constexpr std::uint64_t mac_first = 0x02'4c'4c'00'00'00;
constexpr int exit_no_program = 127;

/// A frame as long as the MTU allows, and no longer.
constexpr int one_segment = 1, all_segments = 65535;

std::string mac_text(std::uint64_t mac) {
  std::array<unsigned, 6> bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned>(mac >> (8 * (bytes.size() - 1 - i)) & 0xff);
  return fmt::format("{:02x}", fmt::join(bytes, ":"));
}

[[noreturn]] void execute_ip(int lines, int words, int where) {
  if (where >= 0 && ::setns(where, CLONE_NEWNET) != 0) ::_exit(1);
  ::dup2(lines, STDIN_FILENO);
  ::dup2(words, STDOUT_FILENO);
  ::dup2(words, STDERR_FILENO);
  const std::array<const char*, 4> arguments{"ip", "-batch", "-", nullptr};
  for (const char* path : {"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"})
    ::execv(path, const_cast<char* const*>(arguments.data()));
  ::_exit(exit_no_program);
}

/// Whether these words of `ip` mean that the kernel does not have, or does not give, what was asked for.
bool is_refusal(std::string_view words) {
  for (const std::string_view each :
       {"Operation not permitted", "Operation not supported", "Unknown device type", "Not supported"})
    if (words.find(each) != words.npos) return true;
  return false;
}

}  // namespace

Status run_ip(const std::string& lines, int where) {
  FileDescriptor input(::memfd_create("ip", MFD_CLOEXEC));
  if (!input || ::write(input.get(), lines.data(), lines.size()) != static_cast<ssize_t>(lines.size()) ||
      ::lseek(input.get(), 0, SEEK_SET) != 0)
    return system_failure("a file for ip");
  std::array<int, 2> ends;
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_failure("pipe");
  FileDescriptor read_end(ends[0]), write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return system_failure("fork");
  if (child == 0) execute_ip(input.get(), write_end.get(), where);
  write_end.reset();
  std::string words;
  std::array<char, 512> buffer;
  for (ssize_t got; (got = ::read(read_end.get(), buffer.data(), buffer.size())) > 0;)
    words.append(buffer.data(), static_cast<std::size_t>(got));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status) && WEXITSTATUS(status) == exit_no_program)
    return failure(Errc::unsupported, "there is no program `ip` (package iproute2)");
  return failure(is_refusal(words) ? Errc::unsupported : Errc::invalid_argument, "ip: {}", words);
}

std::string bridge_lines() {
  return "link set lo up\nlink add br0 type bridge mcast_snooping 0\nlink set br0 up\n";
}

std::string link_lines(int index, int node, int mtu) {
  return fmt::format(
      "link add n{0} mtu {3} type veth peer name eth0 address {2} mtu {3} netns {1}\n"
      "link set n{0} master br0\nlink set n{0} up\n",
      index, node, mac_text(mac_of_node(index)), mtu);
}

std::string node_lines(int index, int mtu) {
  return fmt::format("link set lo up\naddress add {}/16 dev eth0\nlink set eth0 mtu {} up\n",
                     address_of_node(index), mtu);
}

std::string detach_lines(int index, int mtu) {
  return fmt::format(
      "link add r{0} mtu {1} type veth peer name p{0} mtu {1}\n"
      "link set p{0} master br0\nlink set p{0} up\nlink set r{0} up\nlink set n{0} nomaster\n",
      index, mtu);
}

std::string attach_lines(int index) {
  return fmt::format("link del r{0}\nlink set n{0} master br0\n", index);
}

std::string whole_frames_line(const std::string& interface, bool is_on) {
  return fmt::format("link set {} gso_max_segs {}\n", interface, is_on ? one_segment : all_segments);
}

std::string address_of_node(int index) { return fmt::format("10.77.0.{}", index + 1); }

std::uint64_t mac_of_node(int index) { return mac_first + static_cast<std::uint64_t>(index) + 1; }

std::string host_name(int index, const std::string& id) { return fmt::format("node{}-{}", index, id); }

std::string hosts_text(int count, const std::string& id) {
  std::string text = "127.0.0.1 localhost\n";
  for (int i = 0; i < count; ++i)
    text += fmt::format("{} {} node{}\n", address_of_node(i), host_name(i, id), i);
  return text;
}

}  // namespace llamada::bed
