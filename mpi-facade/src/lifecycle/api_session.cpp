#include "session/session.hpp"

#include <algorithm>
#include <cstring>

#include "lifecycle/init.hpp"
#include "object/error_handler_table.hpp"
#include "object/info_table.hpp"
#include "runtime/arguments.hpp"

// MPI 4.0, 11.3: sessions and process sets.
using namespace llamada::mpi;

namespace {

int check_given(Session* session, const void* pointer, const char* what) {
  return pointer ? MPI_SUCCESS : report(*session, MPI_ERR_ARG, fmt::format("the {} is a null pointer", what));
}

int find_set(Session* session, const char* name, std::vector<int>& members) {
  if (int code = check_given(session, name, "name of the process set")) return code;
  members = members_of_set(name);
  return !members.empty() ? MPI_SUCCESS
                          : report(*session, MPI_ERR_ARG, fmt::format("there is no process set '{}'", name));
}

int give_info(std::string_view key, std::string_view value, MPI_Info* info) {
  auto made = make_counted<Info>();
  made->set(key, value);
  *info = runtime().infos.insert(std::move(made));
  return MPI_SUCCESS;
}

/// The level that the info asks for; MPI_THREAD_SINGLE if none.
int wanted_level(const Info* info) {
  const auto value = info ? info->get("thread_level") : std::nullopt;
  return value ? std::max(thread_level_of(*value), MPI_THREAD_SINGLE) : MPI_THREAD_SINGLE;
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Session_init)
int PMPI_Session_init(MPI_Info info, MPI_Errhandler handler, MPI_Session* session) {
  const Info* hints = info == MPI_INFO_NULL ? nullptr : info_table().find(info);
  const int level = wanted_level(hints);
  enter_by_session(level);
  LLAMADA_MPI_ENTER(Session_init);
  const auto found = find_error_handler(handler, ErrorHandler::For::sessions);
  // The error handler hears of what goes wrong here, too.
  const auto refuse = [&](int error_class, const std::string& text) {
    int code = MPI_SUCCESS;
    if (found) {
      Session none(*found, level);
      code = report(none, error_class, text);
    } else {
      code = report(nullptr, error_class, text);
    }
    leave_by_session();
    return code;
  };
  if (!found) return refuse(MPI_ERR_ARG, found.error().text());
  if (info != MPI_INFO_NULL && !hints) return refuse(MPI_ERR_INFO, "the info object was freed, or is none");
  if (!session) return refuse(MPI_ERR_ARG, "the session is a null pointer");
  // What the process has been granted before holds here, too.
  auto made = make_counted<Session>(*found, std::max(level, runtime().threads.level));
  made->handle = runtime().sessions.insert(made);
  *session = made->handle;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_finalize)
int PMPI_Session_finalize(MPI_Session* session) {
  LLAMADA_MPI_ENTER(Session_finalize);
  if (int code = check_pointer(nullptr, session, "session")) return code;
  Session* found = nullptr;
  if (int code = find_session(*session, found)) return code;
  runtime().sessions.erase(*session);
  *session = MPI_SESSION_NULL;
  leave_by_session();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_get_info)
int PMPI_Session_get_info(MPI_Session session, MPI_Info* info) {
  LLAMADA_MPI_ENTER(Session_get_info);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  if (int code = check_given(found, info, "info")) return code;
  return give_info("thread_level", thread_level_name(found->thread_level()), info);
}

LLAMADA_MPI_FUNCTION(Session_get_num_psets)
int PMPI_Session_get_num_psets(MPI_Session session, MPI_Info, int* count) {
  LLAMADA_MPI_ENTER(Session_get_num_psets);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  if (int code = check_given(found, count, "count")) return code;
  *count = static_cast<int>(std::size(process_sets));
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_get_nth_pset)
int PMPI_Session_get_nth_pset(MPI_Session session, MPI_Info, int n, int* length, char* name) {
  LLAMADA_MPI_ENTER(Session_get_nth_pset);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  if (int code = check_given(found, length, "length")) return code;
  if (n < 0 || n >= static_cast<int>(std::size(process_sets)))
    return report(*found, MPI_ERR_ARG, fmt::format("there is no process set {}", n));
  // Lengths are with the NUL; of length 0 only the length is given.
  const std::string_view set = process_sets[n];
  if (*length > 0) {
    if (int code = check_given(found, name, "name")) return code;
    const std::size_t size = set.copy(name, static_cast<std::size_t>(*length) - 1);
    name[size] = '\0';
  }
  *length = static_cast<int>(set.size()) + 1;
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Session_get_pset_info)
int PMPI_Session_get_pset_info(MPI_Session session, const char* name, MPI_Info* info) {
  LLAMADA_MPI_ENTER(Session_get_pset_info);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  std::vector<int> members;
  if (int code = find_set(found, name, members)) return code;
  if (int code = check_given(found, info, "info")) return code;
  return give_info("mpi_size", std::to_string(members.size()), info);
}

LLAMADA_MPI_FUNCTION(Group_from_session_pset)
int PMPI_Group_from_session_pset(MPI_Session session, const char* name, MPI_Group* group) {
  LLAMADA_MPI_ENTER(Group_from_session_pset);
  Session* found = nullptr;
  if (int code = find_session(session, found)) return code;
  std::vector<int> members;
  if (int code = find_set(found, name, members)) return code;
  if (int code = check_given(found, group, "group")) return code;
  *group = runtime().groups.insert(make_counted<Group>(std::move(members), runtime().world_rank));
  return MPI_SUCCESS;
}

}  // extern "C"
