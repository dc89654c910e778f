#include "call.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <numeric>
#include <utility>

#include "ranks.hpp"

namespace sinter::inline v1::runtime {

namespace {

constinit thread_local std::int64_t subject = 0;

Call call_on(CallKind kind, RankTensors arrays) {
  const bool known = !arrays.empty() && arrays[0];
  return {.kind = kind,
          .dtype = known ? static_cast<std::int64_t>(arrays[0]->dtype) : 0,
          .count = known ? arrays[0]->numel : 0,
          .subject = subject};
}

Call call_with_counts(CallKind kind, RankTensors from, Counts counts) {
  Call call = call_on(kind, from);
  call.count = std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), call.counts = hash_of(counts);
  return call;
}

}  // namespace

Subject::Subject(std::span<const std::int64_t> numbers) noexcept : before_(std::exchange(subject, hash_of(numbers))) {}
Subject::~Subject() { subject = before_; }

Call all_reduce_call(RankTensors arrays, ReduceOp how) {
  Call call = call_on(CallKind::AllReduce, arrays);
  call.how = static_cast<std::int64_t>(how);
  return call;
}

Call all_gather_call(RankTensors from, Counts counts) { return call_with_counts(CallKind::AllGather, from, counts); }

Call reduce_scatter_call(RankTensors from, Counts counts, ReduceOp how) {
  Call call = call_with_counts(CallKind::ReduceScatter, from, counts);
  call.how = static_cast<std::int64_t>(how);
  return call;
}

Call broadcast_call(RankTensors arrays, int root) {
  Call call = call_on(CallKind::Broadcast, arrays);
  call.from = root;
  return call;
}

Call send_call(const TensorRef& own, int from, int to) {
  Call call = call_on(CallKind::Send, {&own, 1});
  call.from = from, call.to = to;
  return call;
}

int process_of(int rank, std::span<const std::int64_t> locals) {
  int process = 0;
  for (std::int64_t end = locals[0]; rank >= end; end += locals[static_cast<std::size_t>(process)]) ++process;
  return process;
}

std::array<std::int64_t, call_words> words_of(const Call& c) noexcept {
  return {static_cast<std::int64_t>(c.kind), c.dtype, c.how, c.from, c.to, c.count, c.counts, c.subject, c.errors};
}

Call call_of(std::span<const std::int64_t, call_words> w) noexcept {
  return {static_cast<CallKind>(w[0]), w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8]};
}

std::int64_t hash_of(std::span<const std::int64_t> counts) noexcept {
  return static_cast<std::int64_t>(XXH3_64bits(counts.data(), counts.size_bytes()) >> 1);
}

namespace {

std::string describe_itself(const Call& c) {
  const auto elements = [&] { return fmt::format("{} {}", c.count, name(static_cast<DType>(c.dtype))); };
  const auto how = [&] { return name(static_cast<ReduceOp>(c.how)); };
  switch (c.kind) {
    case CallKind::AllReduce: return fmt::format("all_reduce, {}, of {}", how(), elements());
    case CallKind::AllGather: return fmt::format("all_gather of {} (counts #{:04x})", elements(), c.counts & 0xFFFF);
    case CallKind::ReduceScatter:
      return fmt::format("reduce_scatter, {}, of {} (counts #{:04x})", how(), elements(), c.counts & 0xFFFF);
    case CallKind::Broadcast: return fmt::format("broadcast of {} from rank {}", elements(), c.from);
    case CallKind::Send: return fmt::format("send of {} from rank {} to {}", elements(), c.from, c.to);
    case CallKind::Barrier: return "barrier";
    case CallKind::Setup: return "creation of the world's communicator";
    case CallKind::End: return "end of the program";
    case CallKind::Refused: return "a call that it rejected with an error";
  }
  return "an unknown call";
}

}  // namespace

std::string describe(const Call& c) {
  std::string text = describe_itself(c);
  if (c.subject != 0) text += fmt::format(", for the expression and shapes #{:08x}", c.subject & 0xFFFFFFFF);
  if (c.errors == 1) text += ", after an error of this process";
  if (c.errors > 1) text += fmt::format(", after {} errors of this process", c.errors);
  return text;
}

}  // namespace sinter::inline v1::runtime
