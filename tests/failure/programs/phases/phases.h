/* A program that nobody wrote by hand: from a seed every rank derives the same schedule of phases (phases.c),
 * and each phase is a piece of MPI drawn at random. What is received is compared with what must be there;
 * what nobody can foretell (who was first, how often a test was in vain, the time) decides what a rank does
 * next, is told to all now and then, and decides the phases that follow. So a replacement that repeats one
 * outcome differently takes another course, or comes to a wrong answer. */
#pragma once

#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Shared file pointers work within a node only (-d: there are several). */
extern int has_shared_pointers;
extern int rank, ranks, pause_us;
extern int is_mpich; /* and not Llamada, which does without some of its mistakes */

#include "../check.h"

enum { ranks_most = 8, tags_per_phase = 64 };

/* -- chance.c: what is drawn, and what is witnessed -- */

/* The phase that this rank is in. */
typedef struct {
  int number;
  int certain;   /* it follows from the seed alone: what it receives goes into the answer */
  uint64_t base; /* all values of this phase follow from it */
} Phase;
extern Phase phase;

void begin_chance(uint64_t seed);
void begin_phase(int number);
uint64_t draw(uint64_t below);       /* the same on all ranks that draw equally often in this phase */
uint64_t own(uint64_t below);        /* this rank's own choice, which follows from all it has witnessed */
void shuffle(int* order, int count); /* by own choice */
void witness(uint64_t outcome);      /* of something that nobody can foretell */
void count_in(uint64_t value);       /* into the answer, in any order, if the phase is certain */
uint64_t answer(void);               /* collective: of all ranks */
void linger(void);                   /* now and then, a pause */
void tell_fate(void);                /* a phase: what all have witnessed becomes everybody's fate */
void ask_the_system(void);           /* a phase: clocks and random numbers decide what follows */

int tag_of(int k);                          /* this phase's k-th tag */
uint64_t value_of(int from, int to, int k); /* the base of a message's bytes */
size_t draw_bytes(size_t most);             /* sizes at which something changes in a library */

/* -- layouts.c: bytes in memory that a datatype describes -- */

enum { runs_most = 12 };
typedef struct {
  MPI_Datatype type; /* to be given as (count, type) */
  int count, derived, runs;
  size_t span;                             /* bytes of memory that it reaches over */
  size_t at[runs_most], length[runs_most]; /* of the payload, in its order */
} Layout;

extern const int unit_sizes[];
MPI_Datatype unit_type(int unit);
int draw_unit(void);

Layout make_layout(int unit, size_t elements); /* of a form chosen by this rank */
Layout plain_layout(int unit, size_t elements);
void free_layout(Layout* layout);
unsigned char* blank(size_t bytes); /* memory with a pattern that nobody sends */
void write_payload(unsigned char* memory, const Layout* layout, uint64_t base, size_t bytes);
void write_bytes(unsigned char* memory, uint64_t base, size_t first, size_t bytes);

/* -- pending.c: what is under way, and how it is completed -- */

typedef struct Operation {
  MPI_Request request;
  Layout layout;
  unsigned char *memory, *image; /* image: what must be in memory at the end, of `span` bytes; or NULL */
  size_t span, elements;
  void* more; /* memory that lives as long */
  int receives, source, tag, persistent, number;
  uint64_t counts; /* for the answer */
  const char* name;
} Operation;

Operation* new_operation(void);
void finish(Operation* operation, const MPI_Status* status); /* checks and frees it */
void check_operation(Operation* operation, const MPI_Status* status);
void settle(Operation** operations, int count); /* completes them, in a way of this rank's choice */
void leave(Operation* operation);               /* to be settled in a later phase */
void settle_or_leave(Operation* operation);
void settle_all(void); /* a phase */
void room_for(
    int operations); /* settles what is under way if it is too much; only where waiting is allowed */

/* -- communicators.c -- */

typedef struct {
  MPI_Comm comm; /* MPI_COMM_NULL: this rank is not in it */
  int size, me;
  int world[ranks_most]; /* the members' ranks in MPI_COMM_WORLD */
} Members;

void begin_communicators(void);
void end_communicators(void);
const Members* draw_members(void);
Members members_of(MPI_Comm comm);
void remake_communicator(void);
void attributes(void);
void groups(void);

/* -- elements.c: what collectives are made of -- */

typedef struct {
  MPI_Datatype type;
  int unit, pair;
  size_t width, gap, extent; /* bytes of payload, between the two of a pair, and in memory */
} Element;

Element draw_element(void);
Element make_element(const Element* drawn);
void free_element(Element* element);
void write_block(unsigned char* memory, const Element* element, uint64_t base, int count);

/* A block for each partner. */
typedef struct {
  int many, counts[2 * ranks_most], at[2 * ranks_most]; /* in elements */
  size_t span;
} Blocks;

void place_blocks(Blocks* blocks, const Element* element, int packed);

/* How a collective is called; `mode` and `request` are the caller's. */
typedef enum { blocking, nonblocking, persistent } Mode;
Mode draw_mode(void);

/* Ends a collective that was called in this mode: a persistent one after some rounds, for each of which
 * `fill` writes the data of `operation->more`. */
typedef void Fill(void* more, int round);
void see_through(Operation* operation, Mode mode, Fill* fill);

#if MPI_VERSION >= 4 || defined(LLAMADA_MPI)
#define HAS_MPI_4 1
#define CALL_INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request)
#else
#define CALL_INIT(Name, ...) abort()
#endif
#define CALL(Name, name, ...)            \
  do {                                   \
    if (mode == blocking)                \
      MPI_##Name(__VA_ARGS__);           \
    else if (mode == nonblocking)        \
      MPI_I##name(__VA_ARGS__, request); \
    else                                 \
      CALL_INIT(Name, __VA_ARGS__);      \
  } while (0)

/* -- the other phases -- */
void permutation(void);
void ready_sends(void);
void random_graph(void);
void crowd(void);
void any_tag(void);
void ping_pong(void);
void stream(void);
void volley_persistent(void);
void cancelled(void);
void cancelled_send(void);
void matched(void);
void truncated(void);
void nobody(void);
void freed_requests(void);

void movement(void);
void reduction(void);
void neighbours(void);
void intercommunicator(void);
void begin_files(unsigned long long seed);
void on_file(void);
void farm(void);
void sparse_exchange(void);
void many_from_anybody(void);
void standing_collective(void);
void end_standing(void);
void begin_output(unsigned long long seed);
void say(void);
void append(void);
void end_output(void);
void mistakes(void);
void misfit(void);
void packed(void);
void promises(void);
void from_session(void);
void window(void);
void end_windows(void);
void begin_reductions(void);
void end_reductions(void);
