#include "object/info_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "runtime/any_time.hpp"
#include "runtime/arguments.hpp"
#include "runtime/strings.hpp"

// MPI 3.1, chapter 9: the info object. These functions may be called before MPI_Init and after MPI_Finalize,
// and by any thread (MPI 4.0, 10).
using namespace llamada::mpi;

namespace {

int find_info(MPI_Info info, Info*& found) {
  found = info_table().find(info);
  return found ? MPI_SUCCESS
               : report(nullptr, MPI_ERR_INFO, "the info object is MPI_INFO_NULL, or was freed");
}

int check_text(const char* text, std::size_t length_max, int error_class, const char* what) {
  const std::size_t length = text ? strnlen(text, length_max + 1) : 0;
  if (length > 0 && length <= length_max) return MPI_SUCCESS;
  return report(nullptr, error_class,
                fmt::format("the {} is missing, empty or longer than {}", what, length_max));
}

int check_key(const char* key) { return check_text(key, MPI_MAX_INFO_KEY - 1, MPI_ERR_INFO_KEY, "key"); }

}  // namespace

LLAMADA_MPI_FUNCTION(Info_create)
int PMPI_Info_create(MPI_Info* info) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_create);
  if (int code = check_pointer(nullptr, info, "info")) return code;
  *info = info_table().insert(make_counted<Info>());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_create_env)
int PMPI_Info_create_env(int, char*[], MPI_Info* info) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_create_env);
  if (int code = check_pointer(nullptr, info, "info")) return code;
  auto made = make_counted<Info>();
  const char* size = std::getenv("LLAMADA_SIZE");
  fill_with_environment(*made, size ? std::atoi(size) : 1);
  *info = info_table().insert(std::move(made));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_set)
int PMPI_Info_set(MPI_Info info, const char* key, const char* value) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_set);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_key(key)) return code;
  if (int code = check_text(value, MPI_MAX_INFO_VAL - 1, MPI_ERR_INFO_VALUE, "value")) return code;
  found->set(key, value);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_get)
int PMPI_Info_get(MPI_Info info, const char* key, int value_length, char* value, int* flag) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_get);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_key(key)) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  const auto known = found->get(key);
  *flag = known.has_value();
  if (!known) return MPI_SUCCESS;
  if (int code = check_pointer(nullptr, value, "value")) return code;
  if (value_length < 0) return report(nullptr, MPI_ERR_ARG, "the length for the value is negative");
  int length = 0;
  give_string(known->substr(0, static_cast<std::size_t>(value_length)), value, &length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_get_valuelen)
int PMPI_Info_get_valuelen(MPI_Info info, const char* key, int* value_length, int* flag) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_get_valuelen);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_key(key)) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  const auto known = found->get(key);
  *flag = known.has_value();
  if (!known) return MPI_SUCCESS;
  if (int code = check_pointer(nullptr, value_length, "length")) return code;
  *value_length = static_cast<int>(known->size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_get_nkeys)
int PMPI_Info_get_nkeys(MPI_Info info, int* key_count) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_get_nkeys);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_pointer(nullptr, key_count, "number of keys")) return code;
  *key_count = static_cast<int>(found->size());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_get_nthkey)
int PMPI_Info_get_nthkey(MPI_Info info, int index, char* key) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_get_nthkey);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_pointer(nullptr, key, "key")) return code;
  if (index < 0 || index >= static_cast<int>(found->size())) {
    return report(nullptr, MPI_ERR_ARG, fmt::format("there is no key {} of {}", index, found->size()));
  }
  int length = 0;
  give_string(found->key(static_cast<std::size_t>(index)), key, &length);
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_delete)
int PMPI_Info_delete(MPI_Info info, const char* key) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_delete);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_key(key)) return code;
  if (found->remove(key)) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_INFO_NOKEY, fmt::format("there is no key '{}'", key));
}

LLAMADA_MPI_FUNCTION(Info_dup)
int PMPI_Info_dup(MPI_Info info, MPI_Info* new_info) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_dup);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_pointer(nullptr, new_info, "new info")) return code;
  auto copy = make_counted<Info>();
  copy->copy_from(*found);
  *new_info = info_table().insert(std::move(copy));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_free)
int PMPI_Info_free(MPI_Info* info) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_free);
  if (int code = check_pointer(nullptr, info, "info")) return code;
  Info* found = nullptr;
  if (int code = find_info(*info, found)) return code;
  if (*info == MPI_INFO_ENV) return report(nullptr, MPI_ERR_INFO, "MPI_INFO_ENV cannot be freed");
  info_table().erase(*info);
  *info = MPI_INFO_NULL;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Info_get_string)
int PMPI_Info_get_string(MPI_Info info, const char* key, int* buffer_length, char* value, int* flag) {
  LLAMADA_MPI_ENTER_AT_ANY_TIME(Info_get_string);
  Info* found = nullptr;
  if (int code = find_info(info, found)) return code;
  if (int code = check_key(key)) return code;
  if (int code = check_pointer(nullptr, buffer_length, "length")) return code;
  if (int code = check_pointer(nullptr, flag, "flag")) return code;
  const auto text = found->get(key);
  *flag = text.has_value();
  if (!text) return MPI_SUCCESS;
  // Both lengths count the NUL (MPI 4.0, 10).
  if (*buffer_length > 0) {
    if (int code = check_pointer(nullptr, value, "value")) return code;
    const std::size_t fits = std::min(text->size(), static_cast<std::size_t>(*buffer_length) - 1);
    std::memcpy(value, text->data(), fits);
    value[fits] = '\0';
  }
  *buffer_length = static_cast<int>(text->size()) + 1;
  return MPI_SUCCESS;
}
