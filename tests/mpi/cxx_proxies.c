/* What a library of C++ bindings built for MPICH asks of libmpi: the functions that it registers for a
 * program are called by functions of its own. This program does as such a library. */
#include <unistd.h>

#include "check.h"

typedef int copy_proxy(MPI_Comm_copy_attr_function*, int, int, void*, int, void*, void**, int*);
typedef int delete_proxy(MPI_Comm_delete_attr_function*, int, int, int, void*, void*);
void MPII_Op_set_cxx(MPI_Op op, void (*proxy)(void));
void MPII_Errhandler_set_cxx(MPI_Errhandler handler, void (*proxy)(void));
void MPII_Keyval_set_proxy(int keyval, copy_proxy* copy, delete_proxy* destroy);

/* The program's functions are never called as C's: only their addresses arrive. */
static void never(void) { CHECK(!"called as a function of C"); }

static int folds;
static void fold(const void* in, void* inout, int count, MPI_Datatype type, MPI_User_function* function) {
  CHECK(type == MPI_INT && function == (MPI_User_function*)never);
  for (int i = 0; i < count; i++) ((int*)inout)[i] += 2 * ((const int*)in)[i];
  folds++;
}

static void operations(void) {
  MPI_Op op;
  int one[2] = {1, 10}, sum[2] = {1, 10};
  OK(MPI_Op_create((MPI_User_function*)never, 1, &op));
  MPII_Op_set_cxx(op, (void (*)(void))fold);
  OK(MPI_Reduce_local(one, sum, 2, MPI_INT, op));
  CHECK(sum[0] == 3 && sum[1] == 30 && folds == 1);
  OK(MPI_Allreduce(one, sum, 2, MPI_INT, op, MPI_COMM_WORLD));
  CHECK_EQ(sum[1], 10 * sum[0]);
  OK(MPI_Op_free(&op));
}

static int owners[3], codes[3];
static void on_error(int owner, void* handle, int* code, void (*function)(void)) {
  CHECK(function == never && owner >= 0 && owner < 3);
  CHECK(owner == 1 ? *(MPI_File*)handle != MPI_FILE_NULL : *(int*)handle != 0);
  owners[owner]++;
  codes[owner] = *code;
}

static void handlers(void) {
  MPI_Errhandler handler;
  int x = 0;
  OK(MPI_Comm_create_errhandler((MPI_Comm_errhandler_function*)never, &handler));
  MPII_Errhandler_set_cxx(handler, (void (*)(void))on_error);
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  CHECK(MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_SELF) != MPI_SUCCESS);
  CHECK(owners[0] == 1 && codes[0] == MPI_ERR_RANK);
  OK(MPI_Errhandler_free(&handler));
  /* The handler that throws in C++: C's functions return. */
  MPI_Errhandler throwing = (MPI_Errhandler)0x54000002;
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, throwing));
  CHECK(MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_SELF) == MPI_ERR_RANK);
  OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
  CHECK(handler == throwing);
  OK(MPI_Errhandler_free(&handler));
  OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
  MPI_File file;
  char name[100];
  snprintf(name, sizeof name, "/tmp/cxx_proxies.%d.%ld", rank,
           (long)getpid()); /* other jobs run beside this one */
  OK(MPI_File_create_errhandler((MPI_File_errhandler_function*)never, &handler));
  MPII_Errhandler_set_cxx(handler, (void (*)(void))on_error);
  OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                   MPI_INFO_NULL, &file));
  OK(MPI_File_set_errhandler(file, handler));
  CHECK(MPI_File_write(file, &x, -1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  CHECK(owners[1] == 1 && codes[1] == MPI_ERR_COUNT);
  OK(MPI_File_close(&file));
  OK(MPI_Errhandler_free(&handler));
}

static int copies, deletes, place;
static int copy(MPI_Comm_copy_attr_function* function, int handle, int key, void* extra, int kind,
                void* value, void** out, int* flag) {
  CHECK(function == (MPI_Comm_copy_attr_function*)never && handle != 0 && key != MPI_KEYVAL_INVALID);
  CHECK(extra == &copies && kind == 0 && value == &place);
  copies++;
  *out = value;
  *flag = 1;
  return MPI_SUCCESS;
}
static int destroy(MPI_Comm_delete_attr_function* function, int handle, int key, int kind, void* value,
                   void* extra) {
  CHECK(function == (MPI_Comm_delete_attr_function*)never && handle != 0 && key != MPI_KEYVAL_INVALID);
  CHECK(extra == &copies && kind == 0 && value == &place);
  deletes++;
  return MPI_SUCCESS;
}

static void keys(void) {
  int key, flag;
  MPI_Comm duplicate;
  MPI_Datatype type, again;
  void* value;
  OK(MPI_Comm_create_keyval((MPI_Comm_copy_attr_function*)never, (MPI_Comm_delete_attr_function*)never, &key,
                            &copies));
  MPII_Keyval_set_proxy(key, copy, destroy);
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &place));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &duplicate));
  OK(MPI_Comm_get_attr(duplicate, key, &value, &flag));
  CHECK(flag && value == &place && copies == 1);
  OK(MPI_Comm_free(&duplicate));
  OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
  CHECK_EQ(deletes, 2);
  OK(MPI_Comm_free_keyval(&key));
  OK(MPI_Type_create_keyval((MPI_Type_copy_attr_function*)never, (MPI_Type_delete_attr_function*)never, &key,
                            &copies));
  MPII_Keyval_set_proxy(key, copy, destroy);
  OK(MPI_Type_contiguous(2, MPI_INT, &type));
  OK(MPI_Type_set_attr(type, key, &place));
  OK(MPI_Type_dup(type, &again));
  OK(MPI_Type_free(&type));
  OK(MPI_Type_free(&again));
  CHECK(copies == 2 && deletes == 4);
  OK(MPI_Type_free_keyval(&key));
}

static void windows(void) {
  MPI_Errhandler handler;
  MPI_Win win;
  OK(MPI_Win_create_errhandler((MPI_Win_errhandler_function*)never, &handler));
  MPII_Errhandler_set_cxx(handler, (void (*)(void))on_error);
  OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
  OK(MPI_Win_set_errhandler(win, handler));
  OK(MPI_Win_call_errhandler(win, MPI_ERR_OTHER));
  CHECK(owners[2] == 1 && codes[2] == MPI_ERR_OTHER);
  OK(MPI_Win_free(&win));
  OK(MPI_Errhandler_free(&handler));
}

int main(int argc, char** argv) {
  begin("cxx_proxies", &argc, &argv);
  operations();
  handlers();
  keys();
  windows();
  return finish();
}
