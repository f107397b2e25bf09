/* unloaded LIBMPI [kept]: a plug-in host opens the MPI library, uses it, finalizes, and unloads it before it
 * ends; it may open it again. A thread of the program's has been in the library, too. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static void* library;

static void* ask_in_thread(void* answer) {
  int (*initialized)(int*) = (int (*)(int*))dlsym(library, "MPI_Initialized");
  double (*wtime)(void) = (double (*)(void))dlsym(library, "MPI_Wtime");
  if (initialized(answer) != 0 || wtime() <= 0) *(int*)answer = 0;
  return answer;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    puts(dlerror());
    return 2;
  }
  int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(library, "MPI_Init");
  int (*finalize)(void) = (int (*)(void))dlsym(library, "MPI_Finalize");
  int (*finalized)(int*) = (int (*)(int*))dlsym(library, "MPI_Finalized");
  pthread_t thread;
  int answer = 0;
  if (init(NULL, NULL) != 0) return 3;
  if (pthread_create(&thread, NULL, ask_in_thread, &answer) != 0 || pthread_join(thread, NULL) != 0 ||
      !answer)
    return 4;
  if (finalize() != 0) return 5;
  if (argc > 2) return 0;
  if (dlclose(library) != 0) return 6;
  /* What was finalized stays so. */
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 7;
  finalized = (int (*)(int*))dlsym(library, "MPI_Finalized");
  if (finalized(&answer) != 0 || !answer) return 8;
  return dlclose(library) != 0;
}
