#pragma once

namespace llamada::tools {

/// `llamada ls`: prints every driver of this user, its applications and their endpoints. Returns the exit
/// code.
int list(bool as_json);

}  // namespace llamada::tools
