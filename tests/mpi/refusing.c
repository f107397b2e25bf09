/* refusing NAME ERROR COMMAND ...: runs a command where the system call NAME fails with ERROR (EPERM or
   ENOSYS), as filters of containers and older kernels have it. refusing list: prints the names that it knows,
   which are the calls that Llamada makes and that not every kernel or container has. 77 where there is no
   seccomp. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(name) \
  { #name, SYS_##name }
static const struct {
  const char* name;
  int number;
} calls[] = {
    CALL(accept),
    CALL(clone3),
    CALL(close_range),
    CALL(dup3),
    CALL(epoll_create1),
    CALL(epoll_ctl),
    CALL(epoll_wait),
    CALL(eventfd2),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(ftruncate),
    CALL(getcpu),
    CALL(getrandom),
    CALL(getsockopt),
    CALL(madvise),
    CALL(mbind),
    CALL(membarrier),
    CALL(memfd_create),
    CALL(mlock),
    CALL(personality),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(ppoll),
    CALL(prctl),
    CALL(prlimit64),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(pwritev),
    CALL(rseq),
    CALL(sched_getaffinity),
    CALL(sched_setaffinity),
    CALL(sched_setattr),
    CALL(setpgid),
    CALL(setsockopt),
    CALL(signalfd4),
    CALL(socketpair),
    CALL(statx),
    CALL(timer_create),
    CALL(timer_settime),
    CALL(timerfd_create),
    CALL(timerfd_settime),
    CALL(uname),
    CALL(unshare),
    CALL(userfaultfd),
    CALL(io_uring_setup),
};
enum { call_count = sizeof calls / sizeof *calls };

static int number_of(const char* name) {
  for (int i = 0; i < call_count; ++i)
    if (strcmp(calls[i].name, name) == 0) return calls[i].number;
  return -1;
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "list") == 0)
    for (int i = 0; i < call_count; ++i) puts(calls[i].name);
  if (argc < 4) return argc == 2 ? 0 : 2;
  const int number = number_of(argv[1]);
  const unsigned error = strcmp(argv[2], "EPERM") == 0 ? EPERM : ENOSYS;
  if (number < 0) return 2;
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("refusing: seccomp");
    return 77;
  }
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
