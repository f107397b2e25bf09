/* Init, Finalize, threads, names, versions, clocks; MPI 8 and 11. */
#include "check.h"

#include <unistd.h>

static int finalized_attribute;

static int on_finalize(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  int flag = -1;
  MPI_Finalized(&flag);
  if (!flag) finalized_attribute = 1;
  return MPI_SUCCESS;
}

static void clocks(void) {
  double last = MPI_Wtime(), tick = MPI_Wtick();
  CHECK(tick > 0 && tick <= 1e-3);
  for (int i = 0; i < 10000; i++) {
    double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
  usleep(20000);
  CHECK(MPI_Wtime() - last >= 0.019);
}

static void names(void) {
  char processor[MPI_MAX_PROCESSOR_NAME], library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, version, subversion;
  OK(MPI_Get_processor_name(processor, &length));
  CHECK(length > 0 && strlen(processor) == (size_t)length);
  OK(MPI_Get_version(&version, &subversion));
  CHECK(version == MPI_VERSION && subversion == MPI_SUBVERSION && version >= 3);
  OK(MPI_Get_library_version(library, &length));
  CHECK(length > 0 && strlen(library) == (size_t)length);
}

int main(int argc, char** argv) {
  int flag = 1, provided = -1, level = -2;
  if (MPI_Initialized(&flag) != MPI_SUCCESS || flag) return 1;
  if (MPI_Finalized(&flag) != MPI_SUCCESS || flag) return 1;
  if (MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) return 1;
  chapter = "environment";
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  CHECK(provided >= MPI_THREAD_FUNNELED);
  OK(MPI_Query_thread(&level));
  CHECK_EQ(level, provided);
  OK(MPI_Is_thread_main(&flag));
  CHECK(flag);
  OK(MPI_Initialized(&flag));
  CHECK(flag);
  clocks();
  names();
  int key;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
  void* memory;
  OK(MPI_Alloc_mem(1000, MPI_INFO_NULL, &memory));
  memset(memory, 1, 1000);
  OK(MPI_Free_mem(memory));
  OK(MPI_Barrier(MPI_COMM_WORLD));
  MPI_Finalize();
  MPI_Finalized(&flag);
  if (!flag || !finalized_attribute) return 1;
  if (rank == 0) printf("ok environment\n");
  return 0;
}
