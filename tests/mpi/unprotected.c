/* What no record can answer: each of these ends the protection of the job when a rank does it first.
   "unprotected list" prints a line for each of them: its name, and what the sentence says of it. "unprotected
   NAME" does it in the current folder, in rank 1. See unprotected.sh. */
#define _GNU_SOURCE
#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <linux/fs.h>
#include <mpi.h>
#include <mqueue.h>
#include <pthread.h>
#include <pty.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

extern char** environ;

/* What a row does must work, too. */
static void must(int is_right, const char* what) {
  if (is_right) return;
  perror(what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
#define MUST(condition) must(condition, #condition)

/* A file of the rank's that has something in it. */
static int a_file(int flags) {
  const int file = open("file", O_RDWR | O_CREAT | flags, 0600);
  MUST(file >= 0 && write(file, "some bytes\n", 11) == 11);
  return file;
}

static void map_to_write(void) {
  char* memory = mmap(NULL, 11, PROT_READ | PROT_WRITE, MAP_SHARED, a_file(0), 0);
  MUST(memory != MAP_FAILED);
  memory[0] = 'S';
}
static void map_what_may_change(void) {
  close(a_file(0));
  MUST(mmap(NULL, 11, PROT_READ, MAP_PRIVATE, open("file", O_RDONLY), 0) != MAP_FAILED);
}

static char name[64];
static const char* own_name(void) {
  snprintf(name, sizeof name, "/llamada-test-%ld", (long)syscall(SYS_getpid));
  return name;
}
static void open_shared_memory(void) {
  MUST(shm_open(own_name(), O_RDWR | O_CREAT | O_EXCL, 0600) >= 0);
  MUST(shm_unlink(name) == 0);
}
static void unlink_shared_memory(void) { shm_unlink(own_name()); }
static void open_semaphore(void) {
  MUST(sem_open(own_name(), O_CREAT | O_EXCL, 0600, 1) != SEM_FAILED);
  MUST(sem_unlink(name) == 0);
}
static void unlink_semaphore(void) { sem_unlink(own_name()); }
static void open_queue(void) {
  const mqd_t queue = mq_open(own_name(), O_RDWR | O_CREAT | O_EXCL, 0600, NULL);
  if (queue >= 0) mq_unlink(name); /* Not every container has queues. */
}
static void unlink_queue(void) { mq_unlink(own_name()); }
static void get_memory(void) {
  const int id = shmget(IPC_PRIVATE, 4096, 0600);
  MUST(id >= 0 && shmctl(id, IPC_RMID, NULL) == 0);
}
static void attach_memory(void) {
  const int id = (int)syscall(SYS_shmget, IPC_PRIVATE, 4096, 0600);
  MUST(id >= 0 && shmat(id, NULL, 0) != (void*)-1);
  shmctl(id, IPC_RMID, NULL);
}
static void get_semaphores(void) {
  const int id = semget(IPC_PRIVATE, 1, 0600);
  MUST(id >= 0 && semctl(id, 0, IPC_RMID) == 0);
}
static void get_queue(void) {
  const int id = msgget(IPC_PRIVATE, 0600);
  MUST(id >= 0 && msgctl(id, IPC_RMID, NULL) == 0);
}

static void wait_for(pid_t child) {
  int status;
  MUST(child > 0 && waitpid(child, &status, 0) == child && status == 0);
}
static void do_fork(void) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  wait_for(child);
}
static void do_raw_fork(void) {
  const pid_t child = _Fork();
  if (child == 0) _exit(0);
  wait_for(child);
}
static int leave(void* nothing_) { return nothing_ != NULL; }
static char clone_stack[1 << 16] __attribute__((aligned(16)));
static void do_clone(void) { wait_for(clone(leave, clone_stack + sizeof clone_stack, SIGCHLD, NULL)); }
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static void do_vfork(void) {
  const pid_t child = vfork();
  if (child == 0) _exit(0);
  wait_for(child);
}
static void do_forkpty(void) {
  int terminal;
  const pid_t child = forkpty(&terminal, NULL, NULL, NULL);
  if (child == 0) _exit(0);
  if (child > 0) wait_for(child); /* Not every container has terminals. */
}
static char* const nothing[] = {"true", NULL};
static void spawn(void) {
  pid_t child;
  MUST(posix_spawn(&child, "/bin/true", NULL, NULL, nothing, environ) == 0);
  wait_for(child);
}
static void spawn_by_path(void) {
  pid_t child;
  MUST(posix_spawnp(&child, "true", NULL, NULL, nothing, environ) == 0);
  wait_for(child);
}
static void open_command_to_write(void) {
  FILE* command = popen("cat >/dev/null", "w");
  MUST(command && fputs("line\n", command) >= 0 && pclose(command) == 0);
}
static void leave_command(void) { MUST(system("sleep 0.3 &") == 0); }
static void print_into_file(void) {
  const int kept = dup(2);
  MUST(dup2(a_file(0), 2) == 2);
  MUST(system("echo into the file >&2") == 0);
  dup2(kept, 2);
}
static void expand_words(void) {
  wordexp_t words;
  MUST(wordexp("$(echo word)", &words, 0) == 0 && words.we_wordc == 1);
}

static void open_named_pipe(void) {
  MUST(mkfifo("pipe", 0600) == 0);
  MUST(open("pipe", O_RDWR) >= 0);
}
static char bytes[16];
static struct aiocb block = {.aio_buf = bytes, .aio_nbytes = 4};
static void finish_block(void) {
  const struct aiocb* all[] = {&block};
  aio_suspend(all, 1, NULL);
  MUST(aio_return(&block) == 4);
}
static void read_asynchronously(void) {
  block.aio_fildes = a_file(0);
  MUST(aio_read(&block) == 0);
  finish_block();
}
static void write_asynchronously(void) {
  block.aio_fildes = a_file(0);
  MUST(aio_write(&block) == 0);
  finish_block();
}
static void list_asynchronously(void) {
  struct aiocb* all[] = {&block};
  block.aio_fildes = a_file(0);
  block.aio_lio_opcode = LIO_WRITE;
  MUST(lio_listio(LIO_WAIT, all, 1, NULL) == 0 && aio_return(&block) == 4);
}
static int another_file(void) { return open("another", O_RDWR | O_CREAT, 0600); }
static void send_file(void) {
  off_t from = 0;
  MUST(sendfile(another_file(), a_file(0), &from, 11) == 11);
}
static void copy_range(void) {
  off64_t from = 0;
  MUST(copy_file_range(a_file(0), &from, another_file(), NULL, 11, 0) == 11);
}
static void clone_file(void) { ioctl(another_file(), FICLONE, a_file(0)); } /* Few file systems can. */
static void splice_file(void) {
  int pipes[2];
  off64_t from = 0;
  MUST(pipe(pipes) == 0 && splice(a_file(0), &from, pipes[1], NULL, 11, 0) == 11);
}
static void write_with_flags(void) {
  const struct iovec piece = {bytes, 4};
  MUST(pwritev2(a_file(0), &piece, 1, 0, RWF_DSYNC) == 4);
}
static void read_with_flags(void) {
  const struct iovec piece = {bytes, 4};
  MUST(preadv2(a_file(0), &piece, 1, 0, RWF_HIPRI) == 4);
}

static int visit(const char* path, const struct stat* found, int kind) {
  return path == NULL && found == NULL && kind == 0;
}
static int visit_more(const char* path, const struct stat* found, int kind, struct FTW* where) {
  return where == NULL && visit(path, found, kind);
}
static void walk(void) { MUST(ftw(".", visit, 4) == 0); }
static void walk_more(void) { MUST(nftw(".", visit_more, 4, 0) == 0); }
static void open_walk(void) {
  char* const paths[] = {".", NULL};
  FTS* walk = fts_open(paths, FTS_PHYSICAL, NULL);
  MUST(walk && fts_read(walk));
  fts_close(walk);
}
static void scan_at(void) {
  struct dirent** found;
  MUST(scandirat(AT_FDCWD, ".", &found, NULL, NULL) >= 0);
}
static void watch(void) { MUST(inotify_init() >= 0); }
static void watch_too(void) { MUST(inotify_init1(0) >= 0); }
static void set_attribute(void) { setxattr(".", "user.llamada", "x", 1, 0); }
static void get_attribute(void) { getxattr(".", "user.llamada", bytes, sizeof bytes); }

static void list_attributes(void) { listxattr(".", bytes, sizeof bytes); }
static void remove_link_attribute(void) { lremovexattr(".", "user.llamada"); }

/* A socket with a name of this process, which others can find. What a row does not call is a system call. */
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static const socklen_t address_size = sizeof address;
static int a_socket(int kind) {
  snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "llamada-test-%ld", (long)syscall(SYS_getpid));
  const int made = socket(AF_UNIX, kind, 0);
  MUST(made >= 0);
  return made;
}
static int a_server(int kind) {
  const int server = a_socket(kind);
  MUST(syscall(SYS_bind, server, &address, address_size) == 0);
  MUST(kind == SOCK_DGRAM || syscall(SYS_listen, server, 1) == 0);
  return server;
}
static void connect_to_server(void) {
  a_server(SOCK_STREAM);
  MUST(connect(a_socket(SOCK_STREAM), (struct sockaddr*)&address, address_size) == 0);
}
static void bind_to_name(void) {
  MUST(bind(a_socket(SOCK_STREAM), (struct sockaddr*)&address, address_size) == 0);
}
static void connect_in_vain(void) {
  MUST(connect(a_socket(SOCK_STREAM), (struct sockaddr*)&address, address_size) != 0);
}
static int a_server_with_client(void) {
  const int server = a_server(SOCK_STREAM);
  MUST(syscall(SYS_connect, a_socket(SOCK_STREAM), &address, address_size) == 0);
  return server;
}
static void accept_client(void) { MUST(accept(a_server_with_client(), NULL, NULL) >= 0); }
static void accept_client_too(void) { MUST(accept4(a_server_with_client(), NULL, NULL, SOCK_CLOEXEC) >= 0); }
static void send_datagram(void) {
  a_server(SOCK_DGRAM);
  MUST(sendto(a_socket(SOCK_DGRAM), bytes, 4, 0, (struct sockaddr*)&address, address_size) == 4);
}
static struct iovec datagram = {bytes, 4};
static struct mmsghdr message = {
    .msg_hdr = {.msg_name = &address, .msg_namelen = sizeof address, .msg_iov = &datagram, .msg_iovlen = 1}};
static void send_message(void) {
  a_server(SOCK_DGRAM);
  MUST(sendmsg(a_socket(SOCK_DGRAM), &message.msg_hdr, 0) == 4);
}
static void send_messages(void) {
  a_server(SOCK_DGRAM);
  MUST(sendmmsg(a_socket(SOCK_DGRAM), &message, 1, 0) == 1);
}

/* Nothing happens to a process that goes on already. */
static void signal_another(void) { MUST(kill((pid_t)syscall(SYS_getppid), SIGCONT) == 0); }
static void signal_another_with_value(void) {
  MUST(sigqueue((pid_t)syscall(SYS_getppid), SIGCONT, (union sigval){.sival_int = 1}) == 0);
}
static void signal_group(void) {
  setpgid(0, 0);
  MUST(killpg(getpgrp(), SIGCONT) == 0);
}

/* Wide characters, and then the bytes of the file. */
static void write_wide(void) {
  FILE* file = fopen("wide", "w");
  char line[16] = "";
  MUST(file && fwprintf(file, L"%ls %d\n", L"wide", 7) == 7 && fclose(file) == 0);
  file = fopen("wide", "r");
  MUST(file && fgets(line, sizeof line, file) && strcmp(line, "wide 7\n") == 0 && fclose(file) == 0);
}
static void read_wide(void) {
  FILE* file = fopen("file", "w+");
  wchar_t word[8] = L"";
  int number = 0;
  MUST(file && fwide(file, 1) > 0 && fputws(L"word 5x", file) >= 0 && fputwc(L'\n', file) == L'\n');
  rewind(file);
  MUST(fwscanf(file, L"%7ls %d", word, &number) == 2 && wcscmp(word, L"word") == 0 && number == 5);
  MUST(fgetwc(file) == L'x' && ungetwc(L'y', file) == L'y' && fgetws(word, 8, file) && word[0] == L'y');
  MUST(fileno(file) >= 0 && fclose(file) == 0);
}

static void scan_wide(void) {
  FILE* file = fdopen(a_file(0), "w");
  wchar_t word[8] = L"";
  MUST(file && fclose(file) == 0 && (file = fopen("file", "r")) != NULL);
  MUST(fwscanf(file, L"%7ls", word) == 1 && wcscmp(word, L"some") == 0 && fclose(file) == 0);
}
static void open_in_code(void) {
  FILE* file = fopen("file", "w,ccs=UTF-8");
  MUST(file && fputwc(0xe9, file) == 0xe9 && ftell(file) == 2 && fclose(file) == 0);
}

static void run_thread(void* (*body)(void*)) {
  pthread_t thread;
  MUST(pthread_create(&thread, NULL, body, NULL) == 0);
  pthread_join(thread, NULL);
}
static void* open_body(void* nothing_) {
  a_file(0);
  return nothing_;
}
static void* stream_body(void* nothing_) {
  fclose(fopen("file", "w"));
  return nothing_;
}
static void* unlink_body(void* nothing_) {
  unlink("none");
  return nothing_;
}
static void open_in_thread(void) { run_thread(open_body); }
static void stream_in_thread(void) { run_thread(stream_body); }
static void unlink_in_thread(void) { run_thread(unlink_body); }

static void append_by_stream(void) { MUST(freopen("file", "a", stderr) != NULL); }
static void append_by_copy(void) {
  const int kept = dup(2);
  MUST(dup2(a_file(O_APPEND), 2) == 2);
  dup2(kept, 2);
}
static void make_signal_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  MUST(signalfd(-1, &set, 0) >= 0);
}
static void ignore(int number) { (void)number; }
static void set_signal(void) { MUST(sigset(SIGUSR1, ignore) != SIG_ERR); }

/* The command ends its rank. */
static void be_killed_in_system(void) {
  MUST(system("echo once >>began; kill -9 $PPID; sleep 0.2; echo more >>began") == 0);
}
static void be_killed_in_popen(void) {
  FILE* command = popen("echo once >>began; echo line; kill -9 $PPID; sleep 0.2; echo more >>began", "r");
  char line[16];
  MUST(command && fgets(line, sizeof line, command) && fgets(line, sizeof line, command) == NULL);
  MUST(pclose(command) == 0);
}

static const struct {
  const char* name;
  void (*act)(void);
  const char* said;
} rows[] = {
    {"mmap", map_to_write, "mapped into memory for writing (mmap)"},
    {"mmap-changing", map_what_may_change, "the mapping of a file that may change (mmap)"},
    {"shm_open", open_shared_memory, "POSIX shared memory (shm_open)"},
    {"shm_unlink", unlink_shared_memory, "POSIX shared memory (shm_unlink)"},
    {"shmget", get_memory, "System V shared memory (shmget)"},
    {"shmat", attach_memory, "System V shared memory (shmat)"},
    {"sem_open", open_semaphore, "a named semaphore (sem_open)"},
    {"sem_unlink", unlink_semaphore, "a named semaphore (sem_unlink)"},
    {"semget", get_semaphores, "a System V semaphore (semget)"},
    {"msgget", get_queue, "a System V message queue (msgget)"},
    {"mq_open", open_queue, "a message queue (mq_open)"},
    {"mq_unlink", unlink_queue, "a message queue (mq_unlink)"},
    {"fork", do_fork, "what another process does (fork)"},
    {"_Fork", do_raw_fork, "what another process does (_Fork)"},
    {"clone", do_clone, "what another process does (clone)"},
    {"vfork", do_vfork, "what another process does (vfork)"},
    {"forkpty", do_forkpty, "what another process does (forkpty)"},
    {"posix_spawn", spawn, "what another process does (posix_spawn)"},
    {"posix_spawnp", spawn_by_path, "what another process does (posix_spawnp)"},
    {"popen-w", open_command_to_write, "the input of a command (popen for writing)"},
    {"system-background", leave_command, "what a command leaves running in the background"},
    {"system-file", print_into_file, "a command that prints into a file of the rank (system)"},
    {"wordexp", expand_words, "what a shell expands (wordexp)"},
    {"named-pipe", open_named_pipe, "the use of a named pipe"},
    {"aio_read", read_asynchronously, "an asynchronous read (aio_read)"},
    {"aio_write", write_asynchronously, "an asynchronous write (aio_write)"},
    {"lio_listio", list_asynchronously, "asynchronous input and output (lio_listio)"},
    {"sendfile", send_file, "sendfile()"},
    {"copy_file_range", copy_range, "copy_file_range()"},
    {"ficlone", clone_file, "a copy within a file system (ioctl FICLONE)"},
    {"splice", splice_file, "splice()"},
    {"pwritev2", write_with_flags, "pwritev2() with flags"},
    {"preadv2", read_with_flags, "preadv2() with flags"},
    {"ftw", walk, "a walk through directories (ftw)"},
    {"nftw", walk_more, "a walk through directories (nftw)"},
    {"fts_open", open_walk, "a walk through directories (fts_open)"},
    {"scandirat", scan_at, "a list of a directory (scandirat)"},
    {"inotify_init", watch, "the watching of files (inotify)"},
    {"inotify_init1", watch_too, "the watching of files (inotify)"},
    {"setxattr", set_attribute, "extended attributes of a file (setxattr)"},
    {"getxattr", get_attribute, "extended attributes of a file (getxattr)"},
    {"listxattr", list_attributes, "extended attributes of a file (listxattr)"},
    {"lremovexattr", remove_link_attribute, "extended attributes of a file (lremovexattr)"},
    {"connect", connect_to_server, "a connection with another process (connect)"},
    {"bind", bind_to_name, "an address at which other processes find the rank (bind)"},
    {"accept", accept_client, "a connection with another process (accept)"},
    {"accept4", accept_client_too, "a connection with another process (accept)"},
    {"sendto", send_datagram, "a datagram to another process (sendto)"},
    {"sendmsg", send_message, "a datagram to another process (sendto)"},
    {"sendmmsg", send_messages, "a datagram to another process (sendto)"},
    {"kill", signal_another, "a signal to another process (kill)"},
    {"sigqueue", signal_another_with_value, "a signal to another process (kill)"},
    {"killpg", signal_group, "a signal to other processes (killpg)"},
    {"wide-write", write_wide, "a file of wide characters (fgetwc, fwprintf and the like)"},
    {"wide-read", read_wide, "a file of wide characters (fgetwc, fwprintf and the like)"},
    {"wide-scan", scan_wide, "a file of wide characters (fgetwc, fwprintf and the like)"},
    {"wide-code", open_in_code, "a file of wide characters (fgetwc, fwprintf and the like)"},
    {"thread-open", open_in_thread, "open() in another thread than the rank's"},
    {"thread-fopen", stream_in_thread, "fopen() in another thread than the rank's"},
    {"thread-unlink", unlink_in_thread, "unlink() in another thread than the rank's"},
    {"freopen-append", append_by_stream, "freopen() for appending"},
    {"dup2-append", append_by_copy, "a standard stream that appends to a file"},
    {"signalfd", make_signal_descriptor, "signalfd"},
    {"sigset", set_signal, "sigset"},
};
enum { row_count = sizeof rows / sizeof *rows };

int main(int argc, char** argv) {
  const char* which = argc > 1 ? argv[1] : "";
  for (int i = 0; i < row_count && strcmp(which, "list") == 0; ++i)
    printf("%s\t%s\n", rows[i].name, rows[i].said);
  if (strcmp(which, "list") == 0) return 0;
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < row_count && rank == 1; ++i)
    if (strcmp(which, rows[i].name) == 0) rows[i].act();
  if (rank == 1 && strcmp(which, "connect-in-vain") == 0) connect_in_vain();
  if (rank == 1 && strcmp(which, "killed-in-system") == 0) be_killed_in_system();
  if (rank == 1 && strcmp(which, "killed-in-popen") == 0) be_killed_in_popen();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("ok unprotected\n");
  MPI_Finalize();
}
