#include "llamada/llamanet/inject.hpp"

#include "ask.hpp"
#include "socket.hpp"

namespace llamada::llamanet {

Result<std::string> inject(const std::string& socket_name, const std::string& rule,
                           std::chrono::milliseconds patience) {
  auto driver = connect_to(socket_name, patience);
  if (!driver) return propagate(driver);
  if (auto checked = check_owner(driver->get(), socket_name); !checked) return propagate(checked);
  std::vector<FileDescriptor> none;
  auto answer = ask<Injected>(driver->get(), 1, Inject{rule}, none, 0);
  if (!answer && answer.error().code() == Errc::would_block)
    return failure(Errc::timeout, "the driver has not answered for {} s; is it stopped?",
                   static_cast<double>(patience.count()) / 1000);
  if (!answer) return propagate(answer);
  if (!answer->accepted) return failure(Errc::invalid_argument, "{}", answer->text);
  return std::move(answer->text);
}

}  // namespace llamada::llamanet
