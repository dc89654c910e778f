#include "notices.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>

#include "limits.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr int tag = 1;
constexpr std::chrono::milliseconds answers_within{1000};

}  // namespace

std::string process_list(const std::vector<int>& processes) {
  return fmt::format("{} {}", processes.size() == 1 ? "process" : "processes", fmt::join(processes, ", "));
}

Notices::Notices(const mpi::Library& mpi, mpi::Comm comm, int process, int size)
    : mpi_(mpi),
      comm_(comm),
      process_(process),
      arriving_(new Notice{}),
      received_from_(static_cast<std::size_t>(size)) {
  received_from_[static_cast<std::size_t>(process)] = true;
  listen();
}

void Notices::listen() {
  request_ = nullptr;
  if (mpi_.MPI_Irecv(arriving_, sizeof(Notice), mpi_.byte, mpi::any_source, tag, comm_, &request_) != mpi::success)
    request_ = nullptr;
}

std::optional<std::string> Notices::poll_abort() {
  for (;;) {
    int arrived = 0;
    if (!request_ || mpi_.MPI_Test(&request_, &arrived, mpi::no_status) != mpi::success || !arrived)
      return std::nullopt;
    const Notice notice = *arriving_;
    listen();
    if (notice.process >= 0 && static_cast<std::size_t>(notice.process) < received_from_.size())
      received_from_[static_cast<std::size_t>(notice.process)] = true;
    if (notice.errors == 0) return fmt::format("process {} gave up: {}", notice.process, notice.text);
    errors_.push_back(notice);
  }
}

std::optional<std::string> Notices::missing(int errors, std::int64_t waits, int peer) {
  std::erase_if(errors_, [&](const Notice& n) { return n.errors <= errors; });
  const auto n = std::ranges::find_if(
      errors_, [&](const Notice& e) { return e.waits <= waits && (peer < 0 || e.process == peer); });
  if (n == errors_.end()) return std::nullopt;
  return fmt::format("process {} does not take part because of an error: {}", n->process, n->text);
}

void Notices::forget_delivered() {
  const auto is_delivered = [&](mpi::Request& request) {
    int done = 0;
    return mpi_.MPI_Test(&request, &done, mpi::no_status) == mpi::success && done;
  };
  std::erase_if(sent_, [&](Sent& s) {
    std::erase_if(s.requests, is_delivered);
    if (s.requests.empty()) delete s.notice;
    return s.requests.empty();
  });
}

void Notices::send(int errors, std::int64_t waits, std::string_view what) {
  forget_delivered();
  Notice* const notice = new Notice{.process = process_, .errors = errors, .waits = waits, .text = {}};
  notice->text[what.copy(notice->text, sizeof(notice->text) - 1)] = '\0';
  Sent& sent = sent_.emplace_back(Sent{notice, {}});
  sent.requests.reserve(received_from_.size());
  for (int peer = 0; peer < static_cast<int>(received_from_.size()); ++peer) {
    if (peer == process_) continue;
    mpi::Request request = nullptr;
    if (mpi_.MPI_Isend(notice, sizeof(Notice), mpi_.byte, peer, tag, comm_, &request) == mpi::success)
      sent.requests.push_back(request);
  }
}

void Notices::broadcast_error(int errors, std::int64_t waits, std::string_view what) { send(errors, waits, what); }

void Notices::broadcast_abort(std::string_view what) { send(0, 0, what); }

std::vector<int> Notices::broadcast_abort_and_wait(std::string_view what) {
  send(0, 0, what);
  const auto end = std::chrono::steady_clock::now() + answers_within;
  for (int polls = 0; std::chrono::steady_clock::now() < end; pause_after(++polls))
    if (!poll_abort() && std::ranges::find(received_from_, false) == received_from_.end()) break;
  std::vector<int> silent;
  for (std::size_t peer = 0; peer < received_from_.size(); ++peer)
    if (!received_from_[peer]) silent.push_back(static_cast<int>(peer));
  return silent;
}

void Notices::stop() {
  if (!request_) return;
  mpi_.MPI_Cancel(&request_);
  mpi_.MPI_Wait(&request_, mpi::no_status);
}

}  // namespace sinter::inline v1::runtime
