#pragma once

#include <sys/types.h>

#include <string>

#include "llamada/base/file_descriptor.hpp"
#include "llamada/base/result.hpp"

namespace llamada::bed {

/// A node: a process with which begins a PID namespace, in network, mount, UTS and IPC namespaces of its own.
/// All other processes of the node end with it. It does nothing but wait for those that nobody else waits
/// for.
class Node {
 public:
  /// To be called by the first process of another PID namespace, so that nodes end with that. Errors:
  /// permission_denied, unsupported (namespaces are refused), those of the system.
  static Result<Node> start(int index, int count, const std::string& bed, int mtu);

  /// As this process sees it.
  pid_t pid() const { return pid_; }
  /// Of its first process: readable when the node has ended.
  int process() const { return process_.get(); }
  bool is_alive() const { return static_cast<bool>(process_); }
  /// Lets the node go on when its link is there, and waits until it is ready. Errors: as start().
  Status finish();
  /// The namespace file of this kind, as in /proc/<pid>/ns.
  Result<FileDescriptor> open_namespace(const char* kind) const;
  /// As if its power were cut.
  void kill();
  /// Once its process has ended.
  void collect();

 private:
  pid_t pid_ = 0;
  FileDescriptor process_;
  FileDescriptor socket_;  // to its first process, until it is ready
};

/// What a process in new namespaces has to mount first, to see itself: /proc, and no changes go out.
Status mount_proc();
/// The failure of a system call that makes namespaces and what lies in them: permission_denied where it is
/// refused on this machine.
Error refusal(const char* what);

}  // namespace llamada::bed
