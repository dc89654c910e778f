#include "traced_communicator.hpp"

#include <utility>

#include "span.hpp"

namespace sinter::inline v1::runtime {
namespace {

/// The number of bytes in this process's arrays.
std::int64_t bytes_in(RankTensors arrays) noexcept {
  std::size_t bytes = 0;
  for (const TensorRef& a : arrays)
    if (a) bytes += static_cast<std::size_t>(a->numel) * size_of(a->dtype);
  return static_cast<std::int64_t>(bytes);
}

class TracedCommunicator final : public Communicator {
 public:
  explicit TracedCommunicator(std::unique_ptr<Communicator> c) noexcept : communicator_(std::move(c)) {}

  std::string_view name() const noexcept override { return communicator_->name(); }
  int size() const noexcept override { return communicator_->size(); }
  int first_local_rank() const noexcept override { return communicator_->first_local_rank(); }
  int local_size() const noexcept override { return communicator_->local_size(); }
  Traffic traffic() const noexcept override { return communicator_->traffic(); }

  void all_reduce(RankTensors arrays, ReduceOp how) override {
    const TraceSpan span = call("all_reduce", arrays);
    communicator_->all_reduce(arrays, how);
  }
  void all_gather(RankTensors from, RankTensors to, std::span<const std::int64_t> counts) override {
    const TraceSpan span = call("all_gather", from);
    communicator_->all_gather(from, to, counts);
  }
  void reduce_scatter(RankTensors from, RankTensors to, std::span<const std::int64_t> counts, ReduceOp how) override {
    const TraceSpan span = call("reduce_scatter", from);
    communicator_->reduce_scatter(from, to, counts, how);
  }
  void broadcast(RankTensors arrays, int root) override {
    const TraceSpan span = call("broadcast", arrays);
    communicator_->broadcast(arrays, root);
  }
  void send(const TensorRef& source, int from, const TensorRef& target, int to) override {
    const TraceSpan span = call("send", {source ? &source : &target, 1});
    communicator_->send(source, from, target, to);
  }
  void barrier() override {
    const TraceSpan span = call("barrier", {});
    communicator_->barrier();
  }

 private:
  TraceSpan call(const char* what, RankTensors arrays) const noexcept {
    return TraceSpan(TraceCategory::Collective, what,
                     {{"bytes", bytes_in(arrays)}, {"ranks", size()}, {"by", 0, name()}});
  }

  const std::unique_ptr<Communicator> communicator_;
};

}  // namespace

std::unique_ptr<Communicator> traced(std::unique_ptr<Communicator> communicator) {
  if (!traces()) return communicator;
  return std::make_unique<TracedCommunicator>(std::move(communicator));
}

}  // namespace sinter::inline v1::runtime
