// A program of MPI's C++ bindings, compiled with MPICH's mpicxx.h and linked with its library of them
// (run.sh).
#include <mpi.h>

#include <cstdio>

static int failed, copies, deletes, errors;

static void check(bool is_right, const char* what) {
  if (is_right) return;
  std::printf("not true: %s\n", what);
  failed = 1;
}
#define CHECK(condition) check(condition, #condition)

static void add(const void* in, void* inout, int count, const MPI::Datatype& type) {
  CHECK(type == MPI::INT);
  for (int i = 0; i < count; i++) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}
static void on_error(MPI::Comm& comm, int* code, ...) {
  errors += comm.Get_size() > 0 && *code != MPI::SUCCESS;
}
static int copy(const MPI::Comm&, int, void*, void* value, void* out, bool& flag) {
  copies++;
  *static_cast<void**>(out) = value;
  flag = true;
  return MPI::SUCCESS;
}
static int destroy(MPI::Comm&, int, void*, void*) {
  deletes++;
  return MPI::SUCCESS;
}

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  const int rank = MPI::COMM_WORLD.Get_rank(), size = MPI::COMM_WORLD.Get_size();
  int sum = 0;
  MPI::Op op;
  op.Init(add, true);
  MPI::COMM_WORLD.Allreduce(&rank, &sum, 1, MPI::INT, op);
  CHECK(sum == size * (size - 1) / 2);
  op.Free();
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  int got = -1;
  MPI::Status status;
  MPI::COMM_WORLD.Sendrecv(&rank, 1, MPI::INT, right, 5, &got, 1, MPI::INT, left, 5, status);
  CHECK(got == left && status.Get_source() == left && status.Get_count(MPI::INT) == 1);
  MPI::Request request = MPI::COMM_WORLD.Irecv(&got, 1, MPI::INT, right, 6);
  MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, left, 6);
  request.Wait();
  CHECK(got == right);
  int key = MPI::Comm::Create_keyval(copy, destroy, nullptr);
  MPI::COMM_WORLD.Set_attr(key, &sum);
  MPI::Intracomm duplicate = MPI::COMM_WORLD.Dup();
  void* value = nullptr;
  CHECK(duplicate.Get_attr(key, &value) && value == &sum && copies == 1);
  duplicate.Free();
  MPI::COMM_WORLD.Delete_attr(key);
  CHECK(deletes == 2);
  MPI::Comm::Free_keyval(key);
  MPI::Errhandler handler = MPI::Comm::Create_errhandler(on_error);
  MPI::COMM_WORLD.Set_errhandler(handler);
  MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, size + 7, 0);
  CHECK(errors > 0);
  handler.Free();
  MPI::COMM_WORLD.Set_errhandler(MPI::ERRORS_THROW_EXCEPTIONS);
  bool thrown = false;
  try {
    MPI::COMM_WORLD.Send(&rank, 1, MPI::INT, size + 7, 0);
  } catch (MPI::Exception& exception) {
    thrown = exception.Get_error_class() == MPI::ERR_RANK;
  }
  CHECK(thrown);
  const bool periods[] = {true};
  const int sizes[] = {size};
  MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, sizes, periods, false);
  int source = -1, destination = -1;
  ring.Shift(0, 1, source, destination);
  CHECK(source == left && destination == right);
  ring.Free();
  int all = 0;
  MPI::COMM_WORLD.Allreduce(&failed, &all, 1, MPI::INT, MPI::MAX);
  if (rank == 0) std::printf(all ? "C++ bindings failed\n" : "C++ bindings passed\n");
  MPI::Finalize();
  return all;
}
