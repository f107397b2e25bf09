#include <mpi.h>

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>

#include "object/error_handler_table.hpp"
#include "object/status.hpp"
#include "runtime/entry.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada::mpi;

// MPICH's binary interface, in its own numbers.
static_assert(sizeof(MPI_Status) == 20 && offsetof(MPI_Status, MPI_SOURCE) == 8 &&
              offsetof(MPI_Status, MPI_TAG) == 12 && offsetof(MPI_Status, MPI_ERROR) == 16 &&
              offsetof(MPI_Status, count_hi_and_cancelled) == 4);
static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8 && sizeof(MPI_Offset) == 8 &&
              sizeof(MPI_Comm) == 4);
static_assert(MPI_COMM_WORLD == make_handle(HandleKind::builtin, ObjectKind::communicator, 0));
static_assert(MPI_GROUP_EMPTY == make_handle(HandleKind::builtin, ObjectKind::group, 0));
static_assert(MPI_FLOAT_INT == make_handle(HandleKind::direct, ObjectKind::datatype, 0));
static_assert(MPI_SUM == make_handle(HandleKind::builtin, ObjectKind::operation, 3));
static_assert(MPI_REQUEST_NULL == make_handle(HandleKind::invalid, ObjectKind::request, 0));
static_assert(MPI_KEYVAL_INVALID == make_handle(HandleKind::invalid, ObjectKind::keyval, 0));
static_assert(MPI_DOUBLE == 0x4c00080b && MPI_ANY_SOURCE == -2 && MPI_ANY_TAG == -1 && MPI_PROC_NULL == -1);

namespace {

/// MPI as after MPI_Init in the only rank, with errors returned.
class Alone {
 public:
  Alone() {
    runtime.add_world(0, 1, 0, 1);
    runtime.stage.initialized = true;
    install_runtime(&runtime);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  }
  ~Alone() { install_runtime(nullptr); }

  Runtime runtime;
};

int seen = 0;
void remember(MPI_Comm*, int* code, ...) { seen = *code; }
void ignore(MPI_File*, int*, ...) {}

}  // namespace

TEST_CASE("status: byte counts of 63 bits and the cancelled bit do not touch each other", "[mpi][status]") {
  MPI_Status status{};
  for (const std::uint64_t bytes : {0ULL, 1ULL, 0xffffffffULL, 0x100000000ULL, 0x7fffffffffffffffULL}) {
    set_byte_count(status, bytes);
    set_cancelled(status, true);
    CHECK((byte_count(status) == bytes && is_cancelled(status)));
    set_byte_count(status, bytes);
    CHECK(is_cancelled(status));
    set_cancelled(status, false);
    CHECK((byte_count(status) == bytes && !is_cancelled(status)));
  }
}

TEST_CASE("datatype functions: sizes of predefined types are in their handles", "[mpi][api]") {
  const Alone mpi;
  for (const MPI_Datatype type :
       {MPI_CHAR, MPI_INT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_DOUBLE_COMPLEX, MPI_2INT}) {
    int size = 0;
    REQUIRE(MPI_Type_size(type, &size) == MPI_SUCCESS);
    CHECK(size == (type >> 8 & 0xff));
  }
  MPI_Aint lower = -1, extent = 0;
  MPI_Type_get_extent(MPI_SHORT_INT, &lower, &extent);
  CHECK((lower == 0 && extent == 8));
  MPI_Type_get_extent(MPI_LONG_DOUBLE_INT, &lower, &extent);
  CHECK(extent == 32);
  int size = 0;
  MPI_Type_size(MPI_LONG_DOUBLE_INT, &size);
  CHECK(size == 20);
}

TEST_CASE("datatype functions: contents tell how a type was made", "[mpi][api]") {
  const Alone mpi;
  MPI_Datatype inner, outer;
  MPI_Type_vector(3, 2, 5, MPI_INT, &inner);
  MPI_Type_contiguous(4, inner, &outer);
  int integers = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Type_get_envelope(inner, &integers, &addresses, &types, &combiner);
  CHECK((integers == 3 && addresses == 0 && types == 1 && combiner == MPI_COMBINER_VECTOR));
  int values[3];
  MPI_Datatype of;
  MPI_Type_get_contents(inner, 3, 0, 1, values, nullptr, &of);
  CHECK((values[0] == 3 && values[1] == 2 && values[2] == 5 && of == MPI_INT));
  MPI_Type_get_contents(outer, 1, 0, 1, values, nullptr, &of);
  CHECK(of != inner);
  CHECK(MPI_Type_free(&of) == MPI_SUCCESS);
  CHECK(MPI_Type_free(&inner) == MPI_SUCCESS);
  CHECK(inner == MPI_DATATYPE_NULL);
  int size = 0;
  CHECK((MPI_Type_size(outer, &size) == MPI_SUCCESS && size == 96));
  MPI_Type_free(&outer);
  CHECK(mpi.runtime.datatypes.find(outer) == nullptr);
}

TEST_CASE("datatype functions: contents have addresses apart, and large counts in a list of their own",
          "[mpi][api]") {
  const Alone mpi;
  const int lengths[] = {2, 3};
  const MPI_Aint places[] = {0, 40};
  const MPI_Datatype parts[] = {MPI_INT, MPI_DOUBLE};
  const MPI_Count large_lengths[] = {2, 3}, large_places[] = {0, 40};
  MPI_Datatype type, of[2];
  int integers[3], count = 0, addresses = 0, types = 0, combiner = 0;
  MPI_Aint bytes[2];
  MPI_Type_create_struct(2, lengths, places, parts, &type);
  MPI_Type_get_envelope(type, &count, &addresses, &types, &combiner);
  CHECK((count == 3 && addresses == 2 && types == 2 && combiner == MPI_COMBINER_STRUCT));
  MPI_Type_get_contents(type, 3, 2, 2, integers, bytes, of);
  CHECK((integers[0] == 2 && integers[1] == 2 && integers[2] == 3 && bytes[0] == 0 && bytes[1] == 40));
  CHECK((of[0] == MPI_INT && of[1] == MPI_DOUBLE));
  MPI_Type_free(&type);

  MPI_Type_create_struct_c(2, large_lengths, large_places, parts, &type);
  CHECK(MPI_Type_get_envelope(type, &count, &addresses, &types, &combiner) == MPI_ERR_TYPE);
  MPI_Count small = -1, places_count = -1, large = -1, type_count = -1, numbers[5];
  MPI_Type_get_envelope_c(type, &small, &places_count, &large, &type_count, &combiner);
  CHECK((small == 0 && places_count == 0 && large == 5 && type_count == 2));
  MPI_Type_get_contents_c(type, 0, 0, 5, 2, nullptr, nullptr, numbers, of);
  CHECK((numbers[0] == 2 && numbers[1] == 2 && numbers[2] == 3 && numbers[3] == 0 && numbers[4] == 40));
  MPI_Type_free(&type);

  MPI_Type_create_resized(MPI_INT, -4, 12, &type);
  MPI_Type_get_envelope_c(type, &small, &places_count, &large, &type_count, &combiner);
  CHECK((small == 0 && places_count == 2 && large == 0 && type_count == 1));
  MPI_Type_get_contents(type, 0, 2, 1, nullptr, bytes, of);
  CHECK((bytes[0] == -4 && bytes[1] == 12 && of[0] == MPI_INT));
  MPI_Type_free(&type);

  // Displacements in extents become bytes; one without an address is refused.
  MPI_Datatype wide, far;
  MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{1} << 40, &wide);
  CHECK(MPI_Type_vector(2, 1, 1 << 30, wide, &far) == MPI_ERR_ARG);
  MPI_Type_free(&wide);
}

TEST_CASE("datatype functions: bounds that are out of reach are refused", "[mpi][api]") {
  const Alone mpi;
  constexpr MPI_Aint most = MPI_Aint{1} << 61, largest = std::numeric_limits<MPI_Aint>::max();
  MPI_Datatype type, below, both;
  CHECK(MPI_Type_create_resized(MPI_INT, largest, 4, &type) == MPI_ERR_COUNT);
  CHECK(MPI_Type_create_resized(MPI_INT, 4, largest, &type) == MPI_ERR_COUNT);
  CHECK(MPI_Type_create_resized(MPI_INT, std::numeric_limits<MPI_Aint>::min(), -1, &type) == MPI_ERR_COUNT);
  CHECK(MPI_Type_create_resized(MPI_INT, most, 1, &type) == MPI_ERR_COUNT);
  CHECK(MPI_Type_create_resized_c(MPI_INT, 1, most, &type) == MPI_ERR_COUNT);
  // The farthest bounds on both sides are still an extent.
  REQUIRE(MPI_Type_create_resized(MPI_INT, most, 0, &type) == MPI_SUCCESS);
  REQUIRE(MPI_Type_create_resized(MPI_INT, -most, most, &below) == MPI_SUCCESS);
  const int lengths[] = {1, 1};
  const MPI_Aint places[] = {0, 0};
  const MPI_Datatype types[] = {type, below};
  REQUIRE(MPI_Type_create_struct(2, lengths, places, types, &both) == MPI_SUCCESS);
  MPI_Aint low = 0, extent = 0;
  MPI_Type_get_extent(both, &low, &extent);
  CHECK((low == -most && extent == 2 * most));
  for (MPI_Datatype each : {type, below, both}) MPI_Type_free(&each);
}

TEST_CASE("datatype functions: packing needs a committed type and room", "[mpi][api]") {
  const Alone mpi;
  MPI_Datatype column;
  MPI_Type_vector(3, 1, 4, MPI_INT, &column);
  const int matrix[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int packed[3] = {}, position = 0;
  CHECK(MPI_Pack(matrix, 1, column, packed, 12, &position, MPI_COMM_WORLD) == MPI_ERR_TYPE);
  MPI_Type_commit(&column);
  CHECK(MPI_Pack(matrix, 1, column, packed, 11, &position, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE);
  CHECK(MPI_Pack(matrix, 1, column, packed, 12, &position, MPI_COMM_WORLD) == MPI_SUCCESS);
  CHECK((position == 12 && packed[2] == 8));
  MPI_Type_free(&column);
}

TEST_CASE("status functions: counts of a partial message", "[mpi][api]") {
  const Alone mpi;
  MPI_Status status{};
  set_byte_count(status, 12);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(count == 3);
  MPI_Get_count(&status, MPI_DOUBLE, &count);
  CHECK(count == MPI_UNDEFINED);
  MPI_Get_elements(&status, MPI_DOUBLE_INT, &count);
  CHECK(count == 2);
  set_byte_count(status, 8);
  MPI_Get_elements(&status, MPI_DOUBLE_INT, &count);
  CHECK(count == 1);
  MPI_Status_set_elements(&status, MPI_DOUBLE_INT, 3);
  CHECK(byte_count(status) == 20);
}

TEST_CASE("errors: what is wrong is returned, and said in words", "[mpi][api]") {
  const Alone mpi;
  int result = 0;
  CHECK(MPI_Comm_size(MPI_COMM_NULL, &result) == MPI_ERR_COMM);
  CHECK(MPI_Type_size(MPI_DATATYPE_NULL, &result) == MPI_ERR_TYPE);
  CHECK(MPI_Type_size(12345, &result) == MPI_ERR_TYPE);
  CHECK(MPI_Group_size(MPI_GROUP_NULL, &result) == MPI_ERR_GROUP);
  CHECK(MPI_Op_commutative(MPI_OP_NULL, &result) == MPI_ERR_OP);
  MPI_Datatype type;
  CHECK(MPI_Type_contiguous(-3, MPI_INT, &type) == MPI_ERR_COUNT);
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_string(MPI_ERR_COUNT, text, &result);
  CHECK(std::string(text).find("-3") != std::string::npos);
  CHECK(result == static_cast<int>(std::strlen(text)));
}

TEST_CASE("errors: the program's handler, classes and codes", "[mpi][api]") {
  const Alone mpi;
  seen = 0;
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(remember, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  MPI_Errhandler_free(&handler);
  CHECK(handler == MPI_ERRHANDLER_NULL);
  int result = 0;
  CHECK(MPI_Comm_rank(MPI_COMM_NULL, &result) == MPI_ERR_COMM);
  CHECK(seen == MPI_ERR_COMM);
  int error_class = 0, code = 0;
  MPI_Add_error_class(&error_class);
  MPI_Add_error_code(error_class, &code);
  MPI_Add_error_string(code, "no tea");
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
  CHECK(seen == code);
  MPI_Error_class(code, &result);
  CHECK(result == error_class);
  char text[MPI_MAX_ERROR_STRING];
  MPI_Error_string(code, text, &result);
  CHECK(std::string(text) == "no tea");
}

TEST_CASE("error handlers: each fits the objects that it was made for", "[mpi][api]") {
  const Alone mpi;
  using For = ErrorHandler::For;
  constexpr For all[] = {For::communicators, For::windows, For::files, For::sessions};
  MPI_Errhandler handlers[4];
  MPI_Comm_create_errhandler(remember, &handlers[0]);
  MPI_Win_create_errhandler(remember, &handlers[1]);
  MPI_File_create_errhandler(ignore, &handlers[2]);
  MPI_Session_create_errhandler(remember, &handlers[3]);
  for (int objects = 0; objects < 4; ++objects) {
    for (int of = 0; of < 4; ++of)
      CHECK(find_error_handler(handlers[of], all[objects]).has_value() == (of == objects));
    CHECK(find_error_handler(MPI_ERRORS_RETURN, all[objects]));
    CHECK_FALSE(find_error_handler(MPI_ERRHANDLER_NULL, all[objects]));
  }
  const auto refused = find_error_handler(handlers[1], For::communicators);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text() ==
        "the error handler is not for communicators: make one with MPI_Comm_create_errhandler");
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[1]) == MPI_ERR_ARG);
  CHECK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[2]) == MPI_ERR_ARG);
  CHECK(MPI_File_set_errhandler(MPI_FILE_NULL, handlers[1]) == MPI_ERR_ARG);
  for (MPI_Errhandler handler : handlers) MPI_Errhandler_free(&handler);
}

TEST_CASE("attributes: callbacks run, and predefined ones cannot be changed", "[mpi][api]") {
  const Alone mpi;
  static int deleted;
  deleted = 0;
  int keyval = 0;
  MPI_Comm_create_keyval(
      MPI_COMM_NULL_COPY_FN,
      [](MPI_Comm, int, void*, void*) {
        ++deleted;
        return MPI_SUCCESS;
      },
      &keyval, nullptr);
  int first = 1, second = 2, flag = 1;
  void* value = nullptr;
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK(flag == 0);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &first);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &second);
  CHECK(deleted == 1);
  MPI_Comm_get_attr(MPI_COMM_WORLD, keyval, &value, &flag);
  CHECK((flag == 1 && value == &second));
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
  CHECK(deleted == 2);
  CHECK(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &first) == MPI_ERR_KEYVAL);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &flag);
  CHECK((flag == 1 && *static_cast<int*>(value) >= 32767));
  MPI_Comm_free_keyval(&keyval);
  CHECK(keyval == MPI_KEYVAL_INVALID);
}

TEST_CASE("info: keys keep their order", "[mpi][api]") {
  const Alone mpi;
  MPI_Info info, copy;
  MPI_Info_create(&info);
  MPI_Info_set(info, "one", "eins");
  MPI_Info_set(info, "two", "zwei");
  MPI_Info_set(info, "one", "uno");
  MPI_Info_dup(info, &copy);
  MPI_Info_delete(info, "one");
  int count = 0, flag = 0;
  MPI_Info_get_nkeys(info, &count);
  CHECK(count == 1);
  char value[4];
  MPI_Info_get(copy, "two", 3, value, &flag);
  CHECK((flag == 1 && std::string(value) == "zwe"));
  CHECK(MPI_Info_delete(info, "one") == MPI_ERR_INFO_NOKEY);
  MPI_Info_free(&info);
  MPI_Info_free(&copy);
  CHECK(info == MPI_INFO_NULL);
}

TEST_CASE("calls: each is counted and published, callbacks within one are not lost", "[mpi][api]") {
  Alone mpi;
  std::atomic<std::uint32_t> id{0};
  std::atomic<std::uint64_t> index{0};
  mpi.runtime.calls.publish_to(&id, &index);
  const std::uint64_t before = mpi.runtime.calls.begun();
  bool reached = false;
  mpi.runtime.calls.watch(before + 2, [&] { reached = true; });
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_FALSE(reached);
  {
    LLAMADA_MPI_ENTER(Op_create);
    CHECK(id == static_cast<std::uint32_t>(CallId::Op_create));
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(id == static_cast<std::uint32_t>(CallId::Op_create));
  }
  CHECK(reached);
  CHECK((id == 0 && index == before + 3));
  {
    const BriefCall brief(mpi.runtime, CallId::Send);
    CHECK((id == static_cast<std::uint32_t>(CallId::Send) && index == before + 4));
    CHECK(mpi.runtime.calls.current() == CallId::none);
  }
  CHECK((id == 0 && mpi.runtime.calls.begun() == before + 4));
  mpi.runtime.calls.watch(before + 5, [] {});
  CHECK(mpi.runtime.calls.is_watched_next());
  CHECK_FALSE(BriefCall::is_possible(&mpi.runtime));
  CHECK_FALSE(BriefCall::is_possible(nullptr));
  CHECK(call_name(CallId::Send) == "MPI_Send");
  CHECK(call_name(static_cast<CallId>(100000)) == "an unknown MPI function");
}
