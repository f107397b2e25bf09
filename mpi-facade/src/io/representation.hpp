#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>

#include "llamada/base/result.hpp"
#include "object/datatype.hpp"
#include "object/reference.hpp"

namespace llamada::mpi::io {

/// How data lie in a file (MPI 3.1, 13.5): "native" and "internal" as in memory, "external32", or as
/// functions of the program convert them (MPI_Register_datarep).
class Representation : public Counted {
 public:
  enum class Kind { native, external32, user };
  struct Functions {
    MPI_Datarep_conversion_function* read = nullptr;  ///< Null: as in memory.
    MPI_Datarep_conversion_function* write = nullptr;
    MPI_Datarep_extent_function* extent = nullptr;
    void* extra_state = nullptr;
  };

  Representation(std::string name, Kind kind) : name_(std::move(name)), kind_(kind) {}
  Representation(std::string name, Functions functions)
      : name_(std::move(name)), kind_(Kind::user), functions_(functions) {}

  const std::string& name() const { return name_; }

  /// Whether data are moved without a conversion.
  bool is_plain(bool reading) const {
    return kind_ == Kind::native ||
           (kind_ == Kind::user && (reading ? functions_.read : functions_.write) == nullptr);
  }

  /// The type as it lies in the file: extents and displacements are those of the representation.
  /// The error's text says why, its errno is the code that the program's function gave, else 0.
  Result<Reference<Datatype>> file_type(Datatype& type) const;
  /// The bytes that `count` elements take in a file, one behind the other.
  Result<std::size_t> file_bytes(const Datatype& type, std::size_t count) const;

  /// Converts `count` elements of memory to what file_bytes() says.
  Status to_file(const void* base, std::size_t count, const Datatype& type, std::span<std::byte> file) const;
  /// The other way, for the first `available` bytes of `file` alone, which is as long as file_bytes() says;
  /// gives how many bytes of the packed stream of memory these are.
  Result<std::size_t> from_file(std::span<std::byte> file, std::size_t available, void* base,
                                std::size_t count, const Datatype& type) const;

 private:
  Result<std::size_t> basic_bytes(MPI_Datatype basic, std::size_t native_bytes) const;
  Result<std::size_t> signature_bytes(const Signature& signature) const;
  Result<std::size_t> native_bytes_in(const Signature& signature, std::size_t available,
                                      std::size_t& used) const;

  std::string name_;
  Kind kind_;
  Functions functions_;
};

}  // namespace llamada::mpi::io
