#include "captures.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "../fork.hpp"

namespace sinter::inline v1::runtime {

void Capture::keep(std::shared_ptr<void> kernel) {
  const ForkSafeLock lock(mutex_);
  kernels_.insert(std::move(kernel));
}

void* Capture::workspace(std::size_t bytes, const StreamImpl& stream) {
  const ForkSafeLock lock(mutex_);
  const auto known =
      std::ranges::find_if(workspaces_, [&](const Workspace& w) { return w.stream == &stream && w.bytes >= bytes; });
  return known == workspaces_.end() ? nullptr : known->data;
}

void Capture::add(const Workspace& workspace) {
  const ForkSafeLock lock(mutex_);
  workspaces_.push_back(workspace);
}

std::shared_ptr<Capture> Captures::of(driver::CUstream stream) {
  int status = driver::capture_status_none;
  std::uint64_t id = 0;
  driver::CUgraph graph = nullptr;
  const driver::CUgraphNode* nodes = nullptr;
  std::size_t count = 0;
  context_.check("cuStreamGetCaptureInfo",
                 context_.driver().cuStreamGetCaptureInfo(stream, &status, &id, &graph, &nodes, &count));
  if (status != driver::capture_status_active) return nullptr;  // a failed capture yields no graph
  {
    const ForkSafeLock lock(known_->mutex);
    if (const auto known = known_->by_id.find(id); known != known_->by_id.end()) return known->second;
  }
  return add(graph, id);
}

/// Calls the driver without holding a lock, since it may call ended().
std::shared_ptr<Capture> Captures::add(driver::CUgraph graph, std::uint64_t id) {
  const driver::Driver& d = context_.driver();
  auto owner = std::make_unique<Owner>(Owner{known_, id});
  auto capture = std::make_shared<Capture>();
  driver::CUuserObject object = nullptr;
  driver::CUresult result =
      d.cuUserObjectCreate(&object, owner.get(), [](void* o) { ended(o); }, 1, driver::user_object_no_destructor_sync);
  const char* call = "cuUserObjectCreate";
  if (result == driver::success) {
    owner.release();  // the driver owns it from here on
    call = "cuGraphRetainUserObject";
    result = d.cuGraphRetainUserObject(graph, object, 1, driver::graph_user_object_move);
    if (result != driver::success) d.cuUserObjectRelease(object, 1);
  }
  context_.check(call, result, "tying the resources of a CUDA graph to its lifetime");
  const ForkSafeLock lock(known_->mutex);
  known_->ended.reserve(known_->ended.size() +
                        2 * (known_->by_id.size() + 1));  // two streams may arrive here for one graph
  return known_->by_id.try_emplace(id, std::move(capture)).first->second;
}

/// Called by the driver from any thread; must not call any driver function.
void Captures::ended(void* owner) noexcept {
  const std::unique_ptr<Owner> of_graph(static_cast<Owner*>(owner));
  const ForkSafeLock lock(of_graph->known->mutex, std::nothrow);
  if (of_graph->known->by_id.contains(of_graph->id)) of_graph->known->ended.push_back(of_graph->id);
}

std::vector<std::shared_ptr<Capture>> Captures::take_ended() noexcept try {
  std::vector<std::shared_ptr<Capture>> taken;
  const ForkSafeLock lock(known_->mutex, std::nothrow);
  taken.reserve(known_->ended.size());
  for (const std::uint64_t id : known_->ended)
    if (auto found = known_->by_id.extract(id)) taken.push_back(std::move(found.mapped()));
  known_->ended.clear();
  return taken;
} catch (...) {  // out of memory: retried next time
  return {};
}

std::vector<std::shared_ptr<Capture>> Captures::take_all() noexcept {
  {
    const ForkSafeLock lock(known_->mutex, std::nothrow);
    known_->ended.clear();
    for (const auto& [id, capture] : known_->by_id) known_->ended.push_back(id);
  }
  return take_ended();
}

}  // namespace sinter::inline v1::runtime
