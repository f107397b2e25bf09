#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <mqueue.h>
#include <pty.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>
#include <wordexp.h>

#include "interpose/descriptors.hpp"
#include "interpose/file_calls.hpp"

// What a rank shares with others past MPI, and what others do for it: no record says what came of it. At the
// first use the protection of the job ends.

using namespace llamada::mpi;
using interpose::cannot_be_repeated;
using interpose::Following;
using interpose::NextFunction;

namespace {

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

/// Whether others may see what is stored in a mapping, or this rank what they store.
bool is_shared_with_others(int flags, int descriptor) {
  if ((flags & MAP_TYPE) == MAP_PRIVATE || (flags & MAP_ANONYMOUS)) return false;
  struct stat found {};
  if (interpose::real_fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return false;
  return (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
}

bool is_followed(int descriptor) { return interpose::following(descriptor).what != Following::nothing; }

}  // namespace

extern "C" {

LLAMADA_INTERPOSED void* mmap(void* address, size_t size_bytes, int protection, int flags, int descriptor,
                              off_t offset) noexcept {
  static NextFunction<void*(void*, size_t, int, int, int, off_t)> next("mmap");
  if (descriptor >= 0 && !(flags & MAP_ANONYMOUS) && interpose::recorder_of(LLAMADA_CALLER)) {
    if (is_shared_with_others(flags, descriptor))
      cannot_be_repeated(LLAMADA_CALLER, "a file that is mapped into memory for writing (mmap)");
    else if (is_followed(descriptor))
      cannot_be_repeated(LLAMADA_CALLER, "the mapping of a file that may change (mmap)");
  }
  return next.get()(address, size_bytes, protection, flags, descriptor, offset);
}
LLAMADA_INTERPOSED void* mmap64(void*, size_t, int, int, int, off64_t) noexcept
    __attribute__((alias("mmap")));

LLAMADA_INTERPOSED int shm_open(const char* name, int flags, mode_t mode) {
  static NextFunction<int(const char*, int, mode_t)> next("shm_open");
  cannot_be_repeated(LLAMADA_CALLER, "POSIX shared memory (shm_open)");
  return next.get()(name, flags, mode);
}

LLAMADA_INTERPOSED int shm_unlink(const char* name) {
  static NextFunction<int(const char*)> next("shm_unlink");
  cannot_be_repeated(LLAMADA_CALLER, "POSIX shared memory (shm_unlink)");
  return next.get()(name);
}

LLAMADA_INTERPOSED int shmget(key_t key, size_t size_bytes, int flags) noexcept {
  static NextFunction<int(key_t, size_t, int)> next("shmget");
  cannot_be_repeated(LLAMADA_CALLER, "System V shared memory (shmget)");
  return next.get()(key, size_bytes, flags);
}

LLAMADA_INTERPOSED void* shmat(int id, const void* address, int flags) noexcept {
  static NextFunction<void*(int, const void*, int)> next("shmat");
  cannot_be_repeated(LLAMADA_CALLER, "System V shared memory (shmat)");
  return next.get()(id, address, flags);
}

LLAMADA_INTERPOSED int semget(key_t key, int count, int flags) noexcept {
  static NextFunction<int(key_t, int, int)> next("semget");
  cannot_be_repeated(LLAMADA_CALLER, "a System V semaphore (semget)");
  return next.get()(key, count, flags);
}

LLAMADA_INTERPOSED int msgget(key_t key, int flags) noexcept {
  static NextFunction<int(key_t, int)> next("msgget");
  cannot_be_repeated(LLAMADA_CALLER, "a System V message queue (msgget)");
  return next.get()(key, flags);
}

LLAMADA_INTERPOSED sem_t* sem_open(const char* name, int flags, ...) noexcept {
  static NextFunction<sem_t*(const char*, int, ...)> next("sem_open");
  cannot_be_repeated(LLAMADA_CALLER, "a named semaphore (sem_open)");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  const unsigned value = flags & O_CREAT ? va_arg(arguments, unsigned) : 0;
  va_end(arguments);
  return next.get()(name, flags, mode, value);
}

LLAMADA_INTERPOSED int sem_unlink(const char* name) noexcept {
  static NextFunction<int(const char*)> next("sem_unlink");
  cannot_be_repeated(LLAMADA_CALLER, "a named semaphore (sem_unlink)");
  return next.get()(name);
}

LLAMADA_INTERPOSED int mq_unlink(const char* name) noexcept {
  static NextFunction<int(const char*)> next("mq_unlink");
  cannot_be_repeated(LLAMADA_CALLER, "a message queue (mq_unlink)");
  return next.get()(name);
}

LLAMADA_INTERPOSED mqd_t mq_open(const char* name, int flags, ...) noexcept {
  static NextFunction<mqd_t(const char*, int, ...)> next("mq_open");
  cannot_be_repeated(LLAMADA_CALLER, "a message queue (mq_open)");
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  mq_attr* attributes = flags & O_CREAT ? va_arg(arguments, mq_attr*) : nullptr;
  va_end(arguments);
  return next.get()(name, flags, mode, attributes);
}

LLAMADA_INTERPOSED int inotify_init() noexcept {
  static NextFunction<int()> next("inotify_init");
  cannot_be_repeated(LLAMADA_CALLER, "the watching of files (inotify)");
  return next.get()();
}

LLAMADA_INTERPOSED int inotify_init1(int flags) noexcept {
  static NextFunction<int(int)> next("inotify_init1");
  cannot_be_repeated(LLAMADA_CALLER, "the watching of files (inotify)");
  return next.get()(flags);
}

// Other processes.

LLAMADA_INTERPOSED pid_t fork() noexcept {
  static NextFunction<pid_t()> next("fork");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (fork)");
  return next.get()();
}

LLAMADA_INTERPOSED pid_t _Fork() noexcept {
  static NextFunction<pid_t()> next("_Fork");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (_Fork)");
  return next.get()();
}

LLAMADA_INTERPOSED int clone(int (*body)(void*), void* stack, int flags, void* argument, ...) noexcept {
  static NextFunction<int(int (*)(void*), void*, int, void*, ...)> next("clone");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (clone)");
  va_list arguments;
  va_start(arguments, argument);
  void* parent_id = va_arg(arguments, void*);
  void* local_storage = va_arg(arguments, void*);
  void* child_id = va_arg(arguments, void*);
  va_end(arguments);
  return next.get()(body, stack, flags, argument, parent_id, local_storage, child_id);
}

#ifdef __x86_64__
// vfork() returns twice, and to its caller: no function of ours may lie in between.
__attribute__((visibility("hidden"), used)) void* llamada_before_vfork(const void* caller) {
  static NextFunction<pid_t()> next("vfork");
  cannot_be_repeated(caller, "what another process does (vfork)");
  return reinterpret_cast<void*>(next.get());
}
__asm__(
    ".text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  movq (%rsp), %rdi\n"
    "  subq $8, %rsp\n"
    "  call llamada_before_vfork\n"
    "  addq $8, %rsp\n"
    "  jmp *%rax\n"
    ".size vfork, .-vfork\n");
#endif

LLAMADA_INTERPOSED int posix_spawn(pid_t* process, const char* path,
                                   const posix_spawn_file_actions_t* actions,
                                   const posix_spawnattr_t* attributes, char* const arguments[],
                                   char* const environment[]) {
  static NextFunction<Spawn> next("posix_spawn");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (posix_spawn)");
  return next.get()(process, path, actions, attributes, arguments, environment);
}

LLAMADA_INTERPOSED int posix_spawnp(pid_t* process, const char* file,
                                    const posix_spawn_file_actions_t* actions,
                                    const posix_spawnattr_t* attributes, char* const arguments[],
                                    char* const environment[]) {
  static NextFunction<Spawn> next("posix_spawnp");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (posix_spawnp)");
  return next.get()(process, file, actions, attributes, arguments, environment);
}

LLAMADA_INTERPOSED pid_t forkpty(int* terminal, char* name, const termios* attributes,
                                 const winsize* size) noexcept {
  static NextFunction<pid_t(int*, char*, const termios*, const winsize*)> next("forkpty");
  cannot_be_repeated(LLAMADA_CALLER, "what another process does (forkpty)");
  return next.get()(terminal, name, attributes, size);
}

LLAMADA_INTERPOSED int wordexp(const char* words, wordexp_t* expanded, int flags) {
  static NextFunction<int(const char*, wordexp_t*, int)> next("wordexp");
  cannot_be_repeated(LLAMADA_CALLER, "what a shell expands (wordexp)");
  return next.get()(words, expanded, flags);
}

// Extended attributes.

LLAMADA_INTERPOSED int setxattr(const char* path, const char* name, const void* value, size_t size_bytes,
                                int flags) noexcept {
  static NextFunction<int(const char*, const char*, const void*, size_t, int)> next("setxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (setxattr)");
  return next.get()(path, name, value, size_bytes, flags);
}
LLAMADA_INTERPOSED int lsetxattr(const char* path, const char* name, const void* value, size_t size_bytes,
                                 int flags) noexcept {
  static NextFunction<int(const char*, const char*, const void*, size_t, int)> next("lsetxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (lsetxattr)");
  return next.get()(path, name, value, size_bytes, flags);
}
LLAMADA_INTERPOSED int fsetxattr(int descriptor, const char* name, const void* value, size_t size_bytes,
                                 int flags) noexcept {
  static NextFunction<int(int, const char*, const void*, size_t, int)> next("fsetxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (fsetxattr)");
  return next.get()(descriptor, name, value, size_bytes, flags);
}
LLAMADA_INTERPOSED int removexattr(const char* path, const char* name) noexcept {
  static NextFunction<int(const char*, const char*)> next("removexattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (removexattr)");
  return next.get()(path, name);
}
LLAMADA_INTERPOSED int lremovexattr(const char* path, const char* name) noexcept {
  static NextFunction<int(const char*, const char*)> next("lremovexattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (lremovexattr)");
  return next.get()(path, name);
}
LLAMADA_INTERPOSED int fremovexattr(int descriptor, const char* name) noexcept {
  static NextFunction<int(int, const char*)> next("fremovexattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (fremovexattr)");
  return next.get()(descriptor, name);
}
LLAMADA_INTERPOSED ssize_t listxattr(const char* path, char* names, size_t size_bytes) noexcept {
  static NextFunction<ssize_t(const char*, char*, size_t)> next("listxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (listxattr)");
  return next.get()(path, names, size_bytes);
}
LLAMADA_INTERPOSED ssize_t llistxattr(const char* path, char* names, size_t size_bytes) noexcept {
  static NextFunction<ssize_t(const char*, char*, size_t)> next("llistxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (llistxattr)");
  return next.get()(path, names, size_bytes);
}
LLAMADA_INTERPOSED ssize_t flistxattr(int descriptor, char* names, size_t size_bytes) noexcept {
  static NextFunction<ssize_t(int, char*, size_t)> next("flistxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (flistxattr)");
  return next.get()(descriptor, names, size_bytes);
}
LLAMADA_INTERPOSED ssize_t getxattr(const char* path, const char* name, void* value,
                                    size_t size_bytes) noexcept {
  static NextFunction<ssize_t(const char*, const char*, void*, size_t)> next("getxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (getxattr)");
  return next.get()(path, name, value, size_bytes);
}
LLAMADA_INTERPOSED ssize_t lgetxattr(const char* path, const char* name, void* value,
                                     size_t size_bytes) noexcept {
  static NextFunction<ssize_t(const char*, const char*, void*, size_t)> next("lgetxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (lgetxattr)");
  return next.get()(path, name, value, size_bytes);
}
LLAMADA_INTERPOSED ssize_t fgetxattr(int descriptor, const char* name, void* value,
                                     size_t size_bytes) noexcept {
  static NextFunction<ssize_t(int, const char*, void*, size_t)> next("fgetxattr");
  cannot_be_repeated(LLAMADA_CALLER, "extended attributes of a file (fgetxattr)");
  return next.get()(descriptor, name, value, size_bytes);
}

// What moves bytes into files within the kernel or by threads of libc's.

LLAMADA_INTERPOSED ssize_t sendfile(int to, int from, off_t* offset, size_t size_bytes) noexcept {
  static NextFunction<ssize_t(int, int, off_t*, size_t)> next("sendfile");
  if (is_followed(to) || is_followed(from)) cannot_be_repeated(LLAMADA_CALLER, "sendfile()");
  return next.get()(to, from, offset, size_bytes);
}
LLAMADA_INTERPOSED ssize_t sendfile64(int, int, off64_t*, size_t) noexcept __attribute__((alias("sendfile")));

LLAMADA_INTERPOSED ssize_t copy_file_range(int from, off64_t* from_offset, int to, off64_t* to_offset,
                                           size_t size_bytes, unsigned flags) {
  static NextFunction<decltype(copy_file_range)> next("copy_file_range");
  if (is_followed(to) || is_followed(from)) cannot_be_repeated(LLAMADA_CALLER, "copy_file_range()");
  return next.get()(from, from_offset, to, to_offset, size_bytes, flags);
}

LLAMADA_INTERPOSED ssize_t splice(int from, off64_t* from_offset, int to, off64_t* to_offset,
                                  size_t size_bytes, unsigned flags) {
  static NextFunction<decltype(splice)> next("splice");
  if (is_followed(to) || is_followed(from)) cannot_be_repeated(LLAMADA_CALLER, "splice()");
  return next.get()(from, from_offset, to, to_offset, size_bytes, flags);
}

LLAMADA_INTERPOSED int aio_read(aiocb* block) noexcept {
  static NextFunction<int(aiocb*)> next("aio_read");
  cannot_be_repeated(LLAMADA_CALLER, "an asynchronous read (aio_read)");
  return next.get()(block);
}
LLAMADA_INTERPOSED int aio_read64(aiocb64*) noexcept __attribute__((alias("aio_read")));

LLAMADA_INTERPOSED int aio_write(aiocb* block) noexcept {
  static NextFunction<int(aiocb*)> next("aio_write");
  cannot_be_repeated(LLAMADA_CALLER, "an asynchronous write (aio_write)");
  return next.get()(block);
}
LLAMADA_INTERPOSED int aio_write64(aiocb64*) noexcept __attribute__((alias("aio_write")));

LLAMADA_INTERPOSED int lio_listio(int mode, aiocb* const list[], int count, sigevent* event) noexcept {
  static NextFunction<int(int, aiocb* const*, int, sigevent*)> next("lio_listio");
  cannot_be_repeated(LLAMADA_CALLER, "asynchronous input and output (lio_listio)");
  return next.get()(mode, list, count, event);
}
LLAMADA_INTERPOSED int lio_listio64(int, aiocb64* const[], int, sigevent*) noexcept
    __attribute__((alias("lio_listio")));

// What walks through directories within libc.

LLAMADA_INTERPOSED int ftw(const char* path, __ftw_func_t visit, int descriptors) {
  static NextFunction<int(const char*, __ftw_func_t, int)> next("ftw");
  cannot_be_repeated(LLAMADA_CALLER, "a walk through directories (ftw)");
  return next.get()(path, visit, descriptors);
}
LLAMADA_INTERPOSED int ftw64(const char*, __ftw64_func_t, int) __attribute__((alias("ftw")));

LLAMADA_INTERPOSED int nftw(const char* path, __nftw_func_t visit, int descriptors, int flags) {
  static NextFunction<int(const char*, __nftw_func_t, int, int)> next("nftw");
  cannot_be_repeated(LLAMADA_CALLER, "a walk through directories (nftw)");
  return next.get()(path, visit, descriptors, flags);
}
LLAMADA_INTERPOSED int nftw64(const char*, __nftw64_func_t, int, int) __attribute__((alias("nftw")));

LLAMADA_INTERPOSED int scandirat(int folder, const char* path, dirent*** found, int (*takes)(const dirent*),
                                 int (*compare)(const dirent**, const dirent**)) {
  static NextFunction<int(int, const char*, dirent***, int (*)(const dirent*),
                          int (*)(const dirent**, const dirent**))>
      next("scandirat");
  cannot_be_repeated(LLAMADA_CALLER, "a list of a directory (scandirat)");
  return next.get()(folder, path, found, takes, compare);
}
LLAMADA_INTERPOSED int scandirat64(int, const char*, dirent64***, int (*)(const dirent64*),
                                   int (*)(const dirent64**, const dirent64**))
    __attribute__((alias("scandirat")));

LLAMADA_INTERPOSED FTS* fts_open(char* const* paths, int options,
                                 int (*compare)(const FTSENT**, const FTSENT**)) {
  static NextFunction<FTS*(char* const*, int, int (*)(const FTSENT**, const FTSENT**))> next("fts_open");
  cannot_be_repeated(LLAMADA_CALLER, "a walk through directories (fts_open)");
  return next.get()(paths, options, compare);
}
LLAMADA_INTERPOSED FTS64* fts64_open(char* const*, int, int (*)(const FTSENT64**, const FTSENT64**))
    __attribute__((alias("fts_open")));

}  // extern "C"
