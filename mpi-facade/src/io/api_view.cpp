#include "coll/agreement.hpp"
#include "io/api.hpp"
#include "llamada/base/rounding.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, 13.3: views; 13.4.3 and 13.4.4: positions; 13.5: representations of data.
using namespace llamada;
using namespace llamada::mpi;
using namespace llamada::mpi::io;

namespace {

/// What MPI_File_set_view wants to be the same on all members.
struct SharedArguments {
  std::uint32_t representation = 0;
  int error_class = MPI_SUCCESS;
  std::int64_t etype_extent = 0;
  bool operator==(const SharedArguments&) const = default;
};

/// A view as the program describes it.
struct Description {
  MPI_Offset displacement = 0;
  Reference<Datatype> etype;
  Reference<Datatype> file_type;
  Reference<Representation> representation;
};

/// The fault of this process's arguments: its class and text, or MPI_SUCCESS.
struct ArgumentFault {
  int error_class = MPI_SUCCESS;
  std::string text;
};

/// Etypes and file types go forward, and what is written lies once in them (13.3): MPI_ERR_IO, as others say
/// it.
ArgumentFault check_order(const Datatype& type, bool writable, const char* what) {
  std::ptrdiff_t last = 0;
  std::ptrdiff_t end = 0;
  for (const Run& run : type.layout().runs) {
    const bool repeats = run.count > 1;
    const auto length = static_cast<std::ptrdiff_t>(run.length);
    if (run.offset < 0) return {MPI_ERR_IO, fmt::format("the {} has negative displacements", what)};
    if (run.offset < last || (repeats && run.stride < 0))
      return {MPI_ERR_IO, fmt::format("the displacements of the {} decrease", what)};
    if (writable && (run.offset < end || (repeats && run.stride < length)))
      return {MPI_ERR_IO, fmt::format("parts of the {} overlap, and the file is open for writing", what)};
    last = run.offset + run.stride * static_cast<std::ptrdiff_t>(run.count - 1);
    end = std::max(end, last + length);
  }
  return {};
}

ArgumentFault describe(const File& file, MPI_Datatype etype, MPI_Datatype file_type,
                       const char* representation, Description& found) {
  found.etype = Reference<Datatype>(runtime().datatypes.find(etype));
  found.file_type = Reference<Datatype>(runtime().datatypes.find(file_type));
  if (!found.etype || !found.etype->is_committed())
    return {MPI_ERR_TYPE, "the etype is no datatype, or has not been committed"};
  if (!found.file_type || !found.file_type->is_committed())
    return {MPI_ERR_TYPE, "the file type is no datatype, or has not been committed"};
  if (ArgumentFault fault = check_order(*found.etype, file.is_writable(), "etype"); fault.error_class)
    return fault;
  if (ArgumentFault fault = check_order(*found.file_type, file.is_writable(), "file type"); fault.error_class)
    return fault;
  if (!representation) return {MPI_ERR_ARG, "the representation is a null pointer"};
  found.representation = files().representation(representation);
  if (!found.representation)
    return {MPI_ERR_UNSUPPORTED_DATAREP, fmt::format("there is no representation '{}'", representation)};
  const bool current = found.displacement == MPI_DISPLACEMENT_CURRENT;
  if (current != file.is_sequential())
    return {MPI_ERR_ARG, current ? "MPI_DISPLACEMENT_CURRENT is for MPI_MODE_SEQUENTIAL alone"
                                 : "with MPI_MODE_SEQUENTIAL the displacement is MPI_DISPLACEMENT_CURRENT"};
  if (!current && found.displacement < 0)
    return {MPI_ERR_ARG, fmt::format("the displacement is {}, it must not be negative", found.displacement)};
  return {};
}

/// The view that a description makes, in the file's representation.
Result<View> make_view(const Description& description) {
  auto etype_bytes = description.representation->file_bytes(*description.etype, 1);
  if (!etype_bytes) return propagate(etype_bytes);
  auto file_type = description.representation->file_type(*description.file_type);
  if (!file_type) return propagate(file_type);
  const Datatype& type = **file_type;
  if (*etype_bytes > 0 && type.size() % *etype_bytes != 0)
    return failure(Errc::invalid_argument, "a file type of {} bytes is not made of etypes of {}", type.size(),
                   *etype_bytes);
  for (const Run& run : type.layout().runs)
    if (run.offset < 0 || (run.count > 1 && run.stride < 0) || type.extent() < 0)
      return failure(Errc::invalid_argument, "the file type has negative displacements");
  return View(static_cast<std::uint64_t>(description.displacement), std::max<std::size_t>(1, *etype_bytes),
              *file_type);
}

/// Etypes, counted from the beginning of the view.
Result<std::uint64_t> new_position(File& file, MPI_Offset offset, int whence, std::uint64_t current) {
  const auto etype = static_cast<std::int64_t>(file.view.etype_bytes());
  std::int64_t base = 0;
  if (whence == MPI_SEEK_CUR) base = static_cast<std::int64_t>(current);
  if (whence == MPI_SEEK_END) {
    auto size = perform(&file, file.name, OperationKind::get_size, 0, [&] { return file.storage.size(); });
    if (!size) return propagate(size);
    base = rounded_up(static_cast<std::int64_t>(file.view.bytes_before(*size)), etype);
  }
  if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
    return failure(Errc::invalid_argument, "{} is none of MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END",
                   whence);
  const std::int64_t target = base + offset * etype;
  if (target < 0)
    return failure(Errc::invalid_argument, "the position would be {} etypes before the beginning of the view",
                   -(target / etype));
  return static_cast<std::uint64_t>(target);
}

int check_not_sequential(File& file) {
  if (!file.is_sequential()) return MPI_SUCCESS;
  return report_file(&file, MPI_ERR_UNSUPPORTED_OPERATION,
                     "a file opened with MPI_MODE_SEQUENTIAL has a shared pointer alone");
}

/// A handle of a type for the program: predefined ones have theirs, others get one more, to be freed.
MPI_Datatype give_type(const Reference<Datatype>& type) {
  return type->is_predefined() ? type->handle() : runtime().datatypes.insert(type);
}

MPI_Offset in_etypes(const File& file, std::uint64_t position) {
  return static_cast<MPI_Offset>(position / file.view.etype_bytes());
}

}  // namespace

LLAMADA_MPI_FUNCTION(File_set_view)
int PMPI_File_set_view(MPI_File handle, MPI_Offset displacement, MPI_Datatype etype, MPI_Datatype file_type,
                       const char* representation, MPI_Info info) {
  LLAMADA_MPI_ENTER(File_set_view);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_info(file, info)) return code;
  if (file->split) return report_file(file, MPI_ERR_IO, "a split collective has not been ended");
  Description description;
  description.displacement = displacement;
  const ArgumentFault fault = describe(*file, etype, file_type, representation, description);
  SharedArguments own;
  own.error_class = fault.error_class;
  if (fault.error_class == MPI_SUCCESS) {
    own.representation = digest(std::string_view(representation));
    own.etype_extent = description.etype->extent();
  }
  auto all = gather_from_all(*file->communicator, own);
  if (!all) return report_file(file, all.error());
  if (fault.error_class != MPI_SUCCESS) return report_file(file, fault.error_class, fault.text);
  for (const SharedArguments& other : *all)
    if (!(other == own))
      return report_file(file, MPI_ERR_NOT_SAME,
                         "the extent of the etype or the representation is not the same on all ranks");
  if (displacement == MPI_DISPLACEMENT_CURRENT) {
    auto position = shared_position(*file);
    if (!position) return report_file(file, position.error());
    description.displacement = static_cast<MPI_Offset>(file->view.file_offset(*position));
    if (auto met = meet(*file->communicator); !met) return report_file(file, met.error());
  }
  auto view = make_view(description);
  if (!view) return report_file(file, view.error());
  take_hints(*file, info);
  drop_shared_pointer(*file);
  ++file->view_count;
  file->view = std::move(*view);
  file->etype = description.etype;
  file->file_type = description.file_type;
  file->representation = description.representation;
  file->position = 0;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_view)
int PMPI_File_get_view(MPI_File handle, MPI_Offset* displacement, MPI_Datatype* etype,
                       MPI_Datatype* file_type, char* representation) {
  LLAMADA_MPI_ENTER(File_get_view);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  for (const void* result : {static_cast<const void*>(displacement), static_cast<const void*>(etype),
                             static_cast<const void*>(file_type), static_cast<const void*>(representation)})
    if (int code = check_file_pointer(file, result, "place for a result")) return code;
  *displacement = static_cast<MPI_Offset>(file->view.displacement());
  *etype = give_type(file->etype);
  *file_type = give_type(file->file_type);
  int length = 0;
  give_string(file->representation->name(), representation, &length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_seek)
int PMPI_File_seek(MPI_File handle, MPI_Offset offset, int whence) {
  LLAMADA_MPI_ENTER(File_seek);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_not_sequential(*file)) return code;
  auto position = new_position(*file, offset, whence, file->position);
  if (!position) return report_file(file, position.error());
  file->position = *position;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_position)
int PMPI_File_get_position(MPI_File handle, MPI_Offset* offset) {
  LLAMADA_MPI_ENTER(File_get_position);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, offset, "offset")) return code;
  if (int code = check_not_sequential(*file)) return code;
  *offset = in_etypes(*file, file->position);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_byte_offset)
int PMPI_File_get_byte_offset(MPI_File handle, MPI_Offset offset, MPI_Offset* displacement) {
  LLAMADA_MPI_ENTER(File_get_byte_offset);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, displacement, "displacement")) return code;
  if (int code = check_not_sequential(*file)) return code;
  if (offset < 0) return report_file(file, MPI_ERR_ARG, "the offset is negative");
  const std::uint64_t position = static_cast<std::uint64_t>(offset) * file->view.etype_bytes();
  *displacement = static_cast<MPI_Offset>(file->view.is_empty() ? file->view.displacement()
                                                                : file->view.file_offset(position));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_seek_shared)
int PMPI_File_seek_shared(MPI_File handle, MPI_Offset offset, int whence) {
  LLAMADA_MPI_ENTER(File_seek_shared);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  struct Arguments {
    MPI_Offset offset;
    std::int64_t whence;
  };
  auto all = gather_from_all(*file->communicator, Arguments{offset, whence});
  if (!all) return report_file(file, all.error());
  for (const Arguments& other : *all)
    if (other.offset != offset || other.whence != whence)
      return report_file(file, MPI_ERR_NOT_SAME, "the offset or whence is not the same on all ranks");
  // All have come: the pointer stands still until the first member moves it.
  auto current = shared_position(*file);
  if (!current) return report_file(file, current.error());
  auto target = new_position(*file, offset, whence, *current);
  if (auto met = meet(*file->communicator); !met) return report_file(file, met.error());
  if (!target) return report_file(file, target.error());
  Result<std::uint64_t> moved = 0;
  if (file->communicator->rank() == 0)
    moved = change_shared_pointer(*file, digest({*target}), {PointerChange::Kind::set, *target});
  else if (file->communicator->size() == 1)
    file->shared_origin = *target;
  if (auto met = meet(*file->communicator); !met) return report_file(file, met.error());
  return moved ? MPI_SUCCESS : report_file(file, moved.error());
}

LLAMADA_MPI_FUNCTION(File_get_position_shared)
int PMPI_File_get_position_shared(MPI_File handle, MPI_Offset* offset) {
  LLAMADA_MPI_ENTER(File_get_position_shared);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, offset, "offset")) return code;
  auto position = shared_position(*file);
  if (!position) return report_file(file, position.error());
  *offset = in_etypes(*file, *position);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(File_get_type_extent)
int PMPI_File_get_type_extent(MPI_File handle, MPI_Datatype datatype, MPI_Aint* extent) {
  LLAMADA_MPI_ENTER(File_get_type_extent);
  File* file = nullptr;
  if (int code = find_file(handle, file)) return code;
  if (int code = check_file_pointer(file, extent, "extent")) return code;
  Datatype* type = runtime().datatypes.find(datatype);
  if (!type) return report_file(file, MPI_ERR_TYPE, "the datatype is none, or was freed");
  auto in_file = file->representation->file_type(*type);
  if (!in_file) return report_file(file, in_file.error());
  *extent = (*in_file)->extent();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Register_datarep)
int PMPI_Register_datarep(const char* name, MPI_Datarep_conversion_function* read_conversion,
                          MPI_Datarep_conversion_function* write_conversion,
                          MPI_Datarep_extent_function* extent_function, void* extra_state) {
  LLAMADA_MPI_ENTER(Register_datarep);
  if (int code = check_file_pointer(nullptr, name, "name")) return code;
  const std::size_t length = strnlen(name, MPI_MAX_DATAREP_STRING);
  if (length == 0 || length >= MPI_MAX_DATAREP_STRING)
    return report_file(nullptr, MPI_ERR_ARG,
                       fmt::format("the name is empty or longer than {}", MPI_MAX_DATAREP_STRING - 1));
  if (int code =
          check_file_pointer(nullptr, reinterpret_cast<const void*>(extent_function), "extent function"))
    return code;
  if (files().representation(name))
    return report_file(nullptr, MPI_ERR_DUP_DATAREP, fmt::format("the representation '{}' is there", name));
  const Representation::Functions functions{read_conversion, write_conversion, extent_function, extra_state};
  files().add_representation(make_counted<Representation>(name, functions));
  return MPI_SUCCESS;
}
