#pragma once

namespace llamada::tools {

struct TopOptions {
  double interval_s = 1;
  bool once = false;
  bool as_json = false;
};

/// `llamada top`: prints the rate of each writer and the lag of each reader, again and again until it is
/// interrupted, or once. Returns 0, or 1 if the drivers cannot be looked at.
int top(const TopOptions& options);

}  // namespace llamada::tools
