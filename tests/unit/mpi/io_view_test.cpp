#include <mpi.h>

#include <rapidcheck.h>
#include <algorithm>
#include <numeric>
#include <vector>

#include "io/view.hpp"
#include "object/type_builder.hpp"
#include "runtime/runtime.hpp"
#include "test.hpp"

using namespace llamada::mpi;
using namespace llamada::mpi::io;

namespace {

/// A file type and the places of its bytes in their order, as the standard defines it.
struct Sample {
  Reference<Datatype> type;
  std::vector<std::uint64_t> bytes;
  std::uint64_t extent = 0;
};

Datatype& byte_type() {
  static Runtime runtime;
  return *runtime.datatypes.find(MPI_BYTE);
}

/// Blocks in ascending order with gaps that may be empty, and room behind them.
Sample random_type() {
  const auto blocks = *rc::gen::inRange(1, 7);
  std::vector<MPI_Count> lengths;
  std::vector<MPI_Aint> displacements;
  Sample sample;
  MPI_Aint at = *rc::gen::inRange(0, 4);
  for (int block = 0; block < blocks; ++block) {
    const int length = *rc::gen::inRange(0, 6);
    lengths.push_back(length);
    displacements.push_back(at);
    for (int byte = 0; byte < length; ++byte) sample.bytes.push_back(static_cast<std::uint64_t>(at + byte));
    at += length + *rc::gen::inRange(0, 4);
  }
  if (lengths.size() == 1) lengths.push_back(0), displacements.push_back(at);
  auto made = make_indexed(lengths, displacements, byte_type(), {});
  sample.extent = static_cast<std::uint64_t>(at) + static_cast<std::uint64_t>(*rc::gen::inRange(0, 5));
  sample.type = make_resized(*made, 0, static_cast<MPI_Aint>(sample.extent));
  return sample;
}

/// Equal blocks at equal distances, which a layout holds as one run; of a type with gaps, too.
Sample random_vector() {
  Sample inner = random_type();
  const auto count = *rc::gen::inRange(1, 6);
  const auto stride = inner.extent + static_cast<std::uint64_t>(*rc::gen::inRange(0, 5));
  Sample sample;
  sample.type = make_vector(count, 1, static_cast<std::ptrdiff_t>(stride), *inner.type, {});
  for (int block = 0; block < count; ++block)
    for (const std::uint64_t byte : inner.bytes)
      sample.bytes.push_back(static_cast<std::uint64_t>(block) * stride + byte);
  sample.extent = static_cast<std::uint64_t>(sample.type->extent());
  return sample;
}

Sample random_sample() { return *rc::gen::arbitrary<bool>() ? random_type() : random_vector(); }

std::uint64_t model_offset(const Sample& sample, std::uint64_t displacement, std::uint64_t position) {
  const std::uint64_t size = sample.bytes.size();
  return displacement + position / size * sample.extent + sample.bytes[position % size];
}

}  // namespace

TEST_CASE("io: a cursor walks over the bytes of a view in their order, in whole runs", "[io]") {
  REQUIRE(rc::check([] {
    const Sample sample = random_sample();
    const std::uint64_t displacement = *rc::gen::inRange<std::uint64_t>(0, 100);
    const View view(displacement, 1, sample.type);
    const std::uint64_t position = *rc::gen::inRange<std::uint64_t>(0, 60);
    const std::uint64_t bytes = *rc::gen::inRange<std::uint64_t>(0, 60);
    RunCursor cursor(view, position, bytes);
    if (sample.bytes.empty()) {
      RC_ASSERT(view.is_empty());
      RC_ASSERT(!cursor.current());
      return;
    }
    std::vector<std::uint64_t> expected, walked;
    for (std::uint64_t byte = 0; byte < bytes; ++byte)
      expected.push_back(model_offset(sample, displacement, position + byte));
    while (cursor.current()) {
      const FileRun run = *cursor.current();
      RC_ASSERT(run.length > 0U);
      const auto piece = *rc::gen::inRange<std::size_t>(1, run.length + 1);
      for (std::size_t byte = 0; byte < piece; ++byte) walked.push_back(run.offset + byte);
      cursor.advance(piece);
      // A run is as long as it can be.
      if (piece == run.length && cursor.current()) RC_ASSERT(cursor.current()->offset != run.end());
    }
    RC_ASSERT(walked == expected);
  }));
}

TEST_CASE("io: offsets and positions of a view are each other's inverse", "[io]") {
  REQUIRE(rc::check([] {
    const Sample sample = random_sample();
    if (sample.bytes.empty() || sample.extent == 0) return;
    const std::uint64_t displacement = *rc::gen::inRange<std::uint64_t>(0, 100);
    const View view(displacement, 1, sample.type);
    const std::uint64_t position = *rc::gen::inRange<std::uint64_t>(0, 200);
    RC_ASSERT(view.file_offset(position) == model_offset(sample, displacement, position));
    const std::uint64_t end = *rc::gen::inRange<std::uint64_t>(0, 300);
    std::uint64_t before = 0;
    for (std::uint64_t byte = 0; byte < 4000; ++byte)
      before += model_offset(sample, displacement, byte) < end;
    RC_ASSERT(view.bytes_before(end) == before);
  }));
}

TEST_CASE("io: a view of bytes without gaps is one run, whatever type says so", "[io]") {
  auto contiguous = make_contiguous(12, byte_type());
  const View view(8, 4, contiguous);
  CHECK(view.is_contiguous());
  RunCursor cursor(view, 20, 1000000);
  REQUIRE(cursor.current());
  CHECK(*cursor.current() == FileRun{28, 1000000});
  CHECK(view.bytes_before(28) == 20);
  CHECK(view.bytes_before(3) == 0);
}

TEST_CASE("io: a file type that goes back is known", "[io]") {
  const std::vector<MPI_Count> lengths = {2, 2};
  const std::vector<MPI_Aint> back = {10, 0}, forth = {0, 10};
  CHECK_FALSE(View(0, 1, make_indexed(lengths, back, byte_type(), {})).is_ordered());
  CHECK(View(0, 1, make_indexed(lengths, forth, byte_type(), {})).is_ordered());
}
