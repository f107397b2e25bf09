#include "llamada/launcher/kept_jobs.hpp"

#include <unistd.h>

#include <filesystem>

#include "job_directory.hpp"
#include "job_recorder.hpp"
#include "llamada/store/segment_store.hpp"
#include "temporary_folder.hpp"
#include "test.hpp"

using namespace llamada;
using namespace llamada::launcher;

namespace {

/// A job that is being kept, as its llamanetd does.
struct Kept {
  Kept(const std::string& directory, const std::string& number) {
    control::Start plan;
    plan.rank_count = 3;
    plan.storing.words = {"-n", "3", "program"};
    auto store = store::open_segment_store(directory + "/" + number);
    if (!store) FAIL(store.error().text());
    JobRecorder::Actions actions{[] {}, [](const auto&) {}, [](auto) {}, [](const auto&) {}};
    auto begun = JobRecorder::begin(loop, std::move(*store), plan, nullptr, actions);
    if (!begun) FAIL(begun.error().text());
    recorder = std::move(*begun);
  }
  EventLoop loop;
  std::unique_ptr<JobRecorder> recorder;
};

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables = std::move(variables)](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string(name));
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
}

}  // namespace

TEST_CASE("kept jobs: where they are kept", "[launcher]") {
  CHECK(*job_store_directory("/a/b", environment_of({{"LLAMADA_STORE", "/c"}})) == "/a/b");
  CHECK(*job_store_directory({}, environment_of({{"LLAMADA_STORE", "/c"}, {"HOME", "/home/u"}})) == "/c");
  CHECK(*job_store_directory({}, environment_of({{"XDG_STATE_HOME", "/s"}, {"HOME", "/home/u"}})) ==
        "/s/llamada/jobs");
  CHECK(*job_store_directory({}, environment_of({{"HOME", "/home/u"}})) ==
        "/home/u/.local/state/llamada/jobs");
  CHECK(job_store_directory({}, environment_of({})).error().text() ==
        "there is no directory for the record of the job, because HOME is not set; name one with --store");
}

TEST_CASE("kept jobs: are listed, found by the first digits, and removed unless they run", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string directory = folder / "jobs";
  CHECK(list_kept_jobs(directory)->empty());
  CHECK(find_kept_job(directory, "12").error().text() ==
        fmt::format("no job 12 is kept in {}; there is none", directory));
  std::optional<Kept> running(std::in_place, directory, "12aaaaaaaaaaaaaa");
  {
    Kept ended(directory, "12bbbbbbbbbbbbbb");
    ended.recorder->end("it is unprotected");
  }
  std::filesystem::create_directories(directory + "/dddddddddddddddd.new");
  std::filesystem::create_directories(directory + "/something else");
  std::filesystem::create_directories(directory + "/cccccccccccccccc");
  auto jobs = list_kept_jobs(directory);
  REQUIRE(jobs);
  REQUIRE(jobs->size() == 3);
  CHECK((*jobs)[0].process == getpid());
  CHECK((*jobs)[0].plan.rank_count == 3);
  CHECK((*jobs)[1].end == "it is unprotected");
  CHECK_FALSE((*jobs)[1].process);
  CHECK_FALSE((*jobs)[2].error.empty());
  CHECK(find_kept_job(directory, "12a")->number == "12aaaaaaaaaaaaaa");
  CHECK(find_kept_job(directory, "12").error().code() == Errc::invalid_argument);
  CHECK(find_kept_job(directory, "").error().code() == Errc::not_found);
  CHECK(remove_kept_job((*jobs)[0]).error().code() == Errc::already_exists);
  CHECK(remove_kept_job((*jobs)[1]));
  CHECK(remove_kept_job((*jobs)[2]));
  running.reset();
  CHECK_FALSE(list_kept_jobs(directory)->front().process);
  CHECK(remove_kept_job(list_kept_jobs(directory)->front()));
  CHECK(list_kept_jobs(directory)->empty());
}

TEST_CASE("kept jobs: what killed processes have left without a name goes later", "[launcher]") {
  const test::TemporaryFolder folder;
  const std::string job = folder / "aaaaaaaaaaaaaaaa";
  for (const char* name : {"bbbbbbbbbbbbbbbb.new", "cccccccccccccccc.gone", "dddddddddddddddd.new"})
    REQUIRE(store::open_segment_store(folder / name));
  const auto old = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  for (const char* name : {"bbbbbbbbbbbbbbbb.new", "cccccccccccccccc.gone"})
    std::filesystem::last_write_time(folder / name, old);
  remove_leftovers_beside(job);
  CHECK_FALSE(std::filesystem::exists(folder / "bbbbbbbbbbbbbbbb.new"));
  CHECK_FALSE(std::filesystem::exists(folder / "cccccccccccccccc.gone"));
  CHECK(std::filesystem::exists(folder / "dddddddddddddddd.new"));
  REQUIRE(store::open_segment_store(unborn_directory(job)));
  REQUIRE(publish_job(job));
  CHECK(std::filesystem::exists(job));
  REQUIRE(unname_job(job));
  CHECK(list_kept_jobs(folder / "")->empty());
  REQUIRE(remove_job(job));
  CHECK_FALSE(std::filesystem::exists(job));
  CHECK_FALSE(std::filesystem::exists(job + ".gone"));
  CHECK(remove_job(job).error().code() == Errc::not_found);
}
