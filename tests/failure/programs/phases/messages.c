/* Messages whose partners are known to both. */
#include "phases.h"

/* One message, as all ranks know it. */
typedef struct {
  const Members* where;
  int source, target; /* ranks in `where` */
  int unit, k;        /* the k-th of its phase */
  size_t elements;
} Message;

static uint64_t base_of(const Message* message) {
  return value_of(message->where->world[message->source], message->where->world[message->target], message->k);
}

static size_t bytes_of(const Message* message) {
  return message->elements * (size_t)unit_sizes[message->unit];
}

/* Unit and size are drawn. */
static Message draw_message(const Members* where, int source, int target, int k, size_t most) {
  Message message = {where, source, target, draw_unit(), k, 0};
  message.elements = draw_bytes(most) / (size_t)unit_sizes[message.unit];
  return message;
}

static Operation* prepare_send(const Message* message) {
  Operation* send = new_operation();
  send->layout = make_layout(message->unit, message->elements);
  send->span = send->layout.span;
  send->memory = blank(send->span);
  write_payload(send->memory, &send->layout, base_of(message), bytes_of(message));
  send->image = blank(send->span); /* the library has no business in it */
  write_payload(send->image, &send->layout, base_of(message), bytes_of(message));
  return send;
}

/* With room for more than is sent, sometimes. */
static Operation* prepare_receive(const Message* message) {
  Operation* receive = new_operation();
  size_t room = message->elements + (own(4) ? 0 : own(40));
  receive->layout = make_layout(message->unit, room);
  receive->span = receive->layout.span + 8;
  receive->memory = blank(receive->span);
  receive->image = blank(receive->span);
  write_payload(receive->image, &receive->layout, base_of(message), bytes_of(message));
  receive->receives = 1;
  receive->elements = message->elements;
  receive->source = message->source;
  receive->tag = tag_of(message->k);
  if (phase.certain) receive->counts = mix(base_of(message), bytes_of(message));
  return receive;
}

/* -- buffered sends: their buffer is emptied when it could become full -- */

enum { bsend_buffer_bytes = 4 << 20, bsend_bytes_most = 20000, bsend_limit = 1 << 20 };
static size_t bsent;

static int may_bsend(size_t bytes) { return bytes <= bsend_bytes_most && bsent + bytes + 1000 < bsend_limit; }

static void empty_bsend_buffer(void) {
  static char* buffer;
  void* old;
  int size;
  if (buffer && bsent < bsend_limit / 2 && own(20)) return;
  if (buffer) MPI_Buffer_detach(&old, &size);
  if (!buffer) buffer = allocate(bsend_buffer_bytes);
  MPI_Buffer_attach(buffer, bsend_buffer_bytes);
  bsent = 0;
}

/* -- sends -- */

/* The arguments of a send, but for its request. */
#define SENT(send, message)                                                                           \
  (send)->memory, (send)->layout.count, (send)->layout.type, (message)->target, tag_of((message)->k), \
      (message)->where->comm

typedef enum { standard, synchronous, buffered, large_count, send_modes } SendMode;

static SendMode choose_mode(const Message* message) {
  SendMode mode = (SendMode)own(send_modes);
  if (mode == buffered && !may_bsend(bytes_of(message))) mode = standard;
  if (mode == buffered) bsent += bytes_of(message) + 1000;
  return mode;
}

static Operation* post_send(const Message* message) {
  Operation* send = prepare_send(message);
  switch (choose_mode(message)) {
    case synchronous:
      MPI_Issend(SENT(send, message), &send->request);
      break;
    case buffered:
      MPI_Ibsend(SENT(send, message), &send->request);
      break;
#ifdef HAS_MPI_4
    case large_count:
      MPI_Isend_c(SENT(send, message), &send->request);
      break;
#endif
    default:
      MPI_Isend(SENT(send, message), &send->request);
  }
  if (own(2)) free_layout(&send->layout); /* it may be freed while it is used */
  return send;
}

static void send_now(const Message* message) {
  Operation* send = prepare_send(message);
  switch (choose_mode(message)) {
    case synchronous:
      MPI_Ssend(SENT(send, message));
      break;
    case buffered:
      MPI_Bsend(SENT(send, message));
      break;
#ifdef HAS_MPI_4
    case large_count:
      MPI_Send_c(SENT(send, message));
      break;
#endif
    default:
      MPI_Send(SENT(send, message));
  }
  finish(send, NULL);
}

/* -- receives -- */

static int named_or_any(int source) { return own(3) ? source : MPI_ANY_SOURCE; }

/* The arguments of a receive, but for its request or status. */
#define RECEIVED(receive, message)                                                                     \
  (receive)->memory, (receive)->layout.count, (receive)->layout.type, named_or_any((message)->source), \
      (receive)->tag, (message)->where->comm

static Operation* post_receive(const Message* message) {
  Operation* receive = prepare_receive(message);
#ifdef HAS_MPI_4
  if (own(4) == 0) {
    MPI_Irecv_c(RECEIVED(receive, message), &receive->request);
    return receive;
  }
#endif
  MPI_Irecv(RECEIVED(receive, message), &receive->request);
  return receive;
}

static void check_probed(const Message* message, MPI_Status* status) {
  int elements;
  MPI_Get_count(status, unit_type(message->unit), &elements);
  CHECK((size_t)elements == message->elements);
  CHECK(status->MPI_SOURCE == message->source && status->MPI_TAG == tag_of(message->k));
}

static void probe(const Message* message, MPI_Status* status) {
  int there = 0;
  uint64_t times = 0;
  MPI_Comm comm = message->where->comm;
  int source = named_or_any(message->source);
  if (own(2))
    MPI_Probe(source, tag_of(message->k), comm, status);
  else
    for (; !there; times++) {
      MPI_Iprobe(source, tag_of(message->k), comm, &there, status);
      if (times % 16 == 15) usleep(20);
    }
  witness(times);
  check_probed(message, status);
}

static MPI_Message probe_matched(const Message* message, MPI_Status* status) {
  int there = 0;
  uint64_t times = 0;
  MPI_Message matched;
  MPI_Comm comm = message->where->comm;
  int source = named_or_any(message->source);
  if (own(2))
    MPI_Mprobe(source, tag_of(message->k), comm, &matched, status);
  else
    for (; !there; times++) {
      MPI_Improbe(source, tag_of(message->k), comm, &there, &matched, status);
      if (times % 16 == 15) usleep(20);
    }
  witness(times);
  check_probed(message, status);
  return matched;
}

static void receive_now(const Message* message) {
  MPI_Status status;
  MPI_Message matched;
  Operation* receive = prepare_receive(message);
  void* memory = receive->memory;
  MPI_Datatype type = receive->layout.type;
  int count = receive->layout.count;
  switch (own(4)) {
    case 0:
      matched = probe_matched(message, &status);
      if (own(2)) {
        MPI_Mrecv(memory, count, type, &matched, &status);
      } else {
        MPI_Imrecv(memory, count, type, &matched, &receive->request);
        return settle_or_leave(receive);
      }
      break;
    case 1:
      probe(message, &status);
      MPI_Recv(memory, count, type, status.MPI_SOURCE, status.MPI_TAG, message->where->comm, &status);
      break;
    default:
      MPI_Recv(RECEIVED(receive, message), &status);
  }
  finish(receive, &status);
}

/* -- both at once: neither waits for a partner before the other one is under way -- */

/* MPICH 4.0's MPI_Isendrecv and MPI_Isendrecv_replace do not tell source and tag. */
static void sendrecv(const Message* out, const Message* in) {
  MPI_Status status;
  Operation *send = prepare_send(out), *receive = prepare_receive(in);
#ifdef HAS_MPI_4
  if (!is_mpich && own(2)) {
    MPI_Isendrecv(send->memory, send->layout.count, send->layout.type, out->target, tag_of(out->k),
                  RECEIVED(receive, in), &receive->request);
    linger();
    MPI_Wait(&receive->request, &status);
  } else
#endif
    MPI_Sendrecv(send->memory, send->layout.count, send->layout.type, out->target, tag_of(out->k),
                 RECEIVED(receive, in), &status);
  finish(send, NULL);
  finish(receive, &status);
}

/* Only where both are alike. */
static void sendrecv_replace(const Message* out, const Message* in) {
  Operation* both = prepare_send(out);
  void* memory = both->memory;
  MPI_Datatype type = both->layout.type;
  MPI_Comm comm = in->where->comm;
  int count = both->layout.count, source = named_or_any(in->source), tag = tag_of(in->k);
  write_payload(both->image, &both->layout, base_of(in), bytes_of(in));
  both->receives = 1;
  both->elements = in->elements;
  both->source = in->source;
  both->tag = tag;
  if (phase.certain) both->counts = mix(base_of(in), bytes_of(in));
#ifdef HAS_MPI_4
  if (!is_mpich && own(2)) {
    MPI_Isendrecv_replace(memory, count, type, out->target, tag_of(out->k), source, tag, comm,
                          &both->request);
    return settle_or_leave(both);
  }
#endif
  MPI_Status status;
  MPI_Sendrecv_replace(memory, count, type, out->target, tag_of(out->k), source, tag, comm, &status);
  finish(both, &status);
}

static void send_and_receive(const Message* out, const Message* in) {
  Operation* under_way;
  int alike = out->unit == in->unit && out->elements == in->elements;
  switch (own(5)) {
    case 0:
      under_way = post_receive(in);
      send_now(out);
      settle_or_leave(under_way);
      break;
    case 1:
      under_way = post_send(out);
      receive_now(in);
      settle_or_leave(under_way);
      break;
    case 2:
      under_way = post_receive(in);
      settle_or_leave(post_send(out));
      settle_or_leave(under_way);
      break;
    case 3:
      sendrecv(out, in);
      break;
    default:
      if (alike)
        sendrecv_replace(out, in);
      else
        sendrecv(out, in);
  }
}

static void draw_permutation(int* order, int count) {
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int j = (int)draw((uint64_t)i + 1), held = order[i];
    order[i] = order[j];
    order[j] = held;
  }
}

static int place_of(const int* order, int wanted) {
  int i = 0;
  while (order[i] != wanted) i++;
  return i;
}

/* Each sends to one and receives from one. */
void permutation(void) {
  const Members* where = draw_members();
  int target[ranks_most], messages = 1 + (int)draw(4);
  if (where->comm == MPI_COMM_NULL) return;
  draw_permutation(target, where->size);
  room_for(2 * messages);
  empty_bsend_buffer();
  for (int k = 0; k < messages; k++) {
    Message all[ranks_most];
    for (int i = 0; i < where->size; i++) all[i] = draw_message(where, i, target[i], k, 4 << 20);
    send_and_receive(&all[where->me], &all[place_of(target, where->me)]);
  }
}

/* The receiver says when its receive is there. */
void ready_sends(void) {
  const Members* where = draw_members();
  int target[ranks_most], ready = 0, heard;
  if (where->comm == MPI_COMM_NULL) return;
  draw_permutation(target, where->size);
  Message all[ranks_most];
  for (int i = 0; i < where->size; i++) all[i] = draw_message(where, i, target[i], 0, 300000);
  const Message *out = &all[where->me], *in = &all[place_of(target, where->me)];
  room_for(2);
  Operation *receive = post_receive(in), *send = prepare_send(out);
  MPI_Request said;
  MPI_Isend(&ready, 1, MPI_INT, in->source, tag_of(1), where->comm, &said);
  MPI_Recv(&heard, 1, MPI_INT, out->target, tag_of(1), where->comm, MPI_STATUS_IGNORE);
  if (own(2)) {
    MPI_Rsend(SENT(send, out));
    finish(send, NULL);
  } else {
    MPI_Irsend(SENT(send, out), &send->request);
    settle_or_leave(send);
  }
  settle_or_leave(receive);
  MPI_Wait(&said, MPI_STATUS_IGNORE);
}

/* Any number between any two; each posts its own in an order of its own. */
void random_graph(void) {
  enum { most = 24 };
  const Members* where = draw_members();
  int messages = 1 + (int)draw(most), order[2 * most], posted = 0, leaving = (int)own(3);
  Operation* operations[2 * most];
  if (where->comm == MPI_COMM_NULL) return;
  room_for(2 * messages);
  empty_bsend_buffer();
  Message all[most];
  for (int k = 0; k < messages; k++)
    all[k] =
        draw_message(where, (int)draw((uint64_t)where->size), (int)draw((uint64_t)where->size), k, 1100000);
  for (int i = 0; i < 2 * messages; i++) order[i] = i;
  shuffle(order, 2 * messages);
  for (int i = 0; i < 2 * messages; i++) {
    const Message* message = &all[order[i] / 2];
    if (order[i] % 2 == 0 && message->source == where->me) operations[posted++] = post_send(message);
    if (order[i] % 2 == 1 && message->target == where->me) operations[posted++] = post_receive(message);
    if (own(16) == 0) linger();
  }
  if (leaving == 0)
    settle(operations, posted);
  else
    for (int i = 0; i < posted; i++) leave(operations[i]);
}

static void draw_two(const Members* where, int* one, int* other) {
  *one = (int)draw((uint64_t)where->size);
  *other = (int)draw((uint64_t)where->size);
  if (*one == *other) *other = (*one + 1) % where->size;
}

/* To and fro. */
void ping_pong(void) {
  const Members* where = draw_members();
  int one, other, times = 1 + (int)draw(20);
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  draw_two(where, &one, &other);
  if (where->me != one && where->me != other) return;
  room_for(2 * times);
  empty_bsend_buffer();
  Message there = draw_message(where, one, other, 0, 100000),
          back = draw_message(where, other, one, 0, 100000);
  for (int i = 0; i < times; i++) {
    there.k = 2 * i;
    back.k = 2 * i + 1;
    if (where->me == one) send_now(&there);
    receive_now(where->me == one ? &back : &there);
    if (where->me == other) send_now(&back);
  }
}

/* Many small ones to one who is not looking; all of one tag, so their order counts. */
void stream(void) {
  const Members* where = draw_members();
  int one, other, times = 1 + (int)draw(300), bytes = (int)draw_bytes(3000);
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  draw_two(where, &one, &other);
  uint64_t base = value_of(one, other, 0);
  unsigned char out[3000], in[3000];
  if (where->me == other) linger();
  for (int i = 0; i < times; i++) {
    if (where->me != one && where->me != other) break;
    write_bytes(out, base + (uint64_t)i * 1000, 0, (size_t)bytes);
    if (where->me == one) {
      MPI_Send(out, bytes, MPI_BYTE, other, tag_of(0), where->comm);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, one, tag_of(0), where->comm, MPI_STATUS_IGNORE);
      CHECK(memcmp(in, out, (size_t)bytes) == 0);
    }
  }
}

static void init_send(Operation* send, const Message* message) {
  if (own(2))
    MPI_Send_init(SENT(send, message), &send->request);
  else
    MPI_Ssend_init(SENT(send, message), &send->request);
}

/* Persistent requests that go several times; the data are new each time. */
void volley_persistent(void) {
  const Members* where = draw_members();
  int target[ranks_most], times = 1 + (int)draw(6);
  if (where->comm == MPI_COMM_NULL) return;
  draw_permutation(target, where->size);
  Message all[ranks_most];
  for (int i = 0; i < where->size; i++) all[i] = draw_message(where, i, target[i], 0, 140000);
  Message *out = &all[where->me], *in = &all[place_of(target, where->me)];
  Operation *send = prepare_send(out), *receive = prepare_receive(in);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  init_send(send, out);
  MPI_Recv_init(RECEIVED(receive, in), &receive->request);
  for (int i = 0; i < times; i++) {
    Message now_out = *out, now_in = *in;
    now_out.k = now_in.k = i;
    write_payload(send->memory, &send->layout, base_of(&now_out), bytes_of(&now_out));
    write_payload(send->image, &send->layout, base_of(&now_out), bytes_of(&now_out));
    write_payload(receive->image, &receive->layout, base_of(&now_in), bytes_of(&now_in));
    requests[0] = receive->request;
    requests[1] = send->request;
    if (own(2)) {
      MPI_Startall(2, requests);
    } else {
      MPI_Start(&requests[0]);
      MPI_Start(&requests[1]);
    }
    if (own(2)) {
      MPI_Waitall(2, requests, statuses);
    } else {
      for (int done = 0, index; done < 2; done++) {
        MPI_Status status;
        MPI_Waitany(2, requests, &index, &status);
        CHECK(index == 0 || index == 1);
        witness((uint64_t)index);
        statuses[index] = status;
      }
    }
    check_operation(receive, &statuses[0]);
  }
  MPI_Request_free(&send->request);
  MPI_Request_free(&receive->request);
  finish(send, NULL);
  receive->receives = 0;
  finish(receive, NULL);
}

/* A send whose request is given up; its memory is free when the answer has come. */
void freed_requests(void) {
  const Members* where = draw_members();
  int one, other, answer;
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  draw_two(where, &one, &other);
  Message message = draw_message(where, one, other, 0, 140000);
  room_for(1);
  empty_bsend_buffer();
  if (where->me == other) {
    receive_now(&message);
    MPI_Send(&one, 1, MPI_INT, one, tag_of(1), where->comm);
  } else if (where->me == one) {
    Operation* send = post_send(&message);
    MPI_Request_free(&send->request);
    MPI_Recv(&answer, 1, MPI_INT, other, tag_of(1), where->comm, MPI_STATUS_IGNORE);
    CHECK(answer == one);
    finish(send, NULL);
  }
}

/* More than there is room for: an error that the receiver gets, and nothing else is harmed. */
void truncated(void) {
  const Members* where = draw_members();
  int one, other, error, class, room;
  if (where->comm == MPI_COMM_NULL || where->size < 2) return;
  draw_two(where, &one, &other);
  Message message = draw_message(where, one, other, 0, 140000);
  message.elements += 1;
  empty_bsend_buffer();
  if (where->me == one) send_now(&message);
  if (where->me != other) return;
  room = (int)own(message.elements) * unit_sizes[message.unit];
  unsigned char *memory = blank((size_t)room + 64), *untouched = blank(64);
  MPI_Comm_set_errhandler(where->comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* MPICH asks this one in MPI_Wait */
  if (own(2)) {
    error = MPI_Recv(memory, room, MPI_BYTE, one, tag_of(0), where->comm, MPI_STATUS_IGNORE);
  } else {
    MPI_Request request;
    MPI_Irecv(memory, room, MPI_BYTE, one, tag_of(0), where->comm, &request);
    error = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Comm_set_errhandler(where->comm, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  CHECK(error != MPI_SUCCESS);
  MPI_Error_class(error, &class);
  CHECK(class == MPI_ERR_TRUNCATE);
  CHECK(memcmp(memory + room, untouched, 64) == 0);
  free(memory);
  free(untouched);
}

/* To and from nobody. */
void nobody(void) {
  MPI_Status status;
  MPI_Request requests[2];
  int flag, count, value = 7;
  MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  CHECK(value == 7 && count == 0 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
  MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
  MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  CHECK(value == 7);
}
