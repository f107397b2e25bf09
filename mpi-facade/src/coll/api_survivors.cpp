#include <mpi-ext.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "coll/comm_create.hpp"
#include "coll/survivors.hpp"
#include "p2p/api_common.hpp"

// ULFM: how the processes that live go on after the death of others (docs/ulfm.md).

using namespace llamada::mpi;

namespace {

constexpr const char* needs_survivors =
    "when a process dies, this job ends or replaces the rank; start it with a profile whose rank_replacement "
    "is BLANK or SHRINK, for example --qos ulfm";

/// The error of an agreement: MPIX_ERR_PROC_FAILED on all members if one of them had not acknowledged all.
int outcome_of(Communicator& communicator, const llamada::Result<llamada::AgreementDecision>& decision) {
  if (!decision) return report(&communicator, decision.error());
  return decision->all_knew ? MPI_SUCCESS : report_loss(&communicator, MPIX_ERR_PROC_FAILED);
}

/// Refuses what only a job with survivors, or without replacements, can do beside other work.
int check_nonblocking(Communicator* communicator) {
  if (!runtime().world->protection().keeps_messages) return MPI_SUCCESS;
  return report(communicator, MPI_ERR_UNSUPPORTED_OPERATION, needs_survivors);
}

class AgreeTask final : public Task {
 public:
  AgreeTask(Communicator& communicator, int* flag)
      : communicator_(&communicator),
        flag_(flag),
        agreement_(communicator, static_cast<std::uint32_t>(*flag)) {}
  bool step() override { return agreement_.step(); }
  int complete(MPI_Status*) override {
    const auto decision = agreement_.decision();
    if (!decision) return error_class_for(decision.error().code());
    *flag_ = static_cast<int>(decision->flags);
    return decision->all_knew ? MPI_SUCCESS : MPIX_ERR_PROC_FAILED;
  }
  int report(int) override { return outcome_of(*communicator_, agreement_.decision()); }
  Communicator* communicator() const override { return communicator_.get(); }

 private:
  Reference<Communicator> communicator_;
  int* flag_;
  Agreement agreement_;
};

class ShrinkTask final : public Task {
 public:
  ShrinkTask(Communicator& communicator, MPI_Comm* result)
      : communicator_(&communicator), result_(result), shrinking_(communicator) {}
  bool step() override { return shrinking_.step(); }
  int complete(MPI_Status*) override {
    if (!made_) made_ = shrinking_.make();
    if (!*made_) return error_class_for(made_->error().code());
    *result_ = (**made_)->handle();
    return MPI_SUCCESS;
  }
  int report(int) override { return llamada::mpi::report(communicator_.get(), made_->error()); }
  Communicator* communicator() const override { return communicator_.get(); }

 private:
  Reference<Communicator> communicator_;
  MPI_Comm* result_;
  Shrinking shrinking_;
  std::optional<llamada::Result<Communicator*>> made_;
};

int give_group(std::vector<int> slots, MPI_Group* result) {
  *result = MPI_GROUP_EMPTY;
  if (!slots.empty()) *result = runtime().groups.insert(group_of(std::move(slots)));
  return MPI_SUCCESS;
}

std::size_t count_peers(const Communicator& communicator) {
  return engine().losses().among_peers(communicator, communicator.acknowledged).size();
}

}  // namespace

LLAMADA_MPIX_FUNCTION(Comm_revoke)
int PMPIX_Comm_revoke(MPI_Comm comm) {
  LLAMADA_MPI_ENTER(X_Comm_revoke);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (!engine().losses().is_on()) return report(communicator, MPI_ERR_UNSUPPORTED_OPERATION, needs_survivors);
  engine().revoked(communicator->context());
  engine().progress();
  return MPI_SUCCESS;
}

LLAMADA_MPIX_FUNCTION(Comm_is_revoked)
int PMPIX_Comm_is_revoked(MPI_Comm comm, int* flag) {
  LLAMADA_MPI_ENTER(X_Comm_is_revoked);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  engine().found_nothing();
  *flag = engine().losses().is_revoked(communicator->context());
  return MPI_SUCCESS;
}

LLAMADA_MPIX_FUNCTION(Comm_shrink)
int PMPIX_Comm_shrink(MPI_Comm comm, MPI_Comm* new_comm) {
  LLAMADA_MPI_ENTER(X_Comm_shrink);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "newcomm")) return code;
  *new_comm = MPI_COMM_NULL;
  auto made = shrink(*communicator);
  if (!made) return report(communicator, made.error());
  *new_comm = (*made)->handle();
  return MPI_SUCCESS;
}

LLAMADA_MPIX_FUNCTION(Comm_ishrink)
int PMPIX_Comm_ishrink(MPI_Comm comm, MPI_Comm* new_comm, MPI_Request* request) {
  LLAMADA_MPI_ENTER(X_Comm_ishrink);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, new_comm, "newcomm")) return code;
  if (int code = check_pointer(communicator, request, "request")) return code;
  if (int code = check_nonblocking(communicator)) return code;
  if (communicator->is_inter())
    return report(communicator, MPI_ERR_UNSUPPORTED_OPERATION,
                  "intercommunicators cannot be shrunk here: shrink those of their groups");
  *new_comm = MPI_COMM_NULL;
  return begin_task(std::make_unique<ShrinkTask>(*communicator, new_comm), request);
}

LLAMADA_MPIX_FUNCTION(Comm_agree)
int PMPIX_Comm_agree(MPI_Comm comm, int* flag) {
  LLAMADA_MPI_ENTER(X_Comm_agree);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  const auto decision = agree(*communicator, static_cast<std::uint32_t>(*flag));
  if (decision) *flag = static_cast<int>(decision->flags);
  return outcome_of(*communicator, decision);
}

LLAMADA_MPIX_FUNCTION(Comm_iagree)
int PMPIX_Comm_iagree(MPI_Comm comm, int* flag, MPI_Request* request) {
  LLAMADA_MPI_ENTER(X_Comm_iagree);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, flag, "flag")) return code;
  if (int code = check_pointer(communicator, request, "request")) return code;
  if (int code = check_nonblocking(communicator)) return code;
  return begin_task(std::make_unique<AgreeTask>(*communicator, flag), request);
}

LLAMADA_MPIX_FUNCTION(Comm_failure_ack)
int PMPIX_Comm_failure_ack(MPI_Comm comm) {
  LLAMADA_MPI_ENTER(X_Comm_failure_ack);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  engine().look_at_losses();
  communicator->acknowledged = engine().losses().in_order().size();
  engine().look_at_losses();
  return MPI_SUCCESS;
}

LLAMADA_MPIX_FUNCTION(Comm_failure_get_acked)
int PMPIX_Comm_failure_get_acked(MPI_Comm comm, MPI_Group* failed_group) {
  LLAMADA_MPI_ENTER(X_Comm_failure_get_acked);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, failed_group, "group")) return code;
  return give_group(engine().losses().among_peers(*communicator, communicator->acknowledged), failed_group);
}

LLAMADA_MPIX_FUNCTION(Comm_get_failed)
int PMPIX_Comm_get_failed(MPI_Comm comm, MPI_Group* failed_group) {
  LLAMADA_MPI_ENTER(X_Comm_get_failed);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, failed_group, "group")) return code;
  engine().look_at_losses();
  const Losses& losses = engine().losses();
  return give_group(losses.among_peers(*communicator, losses.in_order().size()), failed_group);
}

LLAMADA_MPIX_FUNCTION(Comm_ack_failed)
int PMPIX_Comm_ack_failed(MPI_Comm comm, int number_to_acknowledge, int* number_acknowledged) {
  LLAMADA_MPI_ENTER(X_Comm_ack_failed);
  Communicator* communicator = nullptr;
  if (int code = find_communicator(comm, communicator)) return code;
  if (int code = check_pointer(communicator, number_acknowledged, "number")) return code;
  if (int code = check_count(communicator, number_to_acknowledge)) return code;
  engine().look_at_losses();
  const std::size_t known = engine().losses().in_order().size();
  while (communicator->acknowledged < known &&
         count_peers(*communicator) < static_cast<std::size_t>(number_to_acknowledge))
    ++communicator->acknowledged;
  engine().look_at_losses();
  *number_acknowledged = static_cast<int>(count_peers(*communicator));
  return MPI_SUCCESS;
}
