#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "p2p/engine.hpp"
#include "runtime/arguments.hpp"
#include "runtime/one_node.hpp"
#include "runtime/protection.hpp"
#include "spawn/ports.hpp"
#include "world/world.hpp"

// MPI 3.1, 10.4 and 10.5: connections between groups that share no communicator, and their end.
using namespace llamada::mpi;

namespace {

constexpr const char* what_connects = "a connection by a port, a name or a socket";

int check_text(const char* text, const char* what) {
  if (int code = check_pointer(nullptr, text, what)) return code;
  return *text != '\0' ? MPI_SUCCESS : report(nullptr, MPI_ERR_ARG, fmt::format("the {} is empty", what));
}

int check_info(MPI_Info info) {
  if (info == MPI_INFO_NULL || runtime().infos.find(info)) return MPI_SUCCESS;
  return report(nullptr, MPI_ERR_INFO, "the info object was freed, or is none");
}

/// `classes`: what a name that is there already, and one that is not, are called.
struct NameErrors {
  int exists = MPI_ERR_OTHER;
  int missing = MPI_ERR_OTHER;
};
int report_name(const llamada::Error& error, const NameErrors& classes) {
  if (error.code() == llamada::Errc::already_exists) return report(nullptr, classes.exists, error.text());
  if (error.code() == llamada::Errc::not_found) return report(nullptr, classes.missing, error.text());
  return report(nullptr, error);
}

/// MPICH's info key, in whole seconds.
std::chrono::seconds timeout_of(MPI_Info info) {
  const Info* hints = runtime().infos.find(info);
  const auto text = hints ? hints->get("timeout") : std::nullopt;
  const int seconds = text ? std::atoi(std::string(*text).c_str()) : 0;
  return seconds > 0 ? std::chrono::seconds(seconds) : default_connect_timeout();
}

using Connect = llamada::Result<Communicator*> (*)(Communicator& local, const Connection& connection,
                                                   Verdict& verdict);
int connect_by(Connect connect, const char* name, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* new_comm) {
  Communicator* local = nullptr;
  if (int code = find_intracommunicator(comm, local)) return code;
  if (int code = check_pointer(local, new_comm, "new communicator")) return code;
  if (auto may = need_no_survivors(*runtime().world, "connections by ports"); !may)
    return report(local, may.error());
  if (int code = check_root(local, root)) return code;
  if (local->rank() == root) {
    if (int code = check_pointer(local, name, "port name")) return code;
    if (int code = check_info(info)) return code;
  }
  give_up_protection(what_connects);
  part_from_ended();
  *new_comm = MPI_COMM_NULL;
  Verdict verdict;
  auto made = connect(*local, {root, name, timeout_of(info)}, verdict);
  if (!verdict.good()) return report(local, verdict.error_class, verdict.text);
  if (!made) return report(local, made.error());
  *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

/// Nothing of the program is on its way in the communicator here, and all members have come.
int settle(Communicator& communicator) {
  Engine& engine = *runtime().engine;
  engine.wait_until([&] { return engine.is_quiet(communicator); });
  return PMPI_Barrier(communicator.handle());
}

}  // namespace

extern "C" {

LLAMADA_MPI_FUNCTION(Open_port)
int PMPI_Open_port(MPI_Info info, char* port_name) {
  LLAMADA_MPI_ENTER(Open_port);
  if (int code = check_pointer(nullptr, port_name, "port name")) return code;
  if (int code = check_info(info)) return code;
  give_up_protection(what_connects);
  auto name = open_port();
  if (!name) return report(nullptr, name.error());
  if (name->size() >= MPI_MAX_PORT_NAME)
    return report(nullptr, MPI_ERR_PORT, fmt::format("the port name {} is too long", *name));
  std::strcpy(port_name, name->c_str());
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Close_port)
int PMPI_Close_port(const char* port_name) {
  LLAMADA_MPI_ENTER(Close_port);
  if (int code = check_pointer(nullptr, port_name, "port name")) return code;
  auto closed = close_port(port_name);
  return closed ? MPI_SUCCESS : report(nullptr, MPI_ERR_PORT, closed.error().text());
}

LLAMADA_MPI_FUNCTION(Comm_accept)
int PMPI_Comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Comm_accept);
  return connect_by(accept, port_name, info, root, comm, new_comm);
}

LLAMADA_MPI_FUNCTION(Comm_connect)
int PMPI_Comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Comm_connect);
  return connect_by(connect, port_name, info, root, comm, new_comm);
}

LLAMADA_MPI_FUNCTION(Publish_name)
int PMPI_Publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  LLAMADA_MPI_ENTER(Publish_name);
  if (int code = check_text(service_name, "service name")) return code;
  if (int code = check_text(port_name, "port name")) return code;
  if (int code = check_info(info)) return code;
  give_up_protection(what_connects);
  auto published = runtime().world->publish_name(NameSpace::services, service_name, port_name);
  return published ? MPI_SUCCESS : report_name(published.error(), {MPI_ERR_SERVICE, MPI_ERR_SERVICE});
}

LLAMADA_MPI_FUNCTION(Unpublish_name)
int PMPI_Unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  LLAMADA_MPI_ENTER(Unpublish_name);
  if (int code = check_text(service_name, "service name")) return code;
  if (int code = check_pointer(nullptr, port_name, "port name")) return code;
  if (int code = check_info(info)) return code;
  give_up_protection(what_connects);
  auto withdrawn = runtime().world->withdraw_name(NameSpace::services, service_name);
  return withdrawn ? MPI_SUCCESS : report_name(withdrawn.error(), {MPI_ERR_SERVICE, MPI_ERR_SERVICE});
}

LLAMADA_MPI_FUNCTION(Lookup_name)
int PMPI_Lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  LLAMADA_MPI_ENTER(Lookup_name);
  if (int code = check_text(service_name, "service name")) return code;
  if (int code = check_pointer(nullptr, port_name, "port name")) return code;
  if (int code = check_info(info)) return code;
  give_up_protection(what_connects);
  auto found = runtime().world->look_up_name(NameSpace::services, service_name);
  if (!found) return report_name(found.error(), {MPI_ERR_NAME, MPI_ERR_NAME});
  const std::size_t size = found->copy(port_name, MPI_MAX_PORT_NAME - 1);
  port_name[size] = '\0';
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_join)
int PMPI_Comm_join(int socket, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(Comm_join);
  Communicator* self = runtime().communicators.find(MPI_COMM_SELF);
  if (int code = check_pointer(self, new_comm, "new communicator")) return code;
  if (auto may = need_no_survivors(*runtime().world, "connections by sockets"); !may)
    return report(self, may.error());
  give_up_protection(what_connects);
  *new_comm = MPI_COMM_NULL;
  auto made = join(socket);
  if (!made) return report(self, made.error());
  if (*made) *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

LLAMADA_MPI_FUNCTION(Comm_disconnect)
int PMPI_Comm_disconnect(MPI_Comm* comm) {
  LLAMADA_MPI_ENTER(Comm_disconnect);
  if (int code = check_pointer(nullptr, comm, "comm")) return code;
  Communicator* communicator = nullptr;
  if (int code = find_communicator(*comm, communicator)) return code;
  if (*comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF)
    return report(communicator, MPI_ERR_COMM, "a predefined communicator cannot be disconnected");
  if (int code = settle(*communicator)) return code;
  return PMPI_Comm_free(comm);
}

}  // extern "C"
