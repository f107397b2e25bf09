/* One-sided communication, on windows that live as long as chance wills. What is written into them follows
 * from the seed; in which order ranks come to a number, and who wins, is witnessed. */
#include "phases.h"

enum {
  places = 3,
  numbers = 7,
  ticket = numbers,
  prize,
  words,
  tickets_each = 3,
  requests_most = numbers + 1
};
enum { head = words * 8, slack = 512 }; /* bytes: of all words; that the gaps of a layout may take */

typedef enum { created, allocated, shared, dynamic, forms } Form;
typedef enum { fences, posts, locks, one_lock, schemes } Scheme;

/* In a rank's memory there are words, then an area for each origin. */
typedef struct {
  MPI_Win window;
  Members where; /* on a communicator of its own */
  int made;      /* by its members, which need not have this rank */
  Form form;
  int unit; /* of displacements */
  size_t area, span;
  unsigned char* memory;
  MPI_Aint begins[ranks_most];
} Window;

static Window all[places];

/* What one origin does to one target. */
typedef struct {
  Layout from, to;
  unsigned char *payload, *image; /* image: what the area will be */
  uint64_t given[numbers], before[numbers];
  uint64_t tickets[tickets_each], won, mine;
} Access;

/* -- numbers: each word has an operation of its own, so their order does not matter -- */

static MPI_Op op_of(int word) {
  const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_MIN, MPI_PROD, MPI_BOR, MPI_BAND};
  return ops[word];
}

static uint64_t first_of(int word) {
  static const uint64_t firsts[] = {0, 0, 0, INT64_MAX, 1, 0, UINT64_MAX};
  return word < numbers ? firsts[word] : 0;
}

static uint64_t fold(int word, uint64_t a, uint64_t b) {
  const uint64_t folded[] = {a + b, a ^ b, a > b ? a : b, a < b ? a : b, a * b, a | b, a & b};
  return folded[word];
}

/* Below 2^63: the maximum of larger ones is not right under MPICH 4.0. */
static uint64_t number_of(const Window* of, int from, int to, int word) {
  return value_of(of->where.world[from], of->where.world[to], 10 + word) / 2;
}

static uint64_t total_of(const Window* of, int to, int word) {
  uint64_t total = first_of(word);
  for (int i = 0; i < of->where.size; i++) total = fold(word, total, number_of(of, i, to, word));
  return total;
}

/* -- making and freeing -- */

static void take_memory(Window* made) {
  MPI_Aint span = (MPI_Aint)made->span;
  MPI_Comm comm = made->where.comm;
  if (made->form == created || made->form == dynamic) made->memory = allocate(made->span);
  if (made->form == created)
    MPI_Win_create(made->memory, span, made->unit, MPI_INFO_NULL, comm, &made->window);
  if (made->form == allocated)
    MPI_Win_allocate(span, made->unit, MPI_INFO_NULL, comm, &made->memory, &made->window);
  if (made->form == shared)
    MPI_Win_allocate_shared(span, made->unit, MPI_INFO_NULL, comm, &made->memory, &made->window);
  if (made->form != dynamic) return;
  MPI_Aint begin;
  MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &made->window);
  MPI_Win_attach(made->window, made->memory, span);
  MPI_Get_address(made->memory, &begin);
  MPI_Allgather(&begin, 1, MPI_AINT, made->begins, 1, MPI_AINT, comm);
}

static void make(Window* made, const Members* where) {
  *made = (Window){.where = *where, .made = 1};
  MPI_Comm_dup(where->comm, &made->where.comm);
  made->form = (Form)draw(forms);
  made->unit = made->form != dynamic && draw(2) ? 8 : 1;
  made->area = (draw(5) ? 5000 : 140000) + slack;
  made->span = head + (size_t)where->size * made->area;
  made->span += -made->span % 64; /* MPICH 4.0 finds the memory of others at multiples of 16 */
  take_memory(made);
}

static void end(Window* ended) {
  if (ended->form == dynamic) MPI_Win_detach(ended->window, ended->memory);
  MPI_Win_free(&ended->window);
  MPI_Comm_free(&ended->where.comm);
  if (ended->form == created || ended->form == dynamic) free(ended->memory);
  ended->memory = NULL;
}

/* -- epochs, in which a rank has access to all others -- */

static Scheme draw_scheme(void) {
  Scheme scheme = (Scheme)draw(schemes);
#ifdef OPEN_MPI
  if (scheme == one_lock) scheme = locks; /* Open MPI 4.1 waits for ever, now and then */
#endif
  return scheme;
}

static int is_passive(Scheme scheme) { return scheme == locks || scheme == one_lock; }

static void begin_epoch(const Window* on, Scheme scheme) {
  MPI_Group group;
  if (is_passive(scheme)) MPI_Barrier(on->where.comm);
  if (scheme == fences) MPI_Win_fence(0, on->window);
  if (scheme == one_lock) MPI_Win_lock_all(0, on->window);
  if (scheme != posts) return;
  MPI_Win_get_group(on->window, &group);
  MPI_Win_post(group, 0, on->window);
  MPI_Win_start(group, 0, on->window);
  MPI_Group_free(&group);
}

static void begin_access(const Window* on, Scheme scheme, int target, int lock) {
  if (scheme == locks) MPI_Win_lock(own(2) ? lock : MPI_LOCK_EXCLUSIVE, target, 0, on->window);
}

static void end_access(const Window* on, Scheme scheme, int target) {
  if (scheme == locks) MPI_Win_unlock(target, on->window);
  if (scheme != one_lock) return;
  uint64_t way = own(4);
  if (way == 0) MPI_Win_flush(target, on->window);
  if (way == 1) MPI_Win_flush_local(target, on->window);
  if (way == 2) MPI_Win_flush_all(on->window);
}

static void end_epoch(const Window* on, Scheme scheme) {
  int done = 0, times = 0;
  if (scheme == fences) MPI_Win_fence(MPI_MODE_NOSUCCEED, on->window);
  if (scheme == one_lock) MPI_Win_unlock_all(on->window);
  if (is_passive(scheme)) MPI_Barrier(on->where.comm);
  if (scheme != posts) return;
  MPI_Win_complete(on->window);
  if (own(2))
    for (; !done; times++) MPI_Win_test(on->window, &done);
  else
    MPI_Win_wait(on->window);
  witness((uint64_t)times);
}

/* -- a round: all write to all, look at what they were given, and read from all -- */

static MPI_Aint place(const Window* on, int target, size_t byte) {
  return on->begins[target] + (MPI_Aint)(byte / (size_t)on->unit);
}

static size_t area_of(const Window* on, int origin) { return head + (size_t)origin * on->area; }

static void put_area(const Window* on, int target, const Access* access, MPI_Request* request, int* open) {
  const Layout *from = &access->from, *to = &access->to;
  const void* payload = access->payload;
  MPI_Aint at = place(on, target, area_of(on, on->where.me));
  MPI_Win window = on->window;
  switch (own(open ? 4 : 2)) {
    case 0:
      MPI_Put(payload, from->count, from->type, target, at, to->count, to->type, window);
      return;
    case 1:
      MPI_Accumulate(payload, from->count, from->type, target, at, to->count, to->type, MPI_REPLACE, window);
      return;
    case 2:
      MPI_Rput(payload, from->count, from->type, target, at, to->count, to->type, window, request);
      break;
    default:
      MPI_Raccumulate(payload, from->count, from->type, target, at, to->count, to->type, MPI_REPLACE, window,
                      request);
  }
  ++*open;
}

static void add_number(const Window* on, int target, Access* access, int word, MPI_Request* request,
                       int* open) {
  uint64_t *given = &access->given[word], *before = &access->before[word];
  MPI_Aint at = place(on, target, 8 * (size_t)word);
  MPI_Datatype type = MPI_UINT64_T;
  MPI_Op op = op_of(word);
  MPI_Win window = on->window;
  switch (own(open ? 5 : 3)) {
    case 0:
      MPI_Accumulate(given, 1, type, target, at, 1, type, op, window);
      return;
    case 1:
      MPI_Get_accumulate(given, 1, type, before, 1, type, target, at, 1, type, op, window);
      return;
    case 2:
      MPI_Fetch_and_op(given, before, type, target, at, op, window);
      return;
    case 3:
      MPI_Raccumulate(given, 1, type, target, at, 1, type, op, window, request);
      break;
    default:
      MPI_Rget_accumulate(given, 1, type, before, 1, type, target, at, 1, type, op, window, request);
  }
  ++*open;
}

/* Numbered tickets, of which no two have the same; a prize for who comes first. */
static void compete(const Window* on, int target, Access* access) {
  static const uint64_t one = 1, nobody = 0;
  for (int i = 0; i < tickets_each; i++)
    MPI_Fetch_and_op(&one, &access->tickets[i], MPI_UINT64_T, target, place(on, target, 8 * ticket), MPI_SUM,
                     on->window);
  MPI_Compare_and_swap(&access->mine, &nobody, &access->won, MPI_UINT64_T, target,
                       place(on, target, 8 * prize), on->window);
}

static void prepare(const Window* on, int target, Access* access, int unit, size_t elements, int plain) {
  size_t bytes = elements * (size_t)unit_sizes[unit];
  uint64_t base = value_of(on->where.world[on->where.me], on->where.world[target], 1);
  access->from = make_layout(unit, elements);
  access->to = plain ? plain_layout(unit, elements) : make_layout(unit, elements);
  access->payload = blank(access->from.span);
  access->image = blank(on->area);
  write_payload(access->payload, &access->from, base, bytes);
  write_payload(access->image, &access->to, base, bytes);
  access->mine = (uint64_t)on->where.me + 1;
  for (int i = 0; i < numbers; i++) access->given[i] = number_of(on, on->where.me, target, i);
}

static void write_to_all(const Window* on, Access* accesses, Scheme scheme) {
  int order[ranks_most], size = on->where.size;
  for (int i = 0; i < size; i++) order[i] = i;
  shuffle(order, size);
  begin_epoch(on, scheme);
  for (int i = 0; i < size; i++) {
    int target = order[i], open = 0, *requested = is_passive(scheme) ? &open : NULL;
    MPI_Request requests[requests_most];
    Access* access = &accesses[target];
    begin_access(on, scheme, target, MPI_LOCK_SHARED);
    put_area(on, target, access, requests, requested);
    for (int word = 0; word < numbers; word++)
      add_number(on, target, access, word, &requests[open], requested);
    compete(on, target, access);
    MPI_Waitall(open, requests, MPI_STATUSES_IGNORE);
    linger();
    end_access(on, scheme, target);
  }
  end_epoch(on, scheme);
}

/* Each ticket has been drawn once, and each prize has been won once. */
static void check_competition(const Window* on, const Access* accesses) {
  uint64_t sums[2 * ranks_most] = {0}, all_tickets = (uint64_t)(tickets_each * on->where.size);
  for (int i = 0; i < on->where.size; i++) {
    for (int k = 0; k < tickets_each; k++) sums[2 * i] += accesses[i].tickets[k];
    sums[2 * i + 1] = accesses[i].won == 0;
    for (int k = 0; k < tickets_each; k++) witness(accesses[i].tickets[k]);
    witness(accesses[i].won);
    for (int k = 0; k < numbers; k++) witness(accesses[i].before[k]);
  }
  MPI_Allreduce(MPI_IN_PLACE, sums, 2 * on->where.size, MPI_UINT64_T, MPI_SUM, on->where.comm);
  for (int i = 0; i < on->where.size; i++) {
    CHECK(sums[2 * i] == all_tickets * (all_tickets - 1) / 2);
    CHECK(sums[2 * i + 1] == 1);
  }
}

static void check_words(const Window* on, int target, const uint64_t* found) {
  for (int i = 0; i < numbers; i++) CHECK(found[i] == total_of(on, target, i));
  CHECK(found[ticket] == (uint64_t)(tickets_each * on->where.size));
  CHECK(found[prize] >= 1 && found[prize] <= (uint64_t)on->where.size);
}

/* Those areas whose form all know. */
static void look_at_own(const Window* on, int unit, size_t elements, int plain) {
  unsigned char* expected = blank(on->area);
  MPI_Win_lock(MPI_LOCK_SHARED, on->where.me, 0, on->window);
  check_words(on, on->where.me, (const uint64_t*)(const void*)on->memory);
  for (int i = 0; plain && i < on->where.size; i++) {
    write_bytes(expected, value_of(on->where.world[i], rank, 1), 0, elements * (size_t)unit_sizes[unit]);
    CHECK(memcmp(on->memory + area_of(on, i), expected, on->area) == 0);
  }
  MPI_Win_unlock(on->where.me, on->window);
  free(expected);
}

static void read_from(const Window* on, int target, unsigned char* to, size_t from, size_t bytes,
                      int passive) {
  MPI_Aint at = place(on, target, from), size;
  MPI_Win window = on->window;
  MPI_Request request;
  int count = (int)bytes, unit;
  unsigned char* memory;
  if (on->form == shared && own(2)) {
    MPI_Win_shared_query(window, target, &size, &unit, &memory);
    memcpy(to, memory + from, bytes);
  } else if (passive && own(2)) {
    MPI_Rget(to, count, MPI_BYTE, target, at, count, MPI_BYTE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get(to, count, MPI_BYTE, target, at, count, MPI_BYTE, window);
  }
}

static void read_from_all(const Window* on, const Access* accesses, Scheme scheme) {
  size_t span = head + on->area;
  unsigned char* found = blank(span * (size_t)on->where.size);
  begin_epoch(on, scheme);
  for (int i = 0; i < on->where.size; i++) {
    begin_access(on, scheme, i, MPI_LOCK_SHARED);
    read_from(on, i, found + (size_t)i * span, 0, head, is_passive(scheme));
    read_from(on, i, found + (size_t)i * span + head, area_of(on, on->where.me), on->area,
              is_passive(scheme));
    end_access(on, scheme, i);
  }
  end_epoch(on, scheme);
  for (int i = 0; i < on->where.size; i++) {
    uint64_t found_words[words];
    memcpy(found_words, found + (size_t)i * span, head);
    check_words(on, i, found_words);
    CHECK(memcmp(found + (size_t)i * span + head, accesses[i].image, on->area) == 0);
  }
  free(found);
}

static void clear(const Window* on) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, on->where.me, 0, on->window);
  memset(on->memory + head, 0xa5, on->span - head);
  for (int i = 0; i < words; i++) ((uint64_t*)(void*)on->memory)[i] = first_of(i);
  MPI_Win_unlock(on->where.me, on->window);
}

static void go_round(const Window* on) {
  Access accesses[ranks_most] = {0};
  Scheme writing = draw_scheme(), reading = draw_scheme();
  int unit = draw_unit(), plain = (int)draw(2);
  size_t elements = draw_bytes(on->area - slack) / (size_t)unit_sizes[unit];
  for (int i = 0; i < on->where.size; i++) prepare(on, i, &accesses[i], unit, elements, plain);
  clear(on);
  write_to_all(on, accesses, writing);
  check_competition(on, accesses);
  look_at_own(on, unit, elements, plain);
  read_from_all(on, accesses, reading);
  for (int i = 0; i < on->where.size; i++) {
    free_layout(&accesses[i].from);
    free_layout(&accesses[i].to);
    free(accesses[i].payload);
    free(accesses[i].image);
  }
  if (phase.certain) count_in(total_of(on, on->where.me, 0));
}

/* Only certain phases make and free one, so that all know which there are. */
void window(void) {
  Window* it = &all[draw(places)];
  const Members* where = draw_members();
  int ends = draw(4) == 0;
  if (!it->made && phase.certain) {
    it->made = 1;
    if (where->comm != MPI_COMM_NULL) make(it, where);
  }
  if (it->memory) go_round(it);
  if (!ends || !phase.certain) return;
  if (it->memory) end(it);
  it->made = 0;
}

void end_windows(void) {
  for (int i = 0; i < places; i++)
    if (all[i].memory) end(&all[i]);
}
