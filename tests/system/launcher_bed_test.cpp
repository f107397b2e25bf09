#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"
#include "test.hpp"

// Jobs on nodes that are namespaces with hosts, networks and processes of their own (tests/bed).

namespace {

constexpr int exit_skipped = 77;

struct Ran {
  int code;
  std::string output;  ///< standard output and errors
};

/// Runs a shell's script beside a bed of `count` nodes, with what the scripts below need.
Ran run_beside_bed(int count, const std::string& script) {
  const llamada::test::TemporaryFolder folder;
  const std::string file = folder / "script";
  std::ofstream(file) << "cd " << (folder / "") << "\n"
                      << "nodes() { " LLAMADA_NODES " \"$@\"; }\n"
                      << LLAMADA_NODES << " agents $PWD/agents &\nserver=$!\n"
                      << "while [ ! -S agents ]; do sleep 0.01; done\n"
                      << "agent='" LLAMADA_NODES " agent '$PWD/agents\n"
                      << "mpirun() { nodes exec 0 " LLAMADA_MPIRUN " --launcher-exec \"$agent\" \"$@\"; }\n"
                      << script << "\nkill $server\n";
  const std::string command =
      LLAMADA_NODES " run " + std::to_string(count) + " -- timeout 60 /bin/sh " + file + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Ran ran{0, {}};
  std::array<char, 4096> part;
  for (std::size_t count_read; (count_read = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
    ran.output.append(part.data(), count_read);
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  if (ran.code == exit_skipped) std::fputs(ran.output.c_str(), stdout);
  return ran;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string start_and_wait_until_up =
    "mpirun -n 2 -H localhost,node1 sh -c 'echo up; exec sleep 1000' >out & job=$!\n"
    "until [ \"$(grep -c up out)\" = 2 ]; do sleep 0.01; done\n";
/// What a job has left when nothing else of it is there.
const std::string sockets_left =
    "left() { echo $(for i in 0 1; do nodes exec $i cat /proc/net/packet | grep -c 88b5; done); }\n"
    "until [ \"$(left)\" = '0 0' ]; do sleep 0.1; done\necho raw sockets left: $(left)\n";
/// Waits for mpirun, and until a node has no other processes than its first one and the shell that counts.
std::string wait_until_nothing_is_left(const std::string& node) {
  return "wait $job\necho code $?\nuntil [ $(nodes exec " + node +
         " sh -c 'set -- /proc/[0-9]*; echo $#') = 2 ]; do sleep 0.1; done\necho nothing is left\n";
}

}  // namespace

TEST_CASE("nodes: ranks run on hosts of their own, which connect over their network", "[system]") {
  const Ran ran = run_beside_bed(3, "mpirun -n 3 -H localhost,node1,node2 -l sh -c 'echo on $(uname -n)'");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "[0@node0-"));
  CHECK(contains(ran.output, "[1@node1] on node1-"));
  CHECK(contains(ran.output, "[2@node2] on node2-"));
}

TEST_CASE("nodes: when a host loses its power the job ends on the others", "[system]") {
  const Ran ran =
      run_beside_bed(2, start_and_wait_until_up + "nodes kill 1\n" + wait_until_nothing_is_left("0"));
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "mpirun: the node 'node1' is lost: "));
  CHECK(contains(ran.output, "code 125\n"));
  CHECK(contains(ran.output, "nothing is left\n"));
}

TEST_CASE("nodes: when the network is cut the job ends on both sides", "[system]") {
  const Ran ran = run_beside_bed(
      2, start_and_wait_until_up + "nodes relay 1 both cut=yes\n" + wait_until_nothing_is_left("1"));
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "mpirun: the node 'node1' is lost: "));
  CHECK(contains(ran.output, "code 125\n"));
  CHECK(contains(ran.output, "nothing is left\n"));
}

TEST_CASE("nodes: --check-nodes says what is there and what is missing, and runs nothing", "[system]") {
  const Ran ran = run_beside_bed(
      3,
      "mpirun --check-nodes -H localhost,node1,node2; echo first $?\n"
      "mpirun --check-nodes -H localhost,node1,node9 sh -c 'echo a rank runs'; echo second $?\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "1496 bytes"));
  CHECK(contains(ran.output, "first 0\n"));
  CHECK(contains(ran.output, "The node 'node9': its agent "));
  CHECK(contains(ran.output, "second 125\n"));
  CHECK_FALSE(contains(ran.output, "a rank runs"));
}

#ifdef LLAMADA_HEAT
TEST_CASE("nodes: an MPI program's answer is right over links that lose, reorder and damage frames",
          "[system]") {
  const Ran ran = run_beside_bed(2,
                                 "nodes relay 0 both loss=1% reorder=5% corrupt=0.1%\n"
                                 "nodes relay 1 both loss=1% reorder=5% corrupt=0.1% duplicate=1%\n"
                                 "mpirun -n 4 -H localhost:2,node1:2 " LLAMADA_HEAT
                                 " -n 96 -s 200 -o '' --check; echo code $?\n"
                                 "nodes relay 1\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, " lost="));
  CHECK_FALSE(contains(ran.output, " lost=0 "));
}

TEST_CASE("nodes: a job goes on with a spare host when one loses its power, or its network", "[system]") {
  for (const std::string loss : {"nodes kill 1", "nodes relay 1 both cut=yes"}) {
    CAPTURE(loss);
    const Ran ran = run_beside_bed(
        3, "mpirun -n 3 -H localhost:2,node1:1,node2:1 --qos node-fault-tolerant " LLAMADA_HEAT
           " -n 96 -s 30000 -o '' --check >out 2>errors & job=$!\n"
           "until [ $(nodes exec 1 sh -c 'set -- /proc/[0-9]*; echo $#') -gt 5 ]; do sleep 0.01; done\n"
           "sleep 1\n" +
               loss + "\nwait $job\necho code $?\ncat out errors\n");
    if (ran.code == exit_skipped) return;
    CAPTURE(ran.output);
    CHECK(contains(ran.output, "mpirun: the node 'node1' is lost: "));
    CHECK(contains(ran.output, "to start again without it"));
    CHECK(contains(ran.output, "heat: VERIFIED"));
    CHECK(contains(ran.output, "code 0\n"));
  }
}

/// Jobs whose rank 2 is on node1, and which has node2 as a spare. A process beside each rank writes down
/// where and when that ran. `disturbance` begins when rank 2 runs.
Ran run_with_witnesses(const std::string& options, const std::string& disturbance) {
  return run_beside_bed(
      3,
      "cat >witnessed <<'END'\n"
      "(while echo $LLAMADA_RANK $(uname -n | cut -d- -f1) $(date +%s%N) >>witness; do sleep 0.02; done) &\n"
      "exec " LLAMADA_HEAT
      " -n 96 -s 40000 -o '' --check\nEND\n"
      "mpirun -n 3 -H localhost:2,node1:1,node2:1 --qos node-fault-tolerant " +
          options +
          " sh witnessed >out 2>errors & job=$!\n"
          "until grep -q '^2 node1 ' witness 2>/dev/null; do sleep 0.01; done\n" +
          disturbance +
          "wait $job\necho code $?\ncat out errors\n"
          "until [ $(nodes exec 1 sh -c 'set -- /proc/[0-9]*; echo $#') = 2 ]; do sleep 0.1; done\n"
          "grep '^2 node1 ' witness | tail -n 1 | { read rank host last; read rank host first <<END\n"
          "$(grep '^2 node2 ' witness)\nEND\n"
          "if [ -z \"$first\" ]; then echo rank 2 stayed; "
          "elif [ \"$last\" -lt \"$first\" ]; then echo rank 2 moved; "
          "else echo rank 2 ran twice: $last $first; fi; }\n");
}

TEST_CASE("nodes: a network that is cut for less than a lease costs a job nothing but time", "[system]") {
  const Ran ran = run_with_witnesses("", "nodes relay 1 both cut=yes\nsleep 6\nnodes relay 1 both cut=no\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, "rank 2 stayed\n"));
}

TEST_CASE("nodes: a node that was cut off for long runs nothing when it is back", "[system]") {
  const Ran ran =
      run_with_witnesses("",
                         "nodes relay 1 both cut=yes\nuntil grep -q 'is lost' errors; do sleep 0.1; done\n"
                         "nodes relay 1 both cut=no\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "mpirun: the node 'node1' is lost: nothing has been heard of it for "));
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, "rank 2 moved\n"));
}

TEST_CASE("nodes: a node that stands still for a while goes on, and for long is given up", "[system]") {
  for (const std::string length : {"3 s", "20 s"}) {
    CAPTURE(length);
    const Ran ran = run_with_witnesses("--inject 'pause node node1 after 1 s for " + length + "'", "");
    if (ran.code == exit_skipped) return;
    CAPTURE(ran.output);
    CHECK(contains(ran.output, "for " + length + "' stops all processes of the node 'node1' now."));
    CHECK(contains(ran.output, "heat: VERIFIED"));
    CHECK(contains(ran.output, "code 0\n"));
    CHECK(contains(ran.output, length == "3 s" ? "rank 2 stayed\n" : "rank 2 moved\n"));
  }
}

TEST_CASE("nodes: a node that is drained can lose its power, and the job does not notice", "[system]") {
  const Ran ran = run_beside_bed(
      3, "mpirun -n 3 -H localhost:2,node1:1,node2:1 --qos node-fault-tolerant " LLAMADA_HEAT
         " -n 96 -s 30000 -o '' --check >out 2>errors & job=$!\n"
         "drain() { nodes exec 0 " LLAMADA_TOOL
         " drain job- $1; }\n"
         "until drain node1; do sleep 0.1; done\n"
         "until [ $(nodes exec 1 sh -c 'set -- /proc/[0-9]*; echo $#') = 2 ]; do sleep 0.1; done\n"
         "nodes kill 1\nkill -0 $job && echo the job runs\nwait $job\necho code $?\ncat out errors\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output,
                 "The node 'node1' is drained: all ranks start again, those of 'node1' on 'node2'."));
  CHECK(contains(ran.output, "the job runs\n"));
  CHECK_FALSE(contains(ran.output, "is lost"));
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
}

TEST_CASE("nodes: a job by raw Ethernet has right answers over links that lose, reorder and damage frames",
          "[system]") {
  const Ran ran = run_beside_bed(2,
                                 "nodes relay 0 both loss=1% reorder=5% corrupt=0.1%\n"
                                 "nodes relay 1 both loss=1% reorder=5% corrupt=0.1% duplicate=1%\n"
                                 "mpirun -v --link ethernet -n 4 -H localhost:2,node1:2 " LLAMADA_HEAT
                                 " -n 96 -s 200 -o '' --check; echo code $?\n"
                                 "nodes relay 1\n" +
                                     sockets_left);
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "node1 (2); the link between them is raw Ethernet, 1496 bytes a frame"));
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK_FALSE(contains(ran.output, " lost=0 "));
  CHECK(contains(ran.output, "raw sockets left: 0 0\n"));
}

TEST_CASE("nodes: a rank of a job by raw Ethernet is replaced, and leaves no socket behind", "[system]") {
  const Ran ran =
      run_beside_bed(2,
                     "mpirun --link ethernet -n 4 -H localhost:2,node1:2 --qos fault-tolerant"
                     " --inject 'kill rank 1 in MPI_Waitall 40' --inject 'kill rank 2 in MPI_Waitall 90'"
                     " --inject 'kill rank 2 in MPI_Waitall 150 of incarnation 2' sh -c '"
                     "cat /proc/net/packet >packet.$LLAMADA_RANK; exec " LLAMADA_HEAT
                     " -n 96 -s 200 -o \"\" --check'; echo code $?\n"
                     "echo sockets $(for i in 0 1 2 3; do grep -c 88b5 packet.$i; done)\n" +
                         sockets_left);
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, "replaced as incarnation 2"));
  CHECK(contains(ran.output, "replaced as incarnation 3"));
  CHECK_FALSE(contains(ran.output, "never fired"));
  // Of two ranks and a driver; the last file is of the replacement.
  CHECK(contains(ran.output, "sockets 3 3 3 3\n"));
  CHECK(contains(ran.output, "raw sockets left: 0 0\n"));
}

TEST_CASE(
    "nodes: ranks go on from their parked copies, by raw Ethernet and by UDP, over links that lose frames",
    "[system]") {
  const std::string profile =
      "echo \"<dds><qos_library name='test'><qos_profile name='standby' base_name='llamada::fault_tolerant'>"
      "<rank_replacement><standby_interval>0.01</standby_interval></rank_replacement></qos_profile>"
      "</qos_library></dds>\" >profile.xml\n";
  for (const std::string link : {"ethernet", "udp"}) {
    const Ran ran = run_beside_bed(
        2, profile +
               "nodes relay 0 both loss=1% reorder=5%\nnodes relay 1 both loss=1% reorder=5%\n"
               "mpirun -v --link " +
               link +
               " -n 4 -H localhost:2,node1:2 --qos $PWD/profile.xml"
               " --inject 'kill rank 1 in MPI_Waitall 700' --inject 'kill rank 2 in MPI_Waitall"
               " 900' " LLAMADA_HEAT " -n 96 -s 1000 -o '' --check; echo code $?\n" +
               sockets_left);
    if (ran.code == exit_skipped) return;
    CAPTURE(ran.output);
    CHECK(contains(ran.output, "rank 1 (incarnation 2) goes on from its standby of"));
    CHECK(contains(ran.output, "rank 2 (incarnation 2) goes on from its standby of"));
    CHECK(contains(ran.output, "heat: VERIFIED"));
    CHECK(contains(ran.output, "code 0\n"));
    CHECK(contains(ran.output, "raw sockets left: 0 0\n"));
  }
}

TEST_CASE("nodes: without the right to raw sockets a job takes UDP, or is refused if it must not",
          "[system]") {
  const Ran ran = run_beside_bed(
      2, "without() { nodes exec 0 setpriv --bounding-set -net_raw --inh-caps -net_raw " LLAMADA_MPIRUN
         " --launcher-exec \"$agent\" -n 2 -H localhost,node1 \"$@\"; }\n"
         "without -v " LLAMADA_HEAT
         " -n 48 -s 20 -o '' --check; echo code $?\n"
         "without --link ethernet sh -c 'echo a rank runs'; echo code $?\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "the link between them is UDP, 1472 bytes a datagram (the node 'node0-"));
  CHECK(contains(ran.output, "heat: VERIFIED"));
  CHECK(contains(ran.output, "mpirun: --link ethernet is not possible: the node 'node0-"));
  CHECK(contains(ran.output, "CAP_NET_RAW"));
  CHECK(contains(ran.output, "code 125\n"));
  CHECK_FALSE(contains(ran.output, "a rank runs"));
}

TEST_CASE("nodes: datagrams are as long as the network carries", "[system]") {
  const Ran ran = run_beside_bed(2,
                                 "for i in 0 1; do nodes exec $i ip link set eth0 mtu 1300; done\n"
                                 "mpirun -v -n 2 -H localhost,node1 " LLAMADA_HEAT
                                 " -n 48 -s 20 -o '' --check; echo code $?\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "raw Ethernet, 1296 bytes a frame"));
  CHECK(contains(ran.output, "UDP, 1272 bytes a datagram"));
  CHECK(contains(ran.output, "heat: VERIFIED"));
}
#endif

#ifdef LLAMADA_UNTIL_TOLD
// Of another user on a host of the job, who has no key, and on a host that is not the job's.
TEST_CASE("nodes: frames that strangers forge, repeat and make up change nothing, and are counted",
          "[system]") {
  const Ran ran = run_beside_bed(
      3, "mpirun --link udp --report report -n 4 -H localhost:2,node1:2 " LLAMADA_UNTIL_TOLD
         " $PWD/end >out & job=$!\n"
         "watch() { nodes exec $1 " LLAMADA_FORGER
         " watch $PWD/frames$1 15000 || echo nothing seen; }\n"
         "watch 0 & first=$!\nwatch 1\nwait $first\n"
         "nodes exec 1 " LLAMADA_FORGER
         " send 10.77.0.2 $PWD/frames1 1 65534 & user=$!\n"
         "nodes exec 2 " LLAMADA_FORGER
         " send 10.77.0.1 $PWD/frames0 1\nwait $user\ntouch end\n"
         "wait $job\necho code $?\ncat out\n"
         "for reason in forged repeated unread; do\n"
         "  grep -A 30 frames_dropped report | grep -q \"$reason.: [1-9]\" && echo counted: $reason\ndone\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK_FALSE(contains(ran.output, "nothing seen"));
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, "right: "));
  for (const char* reason : {"forged", "repeated", "unread"})
    CHECK(contains(ran.output, std::string("counted: ") + reason));
}
#endif

#ifdef LLAMADA_ULFM_RANDOM
// One host is cut off for longer than its lease, and another one loses its power meanwhile.
TEST_CASE("nodes: ranks go on without hosts that are cut off or lose their power (ULFM)", "[system]") {
  const std::string lease =
      "<liveliness><kind>AUTOMATIC</kind><lease_duration><sec>2</sec></lease_duration></liveliness>";
  const Ran ran = run_beside_bed(
      4, "sed 's,<data[a-z]*_qos>,&" + lease +
             ",' " LLAMADA_PROFILES
             "/ulfm.xml >profile.xml\n"
             "mpirun -n 6 -H localhost:2,node1:1,node2:2,node3:1 --qos $PWD/profile.xml --report report \\\n"
             "  sh -c 'echo up >&2; exec " LLAMADA_ULFM_RANDOM
             " 7 300' >out 2>errors & job=$!\n"
             "until [ \"$(grep -c up errors)\" = 6 ]; do sleep 0.01; done\n"
             "nodes relay 2 both cut=yes\nsleep 0.2\nnodes kill 3\n" +
             wait_until_nothing_is_left("2") +
             "cat errors\necho well: $(grep -c -x 'ok ulfm_random' out) of $(wc -l <out)\n"
             "echo died: $(grep -c 'lost_with_node.: .' report)\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "code 0\n"));
  CHECK(contains(ran.output, "nothing is left\n"));
  CHECK(contains(ran.output, "mpirun: the node 'node2' is lost: nothing has been heard of it for "));
  CHECK(contains(ran.output, "; ranks 3 and 4 are lost with it, and the others go on without them"));
  CHECK(contains(ran.output, "; rank 5 is lost with it, and the others go on without it"));
  CHECK(contains(ran.output, "well: 3 of 3\n"));
  CHECK(contains(ran.output, "died: 3\n"));
}
#endif

#ifdef LLAMADA_SPAWN_PROGRAM
TEST_CASE("nodes: ranks are spawned on other hosts, over a network that loses, reorders and damages",
          "[system]") {
  const Ran ran =
      run_beside_bed(3,
                     "nodes relay 1 both loss=1% reorder=5% corrupt=0.1%\nnodes relay 2 both loss=1%\n"
                     "mpirun -n 2 -H localhost:1,node1:1,node2:1 " LLAMADA_SPAWN_PROGRAM
                     " 'spawn 40 times'\necho code $?\n"
                     "mpirun -n 1 -H localhost:1,node1:1,node2:1 -l " LLAMADA_SPAWN_PROGRAM
                     " 'child fails'\necho code $?\n");
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "all have answered\ncode 0\n"));
  CHECK(contains(ran.output, "[1:0@node1] child of world\n"));
  CHECK(contains(ran.output, "code 3\n"));
}

TEST_CASE("nodes: when a host loses its power while ranks are spawned the job ends on the others",
          "[system]") {
  const Ran ran = run_beside_bed(
      2, "mpirun -n 2 -H localhost:1,node1:1 " LLAMADA_SPAWN_PROGRAM
         " 'spawn for ever' >out & job=$!\nuntil grep -q again out; do sleep 0.01; done\nnodes kill 1\n" +
             wait_until_nothing_is_left("0"));
  if (ran.code == exit_skipped) return;
  CAPTURE(ran.output);
  CHECK(contains(ran.output, "mpirun: the node 'node1' is lost: "));
  CHECK(contains(ran.output, "code 125\n"));
  CHECK(contains(ran.output, "nothing is left\n"));
}
#endif
