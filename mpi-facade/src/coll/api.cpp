#include "coll/api.hpp"

namespace llamada::mpi::coll {

int make_channel(Communicator& communicator, Channel*& channel) {
  auto made = runtime().collectives->channel(communicator);
  if (!made) return report(&communicator, made.error());
  channel = *made;
  return MPI_SUCCESS;
}

int Root::find_between_groups(Communicator& communicator, int root) {
  const auto own = communicator.group()->members();
  const auto others = communicator.remote_group()->members();
  const bool own_first = own.front() < others.front();
  if (root == MPI_PROC_NULL) {
    *this = {no_root, false, false};
  } else if (root == MPI_ROOT) {
    *this = {communicator.rank() + (own_first ? 0 : static_cast<int>(others.size())), true, false};
  } else if (root >= 0 && root < static_cast<int>(others.size())) {
    *this = {root + (own_first ? static_cast<int>(own.size()) : 0), false, true};
  } else {
    return detail::bad_root(&communicator, root);
  }
  return MPI_SUCCESS;
}

int report_alias(const Call& call) {
  return report(call.communicator, MPI_ERR_BUFFER,
                "the send buffer is also the receive buffer; pass MPI_IN_PLACE to say so");
}

int report_overlap(const Call& call) {
  return report(call.communicator, MPI_ERR_BUFFER,
                "the send and the receive buffer overlap; pass MPI_IN_PLACE to use one buffer for both");
}

int check_no_overlap(const Call& call, const Parts& given, const Parts& taken) {
  const int peers = call.communicator->peers().size();
  for (int peer = 0; peer < peers; ++peer)
    if (int code = check_no_overlap(call, given[peer], taken[peer])) return code;
  return MPI_SUCCESS;
}

int check_no_overlap(const Call& call, const Data& own, const Parts& all) {
  if (own.bytes == 0) return MPI_SUCCESS;
  if (int code = check_no_overlap(call, own, all[0])) return code;
  return call.communicator->is_inter() ? MPI_SUCCESS
                                       : check_no_overlap(call, own, all[call.communicator->rank()]);
}

int find_even_parts(Call& call, const void* buffer, int count, MPI_Datatype datatype, Parts& parts) {
  Data first;
  if (int code = find_data(call, buffer, count, datatype, first)) return code;
  parts = even_parts(first, count);
  return MPI_SUCCESS;
}

namespace {

template <typename Count, typename Displacement>
int find_all_parts(Call& call, const void* buffer, const Count* counts, const Displacement* displacements,
                   MPI_Datatype datatype, int part_count, Parts& parts) {
  Datatype* type = nullptr;
  if (int code = call.find_type(datatype, type)) return code;
  if (part_count > 0) {
    if (int code = check_pointer(call.communicator, counts, "counts")) return code;
    if (int code = check_pointer(call.communicator, displacements, "displacements")) return code;
  }
  std::vector<Data> list;
  list.reserve(static_cast<std::size_t>(part_count));
  for (int part = 0; part < part_count; ++part) {
    if (int code = check_count(call.communicator, counts[part])) return code;
    std::ptrdiff_t bytes = 0;
    if (__builtin_mul_overflow(counts[part], type->size(), &bytes))
      return detail::too_much_data(call.communicator, counts[part]);
    if (int code = check_buffer(call.communicator, buffer, counts[part], *type)) return code;
    list.push_back(Data::of(at(buffer, type->extent() * displacements[part]),
                            static_cast<std::size_t>(counts[part]), *type));
  }
  parts = Parts(std::move(list));
  return MPI_SUCCESS;
}

}  // namespace

int find_parts(Call& call, const void* buffer, const int* counts, const int* displacements,
               MPI_Datatype datatype, int part_count, Parts& parts) {
  return find_all_parts(call, buffer, counts, displacements, datatype, part_count, parts);
}

int find_parts(Call& call, const void* buffer, const MPI_Count* counts, const MPI_Aint* displacements,
               MPI_Datatype datatype, int part_count, Parts& parts) {
  return find_all_parts(call, buffer, counts, displacements, datatype, part_count, parts);
}

}  // namespace llamada::mpi::coll
