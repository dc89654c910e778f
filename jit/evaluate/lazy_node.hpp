// The state of a lazy node.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include <runtime/fork.hpp>
#include <sinter/jit/lazy.hpp>
#include <sinter/runtime/shards.hpp>

namespace sinter::inline v1::jit {
/// A tensor and its version at the time it was taken.
struct TensorSnapshot {
  runtime::TensorRef tensor;
  std::uint64_t version = 0;

  static TensorSnapshot of(runtime::TensorRef t) {
    const std::uint64_t version = version_of(*t);
    return {std::move(t), version};
  }
  bool is_current() const noexcept { return tensor && version_of(*tensor) == version; }
  /// For a result, which its owner may write to: whether it certainly still has the computed values.
  bool is_unchanged() const noexcept { return is_current() && !is_exposed(*tensor); }

 private:
  static std::uint64_t version_of(const runtime::TensorImpl& t) noexcept {
    if (!t.buffer) return 0;
    return t.device.is_mesh() ? runtime::version_of_shards(*t.buffer) : t.buffer->version();
  }
  static bool is_exposed(const runtime::TensorImpl& t) noexcept {
    if (!t.buffer) return false;
    return t.device.is_mesh() ? runtime::are_shards_exposed(*t.buffer) : t.buffer->is_exposed();
  }
};

/// What a node computes.
struct LazyContent {
  static constexpr auto none = std::numeric_limits<std::uint64_t>::max();

  Op op = Op::leaf;
  DType dtype = DType::Float32;
  Category category = Category::Bool;  // of a scalar
  std::uint32_t size = 0;              // upper bound on the operations that it depends on, itself included
  std::uint64_t oldest = none;         // the oldest of these, by order of creation
  std::uint64_t bits = 0;              // of a scalar, before conversion; of a constant
  TensorSnapshot leaf;
  std::shared_ptr<const std::string> name;  // of a leaf, if it has one
  std::shared_ptr<const Origin> origin;     // the same
  std::uint32_t history = 0;                // the longest chain of origins that it depends on
  std::uint64_t history_bytes = 0;          // of values that only such a chain holds: see max_history_bytes
  bool is_cut = false;                      // of a leaf: a computed value whose origin was dropped
  std::array<LazyRef, max_arity> operands;
};

/// Not changed once threads share it: taking a snapshot is taking a reference.
struct SharedContent : LazyContent, runtime::Counted<SharedContent> {
  explicit SharedContent(LazyContent&& c) : LazyContent(std::move(c)) {}
  static void destroy(SharedContent* c) noexcept { delete c; }
};
using ContentRef = runtime::Ref<SharedContent>;

inline ContentRef shared(LazyContent&& c) { return ContentRef::adopt(new SharedContent(std::move(c))); }

/// Evaluation may replace a node's contents by a leaf while other threads read, hence the lock.
struct LazyNode::State {
  class Lock {
   public:
    explicit Lock(State& s) : busy_(s.busy_) {
      while (busy_.test_and_set(std::memory_order_acquire)) busy_.wait(true);
    }
    ~Lock() {
      busy_.clear(std::memory_order_release);
      busy_.notify_one();
    }

   private:
    const runtime::NoFork no_fork_{std::nothrow};
    std::atomic_flag& busy_;
  };

  /// In one allocation, with the state behind the node.
  static LazyNode* with_node() {
    static_assert(sizeof(LazyNode) % alignof(State) == 0 && alignof(State) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    return new (::operator new(sizeof(LazyNode) + sizeof(State))) LazyNode;
  }
  static void destroy(LazyNode* node) noexcept {
    std::destroy_at(node->state_);
    std::destroy_at(node);
    ::operator delete(node);
  }

  bool has_device = false;
  Device device;
  LazyNode* next_to_destroy = nullptr;
  ContentRef content;
  TensorSnapshot result;  // of an earlier evaluation; the user may have modified it since

  ContentRef snapshot() {
    Lock lock(*this);
    return content;
  }
  std::pair<ContentRef, TensorSnapshot> snapshot_with_result() {
    Lock lock(*this);
    return {content, result};
  }
  void replace(ContentRef c) {
    TensorSnapshot dropped;
    {
      Lock lock(*this);
      std::swap(content, c);
      std::swap(result, dropped);
    }
    // The old contents are released here, without the lock.
  }
  /// The content if there was none, else null.
  ContentRef drop_result() {
    TensorSnapshot dropped;
    Lock lock(*this);
    std::swap(result, dropped);
    return dropped.tensor ? ContentRef() : content;
  }
  void keep_result(TensorSnapshot r) {
    Lock lock(*this);
    std::swap(result, r);
  }

 private:
  std::atomic_flag busy_;
};

struct LazyAccess {
  using State = LazyNode::State;

  static State& state(const LazyNode& n) noexcept { return *n.state_; }
  static ContentRef snapshot(const LazyRef& n) { return n->state_->snapshot(); }

  static LazyRef make(LazyContent content, bool has_device, Device device) {
    LazyRef r = LazyRef::adopt(LazyNode::State::with_node());
    r->state_->content = shared(std::move(content));
    r->state_->has_device = has_device;
    r->state_->device = device;
    return r;
  }
  static LazyRef leaf(runtime::TensorRef t) {
    LazyContent c;
    c.op = runtime::lacks_memory(*t) ? Op::iota : Op::leaf;
    c.dtype = t->dtype;
    const Device device = t->device;
    c.leaf = TensorSnapshot::of(std::move(t));
    return make(std::move(c), true, device);
  }
  /// The tensor of a leaf as an array for indirect loads.
  static LazyRef array(const LazyRef& leaf) {
    LazyContent c = *snapshot(leaf);
    c.op = Op::array;
    return make(std::move(c), true, leaf->device());
  }
  static LazyRef scalar(DType dtype, Category category, std::uint64_t bits) {
    LazyContent c;
    c.op = Op::scalar;
    c.dtype = dtype;
    c.category = category;
    c.bits = bits;
    return make(std::move(c), false, {});
  }
};

/// Lets gradients flow through a leaf, unless that would make a chain of more than max_history origins, or one that
/// holds more than max_history_bytes: the origin is dropped then.
inline void set_origin(LazyContent& leaf, std::shared_ptr<const Origin> origin) {
  leaf.history = 1;
  for (const LazyRef& input : origin->inputs) {
    const ContentRef content = LazyAccess::snapshot(input);
    leaf.history = std::max(leaf.history, content->history + 1);
    leaf.history_bytes = std::max(leaf.history_bytes, content->history_bytes);
  }
  leaf.is_cut = leaf.history > max_history || leaf.history_bytes > max_history_bytes;
  if (leaf.is_cut)
    leaf.history = 0, leaf.history_bytes = 0;
  else
    leaf.origin = std::move(origin);
}

}  // namespace sinter::inline v1::jit
