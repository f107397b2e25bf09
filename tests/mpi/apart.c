/* apart PROGRAM ARGUMENT...: starts the program where the system does not let it reach the memory of other
 * processes, as in some containers: process_vm_readv and process_vm_writev give EPERM. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int fails(const char* what) {
  fprintf(stderr, "apart: %s: %s\n", what, strerror(errno));
  return 125;
}

int main(int argc, char** argv) {
  static struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  static const struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
  if (argc < 2) {
    fprintf(stderr, "usage: apart PROGRAM ARGUMENT...\n");
    return 125;
  }
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return fails("PR_SET_NO_NEW_PRIVS");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) return fails("PR_SET_SECCOMP");
  execvp(argv[1], argv + 1);
  return fails(argv[1]);
}
