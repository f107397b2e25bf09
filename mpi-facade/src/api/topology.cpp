#include <algorithm>
#include <span>
#include <vector>

#include "coll/comm_create.hpp"
#include "runtime/arguments.hpp"

// MPI 3.1, 7.5: Cartesian topologies.
using namespace llamada::mpi;

namespace {

int find_grid(MPI_Comm comm, Communicator*& communicator, const CartesianTopology*& grid) {
  if (int code = find_communicator(comm, communicator)) return code;
  grid = communicator->topology();
  if (grid) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_TOPOLOGY,
                fmt::format("{} has no Cartesian topology", communicator->description()));
}

int check_room(Communicator* communicator, const CartesianTopology& grid, int room) {
  if (room >= grid.dimension_count()) return MPI_SUCCESS;
  return report(
      communicator, MPI_ERR_ARG,
      fmt::format("there is room for {} dimensions, the grid has {}", room, grid.dimension_count()));
}

/// Makes the grid that the arguments describe, which must not be larger than the communicator.
int check_grid(Communicator* communicator, int dimension_count, const int* dimensions, const int* periods,
               std::vector<int>& sizes, std::vector<bool>& wraps) {
  if (dimension_count < 0) {
    return report(communicator, MPI_ERR_DIMS, fmt::format("the number of dimensions is {}", dimension_count));
  }
  if (dimension_count > 0) {
    if (int code = check_pointer(communicator, dimensions, "list of dimensions")) return code;
    if (int code = check_pointer(communicator, periods, "list of periods")) return code;
  }
  long long product = 1;
  for (int index = 0; index < dimension_count; ++index) {
    if (dimensions[index] < 1) {
      return report(communicator, MPI_ERR_DIMS, fmt::format("dimension {} is {}", index, dimensions[index]));
    }
    product = std::min<long long>(product * dimensions[index], 1LL << 31);
    sizes.push_back(dimensions[index]);
    wraps.push_back(periods[index] != 0);
  }
  if (product <= communicator->size()) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_DIMS,
                fmt::format("a grid of {} ranks is larger than {} of {}", product,
                            communicator->description(), communicator->size()));
}

/// Splits off the new grid, collectively; MPI_COMM_NULL for a rank outside.
int split_grid(Communicator& parent, int color, int key, CartesianTopology grid, MPI_Comm* new_comm) {
  auto made = split(parent, color, key);
  if (!made) return report(&parent, made.error());
  if (*made) (*made)->set_topology(std::move(grid));
  *new_comm = *made ? (*made)->handle() : MPI_COMM_NULL;
  return MPI_SUCCESS;
}

}  // namespace

LLAMADA_MPI_FUNCTION(Cart_create)
int PMPI_Cart_create(MPI_Comm comm, int dimension_count, const int dimensions[], const int periods[], int,
                     MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Cart_create);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "new communicator")) return code;
  *new_comm = MPI_COMM_NULL;
  std::vector<int> sizes;
  std::vector<bool> wraps;
  if (int code = check_grid(communicator, dimension_count, dimensions, periods, sizes, wraps)) return code;
  CartesianTopology grid(std::move(sizes), std::move(wraps));
  const int rank = communicator->rank();
  const int color = rank < grid.size() ? 0 : MPI_UNDEFINED;
  return split_grid(*communicator, color, rank, std::move(grid), new_comm);
}

LLAMADA_MPI_FUNCTION(Cart_sub)
int PMPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Cart_sub);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (int code = check_pointer(communicator, new_comm, "new communicator")) return code;
  if (grid->dimension_count() > 0) {
    if (int code = check_pointer(communicator, remain, "list of dimensions that remain")) return code;
  }
  const std::vector<int> position = grid->coordinates(communicator->rank());
  std::vector<int> sizes;
  std::vector<bool> wraps;
  int color = 0, key = 0;
  for (int index = 0; index < grid->dimension_count(); ++index) {
    int& number = remain[index] ? key : color;
    number = number * grid->dimension(index) + position[static_cast<std::size_t>(index)];
    if (!remain[index]) continue;
    sizes.push_back(grid->dimension(index));
    wraps.push_back(grid->is_periodic(index));
  }
  // If none is kept, each rank has its place for itself: a grid of no dimension, of one rank.
  return split_grid(*communicator, color, key, CartesianTopology(std::move(sizes), std::move(wraps)),
                    new_comm);
}

LLAMADA_MPI_FUNCTION(Cart_get)
int PMPI_Cart_get(MPI_Comm comm, int dimension_count_max, int dimensions[], int periods[],
                  int coordinates[]) {
  LLAMADA_MPI_ENTER(Cart_get);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (int code = check_room(communicator, *grid, dimension_count_max)) return code;
  const std::vector<int> position = grid->coordinates(communicator->rank());
  for (int index = 0; index < grid->dimension_count(); ++index) {
    dimensions[index] = grid->dimension(index);
    periods[index] = grid->is_periodic(index);
    coordinates[index] = position[static_cast<std::size_t>(index)];
  }
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Cart_rank)
int PMPI_Cart_rank(MPI_Comm comm, const int coordinates[], int* rank) {
  LLAMADA_MPI_ENTER(Cart_rank);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (int code = check_pointer(communicator, rank, "rank")) return code;
  if (grid->dimension_count() > 0) {
    if (int code = check_pointer(communicator, coordinates, "list of coordinates")) return code;
  }
  const auto found = grid->rank({coordinates, static_cast<std::size_t>(grid->dimension_count())});
  if (!found) return report(communicator, MPI_ERR_ARG, found.error().text());
  *rank = *found;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Cart_coords)
int PMPI_Cart_coords(MPI_Comm comm, int rank, int dimension_count_max, int coordinates[]) {
  LLAMADA_MPI_ENTER(Cart_coords);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (rank < 0 || rank >= communicator->size()) return detail::bad_rank(communicator, rank, "rank");
  if (int code = check_room(communicator, *grid, dimension_count_max)) return code;
  const std::vector<int> position = grid->coordinates(rank);
  std::copy(position.begin(), position.end(), coordinates);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Cart_shift)
int PMPI_Cart_shift(MPI_Comm comm, int direction, int displacement, int* source, int* destination) {
  LLAMADA_MPI_ENTER(Cart_shift);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (direction < 0 || direction >= grid->dimension_count()) {
    return report(
        communicator, MPI_ERR_ARG,
        fmt::format("there is no dimension {} in a grid of {}", direction, grid->dimension_count()));
  }
  if (int code = check_pointer(communicator, source, "source")) return code;
  if (int code = check_pointer(communicator, destination, "destination")) return code;
  *source = grid->neighbour(communicator->rank(), direction, -displacement);
  *destination = grid->neighbour(communicator->rank(), direction, displacement);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Cart_map)
int PMPI_Cart_map(MPI_Comm comm, int dimension_count, const int dimensions[], const int periods[],
                  int* new_rank) {
  LLAMADA_MPI_ENTER(Cart_map);
  Communicator* communicator = nullptr;
  if (int code = find_intracommunicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_rank, "rank")) return code;
  std::vector<int> sizes;
  std::vector<bool> wraps;
  if (int code = check_grid(communicator, dimension_count, dimensions, periods, sizes, wraps)) return code;
  const CartesianTopology grid(std::move(sizes), std::move(wraps));
  *new_rank = communicator->rank() < grid.size() ? communicator->rank() : MPI_UNDEFINED;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Cartdim_get)
int PMPI_Cartdim_get(MPI_Comm comm, int* dimension_count) {
  LLAMADA_MPI_ENTER(Cartdim_get);
  Communicator* communicator = nullptr;
  const CartesianTopology* grid = nullptr;
  if (int code = find_grid(comm, communicator, grid)) return code;
  if (int code = check_pointer(communicator, dimension_count, "number of dimensions")) return code;
  *dimension_count = grid->dimension_count();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Dims_create)
int PMPI_Dims_create(int node_count, int dimension_count, int dimensions[]) {
  LLAMADA_MPI_ENTER(Dims_create);
  if (dimension_count < 0) return report(nullptr, MPI_ERR_DIMS, "the number of dimensions is negative");
  if (dimension_count > 0) {
    if (int code = check_pointer(nullptr, dimensions, "list of dimensions")) return code;
  }
  const auto filled = fill_dimensions(node_count, {dimensions, static_cast<std::size_t>(dimension_count)});
  return filled ? MPI_SUCCESS : report(nullptr, MPI_ERR_DIMS, filled.error().text());
}

LLAMADA_MPI_FUNCTION(Topo_test)
int PMPI_Topo_test(MPI_Comm comm, int* kind) {
  LLAMADA_MPI_ENTER(Topo_test);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, kind, "kind")) return code;
  *kind = communicator->topology()            ? MPI_CART
          : communicator->graph()             ? MPI_GRAPH
          : communicator->distributed_graph() ? MPI_DIST_GRAPH
                                              : MPI_UNDEFINED;
  return MPI_SUCCESS;
}
