#include "p2p/api_common.hpp"

// Probes, matched ones too (MPI 3.1, 3.8).

using namespace llamada::mpi;
using replay::CallKind;

namespace {

bool is_blocking(CallKind kind) { return kind == CallKind::probe || kind == CallKind::mprobe; }

Arrival* find_repeated(Communicator& communicator, int wanted, CallKind kind) {
  const replay::Outcome outcome = engine().take_outcome(kind);
  if (outcome.type == replay::Outcome::Type::fruitless) {
    engine().found_nothing();
    return nullptr;
  }
  Arrival* found = nullptr;
  const auto& message = outcome.message;
  engine().wait_for_recorded("the message that a probe saw", [&] {
    return (found = engine().find(communicator.context(), message.source, message.ordinal)) != nullptr;
  });
  if (wanted == MPI_ANY_SOURCE) engine().probed(*found);
  return found;
}

Arrival* find_live(Communicator& communicator, int source, int tag, CallKind kind, bool recorded) {
  Engine& self = engine();
  const std::uint32_t context = communicator.context();
  Arrival* found = self.probe(context, source, tag);
  if (!found && !is_blocking(kind) && self.is_nothing_new()) {
    self.determinants().record_fruitless();
    return nullptr;
  }
  if (!found && is_blocking(kind)) {
    const AwaitsMessage awaits(communicator, source, tag);
    self.wait_until(
        [&] {
          return (found = self.probe(context, source, tag)) != nullptr ||
                 (self.losses().any() && self.losses().why_in_vain(communicator, source) != MPI_SUCCESS);
        },
        &awaits, Engine::Bulk::gives_way);
  }
  if (!found) {
    self.found_nothing();
    found = self.probe(context, source, tag);
  }
  if (!recorded) return found;
  if (!found) {
    self.determinants().record_fruitless();
    return nullptr;
  }
  self.found_something();
  self.determinants().record_message(kind, {found->source, found->ordinal});
  return found;
}

/// The message that the probe sees; null when there is none.
Arrival* look(Communicator& communicator, int source, int tag, CallKind kind) {
  // What a blocking probe of one source sees follows from the order of its messages.
  const bool recorded = !is_blocking(kind) || source == MPI_ANY_SOURCE;
  if (recorded && engine().replaying()) return find_repeated(communicator, source, kind);
  return find_live(communicator, Engine::world_source(communicator, source), tag, kind, recorded);
}

void probe_status(const Communicator& communicator, const Arrival& arrival, MPI_Status* status) {
  set_status(status, communicator.rank_of(arrival.source), arrival.tag, arrival.bytes);
}

/// Why a probe that has found nothing never will; MPI_SUCCESS: it may.
int why_in_vain(Communicator& communicator, int source) {
  const Losses& losses = engine().losses();
  if (!losses.any()) [[likely]]
    return MPI_SUCCESS;
  const int error = losses.why_in_vain(communicator, Engine::world_source(communicator, source));
  return error == MPI_SUCCESS ? MPI_SUCCESS : report_loss(&communicator, error);
}

int check_probe(int source, int tag, MPI_Comm comm, Communicator*& communicator) {
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_usable(communicator)) return code;
  if (int code = check_source(communicator, source)) return code;
  return check_receive_tag(communicator, tag);
}

int probe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status, CallKind kind) {
  Communicator* communicator = nullptr;
  if (int code = check_probe(source, tag, comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    null_process_status(status);
    return MPI_SUCCESS;
  }
  const Reference<Communicator> held(runtime().lock ? communicator : nullptr);
  const Arrival* found = look(*communicator, source, tag, kind);
  *flag = found != nullptr;
  if (!found) return why_in_vain(*communicator, source);
  probe_status(*communicator, *found, status);
  return MPI_SUCCESS;
}

int matched_probe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status,
                  CallKind kind) {
  Communicator* communicator = nullptr;
  if (int code = check_probe(source, tag, comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  if (int code = check_pointer(communicator, message, "message")) return code;
  *flag = 1;
  if (source == MPI_PROC_NULL) {
    *message = MPI_MESSAGE_NO_PROC;
    null_process_status(status);
    return MPI_SUCCESS;
  }
  *message = MPI_MESSAGE_NULL;
  const Reference<Communicator> held(runtime().lock ? communicator : nullptr);
  Arrival* found = look(*communicator, source, tag, kind);
  *flag = found != nullptr;
  if (!found) return why_in_vain(*communicator, source);
  engine().take(*found);
  Request& holder = engine().requests().add();
  holder.kind = Request::Kind::message;
  holder.arrival = found;
  holder.communicator = communicator;
  holder.keep().communicator = Reference<Communicator>(communicator);
  *message = holder.handle;
  probe_status(*communicator, *found, status);
  return MPI_SUCCESS;
}

/// Describes the receive of a matched message. The communicator is that of the probe.
int find_message(void* buffer, int count, MPI_Datatype datatype, const MPI_Message* message, Peer& peer,
                 Request*& holder) {
  if (int code = check_pointer(nullptr, message, "message")) return code;
  holder = nullptr;
  if (*message != MPI_MESSAGE_NO_PROC) {
    holder = *message == MPI_MESSAGE_NULL ? nullptr : engine().requests().find(*message);
    if (!holder || holder->kind != Request::Kind::message)
      return report(nullptr, MPI_ERR_REQUEST,
                    fmt::format("{:#x} is no message", static_cast<unsigned>(*message)));
    peer.communicator = holder->communicator;
  } else {
    peer.communicator = runtime().comm_world();
  }
  return check_data(buffer, count, datatype, peer);
}

}  // namespace

LLAMADA_MPI_FUNCTION(Probe)
int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Probe);
  int flag = 0;
  return probe(source, tag, comm, &flag, status, CallKind::probe);
}

LLAMADA_MPI_FUNCTION(Iprobe)
int PMPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Iprobe);
  return probe(source, tag, comm, flag, status, CallKind::iprobe);
}

LLAMADA_MPI_FUNCTION(Mprobe)
int PMPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Mprobe);
  int flag = 0;
  return matched_probe(source, tag, comm, &flag, message, status, CallKind::mprobe);
}

LLAMADA_MPI_FUNCTION(Improbe)
int PMPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Improbe);
  return matched_probe(source, tag, comm, flag, message, status, CallKind::improbe);
}

LLAMADA_MPI_FUNCTION(Mrecv)
int PMPI_Mrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Status* status) {
  LLAMADA_MPI_ENTER(Mrecv);
  Peer peer;
  Request* holder = nullptr;
  if (int code = find_message(buffer, count, datatype, message, peer, holder)) return code;
  *message = MPI_MESSAGE_NULL;
  if (!holder) {
    null_process_status(status);
    return MPI_SUCCESS;
  }
  const Reference<Communicator> kept = holder->kept->communicator;
  Arrival& arrival = *holder->arrival;
  engine().requests().remove(*holder);
  Request request;
  describe_receive(request, peer, MPI_ANY_SOURCE, MPI_ANY_TAG);
  request.matched_by_probe = true;
  engine().start_matched_receive(request, arrival);
  engine().wait(request);
  Engine::receive_status(request, status);
  return report_request(request);
}

LLAMADA_MPI_FUNCTION(Imrecv)
int PMPI_Imrecv(void* buffer, int count, MPI_Datatype datatype, MPI_Message* message, MPI_Request* handle) {
  LLAMADA_MPI_ENTER(Imrecv);
  Peer peer;
  Request* holder = nullptr;
  if (int code = find_message(buffer, count, datatype, message, peer, holder)) return code;
  if (int code = check_pointer(peer.communicator, handle, "request")) return code;
  *message = MPI_MESSAGE_NULL;
  Request& request = add_request(peer);
  describe_receive(request, peer, holder ? MPI_ANY_SOURCE : MPI_PROC_NULL, MPI_ANY_TAG);
  request.matched_by_probe = true;
  *handle = request.handle;
  if (!holder) {
    engine().start(request);
    return MPI_SUCCESS;
  }
  Arrival& arrival = *holder->arrival;
  engine().requests().remove(*holder);
  engine().start_matched_receive(request, arrival);
  return MPI_SUCCESS;
}
