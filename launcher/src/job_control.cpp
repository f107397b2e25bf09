#include "llamada/launcher/job_control.hpp"

#include "job_control_fields.hpp"
#include "message_stream.hpp"

namespace llamada::launcher {
namespace control {

constexpr std::string_view ends_of(const Message* /*stream*/) { return "mpirun and llamanetd"; }

std::vector<std::byte> encode(const Message& message) { return encode_message(message); }

}  // namespace control

template class StreamDecoder<control::Message>;

}  // namespace llamada::launcher
