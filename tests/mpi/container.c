/* container [--old] COMMAND ...: runs a command under what Docker's default seccomp profile refuses a
   container without capabilities (moby, profiles/seccomp/default.json): with EPERM, and clone3 with ENOSYS.
   Calls that the kernel's headers do not know are not refused. --old: filters that know older calls only
   refuse signalfd4 and accept4, too, with ENOSYS. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { refused_max = 64, code_max = 2 * refused_max + 32 };

static const int refused[] = {SYS_acct,
                              SYS_add_key,
                              SYS_bpf,
                              SYS_chroot,
                              SYS_clock_settime,
                              SYS_delete_module,
                              SYS_fanotify_init,
                              SYS_finit_module,
                              SYS_fsconfig,
                              SYS_fsmount,
                              SYS_fsopen,
                              SYS_fspick,
                              SYS_get_mempolicy,
                              SYS_init_module,
                              SYS_kcmp,
                              SYS_kexec_load,
                              SYS_keyctl,
                              SYS_mbind,
                              SYS_migrate_pages,
                              SYS_mount,
                              SYS_mount_setattr,
                              SYS_move_mount,
                              SYS_move_pages,
                              SYS_open_by_handle_at,
                              SYS_open_tree,
                              SYS_perf_event_open,
                              SYS_pidfd_getfd,
                              SYS_pivot_root,
                              SYS_process_madvise,
                              SYS_quotactl,
                              SYS_reboot,
                              SYS_request_key,
                              SYS_set_mempolicy,
                              SYS_setdomainname,
                              SYS_sethostname,
                              SYS_setns,
                              SYS_settimeofday,
                              SYS_swapoff,
                              SYS_swapon,
                              SYS_syslog,
                              SYS_umount2,
                              SYS_unshare,
                              SYS_userfaultfd,
                              SYS_vhangup,
                              SYS_io_uring_setup,
                              SYS_io_uring_enter,
                              SYS_io_uring_register};

static struct sock_filter code[code_max];
static unsigned short length;

static void add(unsigned short what, unsigned value, unsigned char if_true, unsigned char if_false) {
  code[length++] = (struct sock_filter)BPF_JUMP(what, value, if_true, if_false);
}
static void load(size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset, 0, 0); }
static void answer(unsigned error) {
  add(BPF_RET | BPF_K, error ? SECCOMP_RET_ERRNO | error : SECCOMP_RET_ALLOW, 0, 0);
}
static void is_equal(unsigned value, unsigned char if_true, unsigned char if_false) {
  add(BPF_JMP | BPF_JEQ | BPF_K, value, if_true, if_false);
}

static void write_filter(int is_old) {
  const unsigned namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                              CLONE_NEWPID | CLONE_NEWNET;
  load(offsetof(struct seccomp_data, nr));
  for (size_t i = 0; i < sizeof refused / sizeof *refused; ++i) {
    is_equal((unsigned)refused[i], 0, 1);
    answer(EPERM);
  }
  if (is_old) {
    is_equal(SYS_signalfd4, 1, 0);
    is_equal(SYS_accept4, 0, 1);
    answer(ENOSYS);
  }
  is_equal(SYS_clone3, 0, 1);
  answer(ENOSYS);
  is_equal(SYS_clone, 0, 4);
  load(offsetof(struct seccomp_data, args[0]));
  add(BPF_JMP | BPF_JSET | BPF_K, namespaces, 0, 1);
  answer(EPERM);
  answer(0);
  is_equal(SYS_personality, 1, 0);
  answer(0);
  load(offsetof(struct seccomp_data, args[0]));
  is_equal(0, 4, 0);
  is_equal(0x8, 3, 0);
  is_equal(0x20000, 2, 0);
  is_equal(0x20008, 1, 0);
  is_equal(0xffffffff, 0, 1);
  answer(0);
  answer(EPERM);
}

int main(int argc, char** argv) {
  const int is_old = argc > 1 && strcmp(argv[1], "--old") == 0;
  write_filter(is_old);
  struct sock_fprog program = {length, code};
  argc -= is_old;
  argv += is_old;
  if (argc < 2) return 2;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("container: seccomp");
    return 77;
  }
  execvp(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
