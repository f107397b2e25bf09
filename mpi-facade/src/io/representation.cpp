#include "io/representation.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "object/external32.hpp"
#include "object/type_builder.hpp"
#include "runtime/runtime.hpp"
#include "threads/shared_waiting.hpp"

namespace llamada::mpi::io {
namespace {

using BytesOf = std::function<Result<std::size_t>(const Signature&)>;

Reference<Datatype> bytes_type(std::size_t bytes) {
  Datatype::Layout layout;
  layout.size = bytes;
  layout.upper_bound = layout.true_upper_bound = static_cast<std::ptrdiff_t>(bytes);
  if (bytes > 0) layout.runs = {{0, bytes, 1, static_cast<std::ptrdiff_t>(bytes), 0}};
  auto signature = std::make_shared<Signature>();
  if (bytes > 0) signature->items = {{nullptr, 1, bytes, MPI_BYTE}};
  signature->bytes = signature->elements = bytes;
  layout.signature = std::move(signature);
  return make_counted<Datatype>(std::move(layout), std::make_unique<const TypeRecipe>());
}

/// Makes a type again with other types in the places of the basic ones. Displacements that a recipe has in
/// bytes stay: such types are not portable (2.4), and mean bytes of the file.
class Rebuilding {
 public:
  explicit Rebuilding(BytesOf bytes_of) : bytes_of_(std::move(bytes_of)) {}

  Result<Reference<Datatype>> rebuild(const Datatype& type) {
    const TypeRecipe& recipe = type.recipe();
    if (type.is_predefined() || recipe.types.empty()) {
      auto bytes = bytes_of_(type.signature());
      if (!bytes) return propagate(bytes);
      return bytes_type(*bytes);
    }
    std::vector<Reference<Datatype>> inner;
    std::vector<Datatype*> pointers;
    for (const Reference<Datatype>& old : recipe.types) {
      auto made = rebuild(*old);
      if (!made) return propagate(made);
      inner.push_back(std::move(*made));
      pointers.push_back(inner.back().get());
    }
    return from_recipe(recipe, pointers);
  }

 private:
  static Reference<Datatype> from_recipe(const TypeRecipe& recipe, std::span<Datatype* const> types) {
    const std::span<const MPI_Count> all(recipe.numbers);
    Datatype& old = *types[0];
    const std::ptrdiff_t unit = displacement_unit(recipe.combiner, old);
    const auto count = all.empty() ? std::size_t{0} : static_cast<std::size_t>(all[0]);
    const auto displacements = [&](std::size_t first) {
      std::vector<MPI_Aint> bytes;
      for (const MPI_Count displacement : all.subspan(first)) bytes.push_back(displacement * unit);
      return bytes;
    };
    switch (recipe.combiner) {
      case MPI_COMBINER_CONTIGUOUS:
        return make_contiguous(all[0], old);
      case MPI_COMBINER_VECTOR:
      case MPI_COMBINER_HVECTOR:
      case MPI_COMBINER_HVECTOR_INTEGER:
        return make_vector(all[0], all[1], all[2] * unit, old, {});
      case MPI_COMBINER_INDEXED:
      case MPI_COMBINER_HINDEXED:
      case MPI_COMBINER_HINDEXED_INTEGER:
        return make_indexed(all.subspan(1, count), displacements(1 + count), old, {});
      case MPI_COMBINER_INDEXED_BLOCK:
      case MPI_COMBINER_HINDEXED_BLOCK:
        return make_indexed(all.subspan(1, 1), displacements(2), old, {});
      case MPI_COMBINER_STRUCT:
      case MPI_COMBINER_STRUCT_INTEGER:
        return make_struct(all.subspan(1, count), displacements(1 + count), types, {});
      case MPI_COMBINER_SUBARRAY:
      case MPI_COMBINER_DARRAY:
        return from_array({all.begin(), all.end()}, recipe.combiner, old);
      case MPI_COMBINER_RESIZED:
        return make_resized(old, all[0], all[1]);
      default:
        return make_duplicate(old);
    }
  }

  static Reference<Datatype> from_array(const std::vector<int>& all, int combiner, Datatype& old) {
    const std::size_t first = combiner == MPI_COMBINER_SUBARRAY ? 1 : 3;
    const auto dimensions = static_cast<std::size_t>(all[first - 1]);
    const auto list = [&](std::size_t which) {
      return std::span(all).subspan(first + which * dimensions, dimensions);
    };
    if (combiner == MPI_COMBINER_SUBARRAY) return make_subarray(list(0), list(1), list(2), all.back(), old);
    return make_darray({all[0], all[1], list(0), list(1), list(2), list(3), all.back()}, old);
  }

  BytesOf bytes_of_;
};

/// Whether all basic types of a signature take as many bytes in a file as in memory.
Result<bool> same_sizes(const Signature& signature, const BytesOf& bytes_of) {
  for (const Signature::Item& item : signature.items) {
    if (item.inner) {
      auto same = same_sizes(*item.inner, bytes_of);
      if (!same || !*same) return same;
      continue;
    }
    Signature one;
    one.items = {{nullptr, item.bytes, 1, item.basic}};
    auto bytes = bytes_of(one);
    if (!bytes) return propagate(bytes);
    if (*bytes != item.bytes) return false;
  }
  return true;
}

}  // namespace

Result<std::size_t> Representation::basic_bytes(MPI_Datatype basic, std::size_t native_bytes) const {
  if (kind_ == Kind::native) return native_bytes;
  if (kind_ == Kind::external32) {
    Signature one;
    one.items = {{nullptr, native_bytes, 1, basic}};
    return external32_size(one, 1);
  }
  MPI_Aint extent = 0;
  const OutsideForCallback outside;
  const int code = functions_.extent(basic, &extent, functions_.extra_state);
  if (code != MPI_SUCCESS || extent < 0)
    return tl::unexpected<Error>(Error(
        Errc::incompatible,
        fmt::format("the extent function of the representation '{}' failed with code {}", name_, code)));
  return static_cast<std::size_t>(extent);
}

Result<std::size_t> Representation::signature_bytes(const Signature& signature) const {
  std::size_t bytes = 0;
  for (const Signature::Item& item : signature.items) {
    auto each = item.inner ? signature_bytes(*item.inner) : basic_bytes(item.basic, item.bytes);
    if (!each) return propagate(each);
    bytes += *each * item.count;
  }
  return bytes;
}

Result<std::size_t> Representation::file_bytes(const Datatype& type, std::size_t count) const {
  if (kind_ == Kind::native) return type.size() * count;
  auto each = signature_bytes(type.signature());
  if (!each) return propagate(each);
  return *each * count;
}

Result<Reference<Datatype>> Representation::file_type(Datatype& type) const {
  const auto itself = [&] { return Reference<Datatype>(&type); };
  if (kind_ == Kind::native) return itself();
  const BytesOf bytes_of = [this](const Signature& signature) { return signature_bytes(signature); };
  auto same = same_sizes(type.signature(), bytes_of);
  if (!same) return propagate(same);
  if (*same) return itself();
  auto made = Rebuilding(bytes_of).rebuild(type);
  if (!made) return propagate(made);
  return made;
}

Status Representation::to_file(const void* base, std::size_t count, const Datatype& type,
                               std::span<std::byte> file) const {
  if (is_plain(false)) {
    type.pack(base, count, 0, file);
    return {};
  }
  if (kind_ == Kind::external32) {
    std::vector<std::byte> native(type.size() * count);
    type.pack(base, count, 0, native);
    auto converted = to_external32(type.signature(), count, native, file);
    if (!converted) return failure(Errc::incompatible, "{}", converted.error().text());
    return {};
  }
  const OutsideForCallback outside;
  const int code = functions_.write(const_cast<void*>(base), type.handle(), static_cast<int>(count),
                                    file.data(), 0, functions_.extra_state);
  if (code == MPI_SUCCESS) return {};
  return failure(Errc::incompatible, "the conversion function of the representation '{}' failed with code {}",
                 name_, code);
}

Result<std::size_t> Representation::native_bytes_in(const Signature& signature, std::size_t available,
                                                    std::size_t& used) const {
  std::size_t native = 0;
  for (const Signature::Item& item : signature.items) {
    auto each = item.inner ? signature_bytes(*item.inner) : basic_bytes(item.basic, item.bytes);
    if (!each) return propagate(each);
    const std::size_t whole =
        *each == 0 ? item.count : std::min<std::size_t>(item.count, (available - used) / *each);
    native += whole * item.bytes;
    used += whole * *each;
    if (whole == item.count) continue;
    if (item.inner) {
      auto rest = native_bytes_in(*item.inner, available, used);
      if (!rest) return propagate(rest);
      native += *rest;
    }
    break;
  }
  return native;
}

Result<std::size_t> Representation::from_file(std::span<std::byte> file, std::size_t available, void* base,
                                              std::size_t count, const Datatype& type) const {
  if (is_plain(true)) {
    type.unpack(file.first(available), 0, base, count);
    return available;
  }
  const std::size_t each = count == 0 ? 0 : file.size() / count;
  const std::size_t whole = each == 0 ? count : available / each;
  if (kind_ == Kind::user) {
    const int code =
        functions_.read(base, type.handle(), static_cast<int>(whole), file.data(), 0, functions_.extra_state);
    if (code == MPI_SUCCESS) return whole * type.size();
    return failure(Errc::incompatible,
                   "the conversion function of the representation '{}' failed with code {}", name_, code);
  }
  std::fill(file.begin() + static_cast<std::ptrdiff_t>(available), file.end(), std::byte{0});
  std::vector<std::byte> native(type.size() * count);
  from_external32(type.signature(), count, file, native);
  std::size_t native_bytes = whole * type.size();
  if (whole < count) {
    std::size_t used = 0;
    auto rest = native_bytes_in(type.signature(), available - whole * each, used);
    if (!rest) return propagate(rest);
    native_bytes += *rest;
  }
  type.unpack(std::span(native).first(native_bytes), 0, base, count);
  return native_bytes;
}

}  // namespace llamada::mpi::io
