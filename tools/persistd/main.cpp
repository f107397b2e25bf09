#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "persist_domain.hpp"

int main(int argc, char** argv) {
  constexpr int usage_error = 2;
  CLI::App app(
      "Keeps the samples of TRANSIENT and PERSISTENT topics in a directory, and gives them to readers that "
      "come "
      "late, also when the writers have ended. Runs until SIGINT or SIGTERM.",
      "llamada-persistd");
  llamada::tools::PersistOptions options;
  app.set_version_flag("--version", "llamada-persistd (Llamada) " LLAMADA_VERSION);
  app.add_option(
         "--store", options.store,
         "The directory of the store, which one process at a time uses; it is made if it is not there")
      ->required();
  app.add_option("--store-kind", options.store_kind,
                 "What a new store is: segments (the default), or sqlite, a database that sqlite3 reads");
  app.add_option("--domain", options.domain, "The domain whose topics are kept (0)");
  app.add_option("--driver", options.driver,
                 "The socket of the driver llamanetd; without it the node's driver");
  app.add_option("--ready-descriptor", options.ready_descriptor,
                 "Write one byte to this file descriptor when topics are kept");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "llamada-persistd: {}; 'llamada-persistd --help' lists what there is\n", error.what());
    return usage_error;
  }
  return llamada::tools::persist_domain(options);
}
