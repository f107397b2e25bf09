/* Collectives that reduce: predefined operations and the program's own, of which one does not commute. */
#include "phases.h"

typedef enum { int_sum, bits_xor, double_max, double_sum, pair_maxloc, own_product, own_affine, folds } Fold;
typedef enum { reduce, allreduce, scan, exscan, reduce_scatter, reduce_scatter_block, reductions } Reduction;
static const char* const names[] = {"reduce", "allreduce",      "scan",
                                    "exscan", "reduce_scatter", "reduce_scatter_block"};

/* x -> scale * x + shift; one after the other. */
typedef struct {
  uint32_t scale, shift;
} Affine;

typedef struct {
  int value, where;
} Placed;

static MPI_Op product_op, affine_op;
static MPI_Datatype affine_type;

static size_t size_of(Fold fold) { return fold == int_sum ? 4 : 8; }

/* The k-th element of a member. */
static void element_of(Fold fold, uint64_t base, int k, int member, void* to) {
  uint64_t value = mix(base, (uint64_t)k);
  int number = (int)(value % 2000) - 1000;
  double real = number;
  Placed placed = {number / 100, member};
  Affine affine = {(uint32_t)value, (uint32_t)(value >> 32)};
  if (fold == own_product) value |= 1;
  if (fold == int_sum) memcpy(to, &number, 4);
  if (fold == bits_xor || fold == own_product) memcpy(to, &value, 8);
  if (fold == double_max || fold == double_sum) memcpy(to, &real, 8);
  if (fold == pair_maxloc) memcpy(to, &placed, 8);
  if (fold == own_affine) memcpy(to, &affine, 8);
}

static Affine both(Affine first, Affine then) {
  Affine result = {first.scale * then.scale, first.shift * then.scale + then.shift};
  return result;
}

/* total = total op next */
static void fold_in(Fold fold, void* total, const void* next) {
  int* a = total;
  const int* b = next;
  uint64_t *bits = total, more = 0;
  double *real = total, other = 0;
  if (size_of(fold) == 8) memcpy(&more, next, 8), memcpy(&other, next, 8);
  if (fold == int_sum) *a += *b;
  if (fold == bits_xor) *bits ^= more;
  if (fold == own_product) *bits *= more;
  if (fold == double_max && other > *real) *real = other;
  if (fold == double_sum) *real += other;
  if (fold == pair_maxloc && b[0] > a[0]) memcpy(total, next, 8);
  if (fold == own_affine) *(Affine*)total = both(*(Affine*)total, *(const Affine*)next);
}

static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((uint64_t*)inout)[i] *= ((uint64_t*)in)[i];
}

static void compose(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((Affine*)inout)[i] = both(((Affine*)in)[i], ((Affine*)inout)[i]);
}

static MPI_Datatype type_of(Fold fold) {
  if (fold == int_sum) return MPI_INT;
  if (fold == double_max || fold == double_sum) return MPI_DOUBLE;
  if (fold == pair_maxloc) return MPI_2INT;
  return fold == own_affine ? affine_type : MPI_UINT64_T;
}

static MPI_Op op_of(Fold fold) {
  if (fold == bits_xor) return MPI_BXOR;
  if (fold == double_max) return MPI_MAX;
  if (fold == pair_maxloc) return MPI_MAXLOC;
  if (fold == own_product) return product_op;
  return fold == own_affine ? affine_op : MPI_SUM;
}

typedef struct {
  Reduction reduction;
  Fold fold;
  Members where;
  int root, in_place, count, counts[ranks_most]; /* elements; of a reduce_scatter those of each */
  Operation* operation;
  uint64_t sending[];
} Job;

/* Elements first .. first + count of members 0 .. last. */
static void write_folded(const Job* job, unsigned char* to, int first, int count, int last, int round) {
  uint64_t total[2], next[2];
  for (int k = first; k < first + count; k++) {
    for (int i = 0; i <= last; i++) {
      element_of(job->fold, value_of(job->where.world[i], 0, round), k, i, i == 0 ? total : next);
      if (i > 0) fold_in(job->fold, total, next);
    }
    memcpy(to + (size_t)(k - first) * size_of(job->fold), total, size_of(job->fold));
  }
}

static int scatters(const Job* job) {
  return job->reduction == reduce_scatter || job->reduction == reduce_scatter_block;
}

static int is_given(const Job* job) {
  if (job->reduction == exscan && job->where.me == 0) return 0;
  return job->reduction != reduce || job->where.me == job->root;
}

static void fill(void* of, int round) {
  Job* job = of;
  int me = job->where.me, first = 0, last = job->where.size - 1, in_place = job->in_place;
  unsigned char *memory = job->operation->memory, *image = job->operation->image;
  if (job->reduction == reduce && me != job->root) in_place = 0;
  if (job->reduction == scan) last = me;
  if (job->reduction == exscan) last = me - 1;
  unsigned char* sending = in_place ? memory : (unsigned char*)job->sending;
  for (int k = 0; k < job->count; k++)
    element_of(job->fold, value_of(rank, 0, round), k, me, sending + (size_t)k * size_of(job->fold));
  for (int i = 0; i < me && scatters(job); i++) first += job->counts[i];
  if (is_given(job))
    write_folded(job, image, first, scatters(job) ? job->counts[me] : job->count, last, round);
  if (!is_given(job)) memcpy(image, memory, job->operation->span);
}

static void call(Job* job, Mode mode) {
  MPI_Request* request = &job->operation->request;
  MPI_Comm comm = job->where.comm;
  MPI_Datatype type = type_of(job->fold);
  MPI_Op op = op_of(job->fold);
  void *receiving = job->operation->memory, *sending = job->in_place ? MPI_IN_PLACE : (void*)job->sending;
  int root = job->root, count = job->count;
  switch (job->reduction) {
    case reduce:
      if (job->where.me != root) sending = job->sending;
      CALL(Reduce, reduce, sending, receiving, count, type, op, root, comm);
      break;
    case allreduce:
      CALL(Allreduce, allreduce, sending, receiving, count, type, op, comm);
      break;
    case scan:
      CALL(Scan, scan, sending, receiving, count, type, op, comm);
      break;
    case exscan:
      CALL(Exscan, exscan, sending, receiving, count, type, op, comm);
      break;
    case reduce_scatter:
      CALL(Reduce_scatter, reduce_scatter, sending, receiving, job->counts, type, op, comm);
      break;
    default:
      CALL(Reduce_scatter_block, reduce_scatter_block, sending, receiving, job->counts[0], type, op, comm);
  }
}

static Job* make_job(Reduction reduction, const Members* where, size_t most) {
  Job small = {.reduction = reduction, .where = *where, .fold = (Fold)draw(folds)};
  small.root = (int)draw((uint64_t)where->size);
  small.in_place = draw(4) == 0;
  if (is_mpich && reduction == reduce)
    small.in_place = 0; /* MPICH 4.0 reads at MPI_IN_PLACE, with an operation that does not commute */
  small.count = (int)(draw_bytes(most) / size_of(small.fold));
  for (int i = 0; i < where->size; i++)
    small.counts[i] =
        reduction == reduce_scatter ? (int)(draw_bytes(most / 2) / size_of(small.fold)) : small.count;
  if (scatters(&small)) {
    small.count = 0;
    for (int i = 0; i < where->size; i++) small.count += small.counts[i];
  }
  Job* job = allocate(sizeof *job + (size_t)small.count * 8);
  *job = small;
  Operation* operation = job->operation = new_operation();
  operation->span = (size_t)small.count * size_of(small.fold);
  operation->memory = blank(operation->span);
  operation->image = blank(operation->span);
  if (small.in_place && scatters(&small)) /* what is behind this rank's own block may be anything */
    operation->span = (size_t)small.counts[where->me] * size_of(small.fold);
  if (small.in_place && reduction == exscan && where->me == 0) operation->span = 0;
  operation->more = job;
  operation->name = names[reduction];
  return job;
}

void reduction(void) {
  const Members* where = draw_members();
  Reduction kind = (Reduction)draw(reductions);
  Mode mode = draw_mode();
  size_t most = draw(10) ? 10000 : draw(5) ? 140000 : 1100000;
  if (where->comm == MPI_COMM_NULL) return;
  room_for(1);
  Job* job = make_job(kind, where, most);
  if (phase.certain) job->operation->counts = phase.base;
  if (mode != persistent) fill(job, 0);
  call(job, mode);
  see_through(job->operation, mode, fill);
}

void begin_reductions(void) {
  MPI_Op_create(multiply, 1, &product_op);
  MPI_Op_create(compose, 0, &affine_op);
  MPI_Type_contiguous(2, MPI_UINT32_T, &affine_type);
  MPI_Type_commit(&affine_type);
}

void end_reductions(void) {
  MPI_Op_free(&product_op);
  MPI_Op_free(&affine_op);
  MPI_Type_free(&affine_type);
}
