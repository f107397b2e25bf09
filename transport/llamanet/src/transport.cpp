#include "llamada/llamanet/transport.hpp"

namespace llamada::llamanet {

Result<std::unique_ptr<topics::Transport>> LlamanetTransport::open(ApplicationOptions options) {
  options.start_driver = true;
  auto application = Application::attach(options);
  if (!application) return propagate(application);
  return std::unique_ptr<topics::Transport>(std::make_unique<LlamanetTransport>(std::move(*application)));
}

}  // namespace llamada::llamanet
