/* Attributes and keyvals; MPI 6.7, and the predefined attributes; MPI 8.1. */
#include "check.h"

static int copies, deletes;

static int copy_doubled(MPI_Comm comm, int key, void* extra, void* value, void* out, int* flag) {
  (void)comm, (void)key;
  CHECK(extra == &copies);
  copies++;
  *(void**)out = (char*)value + 1;
  *flag = 1;
  return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value;
  CHECK(extra == &copies);
  deletes++;
  return MPI_SUCCESS;
}

static int refuse_delete(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return MPI_ERR_OTHER;
}

static void life(void) {
  int key, no_copy, dup_key, flag;
  char place[10];
  void* value;
  MPI_Comm a, b;
  OK(MPI_Comm_create_keyval(copy_doubled, count_delete, &key, &copies));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &no_copy, NULL));
  OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_WORLD, &a));
  OK(MPI_Comm_get_attr(a, key, &value, &flag));
  CHECK(!flag);
  OK(MPI_Comm_set_attr(a, key, &place[0]));
  OK(MPI_Comm_set_attr(a, no_copy, &place[5]));
  OK(MPI_Comm_set_attr(a, dup_key, &place[7]));
  OK(MPI_Comm_get_attr(a, key, &value, &flag));
  CHECK(flag && value == &place[0]);
  OK(MPI_Comm_dup(a, &b));
  CHECK_EQ(copies, 1);
  OK(MPI_Comm_get_attr(b, key, &value, &flag));
  CHECK(flag && value == &place[1]);
  OK(MPI_Comm_get_attr(b, no_copy, &value, &flag));
  CHECK(!flag);
  OK(MPI_Comm_get_attr(b, dup_key, &value, &flag));
  CHECK(flag && value == &place[7]);
  OK(MPI_Comm_set_attr(b, key, &place[3]));
  CHECK_EQ(deletes, 1);
  OK(MPI_Comm_delete_attr(b, key));
  CHECK_EQ(deletes, 2);
  OK(MPI_Comm_get_attr(b, key, &value, &flag));
  CHECK(!flag);
  int freed = key;
  OK(MPI_Comm_free_keyval(&freed));
  CHECK_EQ(freed, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_free(&a));
  CHECK_EQ(deletes, 3);
  OK(MPI_Comm_free(&b));
  CHECK_EQ(deletes, 3);
  OK(MPI_Comm_free_keyval(&no_copy));
  OK(MPI_Comm_free_keyval(&dup_key));
}

static void refusing(void) {
  int key;
  MPI_Comm comm;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, refuse_delete, &key, NULL));
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_set_attr(comm, key, NULL));
  CHECK(MPI_Comm_delete_attr(comm, key) != MPI_SUCCESS);
}

/* A key that was freed is good for as long as an attribute has it. */
static void freed_key(void) {
  int key, kept, flag, *value;
  MPI_Comm comm;
  OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
  OK(MPI_Comm_set_attr(comm, key, &flag));
  kept = key;
  OK(MPI_Comm_free_keyval(&key));
  CHECK_EQ(key, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_get_attr(comm, kept, &value, &flag));
  CHECK(flag && value == &flag);
  OK(MPI_Comm_delete_attr(comm, kept));
  if (is_strict()) CHECK_EQ(MPI_Comm_set_attr(comm, kept, &flag), MPI_ERR_KEYVAL);
  OK(MPI_Comm_free(&comm));
}

/* A key is for communicators, datatypes or windows. */
static void kinds_of_keys(void) {
  int of_comm, of_type, of_win, number = 0, flag;
  void* value;
  MPI_Win win;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &of_comm, NULL));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &of_type, NULL));
  OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &of_win, NULL));
  OK(MPI_Win_create(&number, sizeof number, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
  /* The window's own handler stays the fatal one: a wrong key is none of the window's errors. */
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, of_win, &number) != MPI_SUCCESS);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, of_type, &number) != MPI_SUCCESS);
  CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, of_win, &value, &flag) != MPI_SUCCESS);
  CHECK(MPI_Type_set_attr(MPI_INT, of_comm, &number) != MPI_SUCCESS);
  CHECK(MPI_Win_set_attr(win, of_comm, &number) != MPI_SUCCESS);
  CHECK(MPI_Win_set_attr(win, of_type, &number) != MPI_SUCCESS);
  CHECK(MPI_Win_get_attr(win, of_type, &value, &flag) != MPI_SUCCESS);
  CHECK(MPI_Win_delete_attr(win, of_comm) != MPI_SUCCESS);
  CHECK(MPI_Comm_free_keyval(&of_win) != MPI_SUCCESS);
  OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
  OK(MPI_Win_free(&win));
  OK(MPI_Comm_free_keyval(&of_comm));
  OK(MPI_Type_free_keyval(&of_type));
  OK(MPI_Win_free_keyval(&of_win));
}

static int type_deletes;
static int copy_of_type(MPI_Datatype type, int key, void* extra, void* value, void* copied, int* flag) {
  (void)type, (void)key;
  *(void**)copied = (char*)value + *(int*)extra;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_of_type(MPI_Datatype type, int key, void* value, void* extra) {
  (void)type, (void)key, (void)value, (void)extra;
  type_deletes++;
  return MPI_SUCCESS;
}

static void of_datatypes(void) {
  static char place[8];
  int key, none, flag, extra = 3;
  char* value;
  MPI_Datatype type, copy;
  OK(MPI_Type_create_keyval(copy_of_type, delete_of_type, &key, &extra));
  OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &none, NULL));
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  OK(MPI_Type_get_attr(type, key, &value, &flag));
  CHECK(!flag);
  OK(MPI_Type_set_attr(type, key, place));
  OK(MPI_Type_set_attr(type, none, place));
  OK(MPI_Type_dup(type, &copy));
  OK(MPI_Type_get_attr(copy, key, &value, &flag));
  CHECK(flag && value == place + 3);
  OK(MPI_Type_get_attr(copy, none, &value, &flag));
  CHECK(!flag);
  OK(MPI_Type_delete_attr(type, key));
  CHECK_EQ(type_deletes, 1);
  OK(MPI_Type_free(&copy));
  CHECK_EQ(type_deletes, 2);
  OK(MPI_Type_free(&type));
  CHECK_EQ(type_deletes, 2);
  OK(MPI_Type_free_keyval(&key));
  OK(MPI_Type_free_keyval(&none));
}

static void predefined(void) {
  int *value, flag;
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag));
  CHECK(flag && *value >= 32767);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &value, &flag));
  CHECK(!flag || *value == 0 || *value == 1);
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_HOST, &value, &flag));
  CHECK(!flag || *value == MPI_PROC_NULL || (*value >= 0 && *value < ranks));
  OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &value, &flag));
}

static long resident_kib(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (!file || fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return resident * 4;
}

/* Keys that were freed leave nothing, with attributes or without. */
static void keys_without_end(void) {
  enum { warm_up = 2000, count = 60000 };
  MPI_Datatype type;
  long before = 0;
  OK(MPI_Type_contiguous(3, MPI_INT, &type));
  for (int i = 0; i < count; i++) {
    int key, used;
    if (i == warm_up) before = resident_kib();
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &before));
    used = key;
    OK(MPI_Comm_free_keyval(&key));
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, used));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Type_set_attr(type, key, &before));
    OK(MPI_Type_delete_attr(type, key));
    OK(MPI_Type_free_keyval(&key));
    OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, &key, NULL));
    OK(MPI_Win_free_keyval(&key));
  }
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed for a while */
  CHECK(resident_kib() - before < 2048);
#endif
  OK(MPI_Type_free(&type));
}

/* A callback that frees the key, and with it the last but the attribute that is just being set. */
static int key_to_free;
static int free_key_and_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)value, (void)extra;
  if (key_to_free == MPI_KEYVAL_INVALID) return MPI_SUCCESS;
  OK(MPI_Comm_free_keyval(&key_to_free));
  OK(MPI_Comm_delete_attr(comm, key));
  return MPI_SUCCESS;
}

static void freed_by_callback(void) {
  int key, other, flag, first = 1, second = 2;
  int* value;
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_key_and_attribute, &key, NULL));
  key_to_free = key;
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &first));
  OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, &second));
  CHECK_EQ(key_to_free, MPI_KEYVAL_INVALID);
  OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL));
  CHECK(other != key);
  OK(MPI_Comm_get_attr(MPI_COMM_SELF, key, &value, &flag));
  CHECK(flag && value == &second);
  OK(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
  OK(MPI_Comm_free_keyval(&other));
}

int main(int argc, char** argv) {
  begin("attributes", &argc, &argv);
  life();
  refusing();
  freed_key();
  kinds_of_keys();
  of_datatypes();
  predefined();
  keys_without_end();
  freed_by_callback();
  return finish();
}
