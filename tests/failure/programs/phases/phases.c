/* phases -k SEED -s PHASES [-p MICROSECONDS] [-w] [-v]: see phases.h. With -w there are windows, too, which a
 * replacement could not repeat. */
#include "phases.h"

#include <getopt.h>

int rank, ranks, pause_us = 0, is_mpich, has_shared_pointers = 1;

typedef struct {
  const char* name;
  int weight;
  void (*run)(void);
} Kind;

static const Kind kinds[] = {
    {"permutation", 20, permutation},
    {"ready_sends", 4, ready_sends},
    {"random_graph", 20, random_graph},
    {"crowd", 10, crowd},
    {"any_tag", 3, any_tag},
    {"ping_pong", 8, ping_pong},
    {"stream", 4, stream},
    {"volley_persistent", 6, volley_persistent},
    {"cancelled", 4, cancelled},
    {"cancelled_send", 2, cancelled_send},
    {"matched", 5, matched},
    {"truncated", 3, truncated},
    {"nobody", 1, nobody},
    {"freed_requests", 3, freed_requests},
    {"settle_all", 10, settle_all},
    {"remake_communicator", 6, remake_communicator},
    {"attributes", 2, attributes},
    {"groups", 2, groups},
    {"ask_the_system", 6, ask_the_system},
    {"tell_fate", 8, tell_fate},
    {"movement", 24, movement},
    {"reduction", 24, reduction},
    {"neighbours", 5, neighbours},
    {"intercommunicator", 4, intercommunicator},
    {"on_file", 3, on_file},
    {"farm", 4, farm},
    {"sparse_exchange", 5, sparse_exchange},
    {"many_from_anybody", 5, many_from_anybody},
    {"standing_collective", 10, standing_collective},
    {"say", 3, say},
    {"append", 3, append},
    {"mistakes", 2, mistakes},
    {"packed", 3, packed},
    {"misfit", 3, misfit},
    {"promises", 5, promises},
    {"from_session", 2, from_session},
    {"window", 8, window},
};
enum { kinds_count = sizeof kinds / sizeof *kinds };

static int has_windows;

/* Each seed has a taste of its own: some kinds come often, some never. */
static int weight_of(int kind, uint64_t seed) {
  static const int taste[] = {0, 1, 1, 4};
  if (kinds[kind].run == window && !has_windows) return 0;
  return kinds[kind].weight * taste[mix(seed, (uint64_t)kind) % 4];
}

static const Kind* draw_kind(uint64_t seed) {
  int all = 1, kind = 0;
  for (int i = 0; i < kinds_count; i++) all += weight_of(i, seed);
  for (int luck = (int)draw((uint64_t)all); kind < kinds_count && luck >= weight_of(kind, seed); kind++)
    luck -= weight_of(kind, seed);
  return &kinds[kind < kinds_count ? kind : 0];
}

int main(int argc, char** argv) {
  unsigned long long seed = 1;
  int phases = 100, verbose = 0;
  const char* only = getenv("PHASES_ONLY");
  for (int letter; (letter = getopt(argc, argv, "k:s:p:vwd")) != -1;) {
    if (letter == 'k') seed = strtoull(optarg, NULL, 10);
    if (letter == 's') phases = atoi(optarg);
    if (letter == 'p') pause_us = atoi(optarg);
    if (letter == 'v') verbose = 1;
    if (letter == 'w') has_windows = 1;
    if (letter == 'd') has_shared_pointers = 0;
    if (letter == '?') return 2;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  CHECK(ranks <= ranks_most);
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  is_mpich = strncmp(version, "MPICH", 5) == 0;
  begin_chance(seed);
  begin_communicators();
  begin_reductions();
  begin_files(seed);
  begin_output(seed);
  for (int i = 0; i < phases; i++) {
    begin_phase(i);
    const Kind* kind = draw_kind(seed);
    for (int i = 0; only && !strstr(only, kind->name); i++) kind = &kinds[i];
    if (verbose) fprintf(stderr, "rank %d phase %d %s\n", rank, i, kind->name);
    kind->run();
    linger();
  }
  begin_phase(phases);
  settle_all();
  tell_fate();
  uint64_t result = answer();
  end_standing();
  end_windows();
  end_output();
  end_communicators();
  end_reductions();
  if (rank == 0) printf("ok phases %llu %d %016llx\n", seed, phases, (unsigned long long)result);
  MPI_Finalize();
  return 0;
}
