/* Llamada's mpi.h: MPI 3.1 for C and C++, with MPICH's binary interface (handles, constants, MPI_Status), so
 * that programs built with either header run with either library. What is not declared here is not in the
 * library. */
#ifndef MPI_INCLUDED
#define MPI_INCLUDED

#define MPI_VERSION 3
#define MPI_SUBVERSION 1
#define LLAMADA_MPI 1

#if defined(__GNUC__)
#define LLAMADA_MPI_PUBLIC __attribute__((visibility("default")))
#else
#define LLAMADA_MPI_PUBLIC
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* Handles are integers: 2 bits say how the object is found (1 predefined, 2 in a table), 4 its kind, the rest
 * which. */
typedef int MPI_Comm;
typedef int MPI_Group;
typedef int MPI_Datatype;
typedef int MPI_Errhandler;
typedef int MPI_Op;
typedef int MPI_Info;
typedef int MPI_Request;
typedef int MPI_Message;
typedef int MPI_Session;
typedef int MPI_Win;

typedef long MPI_Aint;
typedef long long MPI_Count;
typedef long long MPI_Offset;
typedef int MPI_Fint;

/* The number of bytes received has 63 bits: 32 in count_lo, 31 above bit 0 of count_hi_and_cancelled, which
 * says whether the operation was cancelled. */
typedef struct MPI_Status {
  int count_lo;
  int count_hi_and_cancelled;
  int MPI_SOURCE;
  int MPI_TAG;
  int MPI_ERROR;
} MPI_Status;

typedef void(MPI_User_function)(void* in, void* inout, int* count, MPI_Datatype* datatype);
typedef void(MPI_Comm_errhandler_function)(MPI_Comm* comm, int* code, ...);
typedef MPI_Comm_errhandler_function MPI_Comm_errhandler_fn;
typedef void(MPI_Win_errhandler_function)(MPI_Win* win, int* code, ...);
typedef MPI_Win_errhandler_function MPI_Win_errhandler_fn;
typedef void(MPI_Session_errhandler_function)(MPI_Session* session, int* code, ...);
typedef MPI_Session_errhandler_function MPI_Session_errhandler_fn;
typedef void(MPI_Handler_function)(MPI_Comm* comm, int* code, ...);
typedef int(MPI_Comm_copy_attr_function)(MPI_Comm comm, int keyval, void* extra_state, void* value,
                                         void* new_value, int* flag);
typedef int(MPI_Comm_delete_attr_function)(MPI_Comm comm, int keyval, void* value, void* extra_state);
typedef int(MPI_Type_copy_attr_function)(MPI_Datatype datatype, int keyval, void* extra_state, void* value,
                                         void* new_value, int* flag);
typedef int(MPI_Type_delete_attr_function)(MPI_Datatype datatype, int keyval, void* value, void* extra_state);
typedef int(MPI_Win_copy_attr_function)(MPI_Win win, int keyval, void* extra_state, void* value,
                                        void* new_value, int* flag);
typedef int(MPI_Win_delete_attr_function)(MPI_Win win, int keyval, void* value, void* extra_state);
typedef int(MPI_Copy_function)(MPI_Comm comm, int keyval, void* extra_state, void* value, void* new_value,
                               int* flag);
typedef int(MPI_Delete_function)(MPI_Comm comm, int keyval, void* value, void* extra_state);
typedef int(MPI_Grequest_query_function)(void* extra_state, MPI_Status* status);
typedef int(MPI_Grequest_free_function)(void* extra_state);
typedef int(MPI_Grequest_cancel_function)(void* extra_state, int complete);

/* A file. */
typedef struct ADIOI_FileD* MPI_File;
#define MPI_FILE_NULL ((MPI_File)0)
typedef void(MPI_File_errhandler_function)(MPI_File* file, int* code, ...);
typedef MPI_File_errhandler_function MPI_File_errhandler_fn;
typedef int(MPI_Datarep_conversion_function)(void* user_buffer, MPI_Datatype datatype, int count,
                                             void* file_buffer, MPI_Offset position, void* extra_state);
typedef int(MPI_Datarep_extent_function)(MPI_Datatype datatype, MPI_Aint* extent, void* extra_state);
#define MPI_CONVERSION_FN_NULL ((MPI_Datarep_conversion_function*)0)

/* Null handles */
#define MPI_COMM_NULL ((MPI_Comm)0x04000000)
#define MPI_GROUP_NULL ((MPI_Group)0x08000000)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0x0c000000)
#define MPI_ERRHANDLER_NULL ((MPI_Errhandler)0x14000000)
#define MPI_OP_NULL ((MPI_Op)0x18000000)
#define MPI_INFO_NULL ((MPI_Info)0x1c000000)
#define MPI_REQUEST_NULL ((MPI_Request)0x2c000000)
#define MPI_WIN_NULL ((MPI_Win)0x20000000)
#define MPI_MESSAGE_NULL ((MPI_Message)0x2c000000)
#define MPI_SESSION_NULL ((MPI_Session)0x38000000)
#define MPI_MESSAGE_NO_PROC ((MPI_Message)0x6c000000)

/* Predefined communicators, groups, error handlers */
#define MPI_COMM_WORLD ((MPI_Comm)0x44000000)
#define MPI_COMM_SELF ((MPI_Comm)0x44000001)
#define MPI_GROUP_EMPTY ((MPI_Group)0x48000000)
#define MPI_ERRORS_ARE_FATAL ((MPI_Errhandler)0x54000000)
#define MPI_ERRORS_RETURN ((MPI_Errhandler)0x54000001)
#define MPI_ERRORS_ABORT ((MPI_Errhandler)0x54000003)
#define MPI_INFO_ENV ((MPI_Info)0x5c000001)

/* Predefined datatypes; the size in bytes is in bits 8 to 15. C */
#define MPI_CHAR ((MPI_Datatype)0x4c000101)
#define MPI_UNSIGNED_CHAR ((MPI_Datatype)0x4c000102)
#define MPI_SHORT ((MPI_Datatype)0x4c000203)
#define MPI_UNSIGNED_SHORT ((MPI_Datatype)0x4c000204)
#define MPI_INT ((MPI_Datatype)0x4c000405)
#define MPI_UNSIGNED ((MPI_Datatype)0x4c000406)
#define MPI_LONG ((MPI_Datatype)0x4c000807)
#define MPI_UNSIGNED_LONG ((MPI_Datatype)0x4c000808)
#define MPI_LONG_LONG_INT ((MPI_Datatype)0x4c000809)
#define MPI_LONG_LONG MPI_LONG_LONG_INT
#define MPI_FLOAT ((MPI_Datatype)0x4c00040a)
#define MPI_DOUBLE ((MPI_Datatype)0x4c00080b)
#define MPI_LONG_DOUBLE ((MPI_Datatype)0x4c00100c)
#define MPI_BYTE ((MPI_Datatype)0x4c00010d)
#define MPI_WCHAR ((MPI_Datatype)0x4c00040e)
#define MPI_PACKED ((MPI_Datatype)0x4c00010f)
#define MPI_SIGNED_CHAR ((MPI_Datatype)0x4c000118)
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)0x4c000819)
#define MPI_INT8_T ((MPI_Datatype)0x4c000137)
#define MPI_INT16_T ((MPI_Datatype)0x4c000238)
#define MPI_INT32_T ((MPI_Datatype)0x4c000439)
#define MPI_INT64_T ((MPI_Datatype)0x4c00083a)
#define MPI_UINT8_T ((MPI_Datatype)0x4c00013b)
#define MPI_UINT16_T ((MPI_Datatype)0x4c00023c)
#define MPI_UINT32_T ((MPI_Datatype)0x4c00043d)
#define MPI_UINT64_T ((MPI_Datatype)0x4c00083e)
#define MPI_C_BOOL ((MPI_Datatype)0x4c00013f)
#define MPI_C_FLOAT_COMPLEX ((MPI_Datatype)0x4c000840)
#define MPI_C_COMPLEX MPI_C_FLOAT_COMPLEX
#define MPI_C_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001041)
#define MPI_C_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002042)
#define MPI_AINT ((MPI_Datatype)0x4c000843)
#define MPI_OFFSET ((MPI_Datatype)0x4c000844)
#define MPI_COUNT ((MPI_Datatype)0x4c000845)
/* _Float16, MPICH's own */
#define MPIX_C_FLOAT16 ((MPI_Datatype)0x4c000246)
#define MPI_LB ((MPI_Datatype)0x4c000010)
#define MPI_UB ((MPI_Datatype)0x4c000011)

/* C++ */
#define MPI_CXX_BOOL ((MPI_Datatype)0x4c000133)
#define MPI_CXX_FLOAT_COMPLEX ((MPI_Datatype)0x4c000834)
#define MPI_CXX_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001035)
#define MPI_CXX_LONG_DOUBLE_COMPLEX ((MPI_Datatype)0x4c002036)

/* Pairs, for MPI_MINLOC and MPI_MAXLOC */
#define MPI_FLOAT_INT ((MPI_Datatype)0x8c000000)
#define MPI_DOUBLE_INT ((MPI_Datatype)0x8c000001)
#define MPI_LONG_INT ((MPI_Datatype)0x8c000002)
#define MPI_SHORT_INT ((MPI_Datatype)0x8c000003)
#define MPI_LONG_DOUBLE_INT ((MPI_Datatype)0x8c000004)
#define MPI_2INT ((MPI_Datatype)0x4c000816)

/* Fortran's types, for C code that handles its data */
#define MPI_CHARACTER ((MPI_Datatype)0x4c00011a)
#define MPI_INTEGER ((MPI_Datatype)0x4c00041b)
#define MPI_REAL ((MPI_Datatype)0x4c00041c)
#define MPI_LOGICAL ((MPI_Datatype)0x4c00041d)
#define MPI_COMPLEX ((MPI_Datatype)0x4c00081e)
#define MPI_DOUBLE_PRECISION ((MPI_Datatype)0x4c00081f)
#define MPI_2INTEGER ((MPI_Datatype)0x4c000820)
#define MPI_2REAL ((MPI_Datatype)0x4c000821)
#define MPI_DOUBLE_COMPLEX ((MPI_Datatype)0x4c001022)
#define MPI_2DOUBLE_PRECISION ((MPI_Datatype)0x4c001023)
#define MPI_REAL4 ((MPI_Datatype)0x4c000427)
#define MPI_COMPLEX8 ((MPI_Datatype)0x4c000828)
#define MPI_REAL8 ((MPI_Datatype)0x4c000829)
#define MPI_COMPLEX16 ((MPI_Datatype)0x4c00102a)
#define MPI_INTEGER1 ((MPI_Datatype)0x4c00012d)
#define MPI_INTEGER2 ((MPI_Datatype)0x4c00022f)
#define MPI_INTEGER4 ((MPI_Datatype)0x4c000430)
#define MPI_INTEGER8 ((MPI_Datatype)0x4c000831)
#define MPI_INTEGER16 MPI_DATATYPE_NULL
#define MPI_REAL16 ((MPI_Datatype)0x4c00102b)
#define MPI_COMPLEX32 ((MPI_Datatype)0x4c00202c)

/* Operations */
#define MPI_MAX ((MPI_Op)0x58000001)
#define MPI_MIN ((MPI_Op)0x58000002)
#define MPI_SUM ((MPI_Op)0x58000003)
#define MPI_PROD ((MPI_Op)0x58000004)
#define MPI_LAND ((MPI_Op)0x58000005)
#define MPI_BAND ((MPI_Op)0x58000006)
#define MPI_LOR ((MPI_Op)0x58000007)
#define MPI_BOR ((MPI_Op)0x58000008)
#define MPI_LXOR ((MPI_Op)0x58000009)
#define MPI_BXOR ((MPI_Op)0x5800000a)
#define MPI_MINLOC ((MPI_Op)0x5800000b)
#define MPI_MAXLOC ((MPI_Op)0x5800000c)
#define MPI_REPLACE ((MPI_Op)0x5800000d)
#define MPI_NO_OP ((MPI_Op)0x5800000e)

/* Special ranks, tags, addresses, values */
#define MPI_PROC_NULL (-1)
#define MPI_ANY_SOURCE (-2)
#define MPI_ROOT (-3)
#define MPI_ANY_TAG (-1)
#define MPI_UNDEFINED (-32766)
#define MPI_BOTTOM ((void*)0)
#define MPI_IN_PLACE ((void*)-1)
#define MPI_STATUS_IGNORE ((MPI_Status*)1)
#define MPI_STATUSES_IGNORE ((MPI_Status*)1)
#define MPI_BSEND_OVERHEAD 96

/* Results of comparisons */
#define MPI_IDENT 0
#define MPI_CONGRUENT 1
#define MPI_SIMILAR 2
#define MPI_UNEQUAL 3

/* Attributes */
#define MPI_KEYVAL_INVALID 0x24000000
#define MPI_TAG_UB 0x64400001
#define MPI_HOST 0x64400003
#define MPI_IO 0x64400005
#define MPI_WTIME_IS_GLOBAL 0x64400007
#define MPI_UNIVERSE_SIZE 0x64400009
#define MPI_LASTUSEDCODE 0x6440000b
#define MPI_APPNUM 0x6440000d
#define MPI_NULL_COPY_FN ((MPI_Copy_function*)0)
#define MPI_NULL_DELETE_FN ((MPI_Delete_function*)0)
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function*)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function*)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function*)0)
#define MPI_TYPE_NULL_DELETE_FN ((MPI_Type_delete_attr_function*)0)
#define MPI_TYPE_DUP_FN ((MPI_Type_copy_attr_function*)MPI_DUP_FN)
#define MPI_WIN_NULL_COPY_FN ((MPI_Win_copy_attr_function*)0)
#define MPI_WIN_NULL_DELETE_FN ((MPI_Win_delete_attr_function*)0)
#define MPI_WIN_DUP_FN ((MPI_Win_copy_attr_function*)MPI_DUP_FN)
#define MPI_DUP_FN MPIR_Dup_fn
#define MPI_COMM_DUP_FN ((MPI_Comm_copy_attr_function*)MPI_DUP_FN)

/* Lengths of strings, the NUL included */
#define MPI_MAX_PROCESSOR_NAME 128
#define MPI_MAX_LIBRARY_VERSION_STRING 8192
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_OBJECT_NAME 128
#define MPI_MAX_INFO_KEY 255
#define MPI_MAX_INFO_VAL 1024
#define MPI_MAX_PORT_NAME 256

/* Topologies, orders of arrays, kinds of MPI_Comm_split_type, levels of thread support */
#define MPI_GRAPH 1
#define MPI_CART 2
#define MPI_DIST_GRAPH 3
#define MPI_ORDER_C 56
#define MPI_ORDER_FORTRAN 57
#define MPI_COMM_TYPE_SHARED 1
#define MPI_COMM_TYPE_HW_GUIDED 2
#define MPI_COMM_TYPE_HW_UNGUIDED 3
#define MPI_THREAD_SINGLE 0
#define MPI_THREAD_FUNNELED 1
#define MPI_THREAD_SERIALIZED 2
#define MPI_THREAD_MULTIPLE 3

/* Distributions of MPI_Type_create_darray; classes of MPI_Type_match_size */
#define MPI_DISTRIBUTE_BLOCK 121
#define MPI_DISTRIBUTE_CYCLIC 122
#define MPI_DISTRIBUTE_NONE 123
#define MPI_DISTRIBUTE_DFLT_DARG (-49767)
#define MPI_TYPECLASS_REAL 1
#define MPI_TYPECLASS_INTEGER 2
#define MPI_TYPECLASS_COMPLEX 3

/* Files: modes of access, positions, representations of data; requests on files are requests. */
#define MPI_MODE_CREATE 1
#define MPI_MODE_RDONLY 2
#define MPI_MODE_WRONLY 4
#define MPI_MODE_RDWR 8
#define MPI_MODE_DELETE_ON_CLOSE 16
#define MPI_MODE_UNIQUE_OPEN 32
#define MPI_MODE_EXCL 64
#define MPI_MODE_APPEND 128
#define MPI_MODE_SEQUENTIAL 256
#define MPI_DISPLACEMENT_CURRENT (-54278278)
#define MPI_SEEK_SET 600
#define MPI_SEEK_CUR 602
#define MPI_SEEK_END 604
#define MPI_MAX_DATAREP_STRING 128
#define MPIO_Request MPI_Request
#define MPIO_REQUEST_NULL MPI_REQUEST_NULL
#define MPIO_Wait MPI_Wait
#define MPIO_Test MPI_Test

/* How a datatype was made */
#define MPI_COMBINER_NAMED 1
#define MPI_COMBINER_DUP 2
#define MPI_COMBINER_CONTIGUOUS 3
#define MPI_COMBINER_VECTOR 4
#define MPI_COMBINER_HVECTOR_INTEGER 5
#define MPI_COMBINER_HVECTOR 6
#define MPI_COMBINER_INDEXED 7
#define MPI_COMBINER_HINDEXED_INTEGER 8
#define MPI_COMBINER_HINDEXED 9
#define MPI_COMBINER_INDEXED_BLOCK 10
#define MPI_COMBINER_STRUCT_INTEGER 11
#define MPI_COMBINER_STRUCT 12
#define MPI_COMBINER_SUBARRAY 13
#define MPI_COMBINER_DARRAY 14
#define MPI_COMBINER_F90_REAL 15
#define MPI_COMBINER_F90_COMPLEX 16
#define MPI_COMBINER_F90_INTEGER 17
#define MPI_COMBINER_RESIZED 18
#define MPI_COMBINER_HINDEXED_BLOCK 19

/* Windows: predefined attributes, and what these say; kinds of locks; assertions, to be combined by | */
#define MPI_WIN_BASE 0x66000001
#define MPI_WIN_SIZE 0x66000003
#define MPI_WIN_DISP_UNIT 0x66000005
#define MPI_WIN_CREATE_FLAVOR 0x66000007
#define MPI_WIN_MODEL 0x66000009
#define MPI_WIN_FLAVOR_CREATE 1
#define MPI_WIN_FLAVOR_ALLOCATE 2
#define MPI_WIN_FLAVOR_DYNAMIC 3
#define MPI_WIN_FLAVOR_SHARED 4
#define MPI_WIN_SEPARATE 1
#define MPI_WIN_UNIFIED 2
#define MPI_LOCK_EXCLUSIVE 234
#define MPI_LOCK_SHARED 235
#define MPI_MODE_NOCHECK 1024
#define MPI_MODE_NOSTORE 2048
#define MPI_MODE_NOPUT 4096
#define MPI_MODE_NOPRECEDE 8192
#define MPI_MODE_NOSUCCEED 16384

/* Error classes */
#define MPI_SUCCESS 0
#define MPI_ERR_BUFFER 1
#define MPI_ERR_COUNT 2
#define MPI_ERR_TYPE 3
#define MPI_ERR_TAG 4
#define MPI_ERR_COMM 5
#define MPI_ERR_RANK 6
#define MPI_ERR_ROOT 7
#define MPI_ERR_GROUP 8
#define MPI_ERR_OP 9
#define MPI_ERR_TOPOLOGY 10
#define MPI_ERR_DIMS 11
#define MPI_ERR_ARG 12
#define MPI_ERR_UNKNOWN 13
#define MPI_ERR_TRUNCATE 14
#define MPI_ERR_OTHER 15
#define MPI_ERR_INTERN 16
#define MPI_ERR_IN_STATUS 17
#define MPI_ERR_PENDING 18
#define MPI_ERR_REQUEST 19
#define MPI_ERR_ACCESS 20
#define MPI_ERR_AMODE 21
#define MPI_ERR_BAD_FILE 22
#define MPI_ERR_CONVERSION 23
#define MPI_ERR_DUP_DATAREP 24
#define MPI_ERR_FILE_EXISTS 25
#define MPI_ERR_FILE_IN_USE 26
#define MPI_ERR_FILE 27
#define MPI_ERR_INFO 28
#define MPI_ERR_INFO_KEY 29
#define MPI_ERR_INFO_VALUE 30
#define MPI_ERR_INFO_NOKEY 31
#define MPI_ERR_IO 32
#define MPI_ERR_NAME 33
#define MPI_ERR_NO_MEM 34
#define MPI_ERR_NOT_SAME 35
#define MPI_ERR_NO_SPACE 36
#define MPI_ERR_NO_SUCH_FILE 37
#define MPI_ERR_PORT 38
#define MPI_ERR_QUOTA 39
#define MPI_ERR_READ_ONLY 40
#define MPI_ERR_SERVICE 41
#define MPI_ERR_SPAWN 42
#define MPI_ERR_UNSUPPORTED_DATAREP 43
#define MPI_ERR_UNSUPPORTED_OPERATION 44
#define MPI_ERR_WIN 45
#define MPI_ERR_BASE 46
#define MPI_ERR_LOCKTYPE 47
#define MPI_ERR_KEYVAL 48
#define MPI_ERR_RMA_CONFLICT 49
#define MPI_ERR_RMA_SYNC 50
#define MPI_ERR_SIZE 51
#define MPI_ERR_DISP 52
#define MPI_ERR_ASSERT 53
#define MPI_ERR_RMA_RANGE 55
#define MPI_ERR_RMA_ATTACH 56
#define MPI_ERR_RMA_SHARED 57
#define MPI_ERR_RMA_FLAVOR 58
#define MPI_ERR_SESSION 75
#define MPI_ERR_LASTCODE 0x3fffffff

/* Handles for Fortran are the same integers. */
#define MPI_Comm_c2f(comm) ((MPI_Fint)(comm))
#define MPI_Comm_f2c(comm) ((MPI_Comm)(comm))
#define MPI_Type_c2f(datatype) ((MPI_Fint)(datatype))
#define MPI_Type_f2c(datatype) ((MPI_Datatype)(datatype))
#define MPI_Group_c2f(group) ((MPI_Fint)(group))
#define MPI_Group_f2c(group) ((MPI_Group)(group))
#define MPI_Request_c2f(request) ((MPI_Fint)(request))
#define MPI_Request_f2c(request) ((MPI_Request)(request))
#define MPI_Op_c2f(op) ((MPI_Fint)(op))
#define MPI_Op_f2c(op) ((MPI_Op)(op))
#define MPI_Session_c2f(session) ((MPI_Fint)(session))
#define MPI_Session_f2c(session) ((MPI_Session)(session))
#define MPI_Info_c2f(info) ((MPI_Fint)(info))
#define MPI_Info_f2c(info) ((MPI_Info)(info))
#define MPI_Errhandler_c2f(handler) ((MPI_Fint)(handler))
#define MPI_Errhandler_f2c(handler) ((MPI_Errhandler)(handler))
#define MPI_Win_c2f(win) ((MPI_Fint)(win))
#define MPI_Win_f2c(win) ((MPI_Win)(win))
#define MPI_Message_c2f(message) ((MPI_Fint)(message))
#define MPI_Message_f2c(message) ((MPI_Message)(message))

#define PMPI_Comm_c2f(comm) ((MPI_Fint)(comm))
#define PMPI_Comm_f2c(comm) ((MPI_Comm)(comm))
#define PMPI_Type_c2f(datatype) ((MPI_Fint)(datatype))
#define PMPI_Type_f2c(datatype) ((MPI_Datatype)(datatype))
#define PMPI_Group_c2f(group) ((MPI_Fint)(group))
#define PMPI_Group_f2c(group) ((MPI_Group)(group))
#define PMPI_Request_c2f(request) ((MPI_Fint)(request))
#define PMPI_Request_f2c(request) ((MPI_Request)(request))
#define PMPI_Op_c2f(op) ((MPI_Fint)(op))
#define PMPI_Op_f2c(op) ((MPI_Op)(op))
#define PMPI_Session_c2f(session) ((MPI_Fint)(session))
#define PMPI_Session_f2c(session) ((MPI_Session)(session))
#define PMPI_Info_c2f(info) ((MPI_Fint)(info))
#define PMPI_Info_f2c(info) ((MPI_Info)(info))
#define PMPI_Errhandler_c2f(handler) ((MPI_Fint)(handler))
#define PMPI_Errhandler_f2c(handler) ((MPI_Errhandler)(handler))
#define PMPI_Win_c2f(win) ((MPI_Fint)(win))
#define PMPI_Win_f2c(win) ((MPI_Win)(win))
#define PMPI_Message_c2f(message) ((MPI_Fint)(message))
#define PMPI_Message_f2c(message) ((MPI_Message)(message))

/* Spawned processes without arguments; error codes that nobody wants (10.3). */
#define MPI_ARGV_NULL ((char**)0)
#define MPI_ARGVS_NULL ((char***)0)
#define MPI_ERRCODES_IGNORE ((int*)0)

/* What stands for the weights of a graph without weights, or of no edges (7.5.4). */
LLAMADA_MPI_PUBLIC extern int* const MPI_UNWEIGHTED;
LLAMADA_MPI_PUBLIC extern int* const MPI_WEIGHTS_EMPTY;

/* Statuses of Fortran: arrays of this many integers (17.2.5). */
#define MPI_F_STATUS_SIZE 5
LLAMADA_MPI_PUBLIC extern MPI_Fint* MPI_F_STATUS_IGNORE;
LLAMADA_MPI_PUBLIC extern MPI_Fint* MPI_F_STATUSES_IGNORE;
#define MPI_F_SOURCE 2
#define MPI_F_TAG 3
#define MPI_F_ERROR 4

/* Statuses of the module mpi_f08. */
typedef struct MPI_F08_status {
  MPI_Fint count_lo;
  MPI_Fint count_hi_and_cancelled;
  MPI_Fint MPI_SOURCE;
  MPI_Fint MPI_TAG;
  MPI_Fint MPI_ERROR;
} MPI_F08_status;
LLAMADA_MPI_PUBLIC extern MPI_F08_status* MPI_F08_STATUS_IGNORE;
LLAMADA_MPI_PUBLIC extern MPI_F08_status* MPI_F08_STATUSES_IGNORE;

/* What MPI_DUP_FN names: copies the value as it is. */
LLAMADA_MPI_PUBLIC int MPIR_Dup_fn(MPI_Comm comm, int keyval, void* extra_state, void* value, void* new_value,
                                   int* flag);

/* Point-to-point communication (MPI 3.1, chapter 3) */
LLAMADA_MPI_PUBLIC int MPI_Send(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Bsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                 int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Ssend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                 int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Rsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                 int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Recv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Isend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                 int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ibsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Issend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Irsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                 MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Send_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                     int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Bsend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                      int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ssend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                      int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Rsend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                      int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Recv_init(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                     MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Start(MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Startall(int count, MPI_Request requests[]);
LLAMADA_MPI_PUBLIC int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    int destination, int send_tag, void* receive_buffer, int receive_count,
                                    MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                                    MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination,
                                            int send_tag, int source, int receive_tag, MPI_Comm comm,
                                            MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Isendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     int destination, int send_tag, void* receive_buffer, int receive_count,
                                     MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                                     MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination,
                                             int send_tag, int source, int receive_tag, MPI_Comm comm,
                                             MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                  MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                   MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Mrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
                                 MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Imrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
                                  MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Wait(MPI_Request* request, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                   MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Waitall(int count, MPI_Request requests[], MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int MPI_Waitsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                    MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int MPI_Testsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                    MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int MPI_Request_free(MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Cancel(MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Test_cancelled(const MPI_Status* status, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Buffer_attach(void* buffer, int size);
LLAMADA_MPI_PUBLIC int MPI_Buffer_detach(void* buffer_address, int* size);
LLAMADA_MPI_PUBLIC int MPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count);
LLAMADA_MPI_PUBLIC int MPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count);
LLAMADA_MPI_PUBLIC int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int MPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count);
LLAMADA_MPI_PUBLIC int MPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
LLAMADA_MPI_PUBLIC int MPI_Status_set_cancelled(MPI_Status* status, int flag);

LLAMADA_MPI_PUBLIC int MPI_Status_f082c(const MPI_F08_status* fortran_status, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Status_c2f08(const MPI_Status* status, MPI_F08_status* fortran_status);
LLAMADA_MPI_PUBLIC int MPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
LLAMADA_MPI_PUBLIC int MPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
LLAMADA_MPI_PUBLIC int MPI_Grequest_start(MPI_Grequest_query_function* query_function,
                                          MPI_Grequest_free_function* free_function,
                                          MPI_Grequest_cancel_function* cancel_function, void* extra_state,
                                          MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Grequest_complete(MPI_Request request);
LLAMADA_MPI_PUBLIC int MPI_Status_f2c(const MPI_Fint* fortran_status, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Status_c2f(const MPI_Status* status, MPI_Fint* fortran_status);

/* Datatypes (chapter 4; deprecated names: chapters 15 and 16) */
LLAMADA_MPI_PUBLIC int MPI_Type_contiguous(int count, MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_vector(int count, int block_length, int stride, MPI_Datatype old_type,
                                       MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hvector(int count, int block_length, MPI_Aint stride,
                                               MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_indexed(int count, const int block_lengths[], const int displacements[],
                                        MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hindexed(int count, const int block_lengths[],
                                                const MPI_Aint displacements[], MPI_Datatype old_type,
                                                MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_indexed_block(int count, int block_length, const int displacements[],
                                                     MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hindexed_block(int count, int block_length,
                                                      const MPI_Aint displacements[], MPI_Datatype old_type,
                                                      MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_struct(int count, const int block_lengths[],
                                              const MPI_Aint displacements[], const MPI_Datatype types[],
                                              MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_subarray(int dimension_count, const int sizes[], const int subsizes[],
                                                const int starts[], int order, MPI_Datatype old_type,
                                                MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_darray(int size, int rank, int dimension_count, const int sizes[],
                                              const int distributions[], const int distribution_arguments[],
                                              const int process_counts[], int order, MPI_Datatype old_type,
                                              MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_resized(MPI_Datatype old_type, MPI_Aint lower_bound, MPI_Aint extent,
                                               MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_dup(MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_commit(MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int MPI_Type_free(MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int MPI_Type_size(MPI_Datatype datatype, int* size);
LLAMADA_MPI_PUBLIC int MPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size);
LLAMADA_MPI_PUBLIC int MPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lower_bound, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lower_bound,
                                             MPI_Count* extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lower_bound,
                                                MPI_Aint* true_extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lower_bound,
                                                  MPI_Count* true_extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_envelope(MPI_Datatype datatype, int* integer_count, int* address_count,
                                             int* datatype_count, int* combiner);
LLAMADA_MPI_PUBLIC int MPI_Type_get_contents(MPI_Datatype datatype, int integer_count_max,
                                             int address_count_max, int datatype_count_max, int integers[],
                                             MPI_Aint addresses[], MPI_Datatype datatypes[]);
LLAMADA_MPI_PUBLIC int MPI_Type_set_name(MPI_Datatype datatype, const char* name);
LLAMADA_MPI_PUBLIC int MPI_Type_get_name(MPI_Datatype datatype, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int MPI_Type_create_f90_real(int precision, int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_f90_integer(int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_match_size(int type_class, int size, MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int MPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int MPI_Type_lb(MPI_Datatype datatype, MPI_Aint* lower_bound);
LLAMADA_MPI_PUBLIC int MPI_Type_ub(MPI_Datatype datatype, MPI_Aint* upper_bound);
LLAMADA_MPI_PUBLIC int MPI_Type_hvector(int count, int block_length, MPI_Aint stride, MPI_Datatype old_type,
                                        MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_hindexed(int count, int block_lengths[], MPI_Aint displacements[],
                                         MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_struct(int count, int block_lengths[], MPI_Aint displacements[],
                                       MPI_Datatype types[], MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Get_address(const void* location, MPI_Aint* address);
LLAMADA_MPI_PUBLIC int MPI_Address(void* location, MPI_Aint* address);
LLAMADA_MPI_PUBLIC MPI_Aint MPI_Aint_add(MPI_Aint base, MPI_Aint displacement);
LLAMADA_MPI_PUBLIC MPI_Aint MPI_Aint_diff(MPI_Aint address, MPI_Aint base);
LLAMADA_MPI_PUBLIC int MPI_Pack(const void* in, int in_count, MPI_Datatype datatype, void* out, int out_size,
                                int* position, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Unpack(const void* in, int in_size, int* position, void* out, int out_count,
                                  MPI_Datatype datatype, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Pack_size(int in_count, MPI_Datatype datatype, MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int MPI_Pack_external(const char* representation, const void* in, int in_count,
                                         MPI_Datatype datatype, void* out, MPI_Aint out_size,
                                         MPI_Aint* position);
LLAMADA_MPI_PUBLIC int MPI_Unpack_external(const char* representation, const void* in, MPI_Aint in_size,
                                           MPI_Aint* position, void* out, int out_count,
                                           MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_Pack_external_size(const char* representation, int in_count, MPI_Datatype datatype,
                                              MPI_Aint* size);

/* Collective communication (chapter 5) */
LLAMADA_MPI_PUBLIC int MPI_Barrier(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Gather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                  void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                  int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Gatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                   void* receive_buffer, const int receive_counts[],
                                   const int displacements[], MPI_Datatype receive_type, int root,
                                   MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Scatter(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                   void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                   int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Scatterv(const void* send_buffer, const int send_counts[],
                                    const int displacements[], MPI_Datatype send_type, void* receive_buffer,
                                    int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Allgather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                     MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Allgatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                      void* receive_buffer, const int receive_counts[],
                                      const int displacements[], MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Alltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                    MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Alltoallv(const void* send_buffer, const int send_counts[],
                                     const int send_displacements[], MPI_Datatype send_type,
                                     void* receive_buffer, const int receive_counts[],
                                     const int receive_displacements[], MPI_Datatype receive_type,
                                     MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Alltoallw(const void* send_buffer, const int send_counts[],
                                     const int send_displacements[], const MPI_Datatype send_types[],
                                     void* receive_buffer, const int receive_counts[],
                                     const int receive_displacements[], const MPI_Datatype receive_types[],
                                     MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Reduce(const void* send_buffer, void* receive_buffer, int count,
                                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Allreduce(const void* send_buffer, void* receive_buffer, int count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Reduce_scatter(const void* send_buffer, void* receive_buffer,
                                          const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                          MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Reduce_scatter_block(const void* send_buffer, void* receive_buffer,
                                                int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Scan(const void* send_buffer, void* receive_buffer, int count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Exscan(const void* send_buffer, void* receive_buffer, int count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype datatype,
                                        MPI_Op op);
LLAMADA_MPI_PUBLIC int MPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
LLAMADA_MPI_PUBLIC int MPI_Op_free(MPI_Op* op);
LLAMADA_MPI_PUBLIC int MPI_Op_commutative(MPI_Op op, int* commutes);

/* Nonblocking (5.12) and persistent (MPI 4.0, 6.13) collective communication */
LLAMADA_MPI_PUBLIC int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                  MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Igather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                   void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                   int root, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Igatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, const int receive_counts[],
                                    const int displacements[], MPI_Datatype receive_type, int root,
                                    MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iscatter(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                    int root, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iscatterv(const void* send_buffer, const int send_counts[],
                                     const int displacements[], MPI_Datatype send_type, void* receive_buffer,
                                     int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                                     MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iallgather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                      void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                      MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iallgatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                       void* receive_buffer, const int receive_counts[],
                                       const int displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                                       MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ialltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                     MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ialltoallv(const void* send_buffer, const int send_counts[],
                                      const int send_displacements[], MPI_Datatype send_type,
                                      void* receive_buffer, const int receive_counts[],
                                      const int receive_displacements[], MPI_Datatype receive_type,
                                      MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ialltoallw(const void* send_buffer, const int send_counts[],
                                      const int send_displacements[], const MPI_Datatype send_types[],
                                      void* receive_buffer, const int receive_counts[],
                                      const int receive_displacements[], const MPI_Datatype receive_types[],
                                      MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ireduce(const void* send_buffer, void* receive_buffer, int count,
                                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                   MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iallreduce(const void* send_buffer, void* receive_buffer, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ireduce_scatter(const void* send_buffer, void* receive_buffer,
                                           const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                           MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ireduce_scatter_block(const void* send_buffer, void* receive_buffer,
                                                 int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                 MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iscan(const void* send_buffer, void* receive_buffer, int count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Iexscan(const void* send_buffer, void* receive_buffer, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                      MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Gather_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                       void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                       int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Gatherv_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                        void* receive_buffer, const int receive_counts[],
                                        const int displacements[], MPI_Datatype receive_type, int root,
                                        MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Scatter_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                        void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                        int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Scatterv_init(const void* send_buffer, const int send_counts[],
                                         const int displacements[], MPI_Datatype send_type,
                                         void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                         int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Allgather_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                          void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                          MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Allgatherv_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                           void* receive_buffer, const int receive_counts[],
                                           const int displacements[], MPI_Datatype receive_type,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Alltoall_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                         void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                         MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Alltoallv_init(const void* send_buffer, const int send_counts[],
                                          const int send_displacements[], MPI_Datatype send_type,
                                          void* receive_buffer, const int receive_counts[],
                                          const int receive_displacements[], MPI_Datatype receive_type,
                                          MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Alltoallw_init(const void* send_buffer, const int send_counts[],
                                          const int send_displacements[], const MPI_Datatype send_types[],
                                          void* receive_buffer, const int receive_counts[],
                                          const int receive_displacements[],
                                          const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Reduce_init(const void* send_buffer, void* receive_buffer, int count,
                                       MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                       MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Allreduce_init(const void* send_buffer, void* receive_buffer, int count,
                                          MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Reduce_scatter_init(const void* send_buffer, void* receive_buffer,
                                               const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                               MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Reduce_scatter_block_init(const void* send_buffer, void* receive_buffer,
                                                     int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                     MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Scan_init(const void* send_buffer, void* receive_buffer, int count,
                                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                     MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Exscan_init(const void* send_buffer, void* receive_buffer, int count,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                       MPI_Request* request);

/* Collective communication with neighbours (7.6, 7.7; MPI 4.0, 8.8) */
LLAMADA_MPI_PUBLIC int MPI_Neighbor_allgather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                              void* receive_buffer, int receive_count,
                                              MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_allgatherv(const void* send_buffer, int send_count,
                                               MPI_Datatype send_type, void* receive_buffer,
                                               const int receive_counts[], const int displacements[],
                                               MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                             void* receive_buffer, int receive_count,
                                             MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoallv(const void* send_buffer, const int send_counts[],
                                              const int send_displacements[], MPI_Datatype send_type,
                                              void* receive_buffer, const int receive_counts[],
                                              const int receive_displacements[], MPI_Datatype receive_type,
                                              MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoallw(const void* send_buffer, const int send_counts[],
                                              const MPI_Aint send_displacements[],
                                              const MPI_Datatype send_types[], void* receive_buffer,
                                              const int receive_counts[],
                                              const MPI_Aint receive_displacements[],
                                              const MPI_Datatype receive_types[], MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Ineighbor_allgather(const void* send_buffer, int send_count,
                                               MPI_Datatype send_type, void* receive_buffer,
                                               int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                               MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ineighbor_allgatherv(const void* send_buffer, int send_count,
                                                MPI_Datatype send_type, void* receive_buffer,
                                                const int receive_counts[], const int displacements[],
                                                MPI_Datatype receive_type, MPI_Comm comm,
                                                MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ineighbor_alltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                              void* receive_buffer, int receive_count,
                                              MPI_Datatype receive_type, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ineighbor_alltoallv(const void* send_buffer, const int send_counts[],
                                               const int send_displacements[], MPI_Datatype send_type,
                                               void* receive_buffer, const int receive_counts[],
                                               const int receive_displacements[], MPI_Datatype receive_type,
                                               MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ineighbor_alltoallw(const void* send_buffer, const int send_counts[],
                                               const MPI_Aint send_displacements[],
                                               const MPI_Datatype send_types[], void* receive_buffer,
                                               const int receive_counts[],
                                               const MPI_Aint receive_displacements[],
                                               const MPI_Datatype receive_types[], MPI_Comm comm,
                                               MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_allgather_init(const void* send_buffer, int send_count,
                                                   MPI_Datatype send_type, void* receive_buffer,
                                                   int receive_count, MPI_Datatype receive_type,
                                                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_allgatherv_init(const void* send_buffer, int send_count,
                                                    MPI_Datatype send_type, void* receive_buffer,
                                                    const int receive_counts[], const int displacements[],
                                                    MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                                    MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoall_init(const void* send_buffer, int send_count,
                                                  MPI_Datatype send_type, void* receive_buffer,
                                                  int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                                  MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoallv_init(const void* send_buffer, const int send_counts[],
                                                   const int send_displacements[], MPI_Datatype send_type,
                                                   void* receive_buffer, const int receive_counts[],
                                                   const int receive_displacements[],
                                                   MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                                   MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Neighbor_alltoallw_init(const void* send_buffer, const int send_counts[],
                                                   const MPI_Aint send_displacements[],
                                                   const MPI_Datatype send_types[], void* receive_buffer,
                                                   const int receive_counts[],
                                                   const MPI_Aint receive_displacements[],
                                                   const MPI_Datatype receive_types[], MPI_Comm comm,
                                                   MPI_Info info, MPI_Request* request);

/* Groups, communicators and their attributes (chapter 6) */
LLAMADA_MPI_PUBLIC int MPI_Group_size(MPI_Group group, int* size);
LLAMADA_MPI_PUBLIC int MPI_Group_rank(MPI_Group group, int* rank);
LLAMADA_MPI_PUBLIC int MPI_Group_translate_ranks(MPI_Group group1, int count, const int ranks1[],
                                                 MPI_Group group2, int ranks2[]);
LLAMADA_MPI_PUBLIC int MPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result);
LLAMADA_MPI_PUBLIC int MPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_excl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_range_incl(MPI_Group group, int count, int ranges[][3],
                                            MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_range_excl(MPI_Group group, int count, int ranges[][3],
                                            MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Group_free(MPI_Group* group);
LLAMADA_MPI_PUBLIC int MPI_Comm_size(MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int MPI_Comm_rank(MPI_Comm comm, int* rank);
LLAMADA_MPI_PUBLIC int MPI_Comm_group(MPI_Comm comm, MPI_Group* group);
LLAMADA_MPI_PUBLIC int MPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result);
LLAMADA_MPI_PUBLIC int MPI_Comm_remote_size(MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int MPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group);
LLAMADA_MPI_PUBLIC int MPI_Comm_test_inter(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_idup(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* new_comm,
                                               MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_Comm_get_info(MPI_Comm comm, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                           MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_free(MPI_Comm* comm);
LLAMADA_MPI_PUBLIC int MPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                                            int remote_leader, int tag, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_set_name(MPI_Comm comm, const char* name);
LLAMADA_MPI_PUBLIC int MPI_Comm_get_name(MPI_Comm comm, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                              MPI_Comm_delete_attr_function* destroy, int* keyval,
                                              void* extra_state);
LLAMADA_MPI_PUBLIC int MPI_Comm_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int MPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value);
LLAMADA_MPI_PUBLIC int MPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Comm_delete_attr(MPI_Comm comm, int keyval);
LLAMADA_MPI_PUBLIC int MPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* destroy, int* keyval,
                                         void* extra_state);
LLAMADA_MPI_PUBLIC int MPI_Keyval_free(int* keyval);
LLAMADA_MPI_PUBLIC int MPI_Attr_put(MPI_Comm comm, int keyval, void* value);
LLAMADA_MPI_PUBLIC int MPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Attr_delete(MPI_Comm comm, int keyval);
LLAMADA_MPI_PUBLIC int MPI_Type_create_keyval(MPI_Type_copy_attr_function* copy,
                                              MPI_Type_delete_attr_function* destroy, int* keyval,
                                              void* extra_state);
LLAMADA_MPI_PUBLIC int MPI_Type_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int MPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value);
LLAMADA_MPI_PUBLIC int MPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Type_delete_attr(MPI_Datatype datatype, int keyval);

/* Process topologies (chapter 7) */
LLAMADA_MPI_PUBLIC int MPI_Cart_create(MPI_Comm comm, int dimension_count, const int dimensions[],
                                       const int periods[], int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Cart_get(MPI_Comm comm, int dimension_count_max, int dimensions[], int periods[],
                                    int coordinates[]);
LLAMADA_MPI_PUBLIC int MPI_Cart_rank(MPI_Comm comm, const int coordinates[], int* rank);
LLAMADA_MPI_PUBLIC int MPI_Cart_coords(MPI_Comm comm, int rank, int dimension_count_max, int coordinates[]);
LLAMADA_MPI_PUBLIC int MPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int* source,
                                      int* destination);
LLAMADA_MPI_PUBLIC int MPI_Cart_map(MPI_Comm comm, int dimension_count, const int dimensions[],
                                    const int periods[], int* new_rank);
LLAMADA_MPI_PUBLIC int MPI_Cartdim_get(MPI_Comm comm, int* dimension_count);
LLAMADA_MPI_PUBLIC int MPI_Graph_create(MPI_Comm comm, int node_count, const int index[], const int edges[],
                                        int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Graphdims_get(MPI_Comm comm, int* node_count, int* edge_count);
LLAMADA_MPI_PUBLIC int MPI_Graph_get(MPI_Comm comm, int index_count_max, int edge_count_max, int index[],
                                     int edges[]);
LLAMADA_MPI_PUBLIC int MPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* neighbor_count);
LLAMADA_MPI_PUBLIC int MPI_Graph_neighbors(MPI_Comm comm, int rank, int neighbor_count_max, int neighbors[]);
LLAMADA_MPI_PUBLIC int MPI_Graph_map(MPI_Comm comm, int node_count, const int index[], const int edges[],
                                     int* new_rank);
LLAMADA_MPI_PUBLIC int MPI_Dist_graph_create(MPI_Comm comm, int source_count, const int sources[],
                                             const int degrees[], const int destinations[],
                                             const int weights[], MPI_Info info, int reorder,
                                             MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Dist_graph_create_adjacent(MPI_Comm comm, int in_degree, const int sources[],
                                                      const int source_weights[], int out_degree,
                                                      const int destinations[],
                                                      const int destination_weights[], MPI_Info info,
                                                      int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Dist_graph_neighbors_count(MPI_Comm comm, int* in_degree, int* out_degree,
                                                      int* weighted);
LLAMADA_MPI_PUBLIC int MPI_Dist_graph_neighbors(MPI_Comm comm, int in_degree_max, int sources[],
                                                int source_weights[], int out_degree_max, int destinations[],
                                                int destination_weights[]);
LLAMADA_MPI_PUBLIC int MPI_Dims_create(int node_count, int dimension_count, int dimensions[]);
LLAMADA_MPI_PUBLIC int MPI_Topo_test(MPI_Comm comm, int* kind);

/* One-sided communication (chapter 11) */
LLAMADA_MPI_PUBLIC int MPI_Win_create(void* base, MPI_Aint size, int displacement_unit, MPI_Info info,
                                      MPI_Comm comm, MPI_Win* win);
LLAMADA_MPI_PUBLIC int MPI_Win_allocate(MPI_Aint size, int displacement_unit, MPI_Info info, MPI_Comm comm,
                                        void* base_pointer, MPI_Win* win);
LLAMADA_MPI_PUBLIC int MPI_Win_allocate_shared(MPI_Aint size, int displacement_unit, MPI_Info info,
                                               MPI_Comm comm, void* base_pointer, MPI_Win* win);
LLAMADA_MPI_PUBLIC int MPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* displacement_unit,
                                            void* base_pointer);
LLAMADA_MPI_PUBLIC int MPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win);
LLAMADA_MPI_PUBLIC int MPI_Win_attach(MPI_Win win, void* base, MPI_Aint size);
LLAMADA_MPI_PUBLIC int MPI_Win_detach(MPI_Win win, const void* base);
LLAMADA_MPI_PUBLIC int MPI_Win_free(MPI_Win* win);
LLAMADA_MPI_PUBLIC int MPI_Win_get_group(MPI_Win win, MPI_Group* group);
LLAMADA_MPI_PUBLIC int MPI_Win_set_info(MPI_Win win, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_Win_get_info(MPI_Win win, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Win_set_name(MPI_Win win, const char* name);
LLAMADA_MPI_PUBLIC int MPI_Win_get_name(MPI_Win win, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int MPI_Win_create_keyval(MPI_Win_copy_attr_function* copy,
                                             MPI_Win_delete_attr_function* destroy, int* keyval,
                                             void* extra_state);
LLAMADA_MPI_PUBLIC int MPI_Win_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int MPI_Win_set_attr(MPI_Win win, int keyval, void* value);
LLAMADA_MPI_PUBLIC int MPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Win_delete_attr(MPI_Win win, int keyval);
LLAMADA_MPI_PUBLIC int MPI_Win_create_errhandler(MPI_Win_errhandler_function* function,
                                                 MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int MPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Win_call_errhandler(MPI_Win win, int code);
LLAMADA_MPI_PUBLIC int MPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type,
                               int target_rank, MPI_Aint target_displacement, int target_count,
                               MPI_Datatype target_type, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                               MPI_Aint target_displacement, int target_count, MPI_Datatype target_type,
                               MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                      int target_rank, MPI_Aint target_displacement, int target_count,
                                      MPI_Datatype target_type, MPI_Op op, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                          void* result_buffer, int result_count, MPI_Datatype result_type,
                                          int target_rank, MPI_Aint target_displacement, int target_count,
                                          MPI_Datatype target_type, MPI_Op op, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Fetch_and_op(const void* origin, void* result_buffer, MPI_Datatype datatype,
                                        int target_rank, MPI_Aint target_displacement, MPI_Op op,
                                        MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Compare_and_swap(const void* origin, const void* compare, void* result_buffer,
                                            MPI_Datatype datatype, int target_rank,
                                            MPI_Aint target_displacement, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type,
                                int target_rank, MPI_Aint target_displacement, int target_count,
                                MPI_Datatype target_type, MPI_Win win, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                                MPI_Aint target_displacement, int target_count, MPI_Datatype target_type,
                                MPI_Win win, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                       int target_rank, MPI_Aint target_displacement, int target_count,
                                       MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                       MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                           void* result_buffer, int result_count, MPI_Datatype result_type,
                                           int target_rank, MPI_Aint target_displacement, int target_count,
                                           MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                           MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Win_fence(int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_start(MPI_Group group, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_complete(MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_post(MPI_Group group, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_wait(MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_test(MPI_Win win, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_lock_all(int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_unlock(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_unlock_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_flush(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_flush_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_flush_local(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_flush_local_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int MPI_Win_sync(MPI_Win win);

/* Files (chapter 13) */
LLAMADA_MPI_PUBLIC int MPI_File_open(MPI_Comm comm, const char* file_name, int amode, MPI_Info info,
                                     MPI_File* file);
LLAMADA_MPI_PUBLIC int MPI_File_close(MPI_File* file);
LLAMADA_MPI_PUBLIC int MPI_File_delete(const char* file_name, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_File_set_size(MPI_File file, MPI_Offset size);
LLAMADA_MPI_PUBLIC int MPI_File_preallocate(MPI_File file, MPI_Offset size);
LLAMADA_MPI_PUBLIC int MPI_File_get_size(MPI_File file, MPI_Offset* size);
LLAMADA_MPI_PUBLIC int MPI_File_get_group(MPI_File file, MPI_Group* group);
LLAMADA_MPI_PUBLIC int MPI_File_get_amode(MPI_File file, int* amode);
LLAMADA_MPI_PUBLIC int MPI_File_set_info(MPI_File file, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_File_get_info(MPI_File file, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                                         MPI_Datatype file_type, const char* representation, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_File_get_view(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype,
                                         MPI_Datatype* file_type, char* representation);
LLAMADA_MPI_PUBLIC int MPI_File_read_at(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                        MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                            MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                         MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                             MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_iread_at(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                         MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iread_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                             MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                          MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_read(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                     MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                         MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                            MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_ordered(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                             MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                                      MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_all(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                                          MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_shared(MPI_File file, const void* buffer, int count,
                                             MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_ordered(MPI_File file, const void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_iread(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                      MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iread_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                          MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iread_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                             MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iwrite(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                                       MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iwrite_all(MPI_File file, const void* buffer, int count,
                                           MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_iwrite_shared(MPI_File file, const void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_File_seek(MPI_File file, MPI_Offset offset, int whence);
LLAMADA_MPI_PUBLIC int MPI_File_get_position(MPI_File file, MPI_Offset* offset);
LLAMADA_MPI_PUBLIC int MPI_File_get_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset* displacement);
LLAMADA_MPI_PUBLIC int MPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence);
LLAMADA_MPI_PUBLIC int MPI_File_get_position_shared(MPI_File file, MPI_Offset* offset);
LLAMADA_MPI_PUBLIC int MPI_File_read_at_all_begin(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                                  MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_read_at_all_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_all_begin(MPI_File file, void* buffer, int count, MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_read_all_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_read_ordered_begin(MPI_File file, void* buffer, int count,
                                                   MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_read_ordered_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_at_all_begin(MPI_File file, MPI_Offset offset, const void* buffer,
                                                   int count, MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_write_at_all_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_all_begin(MPI_File file, const void* buffer, int count,
                                                MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_write_all_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_write_ordered_begin(MPI_File file, const void* buffer, int count,
                                                    MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int MPI_File_write_ordered_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_File_get_type_extent(MPI_File file, MPI_Datatype datatype, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int MPI_Register_datarep(const char* representation,
                                            MPI_Datarep_conversion_function* read_conversion,
                                            MPI_Datarep_conversion_function* write_conversion,
                                            MPI_Datarep_extent_function* extent_function, void* extra_state);
LLAMADA_MPI_PUBLIC int MPI_File_set_atomicity(MPI_File file, int flag);
LLAMADA_MPI_PUBLIC int MPI_File_get_atomicity(MPI_File file, int* flag);
LLAMADA_MPI_PUBLIC int MPI_File_sync(MPI_File file);
LLAMADA_MPI_PUBLIC int MPI_File_create_errhandler(MPI_File_errhandler_function* function,
                                                  MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int MPI_File_get_errhandler(MPI_File file, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_File_call_errhandler(MPI_File file, int code);
LLAMADA_MPI_PUBLIC MPI_Fint MPI_File_c2f(MPI_File file);
LLAMADA_MPI_PUBLIC MPI_File MPI_File_f2c(MPI_Fint file);

/* The environment (chapters 8 to 10 and 14) */
LLAMADA_MPI_PUBLIC int MPI_Init(int* argc, char*** argv);
LLAMADA_MPI_PUBLIC int MPI_Init_thread(int* argc, char*** argv, int required, int* provided);
LLAMADA_MPI_PUBLIC int MPI_Initialized(int* flag);
LLAMADA_MPI_PUBLIC int MPI_Finalize(void);
LLAMADA_MPI_PUBLIC int MPI_Finalized(int* flag);
LLAMADA_MPI_PUBLIC int MPI_Abort(MPI_Comm comm, int code);
LLAMADA_MPI_PUBLIC int MPI_Query_thread(int* provided);
LLAMADA_MPI_PUBLIC int MPI_Is_thread_main(int* flag);
LLAMADA_MPI_PUBLIC double MPI_Wtime(void);
LLAMADA_MPI_PUBLIC double MPI_Wtick(void);
LLAMADA_MPI_PUBLIC int MPI_Get_version(int* version, int* subversion);
LLAMADA_MPI_PUBLIC int MPI_Get_library_version(char* version, int* length);
LLAMADA_MPI_PUBLIC int MPI_Get_processor_name(char* name, int* length);
LLAMADA_MPI_PUBLIC int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* base);
LLAMADA_MPI_PUBLIC int MPI_Free_mem(void* base);
LLAMADA_MPI_PUBLIC int MPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function,
                                                  MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int MPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Comm_call_errhandler(MPI_Comm comm, int code);
LLAMADA_MPI_PUBLIC int MPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Errhandler_free(MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Error_string(int code, char* text, int* length);
LLAMADA_MPI_PUBLIC int MPI_Error_class(int code, int* error_class);
LLAMADA_MPI_PUBLIC int MPI_Add_error_class(int* error_class);
LLAMADA_MPI_PUBLIC int MPI_Add_error_code(int error_class, int* code);
LLAMADA_MPI_PUBLIC int MPI_Add_error_string(int code, const char* text);
LLAMADA_MPI_PUBLIC int MPI_Info_create(MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Info_create_env(int argc, char* argv[], MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Info_set(MPI_Info info, const char* key, const char* value);
LLAMADA_MPI_PUBLIC int MPI_Info_get(MPI_Info info, const char* key, int value_length, char* value, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Info_get_string(MPI_Info info, const char* key, int* buffer_length, char* value,
                                           int* flag);
LLAMADA_MPI_PUBLIC int MPI_Info_get_valuelen(MPI_Info info, const char* key, int* value_length, int* flag);
LLAMADA_MPI_PUBLIC int MPI_Info_get_nkeys(MPI_Info info, int* key_count);
LLAMADA_MPI_PUBLIC int MPI_Info_get_nthkey(MPI_Info info, int index, char* key);
LLAMADA_MPI_PUBLIC int MPI_Info_delete(MPI_Info info, const char* key);
LLAMADA_MPI_PUBLIC int MPI_Info_dup(MPI_Info info, MPI_Info* new_info);
LLAMADA_MPI_PUBLIC int MPI_Info_free(MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Pcontrol(const int level, ...);

/* Dynamic processes (MPI 3.1, chapter 10) */
LLAMADA_MPI_PUBLIC int MPI_Comm_spawn(const char* command, char* arguments[], int process_count_max,
                                      MPI_Info info, int root, MPI_Comm comm, MPI_Comm* new_comm,
                                      int error_codes[]);
LLAMADA_MPI_PUBLIC int MPI_Comm_spawn_multiple(int count, char* commands[], char** argument_lists[],
                                               const int process_counts_max[], const MPI_Info infos[],
                                               int root, MPI_Comm comm, MPI_Comm* new_comm,
                                               int error_codes[]);
LLAMADA_MPI_PUBLIC int MPI_Comm_get_parent(MPI_Comm* parent);
LLAMADA_MPI_PUBLIC int MPI_Open_port(MPI_Info info, char* port_name);
LLAMADA_MPI_PUBLIC int MPI_Close_port(const char* port_name);
LLAMADA_MPI_PUBLIC int MPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                       MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                        MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_disconnect(MPI_Comm* comm);
LLAMADA_MPI_PUBLIC int MPI_Comm_join(int fd, MPI_Comm* intercomm);
LLAMADA_MPI_PUBLIC int MPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name);
LLAMADA_MPI_PUBLIC int MPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name);
LLAMADA_MPI_PUBLIC int MPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name);

/* Sessions (MPI 4.0, chapter 11) */
LLAMADA_MPI_PUBLIC int MPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
LLAMADA_MPI_PUBLIC int MPI_Session_finalize(MPI_Session* session);
LLAMADA_MPI_PUBLIC int MPI_Session_get_info(MPI_Session session, MPI_Info* info_used);
LLAMADA_MPI_PUBLIC int MPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names);
LLAMADA_MPI_PUBLIC int MPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len,
                                                char* pset_name);
LLAMADA_MPI_PUBLIC int MPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                                     MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int MPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int MPI_Session_call_errhandler(MPI_Session session, int error_code);
LLAMADA_MPI_PUBLIC int MPI_Group_from_session_pset(MPI_Session session, const char* pset_name,
                                                   MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int MPI_Comm_create_from_group(MPI_Group group, const char* string_tag, MPI_Info info,
                                                  MPI_Errhandler handler, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int MPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                                        MPI_Group remote_group, int remote_leader,
                                                        const char* string_tag, MPI_Info info,
                                                        MPI_Errhandler handler, MPI_Comm* newintercomm);

/* Functions with large counts (MPI 4.0) */
LLAMADA_MPI_PUBLIC int MPI_Send_c(const void* buffer, MPI_Count count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Bsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                   int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Ssend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                   int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Rsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                   int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Recv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                  MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Isend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                   int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Ibsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Issend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Irsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                   MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int MPI_Sendrecv_c(const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                                      int destination, int send_tag, void* receive_buffer,
                                      MPI_Count receive_count, MPI_Datatype receive_type, int source,
                                      int receive_tag, MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int MPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int MPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int MPI_Type_contiguous_c(MPI_Count count, MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_vector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                                         MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hvector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                                                 MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_indexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                          const MPI_Count displacements[], MPI_Datatype old_type,
                                          MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                                  const MPI_Count displacements[], MPI_Datatype old_type,
                                                  MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count block_length,
                                                       const MPI_Count displacements[], MPI_Datatype old_type,
                                                       MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count block_length,
                                                        const MPI_Count displacements[],
                                                        MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_struct_c(MPI_Count count, const MPI_Count block_lengths[],
                                                const MPI_Count displacements[], const MPI_Datatype types[],
                                                MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_create_resized_c(MPI_Datatype old_type, MPI_Count lower_bound,
                                                 MPI_Count extent, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int MPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size);
LLAMADA_MPI_PUBLIC int MPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lower_bound,
                                             MPI_Count* extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lower_bound,
                                                  MPI_Count* true_extent);
LLAMADA_MPI_PUBLIC int MPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* integer_count,
                                               MPI_Count* address_count, MPI_Count* large_count_count,
                                               MPI_Count* datatype_count, int* combiner);
LLAMADA_MPI_PUBLIC int MPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count integer_count_max,
                                               MPI_Count address_count_max, MPI_Count large_count_count_max,
                                               MPI_Count datatype_count_max, int integers[],
                                               MPI_Aint addresses[], MPI_Count large_counts[],
                                               MPI_Datatype datatypes[]);
LLAMADA_MPI_PUBLIC int MPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                   MPI_Comm comm);
LLAMADA_MPI_PUBLIC int MPI_Alltoallv_c(const void* send_buffer, const MPI_Count send_counts[],
                                       const MPI_Aint send_displacements[], MPI_Datatype send_type,
                                       void* receive_buffer, const MPI_Count receive_counts[],
                                       const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                                       MPI_Comm comm);

/* The same functions for tools that replace the names above (chapter 14) */
LLAMADA_MPI_PUBLIC int PMPI_Send(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                 int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Bsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Ssend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Rsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Recv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                 MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Isend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                  int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ibsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                   int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Issend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                   int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Irsend(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                   int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Irecv(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                  MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Send_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                      int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Bsend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                       int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ssend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                       int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Rsend_init(const void* buffer, int count, MPI_Datatype datatype, int destination,
                                       int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Recv_init(void* buffer, int count, MPI_Datatype datatype, int source, int tag,
                                      MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Start(MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Startall(int count, MPI_Request requests[]);
LLAMADA_MPI_PUBLIC int PMPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     int destination, int send_tag, void* receive_buffer, int receive_count,
                                     MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                                     MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination,
                                             int send_tag, int source, int receive_tag, MPI_Comm comm,
                                             MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Isendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                      int destination, int send_tag, void* receive_buffer, int receive_count,
                                      MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm,
                                      MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype datatype, int destination,
                                              int send_tag, int source, int receive_tag, MPI_Comm comm,
                                              MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message,
                                   MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message,
                                    MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Mrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
                                  MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Imrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message,
                                   MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Wait(MPI_Request* request, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Testany(int count, MPI_Request requests[], int* index, int* flag,
                                    MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int PMPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int PMPI_Waitsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                     MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int PMPI_Testsome(int count, MPI_Request requests[], int* done_count, int indices[],
                                     MPI_Status* statuses);
LLAMADA_MPI_PUBLIC int PMPI_Request_free(MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Cancel(MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Test_cancelled(const MPI_Status* status, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Buffer_attach(void* buffer, int size);
LLAMADA_MPI_PUBLIC int PMPI_Buffer_detach(void* buffer_address, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count);
LLAMADA_MPI_PUBLIC int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count);
LLAMADA_MPI_PUBLIC int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count);
LLAMADA_MPI_PUBLIC int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count);
LLAMADA_MPI_PUBLIC int PMPI_Status_set_cancelled(MPI_Status* status, int flag);
LLAMADA_MPI_PUBLIC int PMPI_Status_f082c(const MPI_F08_status* fortran_status, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Status_c2f08(const MPI_Status* status, MPI_F08_status* fortran_status);
LLAMADA_MPI_PUBLIC int PMPI_Status_f082f(const MPI_F08_status* f08_status, MPI_Fint* f_status);
LLAMADA_MPI_PUBLIC int PMPI_Status_f2f08(const MPI_Fint* f_status, MPI_F08_status* f08_status);
LLAMADA_MPI_PUBLIC int PMPI_Grequest_start(MPI_Grequest_query_function* query_function,
                                           MPI_Grequest_free_function* free_function,
                                           MPI_Grequest_cancel_function* cancel_function, void* extra_state,
                                           MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Grequest_complete(MPI_Request request);
LLAMADA_MPI_PUBLIC int PMPI_Status_f2c(const MPI_Fint* fortran_status, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Status_c2f(const MPI_Status* status, MPI_Fint* fortran_status);
LLAMADA_MPI_PUBLIC int PMPI_Type_contiguous(int count, MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_vector(int count, int block_length, int stride, MPI_Datatype old_type,
                                        MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hvector(int count, int block_length, MPI_Aint stride,
                                                MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_indexed(int count, const int block_lengths[], const int displacements[],
                                         MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hindexed(int count, const int block_lengths[],
                                                 const MPI_Aint displacements[], MPI_Datatype old_type,
                                                 MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_indexed_block(int count, int block_length, const int displacements[],
                                                      MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hindexed_block(int count, int block_length,
                                                       const MPI_Aint displacements[], MPI_Datatype old_type,
                                                       MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_struct(int count, const int block_lengths[],
                                               const MPI_Aint displacements[], const MPI_Datatype types[],
                                               MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_subarray(int dimension_count, const int sizes[], const int subsizes[],
                                                 const int starts[], int order, MPI_Datatype old_type,
                                                 MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_darray(int size, int rank, int dimension_count, const int sizes[],
                                               const int distributions[], const int distribution_arguments[],
                                               const int process_counts[], int order, MPI_Datatype old_type,
                                               MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_resized(MPI_Datatype old_type, MPI_Aint lower_bound, MPI_Aint extent,
                                                MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_dup(MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_commit(MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int PMPI_Type_free(MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int PMPI_Type_size(MPI_Datatype datatype, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lower_bound, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lower_bound,
                                              MPI_Count* extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lower_bound,
                                                 MPI_Aint* true_extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lower_bound,
                                                   MPI_Count* true_extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_envelope(MPI_Datatype datatype, int* integer_count, int* address_count,
                                              int* datatype_count, int* combiner);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_contents(MPI_Datatype datatype, int integer_count_max,
                                              int address_count_max, int datatype_count_max, int integers[],
                                              MPI_Aint addresses[], MPI_Datatype datatypes[]);
LLAMADA_MPI_PUBLIC int PMPI_Type_set_name(MPI_Datatype datatype, const char* name);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_name(MPI_Datatype datatype, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_f90_real(int precision, int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_f90_complex(int precision, int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_f90_integer(int range, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_match_size(int type_class, int size, MPI_Datatype* datatype);
LLAMADA_MPI_PUBLIC int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* lower_bound);
LLAMADA_MPI_PUBLIC int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* upper_bound);
LLAMADA_MPI_PUBLIC int PMPI_Type_hvector(int count, int block_length, MPI_Aint stride, MPI_Datatype old_type,
                                         MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_hindexed(int count, int block_lengths[], MPI_Aint displacements[],
                                          MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_struct(int count, int block_lengths[], MPI_Aint displacements[],
                                        MPI_Datatype types[], MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Get_address(const void* location, MPI_Aint* address);
LLAMADA_MPI_PUBLIC int PMPI_Address(void* location, MPI_Aint* address);
LLAMADA_MPI_PUBLIC MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint displacement);
LLAMADA_MPI_PUBLIC MPI_Aint PMPI_Aint_diff(MPI_Aint address, MPI_Aint base);
LLAMADA_MPI_PUBLIC int PMPI_Pack(const void* in, int in_count, MPI_Datatype datatype, void* out, int out_size,
                                 int* position, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Unpack(const void* in, int in_size, int* position, void* out, int out_count,
                                   MPI_Datatype datatype, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Pack_size(int in_count, MPI_Datatype datatype, MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Pack_external(const char* representation, const void* in, int in_count,
                                          MPI_Datatype datatype, void* out, MPI_Aint out_size,
                                          MPI_Aint* position);
LLAMADA_MPI_PUBLIC int PMPI_Unpack_external(const char* representation, const void* in, MPI_Aint in_size,
                                            MPI_Aint* position, void* out, int out_count,
                                            MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_Pack_external_size(const char* representation, int in_count,
                                               MPI_Datatype datatype, MPI_Aint* size);
LLAMADA_MPI_PUBLIC int PMPI_Barrier(MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Gather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                   void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                   int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Gatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, const int receive_counts[],
                                    const int displacements[], MPI_Datatype receive_type, int root,
                                    MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Scatter(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                    int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Scatterv(const void* send_buffer, const int send_counts[],
                                     const int displacements[], MPI_Datatype send_type, void* receive_buffer,
                                     int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Allgather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                      void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                      MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Allgatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                       void* receive_buffer, const int receive_counts[],
                                       const int displacements[], MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Alltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                     MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Alltoallv(const void* send_buffer, const int send_counts[],
                                      const int send_displacements[], MPI_Datatype send_type,
                                      void* receive_buffer, const int receive_counts[],
                                      const int receive_displacements[], MPI_Datatype receive_type,
                                      MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Alltoallw(const void* send_buffer, const int send_counts[],
                                      const int send_displacements[], const MPI_Datatype send_types[],
                                      void* receive_buffer, const int receive_counts[],
                                      const int receive_displacements[], const MPI_Datatype receive_types[],
                                      MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Reduce(const void* send_buffer, void* receive_buffer, int count,
                                   MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Allreduce(const void* send_buffer, void* receive_buffer, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_scatter(const void* send_buffer, void* receive_buffer,
                                           const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                           MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_scatter_block(const void* send_buffer, void* receive_buffer,
                                                 int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                 MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Scan(const void* send_buffer, void* receive_buffer, int count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Exscan(const void* send_buffer, void* receive_buffer, int count,
                                   MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_local(const void* in, void* inout, int count, MPI_Datatype datatype,
                                         MPI_Op op);
LLAMADA_MPI_PUBLIC int PMPI_Op_create(MPI_User_function* function, int commutes, MPI_Op* op);
LLAMADA_MPI_PUBLIC int PMPI_Op_free(MPI_Op* op);
LLAMADA_MPI_PUBLIC int PMPI_Op_commutative(MPI_Op op, int* commutes);
LLAMADA_MPI_PUBLIC int PMPI_Ibarrier(MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ibcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                                   MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Igather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                    void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                    int root, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Igatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     void* receive_buffer, const int receive_counts[],
                                     const int displacements[], MPI_Datatype receive_type, int root,
                                     MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iscatter(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                     void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                     int root, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iscatterv(const void* send_buffer, const int send_counts[],
                                      const int displacements[], MPI_Datatype send_type, void* receive_buffer,
                                      int receive_count, MPI_Datatype receive_type, int root, MPI_Comm comm,
                                      MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iallgather(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                       void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                       MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iallgatherv(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                        void* receive_buffer, const int receive_counts[],
                                        const int displacements[], MPI_Datatype receive_type, MPI_Comm comm,
                                        MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ialltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                      void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                      MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ialltoallv(const void* send_buffer, const int send_counts[],
                                       const int send_displacements[], MPI_Datatype send_type,
                                       void* receive_buffer, const int receive_counts[],
                                       const int receive_displacements[], MPI_Datatype receive_type,
                                       MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ialltoallw(const void* send_buffer, const int send_counts[],
                                       const int send_displacements[], const MPI_Datatype send_types[],
                                       void* receive_buffer, const int receive_counts[],
                                       const int receive_displacements[], const MPI_Datatype receive_types[],
                                       MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ireduce(const void* send_buffer, void* receive_buffer, int count,
                                    MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                    MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iallreduce(const void* send_buffer, void* receive_buffer, int count,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ireduce_scatter(const void* send_buffer, void* receive_buffer,
                                            const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                            MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ireduce_scatter_block(const void* send_buffer, void* receive_buffer,
                                                  int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                  MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iscan(const void* send_buffer, void* receive_buffer, int count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Iexscan(const void* send_buffer, void* receive_buffer, int count,
                                    MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Bcast_init(void* buffer, int count, MPI_Datatype datatype, int root,
                                       MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Gather_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                        void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                        int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Gatherv_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                         void* receive_buffer, const int receive_counts[],
                                         const int displacements[], MPI_Datatype receive_type, int root,
                                         MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Scatter_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                         void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                         int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Scatterv_init(const void* send_buffer, const int send_counts[],
                                          const int displacements[], MPI_Datatype send_type,
                                          void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                          int root, MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Allgather_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                           void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Allgatherv_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                            void* receive_buffer, const int receive_counts[],
                                            const int displacements[], MPI_Datatype receive_type,
                                            MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Alltoall_init(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                          void* receive_buffer, int receive_count, MPI_Datatype receive_type,
                                          MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Alltoallv_init(const void* send_buffer, const int send_counts[],
                                           const int send_displacements[], MPI_Datatype send_type,
                                           void* receive_buffer, const int receive_counts[],
                                           const int receive_displacements[], MPI_Datatype receive_type,
                                           MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Alltoallw_init(const void* send_buffer, const int send_counts[],
                                           const int send_displacements[], const MPI_Datatype send_types[],
                                           void* receive_buffer, const int receive_counts[],
                                           const int receive_displacements[],
                                           const MPI_Datatype receive_types[], MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_init(const void* send_buffer, void* receive_buffer, int count,
                                        MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm,
                                        MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Allreduce_init(const void* send_buffer, void* receive_buffer, int count,
                                           MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                           MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_scatter_init(const void* send_buffer, void* receive_buffer,
                                                const int receive_counts[], MPI_Datatype datatype, MPI_Op op,
                                                MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Reduce_scatter_block_init(const void* send_buffer, void* receive_buffer,
                                                      int receive_count, MPI_Datatype datatype, MPI_Op op,
                                                      MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Scan_init(const void* send_buffer, void* receive_buffer, int count,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                      MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Exscan_init(const void* send_buffer, void* receive_buffer, int count,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                        MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_allgather(const void* send_buffer, int send_count,
                                               MPI_Datatype send_type, void* receive_buffer,
                                               int receive_count, MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_allgatherv(const void* send_buffer, int send_count,
                                                MPI_Datatype send_type, void* receive_buffer,
                                                const int receive_counts[], const int displacements[],
                                                MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoall(const void* send_buffer, int send_count, MPI_Datatype send_type,
                                              void* receive_buffer, int receive_count,
                                              MPI_Datatype receive_type, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoallv(const void* send_buffer, const int send_counts[],
                                               const int send_displacements[], MPI_Datatype send_type,
                                               void* receive_buffer, const int receive_counts[],
                                               const int receive_displacements[], MPI_Datatype receive_type,
                                               MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoallw(const void* send_buffer, const int send_counts[],
                                               const MPI_Aint send_displacements[],
                                               const MPI_Datatype send_types[], void* receive_buffer,
                                               const int receive_counts[],
                                               const MPI_Aint receive_displacements[],
                                               const MPI_Datatype receive_types[], MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Ineighbor_allgather(const void* send_buffer, int send_count,
                                                MPI_Datatype send_type, void* receive_buffer,
                                                int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                                MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ineighbor_allgatherv(const void* send_buffer, int send_count,
                                                 MPI_Datatype send_type, void* receive_buffer,
                                                 const int receive_counts[], const int displacements[],
                                                 MPI_Datatype receive_type, MPI_Comm comm,
                                                 MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ineighbor_alltoall(const void* send_buffer, int send_count,
                                               MPI_Datatype send_type, void* receive_buffer,
                                               int receive_count, MPI_Datatype receive_type, MPI_Comm comm,
                                               MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ineighbor_alltoallv(const void* send_buffer, const int send_counts[],
                                                const int send_displacements[], MPI_Datatype send_type,
                                                void* receive_buffer, const int receive_counts[],
                                                const int receive_displacements[], MPI_Datatype receive_type,
                                                MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ineighbor_alltoallw(const void* send_buffer, const int send_counts[],
                                                const MPI_Aint send_displacements[],
                                                const MPI_Datatype send_types[], void* receive_buffer,
                                                const int receive_counts[],
                                                const MPI_Aint receive_displacements[],
                                                const MPI_Datatype receive_types[], MPI_Comm comm,
                                                MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_allgather_init(const void* send_buffer, int send_count,
                                                    MPI_Datatype send_type, void* receive_buffer,
                                                    int receive_count, MPI_Datatype receive_type,
                                                    MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_allgatherv_init(const void* send_buffer, int send_count,
                                                     MPI_Datatype send_type, void* receive_buffer,
                                                     const int receive_counts[], const int displacements[],
                                                     MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                                     MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoall_init(const void* send_buffer, int send_count,
                                                   MPI_Datatype send_type, void* receive_buffer,
                                                   int receive_count, MPI_Datatype receive_type,
                                                   MPI_Comm comm, MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoallv_init(const void* send_buffer, const int send_counts[],
                                                    const int send_displacements[], MPI_Datatype send_type,
                                                    void* receive_buffer, const int receive_counts[],
                                                    const int receive_displacements[],
                                                    MPI_Datatype receive_type, MPI_Comm comm, MPI_Info info,
                                                    MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Neighbor_alltoallw_init(const void* send_buffer, const int send_counts[],
                                                    const MPI_Aint send_displacements[],
                                                    const MPI_Datatype send_types[], void* receive_buffer,
                                                    const int receive_counts[],
                                                    const MPI_Aint receive_displacements[],
                                                    const MPI_Datatype receive_types[], MPI_Comm comm,
                                                    MPI_Info info, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Group_size(MPI_Group group, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Group_rank(MPI_Group group, int* rank);
LLAMADA_MPI_PUBLIC int PMPI_Group_translate_ranks(MPI_Group group1, int count, const int ranks1[],
                                                  MPI_Group group2, int ranks2[]);
LLAMADA_MPI_PUBLIC int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result);
LLAMADA_MPI_PUBLIC int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_excl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_range_incl(MPI_Group group, int count, int ranges[][3],
                                             MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_range_excl(MPI_Group group, int count, int ranges[][3],
                                             MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Group_free(MPI_Group* group);
LLAMADA_MPI_PUBLIC int PMPI_Comm_size(MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Comm_rank(MPI_Comm comm, int* rank);
LLAMADA_MPI_PUBLIC int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group);
LLAMADA_MPI_PUBLIC int PMPI_Comm_compare(MPI_Comm comm1, MPI_Comm comm2, int* result);
LLAMADA_MPI_PUBLIC int PMPI_Comm_remote_size(MPI_Comm comm, int* size);
LLAMADA_MPI_PUBLIC int PMPI_Comm_remote_group(MPI_Comm comm, MPI_Group* group);
LLAMADA_MPI_PUBLIC int PMPI_Comm_test_inter(MPI_Comm comm, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Comm_dup(MPI_Comm comm, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* new_comm,
                                                MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Comm_set_info(MPI_Comm comm, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_Comm_get_info(MPI_Comm comm, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info,
                                            MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_free(MPI_Comm* comm);
LLAMADA_MPI_PUBLIC int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                                             int remote_leader, int tag, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Intercomm_merge(MPI_Comm comm, int high, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_set_name(MPI_Comm comm, const char* name);
LLAMADA_MPI_PUBLIC int PMPI_Comm_get_name(MPI_Comm comm, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int PMPI_Comm_create_keyval(MPI_Comm_copy_attr_function* copy,
                                               MPI_Comm_delete_attr_function* destroy, int* keyval,
                                               void* extra_state);
LLAMADA_MPI_PUBLIC int PMPI_Comm_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int PMPI_Comm_set_attr(MPI_Comm comm, int keyval, void* value);
LLAMADA_MPI_PUBLIC int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Comm_delete_attr(MPI_Comm comm, int keyval);
LLAMADA_MPI_PUBLIC int PMPI_Keyval_create(MPI_Copy_function* copy, MPI_Delete_function* destroy, int* keyval,
                                          void* extra_state);
LLAMADA_MPI_PUBLIC int PMPI_Keyval_free(int* keyval);
LLAMADA_MPI_PUBLIC int PMPI_Attr_put(MPI_Comm comm, int keyval, void* value);
LLAMADA_MPI_PUBLIC int PMPI_Attr_get(MPI_Comm comm, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Attr_delete(MPI_Comm comm, int keyval);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_keyval(MPI_Type_copy_attr_function* copy,
                                               MPI_Type_delete_attr_function* destroy, int* keyval,
                                               void* extra_state);
LLAMADA_MPI_PUBLIC int PMPI_Type_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int PMPI_Type_set_attr(MPI_Datatype datatype, int keyval, void* value);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_attr(MPI_Datatype datatype, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Type_delete_attr(MPI_Datatype datatype, int keyval);
LLAMADA_MPI_PUBLIC int PMPI_Cart_create(MPI_Comm comm, int dimension_count, const int dimensions[],
                                        const int periods[], int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Cart_get(MPI_Comm comm, int dimension_count_max, int dimensions[], int periods[],
                                     int coordinates[]);
LLAMADA_MPI_PUBLIC int PMPI_Cart_rank(MPI_Comm comm, const int coordinates[], int* rank);
LLAMADA_MPI_PUBLIC int PMPI_Cart_coords(MPI_Comm comm, int rank, int dimension_count_max, int coordinates[]);
LLAMADA_MPI_PUBLIC int PMPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int* source,
                                       int* destination);
LLAMADA_MPI_PUBLIC int PMPI_Cart_map(MPI_Comm comm, int dimension_count, const int dimensions[],
                                     const int periods[], int* new_rank);
LLAMADA_MPI_PUBLIC int PMPI_Cartdim_get(MPI_Comm comm, int* dimension_count);
LLAMADA_MPI_PUBLIC int PMPI_Graph_create(MPI_Comm comm, int node_count, const int index[], const int edges[],
                                         int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Graphdims_get(MPI_Comm comm, int* node_count, int* edge_count);
LLAMADA_MPI_PUBLIC int PMPI_Graph_get(MPI_Comm comm, int index_count_max, int edge_count_max, int index[],
                                      int edges[]);
LLAMADA_MPI_PUBLIC int PMPI_Graph_neighbors_count(MPI_Comm comm, int rank, int* neighbor_count);
LLAMADA_MPI_PUBLIC int PMPI_Graph_neighbors(MPI_Comm comm, int rank, int neighbor_count_max, int neighbors[]);
LLAMADA_MPI_PUBLIC int PMPI_Graph_map(MPI_Comm comm, int node_count, const int index[], const int edges[],
                                      int* new_rank);
LLAMADA_MPI_PUBLIC int PMPI_Dist_graph_create(MPI_Comm comm, int source_count, const int sources[],
                                              const int degrees[], const int destinations[],
                                              const int weights[], MPI_Info info, int reorder,
                                              MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Dist_graph_create_adjacent(MPI_Comm comm, int in_degree, const int sources[],
                                                       const int source_weights[], int out_degree,
                                                       const int destinations[],
                                                       const int destination_weights[], MPI_Info info,
                                                       int reorder, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Dist_graph_neighbors_count(MPI_Comm comm, int* in_degree, int* out_degree,
                                                       int* weighted);
LLAMADA_MPI_PUBLIC int PMPI_Dist_graph_neighbors(MPI_Comm comm, int in_degree_max, int sources[],
                                                 int source_weights[], int out_degree_max, int destinations[],
                                                 int destination_weights[]);
LLAMADA_MPI_PUBLIC int PMPI_Dims_create(int node_count, int dimension_count, int dimensions[]);
LLAMADA_MPI_PUBLIC int PMPI_Topo_test(MPI_Comm comm, int* kind);
LLAMADA_MPI_PUBLIC int PMPI_Win_create(void* base, MPI_Aint size, int displacement_unit, MPI_Info info,
                                       MPI_Comm comm, MPI_Win* win);
LLAMADA_MPI_PUBLIC int PMPI_Win_allocate(MPI_Aint size, int displacement_unit, MPI_Info info, MPI_Comm comm,
                                         void* base_pointer, MPI_Win* win);
LLAMADA_MPI_PUBLIC int PMPI_Win_allocate_shared(MPI_Aint size, int displacement_unit, MPI_Info info,
                                                MPI_Comm comm, void* base_pointer, MPI_Win* win);
LLAMADA_MPI_PUBLIC int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint* size, int* displacement_unit,
                                             void* base_pointer);
LLAMADA_MPI_PUBLIC int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win* win);
LLAMADA_MPI_PUBLIC int PMPI_Win_attach(MPI_Win win, void* base, MPI_Aint size);
LLAMADA_MPI_PUBLIC int PMPI_Win_detach(MPI_Win win, const void* base);
LLAMADA_MPI_PUBLIC int PMPI_Win_free(MPI_Win* win);
LLAMADA_MPI_PUBLIC int PMPI_Win_get_group(MPI_Win win, MPI_Group* group);
LLAMADA_MPI_PUBLIC int PMPI_Win_set_info(MPI_Win win, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_Win_get_info(MPI_Win win, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Win_set_name(MPI_Win win, const char* name);
LLAMADA_MPI_PUBLIC int PMPI_Win_get_name(MPI_Win win, char* name, int* name_length);
LLAMADA_MPI_PUBLIC int PMPI_Win_create_keyval(MPI_Win_copy_attr_function* copy,
                                              MPI_Win_delete_attr_function* destroy, int* keyval,
                                              void* extra_state);
LLAMADA_MPI_PUBLIC int PMPI_Win_free_keyval(int* keyval);
LLAMADA_MPI_PUBLIC int PMPI_Win_set_attr(MPI_Win win, int keyval, void* value);
LLAMADA_MPI_PUBLIC int PMPI_Win_get_attr(MPI_Win win, int keyval, void* value, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Win_delete_attr(MPI_Win win, int keyval);
LLAMADA_MPI_PUBLIC int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* function,
                                                  MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Win_call_errhandler(MPI_Win win, int code);
LLAMADA_MPI_PUBLIC int PMPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type,
                                int target_rank, MPI_Aint target_displacement, int target_count,
                                MPI_Datatype target_type, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                                MPI_Aint target_displacement, int target_count, MPI_Datatype target_type,
                                MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                       int target_rank, MPI_Aint target_displacement, int target_count,
                                       MPI_Datatype target_type, MPI_Op op, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                           void* result_buffer, int result_count, MPI_Datatype result_type,
                                           int target_rank, MPI_Aint target_displacement, int target_count,
                                           MPI_Datatype target_type, MPI_Op op, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Fetch_and_op(const void* origin, void* result_buffer, MPI_Datatype datatype,
                                         int target_rank, MPI_Aint target_displacement, MPI_Op op,
                                         MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Compare_and_swap(const void* origin, const void* compare, void* result_buffer,
                                             MPI_Datatype datatype, int target_rank,
                                             MPI_Aint target_displacement, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type,
                                 int target_rank, MPI_Aint target_displacement, int target_count,
                                 MPI_Datatype target_type, MPI_Win win, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                                 MPI_Aint target_displacement, int target_count, MPI_Datatype target_type,
                                 MPI_Win win, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                        int target_rank, MPI_Aint target_displacement, int target_count,
                                        MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                        MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type,
                                            void* result_buffer, int result_count, MPI_Datatype result_type,
                                            int target_rank, MPI_Aint target_displacement, int target_count,
                                            MPI_Datatype target_type, MPI_Op op, MPI_Win win,
                                            MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Win_fence(int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_start(MPI_Group group, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_complete(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_post(MPI_Group group, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_wait(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_test(MPI_Win win, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Win_lock(int lock_type, int rank, int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_lock_all(int assertion, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_unlock(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_unlock_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_flush(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_flush_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_flush_local(int rank, MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_flush_local_all(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_Win_sync(MPI_Win win);
LLAMADA_MPI_PUBLIC int PMPI_File_open(MPI_Comm comm, const char* file_name, int amode, MPI_Info info,
                                      MPI_File* file);
LLAMADA_MPI_PUBLIC int PMPI_File_close(MPI_File* file);
LLAMADA_MPI_PUBLIC int PMPI_File_delete(const char* file_name, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_File_set_size(MPI_File file, MPI_Offset size);
LLAMADA_MPI_PUBLIC int PMPI_File_preallocate(MPI_File file, MPI_Offset size);
LLAMADA_MPI_PUBLIC int PMPI_File_get_size(MPI_File file, MPI_Offset* size);
LLAMADA_MPI_PUBLIC int PMPI_File_get_group(MPI_File file, MPI_Group* group);
LLAMADA_MPI_PUBLIC int PMPI_File_get_amode(MPI_File file, int* amode);
LLAMADA_MPI_PUBLIC int PMPI_File_set_info(MPI_File file, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_File_get_info(MPI_File file, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_File_set_view(MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                                          MPI_Datatype file_type, const char* representation, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_File_get_view(MPI_File file, MPI_Offset* displacement, MPI_Datatype* etype,
                                          MPI_Datatype* file_type, char* representation);
LLAMADA_MPI_PUBLIC int PMPI_File_read_at(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                         MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                             MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                          MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_at_all(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_iread_at(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                          MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iread_at_all(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iwrite_at(MPI_File file, MPI_Offset offset, const void* buffer, int count,
                                           MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iwrite_at_all(MPI_File file, MPI_Offset offset, const void* buffer,
                                               int count, MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_read(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                      MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                          MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                             MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_ordered(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                              MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                                       MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_all(MPI_File file, const void* buffer, int count,
                                           MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_shared(MPI_File file, const void* buffer, int count,
                                              MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_ordered(MPI_File file, const void* buffer, int count,
                                               MPI_Datatype datatype, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_iread(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                       MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iread_all(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                           MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iread_shared(MPI_File file, void* buffer, int count, MPI_Datatype datatype,
                                              MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iwrite(MPI_File file, const void* buffer, int count, MPI_Datatype datatype,
                                        MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iwrite_all(MPI_File file, const void* buffer, int count,
                                            MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_iwrite_shared(MPI_File file, const void* buffer, int count,
                                               MPI_Datatype datatype, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_File_seek(MPI_File file, MPI_Offset offset, int whence);
LLAMADA_MPI_PUBLIC int PMPI_File_get_position(MPI_File file, MPI_Offset* offset);
LLAMADA_MPI_PUBLIC int PMPI_File_get_byte_offset(MPI_File file, MPI_Offset offset, MPI_Offset* displacement);
LLAMADA_MPI_PUBLIC int PMPI_File_seek_shared(MPI_File file, MPI_Offset offset, int whence);
LLAMADA_MPI_PUBLIC int PMPI_File_get_position_shared(MPI_File file, MPI_Offset* offset);
LLAMADA_MPI_PUBLIC int PMPI_File_read_at_all_begin(MPI_File file, MPI_Offset offset, void* buffer, int count,
                                                   MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_read_at_all_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_all_begin(MPI_File file, void* buffer, int count,
                                                MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_read_all_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_read_ordered_begin(MPI_File file, void* buffer, int count,
                                                    MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_read_ordered_end(MPI_File file, void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_at_all_begin(MPI_File file, MPI_Offset offset, const void* buffer,
                                                    int count, MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_write_at_all_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_all_begin(MPI_File file, const void* buffer, int count,
                                                 MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_write_all_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_write_ordered_begin(MPI_File file, const void* buffer, int count,
                                                     MPI_Datatype datatype);
LLAMADA_MPI_PUBLIC int PMPI_File_write_ordered_end(MPI_File file, const void* buffer, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_File_get_type_extent(MPI_File file, MPI_Datatype datatype, MPI_Aint* extent);
LLAMADA_MPI_PUBLIC int PMPI_Register_datarep(const char* representation,
                                             MPI_Datarep_conversion_function* read_conversion,
                                             MPI_Datarep_conversion_function* write_conversion,
                                             MPI_Datarep_extent_function* extent_function, void* extra_state);
LLAMADA_MPI_PUBLIC int PMPI_File_set_atomicity(MPI_File file, int flag);
LLAMADA_MPI_PUBLIC int PMPI_File_get_atomicity(MPI_File file, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_File_sync(MPI_File file);
LLAMADA_MPI_PUBLIC int PMPI_File_create_errhandler(MPI_File_errhandler_function* function,
                                                   MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_File_call_errhandler(MPI_File file, int code);
LLAMADA_MPI_PUBLIC MPI_Fint PMPI_File_c2f(MPI_File file);
LLAMADA_MPI_PUBLIC MPI_File PMPI_File_f2c(MPI_Fint file);
LLAMADA_MPI_PUBLIC int PMPI_Init(int* argc, char*** argv);
LLAMADA_MPI_PUBLIC int PMPI_Init_thread(int* argc, char*** argv, int required, int* provided);
LLAMADA_MPI_PUBLIC int PMPI_Initialized(int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Finalize(void);
LLAMADA_MPI_PUBLIC int PMPI_Finalized(int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Abort(MPI_Comm comm, int code);
LLAMADA_MPI_PUBLIC int PMPI_Query_thread(int* provided);
LLAMADA_MPI_PUBLIC int PMPI_Is_thread_main(int* flag);
LLAMADA_MPI_PUBLIC double PMPI_Wtime(void);
LLAMADA_MPI_PUBLIC double PMPI_Wtick(void);
LLAMADA_MPI_PUBLIC int PMPI_Get_version(int* version, int* subversion);
LLAMADA_MPI_PUBLIC int PMPI_Get_library_version(char* version, int* length);
LLAMADA_MPI_PUBLIC int PMPI_Get_processor_name(char* name, int* length);
LLAMADA_MPI_PUBLIC int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void* base);
LLAMADA_MPI_PUBLIC int PMPI_Free_mem(void* base);
LLAMADA_MPI_PUBLIC int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* function,
                                                   MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Comm_call_errhandler(MPI_Comm comm, int code);
LLAMADA_MPI_PUBLIC int PMPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Errhandler_free(MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Error_string(int code, char* text, int* length);
LLAMADA_MPI_PUBLIC int PMPI_Error_class(int code, int* error_class);
LLAMADA_MPI_PUBLIC int PMPI_Add_error_class(int* error_class);
LLAMADA_MPI_PUBLIC int PMPI_Add_error_code(int error_class, int* code);
LLAMADA_MPI_PUBLIC int PMPI_Add_error_string(int code, const char* text);
LLAMADA_MPI_PUBLIC int PMPI_Info_create(MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Info_create_env(int argc, char* argv[], MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Info_set(MPI_Info info, const char* key, const char* value);
LLAMADA_MPI_PUBLIC int PMPI_Info_get(MPI_Info info, const char* key, int value_length, char* value,
                                     int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Info_get_string(MPI_Info info, const char* key, int* buffer_length, char* value,
                                            int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* value_length, int* flag);
LLAMADA_MPI_PUBLIC int PMPI_Info_get_nkeys(MPI_Info info, int* key_count);
LLAMADA_MPI_PUBLIC int PMPI_Info_get_nthkey(MPI_Info info, int index, char* key);
LLAMADA_MPI_PUBLIC int PMPI_Info_delete(MPI_Info info, const char* key);
LLAMADA_MPI_PUBLIC int PMPI_Info_dup(MPI_Info info, MPI_Info* new_info);
LLAMADA_MPI_PUBLIC int PMPI_Info_free(MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Pcontrol(const int level, ...);

LLAMADA_MPI_PUBLIC int PMPI_Comm_spawn(const char* command, char* arguments[], int process_count_max,
                                       MPI_Info info, int root, MPI_Comm comm, MPI_Comm* new_comm,
                                       int error_codes[]);
LLAMADA_MPI_PUBLIC int PMPI_Comm_spawn_multiple(int count, char* commands[], char** argument_lists[],
                                                const int process_counts_max[], const MPI_Info infos[],
                                                int root, MPI_Comm comm, MPI_Comm* new_comm,
                                                int error_codes[]);
LLAMADA_MPI_PUBLIC int PMPI_Comm_get_parent(MPI_Comm* parent);
LLAMADA_MPI_PUBLIC int PMPI_Open_port(MPI_Info info, char* port_name);
LLAMADA_MPI_PUBLIC int PMPI_Close_port(const char* port_name);
LLAMADA_MPI_PUBLIC int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                        MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm,
                                         MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_disconnect(MPI_Comm* comm);
LLAMADA_MPI_PUBLIC int PMPI_Comm_join(int fd, MPI_Comm* intercomm);
LLAMADA_MPI_PUBLIC int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name);
LLAMADA_MPI_PUBLIC int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name);
LLAMADA_MPI_PUBLIC int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name);
LLAMADA_MPI_PUBLIC int PMPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session);
LLAMADA_MPI_PUBLIC int PMPI_Session_finalize(MPI_Session* session);
LLAMADA_MPI_PUBLIC int PMPI_Session_get_info(MPI_Session session, MPI_Info* info_used);
LLAMADA_MPI_PUBLIC int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info info, int* npset_names);
LLAMADA_MPI_PUBLIC int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info info, int n, int* pset_len,
                                                 char* pset_name);
LLAMADA_MPI_PUBLIC int PMPI_Session_get_pset_info(MPI_Session session, const char* pset_name, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                                      MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler handler);
LLAMADA_MPI_PUBLIC int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler* handler);
LLAMADA_MPI_PUBLIC int PMPI_Session_call_errhandler(MPI_Session session, int error_code);
LLAMADA_MPI_PUBLIC int PMPI_Group_from_session_pset(MPI_Session session, const char* pset_name,
                                                    MPI_Group* new_group);
LLAMADA_MPI_PUBLIC int PMPI_Comm_create_from_group(MPI_Group group, const char* string_tag, MPI_Info info,
                                                   MPI_Errhandler handler, MPI_Comm* new_comm);
LLAMADA_MPI_PUBLIC int PMPI_Intercomm_create_from_groups(MPI_Group local_group, int local_leader,
                                                         MPI_Group remote_group, int remote_leader,
                                                         const char* string_tag, MPI_Info info,
                                                         MPI_Errhandler handler, MPI_Comm* newintercomm);
LLAMADA_MPI_PUBLIC int PMPI_Send_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                   int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Bsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Ssend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Rsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Recv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                   MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Isend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                    int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Ibsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                     int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Issend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                     int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Irsend_c(const void* buffer, MPI_Count count, MPI_Datatype datatype,
                                     int destination, int tag, MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Irecv_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int source, int tag,
                                    MPI_Comm comm, MPI_Request* request);
LLAMADA_MPI_PUBLIC int PMPI_Sendrecv_c(const void* send_buffer, MPI_Count send_count, MPI_Datatype send_type,
                                       int destination, int send_tag, void* receive_buffer,
                                       MPI_Count receive_count, MPI_Datatype receive_type, int source,
                                       int receive_tag, MPI_Comm comm, MPI_Status* status);
LLAMADA_MPI_PUBLIC int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count);
LLAMADA_MPI_PUBLIC int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_vector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                                          MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count block_length, MPI_Count stride,
                                                  MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                           const MPI_Count displacements[], MPI_Datatype old_type,
                                           MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count block_lengths[],
                                                   const MPI_Count displacements[], MPI_Datatype old_type,
                                                   MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count block_length,
                                                        const MPI_Count displacements[],
                                                        MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count block_length,
                                                         const MPI_Count displacements[],
                                                         MPI_Datatype old_type, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count block_lengths[],
                                                 const MPI_Count displacements[], const MPI_Datatype types[],
                                                 MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_create_resized_c(MPI_Datatype old_type, MPI_Count lower_bound,
                                                  MPI_Count extent, MPI_Datatype* new_type);
LLAMADA_MPI_PUBLIC int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lower_bound,
                                              MPI_Count* extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lower_bound,
                                                   MPI_Count* true_extent);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count* integer_count,
                                                MPI_Count* address_count, MPI_Count* large_count_count,
                                                MPI_Count* datatype_count, int* combiner);
LLAMADA_MPI_PUBLIC int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count integer_count_max,
                                                MPI_Count address_count_max, MPI_Count large_count_count_max,
                                                MPI_Count datatype_count_max, int integers[],
                                                MPI_Aint addresses[], MPI_Count large_counts[],
                                                MPI_Datatype datatypes[]);
LLAMADA_MPI_PUBLIC int PMPI_Bcast_c(void* buffer, MPI_Count count, MPI_Datatype datatype, int root,
                                    MPI_Comm comm);
LLAMADA_MPI_PUBLIC int PMPI_Alltoallv_c(const void* send_buffer, const MPI_Count send_counts[],
                                        const MPI_Aint send_displacements[], MPI_Datatype send_type,
                                        void* receive_buffer, const MPI_Count receive_counts[],
                                        const MPI_Aint receive_displacements[], MPI_Datatype receive_type,
                                        MPI_Comm comm);
/* The tool information interface (MPI 3.1, 14.3; events: MPI 4.0, 15.3.8) */
#define MPI_T_ERR_MEMORY 59
#define MPI_T_ERR_NOT_INITIALIZED 60
#define MPI_T_ERR_CANNOT_INIT 61
#define MPI_T_ERR_INVALID_INDEX 62
#define MPI_T_ERR_INVALID_ITEM 63
#define MPI_T_ERR_INVALID_HANDLE 64
#define MPI_T_ERR_OUT_OF_HANDLES 65
#define MPI_T_ERR_OUT_OF_SESSIONS 66
#define MPI_T_ERR_INVALID_SESSION 67
#define MPI_T_ERR_CVAR_SET_NOT_NOW 68
#define MPI_T_ERR_CVAR_SET_NEVER 69
#define MPI_T_ERR_PVAR_NO_STARTSTOP 70
#define MPI_T_ERR_PVAR_NO_WRITE 71
#define MPI_T_ERR_PVAR_NO_ATOMIC 72
#define MPI_T_ERR_INVALID_NAME 73
#define MPI_T_ERR_INVALID 74
#define MPI_T_ERR_NOT_SUPPORTED 78
enum {
  MPI_T_VERBOSITY_USER_BASIC = 221,
  MPI_T_VERBOSITY_USER_DETAIL,
  MPI_T_VERBOSITY_USER_ALL,
  MPI_T_VERBOSITY_TUNER_BASIC,
  MPI_T_VERBOSITY_TUNER_DETAIL,
  MPI_T_VERBOSITY_TUNER_ALL,
  MPI_T_VERBOSITY_MPIDEV_BASIC,
  MPI_T_VERBOSITY_MPIDEV_DETAIL,
  MPI_T_VERBOSITY_MPIDEV_ALL
};
enum {
  MPI_T_BIND_NO_OBJECT = 9700,
  MPI_T_BIND_MPI_COMM,
  MPI_T_BIND_MPI_DATATYPE,
  MPI_T_BIND_MPI_ERRHANDLER,
  MPI_T_BIND_MPI_FILE,
  MPI_T_BIND_MPI_GROUP,
  MPI_T_BIND_MPI_OP,
  MPI_T_BIND_MPI_REQUEST,
  MPI_T_BIND_MPI_WIN,
  MPI_T_BIND_MPI_MESSAGE,
  MPI_T_BIND_MPI_INFO
};
enum {
  MPI_T_SCOPE_CONSTANT = 60438,
  MPI_T_SCOPE_READONLY,
  MPI_T_SCOPE_LOCAL,
  MPI_T_SCOPE_GROUP,
  MPI_T_SCOPE_GROUP_EQ,
  MPI_T_SCOPE_ALL,
  MPI_T_SCOPE_ALL_EQ
};
enum {
  MPI_T_PVAR_CLASS_STATE = 240,
  MPI_T_PVAR_CLASS_LEVEL,
  MPI_T_PVAR_CLASS_SIZE,
  MPI_T_PVAR_CLASS_PERCENTAGE,
  MPI_T_PVAR_CLASS_HIGHWATERMARK,
  MPI_T_PVAR_CLASS_LOWWATERMARK,
  MPI_T_PVAR_CLASS_COUNTER,
  MPI_T_PVAR_CLASS_AGGREGATE,
  MPI_T_PVAR_CLASS_TIMER,
  MPI_T_PVAR_CLASS_GENERIC
};
typedef struct MPIR_T_enum_s* MPI_T_enum;
typedef struct MPIR_T_cvar_handle_s* MPI_T_cvar_handle;
typedef struct MPIR_T_pvar_handle_s* MPI_T_pvar_handle;
typedef struct MPIR_T_pvar_session_s* MPI_T_pvar_session;
typedef struct MPIR_T_event_registration_s* MPI_T_event_registration;
typedef struct MPIR_T_event_instance_s* MPI_T_event_instance;
#define MPI_T_ENUM_NULL ((MPI_T_enum)(void*)0)
#define MPI_T_CVAR_HANDLE_NULL ((MPI_T_cvar_handle)(void*)0)
#define MPI_T_PVAR_HANDLE_NULL ((MPI_T_pvar_handle)(void*)0)
#define MPI_T_PVAR_SESSION_NULL ((MPI_T_pvar_session)(void*)0)
typedef enum MPI_T_cb_safety {
  MPI_T_CB_REQUIRE_NONE = 0,
  MPI_T_CB_REQUIRE_MPI_RESTRICTED,
  MPI_T_CB_REQUIRE_THREAD_SAFE,
  MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE
} MPI_T_cb_safety;
typedef enum MPI_T_source_order { MPI_T_SOURCE_ORDERED = 0, MPI_T_SOURCE_UNORDERED } MPI_T_source_order;
typedef void(MPI_T_event_cb_function)(MPI_T_event_instance event, MPI_T_event_registration registration,
                                      MPI_T_cb_safety safety, void* user_data);
typedef void(MPI_T_event_free_cb_function)(MPI_T_event_registration registration, MPI_T_cb_safety safety,
                                           void* user_data);
typedef void(MPI_T_event_dropped_cb_function)(MPI_Count count, MPI_T_event_registration registration,
                                              int source_index, MPI_T_cb_safety safety, void* user_data);
LLAMADA_MPI_PUBLIC extern struct MPIR_T_pvar_handle_s* const MPI_T_PVAR_ALL_HANDLES;

LLAMADA_MPI_PUBLIC int MPI_T_init_thread(int required, int* provided);
LLAMADA_MPI_PUBLIC int MPI_T_finalize(void);
LLAMADA_MPI_PUBLIC int MPI_T_enum_get_info(MPI_T_enum enumeration, int* item_count, char* name,
                                           int* name_length);
LLAMADA_MPI_PUBLIC int MPI_T_enum_get_item(MPI_T_enum enumeration, int index, int* value, char* name,
                                           int* name_length);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_get_num(int* count);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_get_info(int index, char* name, int* name_length, int* verbosity,
                                           MPI_Datatype* datatype, MPI_T_enum* enumeration, char* description,
                                           int* description_length, int* bind, int* scope);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle,
                                               int* count);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_handle_free(MPI_T_cvar_handle* handle);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_read(MPI_T_cvar_handle handle, void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_get_num(int* count);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_get_info(int index, char* name, int* name_length, int* verbosity,
                                           int* variable_class, MPI_Datatype* datatype,
                                           MPI_T_enum* enumeration, char* description,
                                           int* description_length, int* bind, int* is_readonly,
                                           int* is_continuous, int* is_atomic);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_get_index(const char* name, int variable_class, int* index);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_session_create(MPI_T_pvar_session* session);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_session_free(MPI_T_pvar_session* session);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                                               MPI_T_pvar_handle* handle, int* count);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                        const void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int MPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                            void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_num(int* count);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_info(int index, char* name, int* name_length, char* description,
                                               int* description_length, int* cvar_count, int* pvar_count,
                                               int* category_count);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_cvars(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_pvars(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_categories(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int MPI_T_category_changed(int* stamp);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_num_events(int index, int* count);
LLAMADA_MPI_PUBLIC int MPI_T_category_get_events(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int MPI_T_source_get_num(int* count);
LLAMADA_MPI_PUBLIC int MPI_T_source_get_info(int index, char* name, int* name_length, char* description,
                                             int* description_length, MPI_T_source_order* order,
                                             MPI_Count* ticks_per_second, MPI_Count* ticks_max,
                                             MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_T_source_get_timestamp(int index, MPI_Count* timestamp);
LLAMADA_MPI_PUBLIC int MPI_T_event_get_num(int* count);
LLAMADA_MPI_PUBLIC int MPI_T_event_get_info(int index, char* name, int* name_length, int* verbosity,
                                            MPI_Datatype datatypes[], MPI_Aint displacements[],
                                            int* element_count, MPI_T_enum* enumeration, MPI_Info* info,
                                            char* description, int* description_length, int* bind);
LLAMADA_MPI_PUBLIC int MPI_T_event_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int MPI_T_event_handle_alloc(int index, void* object, MPI_Info info,
                                                MPI_T_event_registration* registration);
LLAMADA_MPI_PUBLIC int MPI_T_event_handle_set_info(MPI_T_event_registration registration, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_T_event_handle_get_info(MPI_T_event_registration registration, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_T_event_handle_free(MPI_T_event_registration registration, void* user_data,
                                               MPI_T_event_free_cb_function* function);
LLAMADA_MPI_PUBLIC int MPI_T_event_register_callback(MPI_T_event_registration registration,
                                                     MPI_T_cb_safety safety, MPI_Info info, void* user_data,
                                                     MPI_T_event_cb_function* function);
LLAMADA_MPI_PUBLIC int MPI_T_event_callback_set_info(MPI_T_event_registration registration,
                                                     MPI_T_cb_safety safety, MPI_Info info);
LLAMADA_MPI_PUBLIC int MPI_T_event_callback_get_info(MPI_T_event_registration registration,
                                                     MPI_T_cb_safety safety, MPI_Info* info);
LLAMADA_MPI_PUBLIC int MPI_T_event_set_dropped_handler(MPI_T_event_registration registration,
                                                       MPI_T_event_dropped_cb_function* function);
LLAMADA_MPI_PUBLIC int MPI_T_event_read(MPI_T_event_instance event, int element_index, void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_event_copy(MPI_T_event_instance event, void* buffer);
LLAMADA_MPI_PUBLIC int MPI_T_event_get_timestamp(MPI_T_event_instance event, MPI_Count* timestamp);
LLAMADA_MPI_PUBLIC int MPI_T_event_get_source(MPI_T_event_instance event, int* source_index);

LLAMADA_MPI_PUBLIC int PMPI_T_init_thread(int required, int* provided);
LLAMADA_MPI_PUBLIC int PMPI_T_finalize(void);
LLAMADA_MPI_PUBLIC int PMPI_T_enum_get_info(MPI_T_enum enumeration, int* item_count, char* name,
                                            int* name_length);
LLAMADA_MPI_PUBLIC int PMPI_T_enum_get_item(MPI_T_enum enumeration, int index, int* value, char* name,
                                            int* name_length);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_get_num(int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_get_info(int index, char* name, int* name_length, int* verbosity,
                                            MPI_Datatype* datatype, MPI_T_enum* enumeration,
                                            char* description, int* description_length, int* bind,
                                            int* scope);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_handle_alloc(int index, void* object, MPI_T_cvar_handle* handle,
                                                int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_handle_free(MPI_T_cvar_handle* handle);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_get_num(int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_get_info(int index, char* name, int* name_length, int* verbosity,
                                            int* variable_class, MPI_Datatype* datatype,
                                            MPI_T_enum* enumeration, char* description,
                                            int* description_length, int* bind, int* is_readonly,
                                            int* is_continuous, int* is_atomic);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_get_index(const char* name, int variable_class, int* index);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_session_create(MPI_T_pvar_session* session);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_session_free(MPI_T_pvar_session* session);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session session, int index, void* object,
                                                MPI_T_pvar_handle* handle, int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_handle_free(MPI_T_pvar_session session, MPI_T_pvar_handle* handle);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_start(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_stop(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_read(MPI_T_pvar_session session, MPI_T_pvar_handle handle, void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_write(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                         const void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_reset(MPI_T_pvar_session session, MPI_T_pvar_handle handle);
LLAMADA_MPI_PUBLIC int PMPI_T_pvar_readreset(MPI_T_pvar_session session, MPI_T_pvar_handle handle,
                                             void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_num(int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_info(int index, char* name, int* name_length, char* description,
                                                int* description_length, int* cvar_count, int* pvar_count,
                                                int* category_count);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_cvars(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_pvars(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_categories(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int PMPI_T_category_changed(int* stamp);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_num_events(int index, int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_category_get_events(int index, int length, int indices[]);
LLAMADA_MPI_PUBLIC int PMPI_T_source_get_num(int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_source_get_info(int index, char* name, int* name_length, char* description,
                                              int* description_length, MPI_T_source_order* order,
                                              MPI_Count* ticks_per_second, MPI_Count* ticks_max,
                                              MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_T_source_get_timestamp(int index, MPI_Count* timestamp);
LLAMADA_MPI_PUBLIC int PMPI_T_event_get_num(int* count);
LLAMADA_MPI_PUBLIC int PMPI_T_event_get_info(int index, char* name, int* name_length, int* verbosity,
                                             MPI_Datatype datatypes[], MPI_Aint displacements[],
                                             int* element_count, MPI_T_enum* enumeration, MPI_Info* info,
                                             char* description, int* description_length, int* bind);
LLAMADA_MPI_PUBLIC int PMPI_T_event_get_index(const char* name, int* index);
LLAMADA_MPI_PUBLIC int PMPI_T_event_handle_alloc(int index, void* object, MPI_Info info,
                                                 MPI_T_event_registration* registration);
LLAMADA_MPI_PUBLIC int PMPI_T_event_handle_set_info(MPI_T_event_registration registration, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_T_event_handle_get_info(MPI_T_event_registration registration, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_T_event_handle_free(MPI_T_event_registration registration, void* user_data,
                                                MPI_T_event_free_cb_function* function);
LLAMADA_MPI_PUBLIC int PMPI_T_event_register_callback(MPI_T_event_registration registration,
                                                      MPI_T_cb_safety safety, MPI_Info info, void* user_data,
                                                      MPI_T_event_cb_function* function);
LLAMADA_MPI_PUBLIC int PMPI_T_event_callback_set_info(MPI_T_event_registration registration,
                                                      MPI_T_cb_safety safety, MPI_Info info);
LLAMADA_MPI_PUBLIC int PMPI_T_event_callback_get_info(MPI_T_event_registration registration,
                                                      MPI_T_cb_safety safety, MPI_Info* info);
LLAMADA_MPI_PUBLIC int PMPI_T_event_set_dropped_handler(MPI_T_event_registration registration,
                                                        MPI_T_event_dropped_cb_function* function);
LLAMADA_MPI_PUBLIC int PMPI_T_event_read(MPI_T_event_instance event, int element_index, void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_event_copy(MPI_T_event_instance event, void* buffer);
LLAMADA_MPI_PUBLIC int PMPI_T_event_get_timestamp(MPI_T_event_instance event, MPI_Count* timestamp);
LLAMADA_MPI_PUBLIC int PMPI_T_event_get_source(MPI_T_event_instance event, int* source_index);

#if defined(__cplusplus)
}
#endif

/* MPIX_ functions: what goes beyond MPI. */
#include "mpi-ext.h"

#endif
