#include <cstring>
#include <memory>

#include "p2p/api_common.hpp"
#include "rma/accumulate.hpp"
#include "rma/api_common.hpp"

// Communication (MPI 3.1, 11.3). Each operation is done when its function returns, so that a request is
// complete from the start; but small ones on memory that is reached through the kernel wait in the target's
// batch for more of them, or for a synchronisation.

namespace {

using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::rma;

/// The target's arguments of a call, as the program gave them.
struct TargetArguments {
  int rank;
  MPI_Aint displacement;
  int count;
  MPI_Datatype type;
};

/// A call's window and target, found and checked. Of a null target nothing is done.
struct Access {
  Window* window = nullptr;
  int rank = MPI_PROC_NULL;
  Target target;
  bool is_null() const { return rank == MPI_PROC_NULL; }
};

int check_range(Window& window, int rank, const Target& target) {
  if (target.bytes() == 0) return MPI_SUCCESS;
  const WindowMember& member = window.member(rank);
  const std::uint64_t begin =
      target.address + static_cast<std::uint64_t>(target.type->span_begin(target.count));
  const std::uint64_t bytes = target.type->span_bytes(target.count);
  if (window.is_dynamic()) {
    // Of a sparse type only its ends: it may leave out what is not attached.
    const auto& regions = window.control().regions(rank);
    const bool good = target.type->is_contiguous()
                          ? is_attached(regions, begin, bytes)
                          : is_attached(regions, begin, 1) && is_attached(regions, begin + bytes - 1, 1);
    if (good) return MPI_SUCCESS;
    return report(window, MPI_ERR_RMA_RANGE,
                  fmt::format("{} bytes at {:#x} are not all attached by rank {}", bytes, begin, rank));
  }
  if (begin >= member.base && bytes <= member.size_bytes && begin - member.base <= member.size_bytes - bytes)
    return MPI_SUCCESS;
  return report(window, MPI_ERR_RMA_RANGE,
                fmt::format("bytes {} to {} of the {} that rank {} shows",
                            static_cast<std::int64_t>(begin - member.base),
                            static_cast<std::int64_t>(begin - member.base + bytes), member.size_bytes, rank));
}

int find_target(Access& access, const TargetArguments& arguments, bool passive) {
  Window& window = *access.window;
  if (int code = check_target(window, arguments.rank)) return code;
  if (arguments.rank == MPI_PROC_NULL) return MPI_SUCCESS;
  Operand described;
  // Only the type and the count are looked at: the address is the target's.
  if (int code = find_operand(window, &described, arguments.count, arguments.type, described)) return code;
  if (arguments.displacement < 0 && !window.is_dynamic())
    return report(window, MPI_ERR_DISP, fmt::format("the displacement is {}", arguments.displacement));
  if (!has_open_lock(window, arguments.rank))
    if (int code = report_fault(window, may_access(window, arguments.rank, passive))) return code;
  access.rank = arguments.rank;
  const WindowMember& member = window.member(arguments.rank);
  access.target.address = member.base + static_cast<std::uint64_t>(arguments.displacement) *
                                            static_cast<std::uint64_t>(member.displacement_unit);
  access.target.count = described.count;
  access.target.type = described.type;
  access.target.pid = member.pid;
  access.target.direct = member.here != nullptr || arguments.rank == window.rank();
  return check_range(window, arguments.rank, access.target);
}

int check_fit(Window& window, std::size_t moved, std::size_t room, const char* where) {
  if (moved <= room) return MPI_SUCCESS;
  return report(window, MPI_ERR_TRUNCATE,
                fmt::format("{} bytes do not fit the {} bytes of the {}", moved, room, where));
}

/// Carries out at once what is not small, or has a request: behind what was recorded before it.
template <typename CarryOut>
int at_once(const Access& access, CarryOut&& carry_out_this) {
  Window& window = *access.window;
  if (!access.target.direct)
    if (int code = report_status(window, carry_out(window, access.rank))) return code;
  return report_status(window, carry_out_this());
}

/// Whether an operation with so many bytes of the target may wait in the target's batch.
bool may_wait(const Access& access, std::size_t bytes, bool passive, std::size_t bytes_max) {
  return !access.target.direct && !passive && bytes <= bytes_max && access.target.type->is_contiguous();
}
bool is_small(const Access& access, std::size_t bytes, bool passive) {
  return may_wait(access, bytes, passive, Batch::operation_bytes_max);
}
/// The same of a put or a get.
bool is_short(const Access& access, std::size_t bytes, bool passive) {
  return may_wait(access, bytes, passive, Batch::straight_bytes_max);
}
bool has(const Operand& buffer, std::size_t bytes) {
  return buffer.type->is_contiguous() && buffer.bytes() >= bytes;
}

std::byte* data_of(const Operand& operand) { return operand.type->data(operand.base); }

/// Where the data of a contiguous type begin.
std::uint64_t data_of(const Target& target) {
  return target.address + static_cast<std::uint64_t>(target.type->true_lower_bound());
}

/// For an operation that is_small(), or is_short().
int record(const Access& access, const SmallOperation& operation) {
  Batch& batch = access.window->batch(access.rank);
  if (batch.add(operation)) return MPI_SUCCESS;
  if (int code = report_status(*access.window, carry_out(*access.window, access.rank))) return code;
  LLAMADA_CHECK(batch.add(operation));
  return MPI_SUCCESS;
}

int do_put(const void* origin, int count, MPI_Datatype type, const TargetArguments& arguments, MPI_Win win,
           bool passive) {
  Access access;
  Operand operand;
  if (int code = find_window(win, access.window)) return code;
  if (int code = find_operand(*access.window, origin, count, type, operand)) return code;
  if (int code = find_target(access, arguments, passive)) return code;
  if (access.is_null() || operand.bytes() == 0) return MPI_SUCCESS;
  if (int code = check_fit(*access.window, operand.bytes(), access.target.bytes(), "target")) return code;
  if (is_short(access, operand.bytes(), passive) && has(operand, operand.bytes()))
    return record(access,
                  {.address = data_of(access.target), .bytes = operand.bytes(), .given = data_of(operand)});
  return at_once(access, [&] { return put(operand, access.target); });
}

int do_get(void* origin, int count, MPI_Datatype type, const TargetArguments& arguments, MPI_Win win,
           bool passive) {
  Access access;
  Operand operand;
  if (int code = find_window(win, access.window)) return code;
  if (int code = find_operand(*access.window, origin, count, type, operand)) return code;
  if (int code = find_target(access, arguments, passive)) return code;
  if (access.is_null() || access.target.bytes() == 0) return MPI_SUCCESS;
  if (int code = check_fit(*access.window, access.target.bytes(), operand.bytes(), "origin")) return code;
  if (is_short(access, access.target.bytes(), passive) && has(operand, access.target.bytes()))
    return record(
        access,
        {.address = data_of(access.target), .bytes = access.target.bytes(), .result = data_of(operand)});
  return at_once(access, [&] { return get(operand, access.target); });
}

/// The operation of an accumulate and the type that it works on; of MPI_REPLACE and MPI_NO_OP any type.
struct Reduction {
  MPI_Op op = MPI_OP_NULL;
  const Operation* operation = nullptr;
  const Datatype* basic = nullptr;

  /// Whether elements have no gaps, which a batch wants.
  bool is_plain() const { return !basic || basic->is_contiguous(); }
  SmallOperation small(std::uint64_t address, std::size_t bytes, const std::byte* given,
                       std::byte* result) const {
    return {.address = address,
            .bytes = bytes,
            .given = given,
            .result = result,
            .operation = basic ? operation : nullptr,
            .basic = basic,
            .is_accumulate = true};
  }
};

int find_reduction(Window& window, MPI_Op op, const Operand* origin, const Target& target, Reduction& found) {
  found.op = op;
  found.operation = runtime().operations.find(op);
  if (!found.operation) return report(window, MPI_ERR_OP, "the operation is MPI_OP_NULL, or was freed");
  if (!found.operation->is_predefined())
    return report(window, MPI_ERR_OP, "a user-defined operation: accumulates want a predefined one (11.3.4)");
  if (op == MPI_NO_OP || op == MPI_REPLACE) return MPI_SUCCESS;
  if (!origin || origin->bytes() == 0) return MPI_SUCCESS;  // nothing is reduced, whatever the types are
  found.basic = basic_type_of(*target.type);
  const Datatype* given = origin ? basic_type_of(*origin->type) : found.basic;
  if (!found.basic || !given || given->size() != found.basic->size())
    return report(window, MPI_ERR_TYPE,
                  "the elements of origin and target are not all of one predefined type");
  if (!may_accumulate(op, *found.operation, *found.basic))
    return report(window, MPI_ERR_OP,
                  fmt::format("{} is not defined for {}", found.operation->name(), found.basic->name()));
  return MPI_SUCCESS;
}

int do_accumulate(const void* origin, int count, MPI_Datatype type, const TargetArguments& arguments,
                  MPI_Op op, MPI_Win win, bool passive) {
  Access access;
  Operand operand;
  Reduction reduction;
  if (int code = find_window(win, access.window)) return code;
  Window& window = *access.window;
  if (int code = find_operand(window, origin, count, type, operand)) return code;
  if (int code = find_target(access, arguments, passive)) return code;
  if (access.is_null()) return MPI_SUCCESS;
  if (op == MPI_NO_OP)
    return report(window, MPI_ERR_OP, "MPI_NO_OP is for MPI_Get_accumulate and MPI_Fetch_and_op (11.3.4)");
  if (int code = find_reduction(window, op, &operand, access.target, reduction)) return code;
  if (operand.bytes() == 0) return MPI_SUCCESS;
  if (int code = check_fit(window, operand.bytes(), access.target.bytes(), "target")) return code;
  if (is_small(access, operand.bytes(), passive) && has(operand, operand.bytes()) && reduction.is_plain())
    return record(access,
                  reduction.small(data_of(access.target), operand.bytes(), data_of(operand), nullptr));
  return at_once(access, [&] {
    const AccumulateScope scope(window, access.rank);
    return accumulate(operand, access.target, op, *reduction.operation,
                      reduction.basic ? *reduction.basic : *operand.type);
  });
}

/// The result goes into the program's buffer before the target changes.
Status get_and_accumulate(const Operand* origin, const Operand& result, const Target& target,
                          const Reduction& reduction) {
  if (auto got = get(result, target); !got || !origin || origin->bytes() == 0) return got;
  return accumulate(*origin, target, reduction.op, *reduction.operation,
                    reduction.basic ? *reduction.basic : *origin->type);
}

int do_get_accumulate(const void* origin, int count, MPI_Datatype type, void* result, int result_count,
                      MPI_Datatype result_type, const TargetArguments& arguments, MPI_Op op, MPI_Win win,
                      bool passive) {
  Access access;
  Operand operand, result_operand;
  Reduction reduction;
  if (int code = find_window(win, access.window)) return code;
  Window& window = *access.window;
  const bool has_origin = op != MPI_NO_OP;  // else its three arguments are not looked at
  if (has_origin)
    if (int code = find_operand(window, origin, count, type, operand)) return code;
  if (int code = find_operand(window, result, result_count, result_type, result_operand)) return code;
  if (int code = find_target(access, arguments, passive)) return code;
  if (access.is_null()) return MPI_SUCCESS;
  if (int code = find_reduction(window, op, has_origin ? &operand : nullptr, access.target, reduction))
    return code;
  if (access.target.bytes() == 0) return MPI_SUCCESS;
  if (int code = check_fit(window, access.target.bytes(), result_operand.bytes(), "result")) return code;
  if (has_origin)
    if (int code = check_fit(window, operand.bytes(), access.target.bytes(), "target")) return code;
  const std::size_t bytes = access.target.bytes();
  if (is_small(access, bytes, passive) && has(result_operand, bytes) &&
      (!has_origin || (has(operand, bytes) && reduction.is_plain())))
    return record(access, reduction.small(data_of(access.target), bytes,
                                          has_origin ? data_of(operand) : nullptr, data_of(result_operand)));
  return at_once(access, [&] {
    const AccumulateScope scope(window, access.rank);
    return get_and_accumulate(has_origin ? &operand : nullptr, result_operand, access.target, reduction);
  });
}

/// MPI_Compare_and_swap is for integers, logicals and bytes (11.3.4).
bool can_be_compared(MPI_Datatype type, const Operation& bitwise_or, const Datatype& found) {
  if (!found.is_predefined()) return false;
  for (const MPI_Datatype other : {MPI_BYTE, MPI_CHAR, MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL})
    if (type == other) return true;
  return bitwise_or.accepts(found);
}

int compare_and_swap(const Access& access, const Operand& origin, const void* compare, void* result) {
  const std::size_t bytes = origin.bytes();
  if (!access.target.direct)
    return record(access, {.address = data_of(access.target),
                           .bytes = bytes,
                           .given = data_of(origin),
                           .result = static_cast<std::byte*>(result),
                           .compare = static_cast<const std::byte*>(compare),
                           .is_accumulate = true});
  std::byte* there = access.target.memory();
  const AccumulateScope scope(*access.window, access.rank);
  const bool is_equal = std::memcmp(there, compare, bytes) == 0;
  std::memcpy(result, there, bytes);
  if (is_equal) std::memcpy(there, data_of(origin), bytes);
  return MPI_SUCCESS;
}

/// Complete from the start.
class DoneTask final : public Task {
 public:
  bool step() override { return true; }
};

int begin_done(int code, MPI_Request* request) {
  return code == MPI_SUCCESS ? begin_task(std::make_unique<DoneTask>(), request) : code;
}

int check_request(MPI_Win win, const MPI_Request* request) {
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  return rma::check_pointer(*window, request, "request");
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Put)
int PMPI_Put(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
             MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  LLAMADA_MPI_ENTER(Put);
  return do_put(origin, origin_count, origin_type,
                {target_rank, target_displacement, target_count, target_type}, win, false);
}

LLAMADA_MPI_FUNCTION(Get)
int PMPI_Get(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
             MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Win win) {
  LLAMADA_MPI_ENTER(Get);
  return do_get(origin, origin_count, origin_type,
                {target_rank, target_displacement, target_count, target_type}, win, false);
}

LLAMADA_MPI_FUNCTION(Accumulate)
int PMPI_Accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                    MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                    MPI_Win win) {
  LLAMADA_MPI_ENTER(Accumulate);
  return do_accumulate(origin, origin_count, origin_type,
                       {target_rank, target_displacement, target_count, target_type}, op, win, false);
}

LLAMADA_MPI_FUNCTION(Get_accumulate)
int PMPI_Get_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result_buffer,
                        int result_count, MPI_Datatype result_type, int target_rank,
                        MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                        MPI_Win win) {
  LLAMADA_MPI_ENTER(Get_accumulate);
  return do_get_accumulate(origin, origin_count, origin_type, result_buffer, result_count, result_type,
                           {target_rank, target_displacement, target_count, target_type}, op, win, false);
}

LLAMADA_MPI_FUNCTION(Fetch_and_op)
int PMPI_Fetch_and_op(const void* origin, void* result_buffer, MPI_Datatype datatype, int target_rank,
                      MPI_Aint target_displacement, MPI_Op op, MPI_Win win) {
  LLAMADA_MPI_ENTER(Fetch_and_op);
  Window* window = nullptr;
  if (int code = find_window(win, window)) return code;
  if (const Datatype* type = runtime().datatypes.find(datatype); type && !type->is_predefined())
    return report(*window, MPI_ERR_TYPE, "the datatype is not a predefined one");
  return do_get_accumulate(origin, 1, datatype, result_buffer, 1, datatype,
                           {target_rank, target_displacement, 1, datatype}, op, win, false);
}

LLAMADA_MPI_FUNCTION(Compare_and_swap)
int PMPI_Compare_and_swap(const void* origin, const void* compare, void* result_buffer, MPI_Datatype datatype,
                          int target_rank, MPI_Aint target_displacement, MPI_Win win) {
  LLAMADA_MPI_ENTER(Compare_and_swap);
  Access access;
  Operand operand;
  if (int code = find_window(win, access.window)) return code;
  if (int code = find_operand(*access.window, origin, 1, datatype, operand)) return code;
  if (int code = rma::check_pointer(*access.window, compare, "compare buffer")) return code;
  if (int code = rma::check_pointer(*access.window, result_buffer, "result buffer")) return code;
  if (!can_be_compared(datatype, *runtime().operations.find(MPI_BOR), *operand.type))
    return report(*access.window, MPI_ERR_TYPE, "the datatype is no integer, logical or byte");
  if (int code = find_target(access, {target_rank, target_displacement, 1, datatype}, false)) return code;
  if (access.is_null()) return MPI_SUCCESS;
  return compare_and_swap(access, operand, compare, result_buffer);
}

LLAMADA_MPI_FUNCTION(Rput)
int PMPI_Rput(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
              MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
              MPI_Request* request) {
  LLAMADA_MPI_ENTER(Rput);
  if (int code = check_request(win, request)) return code;
  return begin_done(do_put(origin, origin_count, origin_type,
                           {target_rank, target_displacement, target_count, target_type}, win, true),
                    request);
}

LLAMADA_MPI_FUNCTION(Rget)
int PMPI_Rget(void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
              MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Win win,
              MPI_Request* request) {
  LLAMADA_MPI_ENTER(Rget);
  if (int code = check_request(win, request)) return code;
  return begin_done(do_get(origin, origin_count, origin_type,
                           {target_rank, target_displacement, target_count, target_type}, win, true),
                    request);
}

LLAMADA_MPI_FUNCTION(Raccumulate)
int PMPI_Raccumulate(const void* origin, int origin_count, MPI_Datatype origin_type, int target_rank,
                     MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                     MPI_Win win, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Raccumulate);
  if (int code = check_request(win, request)) return code;
  return begin_done(
      do_accumulate(origin, origin_count, origin_type,
                    {target_rank, target_displacement, target_count, target_type}, op, win, true),
      request);
}

LLAMADA_MPI_FUNCTION(Rget_accumulate)
int PMPI_Rget_accumulate(const void* origin, int origin_count, MPI_Datatype origin_type, void* result_buffer,
                         int result_count, MPI_Datatype result_type, int target_rank,
                         MPI_Aint target_displacement, int target_count, MPI_Datatype target_type, MPI_Op op,
                         MPI_Win win, MPI_Request* request) {
  LLAMADA_MPI_ENTER(Rget_accumulate);
  if (int code = check_request(win, request)) return code;
  return begin_done(
      do_get_accumulate(origin, origin_count, origin_type, result_buffer, result_count, result_type,
                        {target_rank, target_displacement, target_count, target_type}, op, win, true),
      request);
}

}  // extern "C"
