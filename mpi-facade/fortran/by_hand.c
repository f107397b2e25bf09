/* The bindings for Fortran that no rule gives, and what the generated ones call. */
#include "fortran.h"
#include "llamada/mpi/fortran_attributes.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PUBLIC __attribute__((visibility("default")))

#define BLOCK __attribute__((visibility("default"), aligned(16)))

BLOCK struct llamada_mpipriv1 mpipriv1_ = {0};
BLOCK struct llamada_mpipriv2 mpipriv2_ = {{0}, 0};
BLOCK char mpiprivc_[2];
BLOCK MPI_Fint mpifcmb5_;
BLOCK MPI_Fint mpifcmb9_;
PUBLIC int MPIR_F08_MPI_BOTTOM;
PUBLIC int MPIR_F08_MPI_IN_PLACE;
PUBLIC MPI_Status MPIR_F08_MPI_STATUS_IGNORE_OBJ;
PUBLIC MPI_Status MPIR_F08_MPI_STATUSES_IGNORE_OBJ[1];

__attribute__((constructor)) static void tell_libmpi(void) {
  MPI_F_STATUS_IGNORE = mpipriv1_.status_ignore;
  MPI_F_STATUSES_IGNORE = mpipriv2_.statuses_ignore;
  MPI_F08_STATUS_IGNORE = (MPI_F08_status*)&MPIR_F08_MPI_STATUS_IGNORE_OBJ;
  MPI_F08_STATUSES_IGNORE = (MPI_F08_status*)MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}

void* llamada_fortran_choice(const void* buffer) {
  if (buffer == &mpipriv1_.bottom || buffer == &MPIR_F08_MPI_BOTTOM) return MPI_BOTTOM;
  if (buffer == &mpipriv1_.in_place || buffer == &MPIR_F08_MPI_IN_PLACE) return MPI_IN_PLACE;
  return (void*)(uintptr_t)buffer;
}

MPI_Status* llamada_fortran_status(const MPI_Status* status) {
  const void* address = status;
  if (address == mpipriv1_.status_ignore || address == &MPIR_F08_MPI_STATUS_IGNORE_OBJ ||
      address == mpipriv2_.statuses_ignore || address == MPIR_F08_MPI_STATUSES_IGNORE_OBJ)
    return MPI_STATUS_IGNORE;
  return (MPI_Status*)(uintptr_t)status;
}

int* llamada_fortran_weights(const MPI_Fint* weights) {
  if (weights == &mpifcmb5_) return MPI_UNWEIGHTED;
  if (weights == &mpifcmb9_) return MPI_WEIGHTS_EMPTY;
  return (int*)(uintptr_t)weights;
}

char* llamada_fortran_text(const char* text, size_t size) {
  while (size > 0 && text[size - 1] == ' ') size--;
  while (size > 0 && *text == ' ') text++, size--;
  return strndup(text, size);
}

void llamada_fortran_take(const char* text, size_t size, char* buffer) {
  while (size > 0 && text[size - 1] == ' ') size--;
  if (size > MPI_MAX_LIBRARY_VERSION_STRING - 1) size = MPI_MAX_LIBRARY_VERSION_STRING - 1;
  memcpy(buffer, text, size);
  buffer[size] = 0;
}

void llamada_fortran_give(const char* text, char* to, size_t size) {
  const size_t length = strnlen(text, size);
  memcpy(to, text, length);
  memset(to + length, ' ', size - length);
}

int llamada_fortran_narrow(MPI_Aint value, MPI_Fint* to) {
  *to = (MPI_Fint)value;
  if (*to == value) return MPI_SUCCESS;
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_ARG);
  return MPI_ERR_ARG;
}

MPI_Aint* llamada_fortran_widen(const MPI_Fint* values, int count) {
  MPI_Aint* wide = malloc((size_t)(count > 0 ? count : 1) * sizeof *wide);
  for (int i = 0; i < count; i++) wide[i] = values[i];
  return wide;
}

static void answer(MPI_Fint* ierror, int code) {
  if (ierror) *ierror = code;
}

PUBLIC void pmpi_init_(MPI_Fint* ierror) { answer(ierror, MPI_Init(NULL, NULL)); }

PUBLIC void pmpi_init_thread_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* ierror) {
  answer(ierror, MPI_Init_thread(NULL, NULL, *required, provided));
}

/* Without ierror in MPI 3.1 (14.2.4); whoever passes one does not read it. */
PUBLIC void pmpi_pcontrol_(const MPI_Fint* level) { MPI_Pcontrol(*level); }

/* The address of the buffer is of no use to Fortran (3.6). */
PUBLIC void pmpi_buffer_detach_(void* buffer, MPI_Fint* size, MPI_Fint* ierror) {
  void* address;
  (void)buffer;
  answer(ierror, MPI_Buffer_detach(&address, size));
}

PUBLIC void mpi_buffer_detach_f08_(void** buffer_address, MPI_Fint* size, MPI_Fint* ierror) {
  answer(ierror, MPI_Buffer_detach(buffer_address, size));
}
PUBLIC void pmpir_buffer_detach_f08_(void** buffer_address, MPI_Fint* size, MPI_Fint* ierror) {
  mpi_buffer_detach_f08_(buffer_address, size, ierror);
}

PUBLIC void pmpi_info_create_env_(MPI_Info* info, MPI_Fint* ierror) {
  answer(ierror, MPI_Info_create_env(0, NULL, info));
}

/* Fortran's lengths are without the NUL (MPI 4.0, 10). Of length 0 the value is not touched. */
PUBLIC void pmpi_info_get_string_(const MPI_Info* info, const char* key, MPI_Fint* buffer_length, char* value,
                                  MPI_Fint* flag, MPI_Fint* ierror, size_t key_size, size_t value_size) {
  int length = *buffer_length > 0 ? *buffer_length + 1 : 0;
  char* key_c = llamada_fortran_text(key, key_size);
  char* text = calloc((size_t)length + 1, 1);
  const int code = MPI_Info_get_string(*info, key_c, &length, text, flag);
  if (code == MPI_SUCCESS && *flag) {
    if (*buffer_length > 0) llamada_fortran_give(text, value, value_size);
    *buffer_length = length - 1;
  }
  free(text);
  free(key_c);
  answer(ierror, code);
}

/* Fortran's lengths are without the NUL (MPI 4.0, 11.3.2). Of length 0 the name is not touched. */
PUBLIC void pmpi_session_get_nth_pset_(const MPI_Session* session, const MPI_Info* info, const MPI_Fint* n,
                                       MPI_Fint* length, char* name, MPI_Fint* ierror, size_t name_size) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length_c = sizeof text;
  const int code = MPI_Session_get_nth_pset(*session, *info, *n, &length_c, text);
  if (code == MPI_SUCCESS) {
    if (*length > 0) llamada_fortran_give(text, name, name_size);
    *length = length_c - 1;
  }
  answer(ierror, code);
}

/* Spawned processes (10.3). A list of arguments ends with a string of blanks; those of several commands stand
 * in a matrix of a row for each, so that a command's next argument is `stride` strings away. */
static char** arguments_of(const char* first, size_t size, size_t stride) {
  size_t count = 0;
  char** list = malloc(sizeof *list);
  for (;; count++) {
    list = realloc(list, (count + 1) * sizeof *list);
    list[count] = llamada_fortran_text(first + count * stride * size, size);
    if (*list[count] != 0) continue;
    free(list[count]);
    list[count] = NULL;
    return list;
  }
}

static void free_arguments(char** list) {
  if (list == MPI_ARGV_NULL) return;
  for (char** one = list; *one; one++) free(*one);
  free(list);
}

static int* error_codes_of(MPI_Fint* codes) {
  return codes == &mpipriv2_.errcodes_ignore ? MPI_ERRCODES_IGNORE : codes;
}

static int is_argv_null(const char* list) { return list == &mpiprivc_[0] || list == &mpiprivc_[1]; }

static int rank_is(MPI_Comm comm, int root) {
  int rank = MPI_PROC_NULL;
  return MPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/* The commands count at the root alone: elsewhere they may be anything. */
PUBLIC void pmpi_comm_spawn_(const char* command, const char* argv, const MPI_Fint* process_count_max,
                             const MPI_Info* info, const MPI_Fint* root, const MPI_Comm* comm,
                             MPI_Comm* new_comm, MPI_Fint* codes, MPI_Fint* ierror, size_t command_size,
                             size_t argv_size) {
  const int counts = rank_is(*comm, *root);
  char* command_c = counts ? llamada_fortran_text(command, command_size) : NULL;
  char** list = counts && !is_argv_null(argv) ? arguments_of(argv, argv_size, 1) : MPI_ARGV_NULL;
  const int code = MPI_Comm_spawn(command_c, list, *process_count_max, *info, *root, *comm, new_comm,
                                  error_codes_of(codes));
  free_arguments(list);
  free(command_c);
  answer(ierror, code);
}

PUBLIC void pmpi_comm_spawn_multiple_(const MPI_Fint* count, const char* commands, const char* argvs,
                                      const MPI_Fint* process_counts_max, const MPI_Info* infos,
                                      const MPI_Fint* root, const MPI_Comm* comm, MPI_Comm* new_comm,
                                      MPI_Fint* codes, MPI_Fint* ierror, size_t command_size,
                                      size_t argv_size) {
  const int lines = rank_is(*comm, *root) && *count > 0 ? *count : 0;
  char** commands_c = calloc((size_t)lines + 1, sizeof *commands_c);
  char*** lists = calloc((size_t)lines + 1, sizeof *lists);
  for (int i = 0; i < lines; i++) {
    commands_c[i] = llamada_fortran_text(commands + (size_t)i * command_size, command_size);
    if (!is_argv_null(argvs))
      lists[i] = arguments_of(argvs + (size_t)i * argv_size, argv_size, (size_t)lines);
  }
  const int code = MPI_Comm_spawn_multiple(*count, commands_c, lists, process_counts_max, infos, *root, *comm,
                                           new_comm, error_codes_of(codes));
  for (int i = 0; i < lines; i++) {
    free_arguments(lists[i]);
    free(commands_c[i]);
  }
  free(lists);
  free(commands_c);
  answer(ierror, code);
}

/* Attributes. Callbacks of Fortran take all by address, so each key of Fortran has a record of its own behind
 * the extra_state of C. Values are INTEGERs in the functions of MPI-1, address-sized in those of MPI-2;
 * libmpi keeps which, so that C gets the address of such a value (17.2.7). */
typedef void OldCopy(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* extra_state, MPI_Fint* value,
                     MPI_Fint* new_value, MPI_Fint* flag, MPI_Fint* ierror);
typedef void OldDelete(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* extra_state,
                       MPI_Fint* ierror);
typedef void NewCopy(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                     MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror);
typedef void NewDelete(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                       MPI_Fint* ierror);

/* Keys live for as long as the process: attributes may outlive MPI_Comm_free_keyval. */
struct Key {
  OldCopy* old_copy;
  OldDelete* old_delete;
  NewCopy* new_copy;
  NewDelete* new_delete;
  MPI_Aint extra_state;
  struct Key* next;
};
static struct Key* all_keys;

static int call_copy(MPI_Comm comm, int keyval, void* extra_state, void* value, void* new_value, int* flag) {
  const struct Key* key = extra_state;
  MPI_Fint code = MPI_SUCCESS;
  MPI_Aint result = 0;
  if (key->old_copy) {
    MPI_Fint extra = (MPI_Fint)key->extra_state, old = (MPI_Fint)(intptr_t)value, copied = 0;
    key->old_copy(&comm, &keyval, &extra, &old, &copied, flag, &code);
    /* C's pointer is longer than the INTEGER that was copied. */
    result = copied == old ? (MPI_Aint)value : copied;
  } else {
    MPI_Aint extra = key->extra_state, old = (MPI_Aint)value;
    key->new_copy(&comm, &keyval, &extra, &old, &result, flag, &code);
  }
  *(void**)new_value = (void*)result;
  *flag = *flag != 0;
  return code;
}

static int call_delete(MPI_Comm comm, int keyval, void* value, void* extra_state) {
  const struct Key* key = extra_state;
  MPI_Fint code = MPI_SUCCESS;
  if (key->old_delete) {
    MPI_Fint extra = (MPI_Fint)key->extra_state, old = (MPI_Fint)(intptr_t)value;
    key->old_delete(&comm, &keyval, &old, &extra, &code);
  } else {
    MPI_Aint extra = key->extra_state, old = (MPI_Aint)value;
    key->new_delete(&comm, &keyval, &old, &extra, &code);
  }
  return code;
}

static struct Key* add_key(struct Key values) {
  struct Key* key = malloc(sizeof *key);
  *key = values;
  key->next = all_keys;
  return all_keys = key;
}

static int of_fortran(int code, const MPI_Fint* keyval) {
  if (code == MPI_SUCCESS) llamada_keyval_of_fortran(*keyval);
  return code;
}

/* Of predefined attributes C has the address: the key is among the 32 of one that is. */
static int is_predefined(int keyval, int one) { return (keyval & ~0x1f) == (one & ~0x1f); }

PUBLIC void pmpi_comm_create_keyval_(NewCopy* copy, NewDelete* destroy, MPI_Fint* keyval,
                                     const MPI_Aint* extra_state, MPI_Fint* ierror) {
  struct Key* key = add_key((struct Key){NULL, NULL, copy, destroy, *extra_state, NULL});
  answer(ierror, of_fortran(MPI_Comm_create_keyval(call_copy, call_delete, keyval, key), keyval));
}

PUBLIC void pmpi_type_create_keyval_(NewCopy* copy, NewDelete* destroy, MPI_Fint* keyval,
                                     const MPI_Aint* extra_state, MPI_Fint* ierror) {
  struct Key* key = add_key((struct Key){NULL, NULL, copy, destroy, *extra_state, NULL});
  answer(ierror, of_fortran(MPI_Type_create_keyval(call_copy, call_delete, keyval, key), keyval));
}

PUBLIC void pmpi_type_set_attr_(const MPI_Fint* type, const MPI_Fint* keyval, const MPI_Aint* value,
                                MPI_Fint* ierror) {
  answer(ierror, llamada_type_set_attribute(*type, *keyval, *value, LLAMADA_FORTRAN_ADDRESS));
}

PUBLIC void pmpi_type_get_attr_(const MPI_Fint* type, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                                MPI_Fint* ierror) {
  answer(ierror, llamada_type_get_attribute(*type, *keyval, value, flag));
}

PUBLIC void pmpi_win_create_keyval_(NewCopy* copy, NewDelete* destroy, MPI_Fint* keyval,
                                    const MPI_Aint* extra_state, MPI_Fint* ierror) {
  struct Key* key = add_key((struct Key){NULL, NULL, copy, destroy, *extra_state, NULL});
  answer(ierror, of_fortran(MPI_Win_create_keyval(call_copy, call_delete, keyval, key), keyval));
}

PUBLIC void pmpi_win_set_attr_(const MPI_Fint* win, const MPI_Fint* keyval, const MPI_Aint* value,
                               MPI_Fint* ierror) {
  answer(ierror, llamada_win_set_attribute(*win, *keyval, *value, LLAMADA_FORTRAN_ADDRESS));
}

/* Of a predefined attribute C has the address, but of the base, which is one (11.2.6). */
static MPI_Aint win_attribute(int keyval, void* found) {
  switch (keyval) {
    case MPI_WIN_SIZE:
      return *(MPI_Aint*)found;
    case MPI_WIN_DISP_UNIT:
    case MPI_WIN_CREATE_FLAVOR:
    case MPI_WIN_MODEL:
      return *(int*)found;
    default:
      return (MPI_Aint)found;
  }
}

PUBLIC void pmpi_win_get_attr_(const MPI_Fint* win, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                               MPI_Fint* ierror) {
  if (!is_predefined(*keyval, MPI_WIN_BASE)) {
    answer(ierror, llamada_win_get_attribute(*win, *keyval, value, flag));
    return;
  }
  const int keyval_c = *keyval % 2 == 0 ? *keyval - 1 : *keyval;
  void* found = NULL;
  const int code = MPI_Win_get_attr(*win, keyval_c, &found, flag);
  if (code == MPI_SUCCESS && *flag) *value = win_attribute(keyval_c, found);
  answer(ierror, code);
}

PUBLIC void pmpi_keyval_create_(OldCopy* copy, OldDelete* destroy, MPI_Fint* keyval,
                                const MPI_Fint* extra_state, MPI_Fint* ierror) {
  struct Key* key = add_key((struct Key){copy, destroy, NULL, NULL, *extra_state, NULL});
  answer(ierror, of_fortran(MPI_Comm_create_keyval(call_copy, call_delete, keyval, key), keyval));
}

PUBLIC void pmpi_comm_set_attr_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Aint* value,
                                MPI_Fint* ierror) {
  answer(ierror, llamada_comm_set_attribute(*comm, *keyval, *value, LLAMADA_FORTRAN_ADDRESS));
}

PUBLIC void pmpi_attr_put_(const MPI_Fint* comm, const MPI_Fint* keyval, const MPI_Fint* value,
                           MPI_Fint* ierror) {
  answer(ierror, llamada_comm_set_attribute(*comm, *keyval, *value, LLAMADA_FORTRAN_INTEGER));
}

/* Fortran's keys of predefined attributes are one more than C's. */
static int get_attribute(MPI_Comm comm, int keyval, MPI_Aint* value, MPI_Fint* flag) {
  if (!is_predefined(keyval, MPI_TAG_UB)) return llamada_comm_get_attribute(comm, keyval, value, flag);
  const int is_fortran = keyval % 2 == 0;
  void* found = NULL;
  const int code = MPI_Comm_get_attr(comm, is_fortran ? keyval - 1 : keyval, &found, flag);
  if (code == MPI_SUCCESS && *flag) *value = is_fortran ? *(int*)found : (MPI_Aint)found;
  return code;
}

PUBLIC void pmpi_comm_get_attr_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Aint* value, MPI_Fint* flag,
                                MPI_Fint* ierror) {
  answer(ierror, get_attribute(*comm, *keyval, value, flag));
}

PUBLIC void pmpi_attr_get_(const MPI_Fint* comm, const MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* flag,
                           MPI_Fint* ierror) {
  MPI_Aint wide = *value;
  answer(ierror, get_attribute(*comm, *keyval, &wide, flag));
  *value = (MPI_Fint)wide;
}

/* Generalized requests (12.2). Their callbacks take all by address, so each has a record behind the
 * extra_state of C. */
typedef void QueryRequest(MPI_Aint* extra_state, MPI_Status* status, MPI_Fint* ierror);
typedef void FreeRequest(MPI_Aint* extra_state, MPI_Fint* ierror);
typedef void CancelRequest(MPI_Aint* extra_state, MPI_Fint* complete, MPI_Fint* ierror);

struct GeneralizedRequest {
  QueryRequest* query;
  FreeRequest* free;
  CancelRequest* cancel;
  MPI_Aint extra_state;
  MPI_Aint told;
  MPI_Aint* variable;
};

/* The callbacks have a copy, for the program's variable may be gone by then. One that changes it wants the
 * variable to change: only then is it touched. */
static void tell_variable(struct GeneralizedRequest* request) {
  if (request->extra_state != request->told) *request->variable = request->extra_state;
  request->told = request->extra_state;
}

static int call_query(void* extra_state, MPI_Status* status) {
  struct GeneralizedRequest* request = extra_state;
  MPI_Fint code = MPI_SUCCESS;
  request->query(&request->extra_state, status, &code);
  tell_variable(request);
  return code;
}

static int call_free(void* extra_state) {
  struct GeneralizedRequest* request = extra_state;
  MPI_Fint code = MPI_SUCCESS;
  request->free(&request->extra_state, &code);
  tell_variable(request);
  free(request);
  return code;
}

static int call_cancel(void* extra_state, int complete) {
  struct GeneralizedRequest* request = extra_state;
  MPI_Fint code = MPI_SUCCESS, is_complete = complete;
  request->cancel(&request->extra_state, &is_complete, &code);
  tell_variable(request);
  return code;
}

PUBLIC void pmpi_grequest_start_(QueryRequest* query, FreeRequest* free_request, CancelRequest* cancel,
                                 MPI_Aint* extra_state, MPI_Fint* request, MPI_Fint* ierror) {
  struct GeneralizedRequest* made = malloc(sizeof *made);
  *made = (struct GeneralizedRequest){query, free_request, cancel, *extra_state, *extra_state, extra_state};
  const int code = MPI_Grequest_start(call_query, call_free, call_cancel, made, request);
  if (code != MPI_SUCCESS) free(made);
  answer(ierror, code);
}

/* The callbacks that MPI names. */
PUBLIC void pmpi_null_copy_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* extra_state, MPI_Fint* value,
                               MPI_Fint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state, (void)value, (void)new_value;
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_dup_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* extra_state, MPI_Fint* value,
                         MPI_Fint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state;
  *new_value = *value;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_null_delete_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Fint* value, MPI_Fint* extra_state,
                                 MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_comm_null_copy_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                                    MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state, (void)value, (void)new_value;
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_type_null_copy_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                                    MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state, (void)value, (void)new_value;
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_win_null_copy_fn_(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                                   MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)win, (void)keyval, (void)extra_state, (void)value, (void)new_value;
  *flag = 0;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_comm_dup_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                              MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state;
  *new_value = *value;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_type_dup_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                              MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)extra_state;
  *new_value = *value;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_win_dup_fn_(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* extra_state, MPI_Aint* value,
                             MPI_Aint* new_value, MPI_Fint* flag, MPI_Fint* ierror) {
  (void)win, (void)keyval, (void)extra_state;
  *new_value = *value;
  *flag = 1;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_comm_null_delete_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* value,
                                      MPI_Aint* extra_state, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_type_null_delete_fn_(MPI_Fint* comm, MPI_Fint* keyval, MPI_Aint* value,
                                      MPI_Aint* extra_state, MPI_Fint* ierror) {
  (void)comm, (void)keyval, (void)value, (void)extra_state;
  *ierror = MPI_SUCCESS;
}

PUBLIC void pmpi_win_null_delete_fn_(MPI_Fint* win, MPI_Fint* keyval, MPI_Aint* value, MPI_Aint* extra_state,
                                     MPI_Fint* ierror) {
  (void)win, (void)keyval, (void)value, (void)extra_state;
  *ierror = MPI_SUCCESS;
}

/* Representations of data (13.5.3): callbacks of Fortran take all by address and have an ierror. */
typedef void Conversion(void* user_buffer, MPI_Fint* datatype, MPI_Fint* count, void* file_buffer,
                        MPI_Offset* position, MPI_Aint* extra_state, MPI_Fint* ierror);
typedef void Extent(MPI_Fint* datatype, MPI_Aint* extent, MPI_Aint* extra_state, MPI_Fint* ierror);

/* They live for as long as the process, as what is registered does. */
struct Representation {
  Conversion* read;
  Conversion* write;
  Extent* extent;
  MPI_Aint extra_state;
  struct Representation* next;
};
static struct Representation* all_representations;

static int convert(Conversion* conversion, void* user_buffer, MPI_Datatype datatype, int count,
                   void* file_buffer, MPI_Offset position, MPI_Aint extra_state) {
  MPI_Fint code = MPI_SUCCESS;
  conversion(user_buffer, &datatype, &count, file_buffer, &position, &extra_state, &code);
  return code;
}

static int call_read(void* user_buffer, MPI_Datatype datatype, int count, void* file_buffer,
                     MPI_Offset position, void* extra_state) {
  const struct Representation* known = extra_state;
  return convert(known->read, user_buffer, datatype, count, file_buffer, position, known->extra_state);
}

static int call_write(void* user_buffer, MPI_Datatype datatype, int count, void* file_buffer,
                      MPI_Offset position, void* extra_state) {
  const struct Representation* known = extra_state;
  return convert(known->write, user_buffer, datatype, count, file_buffer, position, known->extra_state);
}

static int call_extent(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state) {
  const struct Representation* known = extra_state;
  MPI_Aint extra = known->extra_state;
  MPI_Fint code = MPI_SUCCESS;
  known->extent(&datatype, extent, &extra, &code);
  return code;
}

/* Stands for no conversion: its address is what counts. */
PUBLIC void pmpi_conversion_fn_null_(void* user_buffer, MPI_Fint* datatype, MPI_Fint* count,
                                     void* file_buffer, MPI_Offset* position, MPI_Aint* extra_state,
                                     MPI_Fint* ierror) {
  (void)user_buffer, (void)datatype, (void)count, (void)file_buffer, (void)position, (void)extra_state;
  *ierror = MPI_ERR_CONVERSION;
}

PUBLIC void pmpi_register_datarep_(const char* name, Conversion* read, Conversion* write, Extent* extent,
                                   const MPI_Aint* extra_state, MPI_Fint* ierror, size_t name_size) {
  struct Representation* known = malloc(sizeof *known);
  *known = (struct Representation){read, write, extent, *extra_state, all_representations};
  all_representations = known;
  char* name_c = llamada_fortran_text(name, name_size);
  const int code =
      MPI_Register_datarep(name_c, read == pmpi_conversion_fn_null_ ? NULL : call_read,
                           write == pmpi_conversion_fn_null_ ? NULL : call_write, call_extent, known);
  free(name_c);
  answer(ierror, code);
}

/* Error handlers of files: MPI_File is no INTEGER in C, so each function of Fortran gets one of C that calls
 * it. There are so many for a process. */
typedef void FileHandler(MPI_Fint* file, MPI_Fint* code);
static FileHandler* file_handlers[8];

static void call_file_handler(int which, MPI_File* file, int* code) {
  MPI_Fint handle = MPI_File_c2f(*file);
  file_handlers[which](&handle, code);
}
#define FILE_HANDLER(which) \
  static void file_handler_##which(MPI_File* file, int* code, ...) { call_file_handler(which, file, code); }
FILE_HANDLER(0)
FILE_HANDLER(1)
FILE_HANDLER(2)
FILE_HANDLER(3)
FILE_HANDLER(4)
FILE_HANDLER(5)
FILE_HANDLER(6)
FILE_HANDLER(7)
static MPI_File_errhandler_function* const file_handlers_c[8] = {
    file_handler_0, file_handler_1, file_handler_2, file_handler_3,
    file_handler_4, file_handler_5, file_handler_6, file_handler_7};

PUBLIC void pmpi_file_create_errhandler_(FileHandler* function, MPI_Fint* handler, MPI_Fint* ierror) {
  for (int which = 0; which < 8; which++) {
    if (file_handlers[which] && file_handlers[which] != function) continue;
    file_handlers[which] = function;
    answer(ierror, MPI_File_create_errhandler(file_handlers_c[which], handler));
    return;
  }
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
  answer(ierror, MPI_ERR_NO_MEM);
}

/* Keeps the compiler from moving accesses to a buffer across it (17.1.17): being called is all it does. */
PUBLIC void pmpi_f_sync_reg_(void* buffer) { (void)buffer; }

#include "by_hand_names.h"
