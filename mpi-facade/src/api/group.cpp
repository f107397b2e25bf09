#include <algorithm>
#include <span>
#include <vector>

#include "runtime/arguments.hpp"

// MPI 3.1, 6.3: groups.
using namespace llamada::mpi;

namespace {

int find_group(MPI_Group group, Group*& found) {
  found = runtime().groups.find(group);
  if (found) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_GROUP,
                group == MPI_GROUP_NULL
                    ? "the group is MPI_GROUP_NULL"
                    : fmt::format("{:#x} is no group, or one that was freed", static_cast<unsigned>(group)));
}

int find_groups(MPI_Group group1, MPI_Group group2, Group*& found1, Group*& found2) {
  if (int code = find_group(group1, found1)) return code;
  return find_group(group2, found2);
}

int give(Reference<Group> group, MPI_Group* new_group) {
  if (int code = check_pointer(nullptr, new_group, "new group")) return code;
  *new_group = group->size() == 0 ? MPI_GROUP_EMPTY : runtime().groups.insert(std::move(group));
  return MPI_SUCCESS;
}

int give(llamada::Result<Reference<Group>> group, MPI_Group* new_group) {
  if (!group) return report(nullptr, MPI_ERR_RANK, group.error().text());
  return give(std::move(*group), new_group);
}

int check_list(int count, const void* list) {
  if (int code = check_count(nullptr, count)) return code;
  return count == 0 ? MPI_SUCCESS : check_pointer(nullptr, list, "list of ranks");
}

using Combine = Reference<Group> (Group::*)(const Group&) const;

int combine(MPI_Group group1, MPI_Group group2, Combine how, MPI_Group* new_group) {
  Group *first = nullptr, *second = nullptr;
  if (int code = find_groups(group1, group2, first, second)) return code;
  return give((first->*how)(*second), new_group);
}

using Choose = llamada::Result<Reference<Group>> (Group::*)(std::span<const int>) const;

int choose(MPI_Group group, int count, const int* ranks, Choose how, MPI_Group* new_group) {
  Group* found = nullptr;
  if (int code = find_group(group, found)) return code;
  if (int code = check_list(count, ranks)) return code;
  return give((found->*how)({ranks, static_cast<std::size_t>(count)}), new_group);
}

int choose_ranges(MPI_Group group, int count, const int (*ranges)[3], Choose how, MPI_Group* new_group) {
  Group* found = nullptr;
  if (int code = find_group(group, found)) return code;
  if (int code = check_list(count, ranges)) return code;
  const auto ranks = found->expand({ranges, static_cast<std::size_t>(count)});
  if (!ranks) return report(nullptr, MPI_ERR_RANK, ranks.error().text());
  return give((found->*how)(*ranks), new_group);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Group_size)
int PMPI_Group_size(MPI_Group group, int* size) {
  LLAMADA_MPI_ENTER(Group_size);
  Group* found = nullptr;
  if (int code = find_group(group, found)) return code;
  if (int code = check_pointer(nullptr, size, "size")) return code;
  *size = found->size();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Group_rank)
int PMPI_Group_rank(MPI_Group group, int* rank) {
  LLAMADA_MPI_ENTER(Group_rank);
  Group* found = nullptr;
  if (int code = find_group(group, found)) return code;
  if (int code = check_pointer(nullptr, rank, "rank")) return code;
  *rank = found->rank();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Group_translate_ranks)
int PMPI_Group_translate_ranks(MPI_Group group1, int count, const int ranks1[], MPI_Group group2,
                               int ranks2[]) {
  LLAMADA_MPI_ENTER(Group_translate_ranks);
  Group *from = nullptr, *to = nullptr;
  if (int code = find_groups(group1, group2, from, to)) return code;
  if (int code = check_list(count, ranks1)) return code;
  if (int code = check_list(count, ranks2)) return code;
  for (int index = 0; index < count; ++index) {
    const int rank = ranks1[index];
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= from->size())) {
      return report(nullptr, MPI_ERR_RANK,
                    fmt::format("rank {} is not in a group of {}", rank, from->size()));
    }
    ranks2[index] = rank == MPI_PROC_NULL ? MPI_PROC_NULL : to->rank_of(from->world_rank(rank));
  }
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Group_compare)
int PMPI_Group_compare(MPI_Group group1, MPI_Group group2, int* result) {
  LLAMADA_MPI_ENTER(Group_compare);
  Group *first = nullptr, *second = nullptr;
  if (int code = find_groups(group1, group2, first, second)) return code;
  if (int code = check_pointer(nullptr, result, "result")) return code;
  *result = first->compare(*second);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Group_union)
int PMPI_Group_union(MPI_Group group1, MPI_Group group2, MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_union);
  return combine(group1, group2, &Group::united_with, new_group);
}

LLAMADA_MPI_FUNCTION(Group_intersection)
int PMPI_Group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_intersection);
  return combine(group1, group2, &Group::intersected_with, new_group);
}

LLAMADA_MPI_FUNCTION(Group_difference)
int PMPI_Group_difference(MPI_Group group1, MPI_Group group2, MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_difference);
  return combine(group1, group2, &Group::without, new_group);
}

LLAMADA_MPI_FUNCTION(Group_incl)
int PMPI_Group_incl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_incl);
  return choose(group, count, ranks, &Group::including, new_group);
}

LLAMADA_MPI_FUNCTION(Group_excl)
int PMPI_Group_excl(MPI_Group group, int count, const int ranks[], MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_excl);
  return choose(group, count, ranks, &Group::excluding, new_group);
}

LLAMADA_MPI_FUNCTION(Group_range_incl)
int PMPI_Group_range_incl(MPI_Group group, int count, int ranges[][3], MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_range_incl);
  return choose_ranges(group, count, ranges, &Group::including, new_group);
}

LLAMADA_MPI_FUNCTION(Group_range_excl)
int PMPI_Group_range_excl(MPI_Group group, int count, int ranges[][3], MPI_Group* new_group) {
  LLAMADA_MPI_ENTER(Group_range_excl);
  return choose_ranges(group, count, ranges, &Group::excluding, new_group);
}

LLAMADA_MPI_FUNCTION(Group_free)
int PMPI_Group_free(MPI_Group* group) {
  LLAMADA_MPI_ENTER(Group_free);
  if (int code = check_pointer(nullptr, group, "group")) return code;
  Group* found = nullptr;
  if (int code = find_group(*group, found)) return code;
  if (*group != MPI_GROUP_EMPTY) runtime().groups.erase(*group);
  *group = MPI_GROUP_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_group)
int PMPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  LLAMADA_MPI_ENTER(Comm_group);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  return give(communicator->group(), group);
}
