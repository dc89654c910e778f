// Lets every call of the library's that can fail do so, one in each run, and looks at what follows: an error that names
// the cause, or nothing; no crash, no hang, no memory and no file that is left, and right values the next time.
//   faults [--all | --sample N] [--seed SEED] [--kind KIND] [SCENARIO...]
//   faults SCENARIO --kind KIND --call NUMBER     one fault, with the message and the stack
// SINTER_TEST_SAMPLE=2/3, which scripts/test sets, stands for --sample.
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "process.hpp"

namespace sinter::faults {
namespace {

constexpr Remains unlimited{std::numeric_limits<long>::max(), std::numeric_limits<long>::max()};
constexpr std::size_t sample_size = 200;

struct Options {
  std::vector<std::string> scenarios;
  std::string kind;
  long call = -1;
  std::size_t sample = 0;  // faults in all; 0: every one
  unsigned seed = std::random_device()();
};

Options read(int argc, char** argv) {
  Options options;
  if (const char* part = std::getenv("SINTER_TEST_SAMPLE"); part && std::string_view(part) != "1/1")
    options.sample = sample_size;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const char* const value = i + 1 < argc ? argv[i + 1] : "";
    if (word == "--all")
      options.sample = 0;
    else if (!word.starts_with("--"))
      options.scenarios.emplace_back(word);
    else if (++i; word == "--sample")
      options.sample = std::strtoul(value, nullptr, 10);
    else if (word == "--seed")
      options.seed = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
    else if (word == "--kind")
      options.kind = value;
    else if (word == "--call")
      options.call = std::strtol(value, nullptr, 10);
  }
  return options;
}

std::vector<Scenario> chosen_scenarios(const Options& options) {
  std::vector<Scenario> all;
  for (const auto& some :
       {file_scenarios(), evaluation_scenarios(), text_scenarios(), cache_scenarios(), mesh_scenarios()})
    for (const Scenario& s : some)
      if (options.scenarios.empty() || std::ranges::find(options.scenarios, s.name) != options.scenarios.end())
        all.push_back(s);
  return all;
}

struct SharedTrace {
  SharedTrace()
      : trace(static_cast<Trace*>(
            ::mmap(nullptr, sizeof(Trace), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedTrace() { ::munmap(trace, sizeof(Trace)); }
  SharedTrace(const SharedTrace&) = delete;
  SharedTrace& operator=(const SharedTrace&) = delete;
  Trace* const trace;
};

/// What a scenario does without a fault: by kind, which calls are made from where. A place is the functions of the
/// library that lead to a call; of those that are made in a loop the first and the last count.
struct Expected {
  struct Place {
    std::uint64_t functions;
    long first, last;
  };
  std::map<Kind, std::vector<Place>> places;
  Remains remains;
};

std::vector<Expected::Place> places_of(const std::uint64_t* calls, long n) {
  std::map<std::uint64_t, Expected::Place> places;
  for (long i = 0; i < n; ++i) places.try_emplace(calls[i], Expected::Place{calls[i], i, i}).first->second.last = i;
  std::vector<Expected::Place> all;
  for (const auto& [functions, place] : places) all.push_back(place);
  std::ranges::sort(all, {}, &Expected::Place::first);
  return all;
}

Expected record(const Workplace& workplace, const Scenario& scenario, std::string& problem) {
  const SharedTrace shared;
  shared.trace->is_recorded = true;
  const Outcome outcome = workplace.run(scenario, {}, *shared.trace, unlimited);
  if (outcome.ending != Ending::WentOn) problem = outcome.message;
  Expected expected{{}, outcome.remains};
  for (int k = 0; k < kinds; ++k)
    expected.places[static_cast<Kind>(k)] =
        places_of(shared.trace->places[k], std::min<long>(shared.trace->calls[k], Trace::max_calls));
  return expected;
}

struct Tally {
  std::size_t places = 0, faults = 0, errors = 0, missed = 0, findings = 0;
};

/// Blocks that nothing refers to any more. Several, since the stack may still hold an address.
void leak() {
  [[maybe_unused]] static void* volatile last;
  for (std::size_t bytes = 100; bytes < 110; ++bytes) last = ::operator new(bytes);
  last = nullptr;
}

class Run {
 public:
  explicit Run(Options options) : options_(std::move(options)), random_(options_.seed) {}

  int all() {
    const std::vector<Scenario> scenarios = chosen_scenarios(options_);
    for (const Scenario& s : scenarios) expectation(s);  // compiles kernels
    workplace_.kernels_are_compiled();
    look_for_a_leak();
    for (const Scenario& s : scenarios) expected_.push_back(expectation(s));
    choose(scenarios);
    if (options_.sample > 0) fmt::print("{} faults, chosen by --seed {}\n", chosen_.size(), options_.seed);
    for (const auto& [scenario, fault] : chosen_) try_out(scenarios[scenario], expected_[scenario], fault);
    for (const auto& [kind, t] : tallies_)
      fmt::print("{:12}  {:6} places  {:6} faults: {:6} errors, {:6} went on, {:4} not reached, {:4} findings\n",
                 name_of(kind), t.places, t.faults, t.errors, t.faults - t.errors - t.missed - t.findings, t.missed,
                 t.findings);
    return findings_ == 0 ? 0 : 1;
  }

 private:
  void look_for_a_leak() {
    const SharedTrace shared;
    const Outcome outcome = workplace_.run({"leak", leak}, {Kind::Process, -1}, *shared.trace, {0, 0});
    if (outcome.message.starts_with("memory leaks")) return;
    ++findings_, fmt::print("memory that leaks on purpose is not found: {}\n", outcome.message);
  }

  Expected expectation(const Scenario& s) {
    std::string problem;
    Expected expected = record(workplace_, s, problem);
    if (!problem.empty()) ++findings_, fmt::print("{} without a fault: {}\n", s.name, problem);
    return expected;
  }

  /// A place that several scenarios come to is tried in the first of them.
  void choose(const std::vector<Scenario>& scenarios) {
    std::set<std::pair<Kind, std::uint64_t>> seen;
    for (std::size_t s = 0; s < scenarios.size(); ++s)
      for (const auto& [kind, places] : expected_[s].places) {
        if (!options_.kind.empty() && options_.kind != name_of(kind)) continue;
        if (options_.call >= 0) chosen_.push_back({s, {kind, options_.call}});
        for (const Expected::Place& p : places) {
          if (options_.call >= 0 || !seen.emplace(kind, p.functions).second) continue;
          ++tallies_[kind].places;
          chosen_.push_back({s, {kind, p.first}});
          if (p.last != p.first) chosen_.push_back({s, {kind, p.last}});
        }
      }
    if (options_.sample == 0 || chosen_.size() <= options_.sample) return;
    std::ranges::shuffle(chosen_, random_);
    // Half of them allocations, of which there are eight times as many as of all others together.
    const auto is_allocation = [](const auto& c) { return c.second.kind == Kind::Allocate; };
    const auto others = std::ranges::stable_partition(chosen_, is_allocation);
    const auto allocations = static_cast<std::size_t>(others.begin() - chosen_.begin());
    if (allocations > options_.sample / 2)
      chosen_.erase(chosen_.begin() + static_cast<std::ptrdiff_t>(options_.sample / 2), others.begin());
    if (chosen_.size() > options_.sample) chosen_.resize(options_.sample);
  }

  void try_out(const Scenario& scenario, const Expected& expected, Fault fault) {
    const SharedTrace shared;
    const Outcome outcome = workplace_.run(scenario, fault, *shared.trace, expected.remains);
    Tally& t = tallies_[fault.kind];
    ++t.faults;
    if (outcome.ending == Ending::Finding) {
      ++t.findings, ++findings_;
      fmt::print("faults {} --kind {} --call {}\n  {}\n{}\n", scenario.name, name_of(fault.kind), fault.nth,
                 outcome.message, stack_of(*shared.trace));
    } else if (options_.call >= 0) {
      fmt::print("{}\n{}\n", outcome.ending == Ending::Error ? outcome.message : "went on", stack_of(*shared.trace));
    }
    if (outcome.ending != Ending::Finding && !shared.trace->happened) ++t.missed;
    if (outcome.ending == Ending::Error) ++t.errors;
    std::fflush(stdout);
  }

  const Options options_;
  std::mt19937 random_;
  Workplace workplace_;
  std::vector<Expected> expected_;
  std::vector<std::pair<std::size_t, Fault>> chosen_;
  std::map<Kind, Tally> tallies_;
  std::size_t findings_ = 0;
};

}  // namespace
}  // namespace sinter::faults

int main(int argc, char** argv) {
  ::mallopt(M_PERTURB, 0xa5);  // what is freed is overwritten
  ::mallopt(M_ARENA_MAX, 1);   // as lost_blocks() has it
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  return sinter::faults::Run(sinter::faults::read(argc, argv)).all();
}
