#include "fake_nccl.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include <runtime/collective/nccl_library.hpp>
#include "fake_cuda.hpp"

struct ncclWorld;

namespace sinter::inline v1::runtime::nccl {
struct ncclComm {
  ncclWorld* world;
  int rank;
};
}  // namespace sinter::inline v1::runtime::nccl

using namespace sinter::runtime::nccl;

/// One unique id's communicators.
struct ncclWorld {
  int size = 0;
  bool aborted = false;
};

namespace {

fake_nccl::Control& control() {
  static auto& made = *new fake_nccl::Control;
  return made;
}

Result enter(const char* name) {
  ++control().calls[name];
  return control().fail_call == name ? control().fail_result : success;
}

#define ENTER() \
  if (const Result entered = enter(__func__)) return entered

struct Operation {
  std::string what;
  const std::byte* from;
  std::byte* to;
  std::size_t count;
  int type, op, peer;  // the root, or whom to
  int rank;
};

/// What was called between ncclGroupStart and ncclGroupEnd.
struct Group {
  std::map<int, std::vector<Operation>> of_rank;
  std::vector<std::function<void()>> before;
  ncclWorld* world = nullptr;
  int size = 0;
  bool closed = false, done = false;

  void run();
  void collective(std::size_t index);
  void send_and_receive();
};
std::shared_ptr<Group> open_group;
int depth = 0;
std::map<std::uint64_t, ncclWorld> worlds;

void misuse(const std::string& what) {
  ++control().misuses;
  std::fprintf(stderr, "fake NCCL: %s\n", what.c_str());
}

std::size_t size_of_type(int type) {
  return type == int8 || type == uint8 ? 1 : type == int32 || type == uint32 || type == float32 ? 4 : 8;
}

template <class T>
void combine(int op, std::byte* to, const std::byte* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, to + i * sizeof(T), sizeof(T));
    std::memcpy(&b, from + i * sizeof(T), sizeof(T));
    a = op == sum       ? static_cast<T>(a + b)
        : op == product ? static_cast<T>(a * b)
        : op == maximum ? std::max(a, b)
                        : std::min(a, b);
    std::memcpy(to + i * sizeof(T), &a, sizeof(T));
  }
}
void combine(int type, int op, std::byte* to, const std::byte* from, std::size_t count) {
  switch (type) {
    case int8: return combine<std::int8_t>(op, to, from, count);
    case uint8: return combine<std::uint8_t>(op, to, from, count);
    case int32: return combine<std::int32_t>(op, to, from, count);
    case uint32: return combine<std::uint32_t>(op, to, from, count);
    case int64: return combine<std::int64_t>(op, to, from, count);
    case uint64: return combine<std::uint64_t>(op, to, from, count);
    case float32: return combine<float>(op, to, from, count);
    case float64: return combine<double>(op, to, from, count);
    default: misuse("no such type");
  }
}

void Group::collective(std::size_t index) {
  std::vector<Operation> all;
  for (const auto& [rank, operations] : of_rank) all.push_back(operations.at(index));
  const Operation& o = all[0];
  const auto fits = [&](const Operation& p) {
    return p.what == o.what && p.count == o.count && p.type == o.type && p.op == o.op && p.peer == o.peer;
  };
  if (static_cast<int>(all.size()) != size || !std::ranges::all_of(all, fits)) return misuse("different " + o.what);
  const std::size_t bytes = o.count * size_of_type(o.type), parts = o.what == "ncclReduceScatter" ? all.size() : 1;
  std::vector<std::byte> result;
  if (o.what == "ncclBroadcast") {
    const std::byte* const root = all[static_cast<std::size_t>(o.peer)].from;
    result.assign(root, root + bytes);
  } else if (o.what == "ncclAllGather") {
    for (const Operation& p : all) result.insert(result.end(), p.from, p.from + bytes);
  } else {
    result.assign(o.from, o.from + bytes * parts);
    for (std::size_t p = 1; p < all.size(); ++p) combine(o.type, o.op, result.data(), all[p].from, o.count * parts);
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (o.what == "ncclReduce" && static_cast<int>(p) != o.peer) continue;
    const std::size_t offset = o.what == "ncclReduceScatter" ? p * bytes : 0;
    std::memcpy(all[p].to, result.data() + offset, o.what == "ncclReduceScatter" ? bytes : result.size());
  }
}

void Group::send_and_receive() {
  struct Message {
    int from, to;
    std::vector<std::byte> bytes;
  };
  std::deque<Message> messages;
  for (const auto& [rank, operations] : of_rank)
    for (const Operation& o : operations)
      if (o.what == "ncclSend") messages.push_back({rank, o.peer, {o.from, o.from + o.count}});
  for (const auto& [rank, operations] : of_rank)
    for (const Operation& o : operations) {
      if (o.what != "ncclRecv") continue;
      const auto found =
          std::ranges::find_if(messages, [&](const Message& m) { return m.from == o.peer && m.to == rank; });
      if (found == messages.end() || found->bytes.size() != o.count) return misuse("nothing fits a ncclRecv");
      std::memcpy(o.to, found->bytes.data(), o.count);
      messages.erase(found);
    }
  if (!messages.empty()) misuse("a ncclSend that nobody receives");
}

void Group::run() {
  if (done || world->aborted) return;
  if (control().hangs) throw fake_cuda::Stuck();
  if (!closed) return misuse("work of a group that is not closed");
  for (const auto& work : before) work();
  done = true;
  const std::string& first = of_rank.begin()->second.at(0).what;
  if (first == "ncclSend" || first == "ncclRecv") return send_and_receive();
  for (std::size_t i = 0; i < of_rank.begin()->second.size(); ++i) collective(i);
}

Result call(const char* name, const void* from, void* to, std::size_t count, int type, int op, int peer, Comm comm,
            Stream stream) {
  if (const Result entered = enter(name)) return entered;
  if (!open_group) return invalid_usage;
  const auto group = open_group;
  auto& own = group->of_rank[comm->rank];
  if (own.empty()) {
    group->size = comm->world->size;
    group->world = comm->world;
    group->before.push_back(fake_cuda::all_until_now(stream));
    if (fake_cuda::on_stream(stream, [group] { group->run(); })) return 1;
  }
  own.push_back(
      {name, static_cast<const std::byte*>(from), static_cast<std::byte*>(to), count, type, op, peer, comm->rank});
  return in_progress;
}

}  // namespace

extern "C" {

fake_nccl::Control* fake_nccl_control() { return &control(); }

Result ncclGetVersion(int* version) {
  *version = 22800;
  return success;
}
Result ncclGetUniqueId(UniqueId* id) {
  ENTER();
  static std::uint64_t last = 0;
  std::memcpy(id->bytes, &++last, sizeof(last));
  return success;
}
Result ncclCommInitRankConfig(Comm* comm, int size, UniqueId id, int rank, Config* config) {
  ENTER();
  if (config->magic != 0xcafebeef || config->size != 24 || config->version != 21400 || config->blocking != 0) return 4;
  std::uint64_t key;
  std::memcpy(&key, id.bytes, sizeof(key));
  if (key == 0) return 4;  // an id that nobody gave
  ncclWorld* const world = &worlds[key];
  world->size = size;
  *comm = new ncclComm{world, rank};
  ++control().communicators;
  return in_progress;
}
Result ncclCommFinalize(Comm) {
  ENTER();
  return success;
}
Result ncclCommDestroy(Comm comm) {
  ENTER();
  delete comm;
  --control().communicators;
  return success;
}
Result ncclCommAbort(Comm comm) {
  ++control().aborted;
  comm->world->aborted = true;
  delete comm;
  --control().communicators;
  return success;
}
Result ncclCommGetAsyncError(Comm, Result* result) {
  *result = control().async_error;
  return success;
}
const char* ncclGetErrorString(Result result) { return result == invalid_usage ? "invalid usage" : "unhandled error"; }
const char* ncclGetLastError(Comm) { return control().last_error.c_str(); }
Result ncclGroupStart() {
  if (depth++ == 0) open_group = std::make_shared<Group>();
  return success;
}
Result ncclGroupEnd() {
  if (--depth == 0) {
    open_group->closed = true;
    open_group = nullptr;
  }
  ENTER();
  return in_progress;
}
Result ncclAllReduce(const void* from, void* to, std::size_t count, int type, int op, Comm comm, Stream stream) {
  return call(__func__, from, to, count, type, op, 0, comm, stream);
}
Result ncclReduce(const void* from, void* to, std::size_t count, int type, int op, int root, Comm comm, Stream stream) {
  return call(__func__, from, to, count, type, op, root, comm, stream);
}
Result ncclReduceScatter(const void* from, void* to, std::size_t count, int type, int op, Comm comm, Stream stream) {
  return call(__func__, from, to, count, type, op, 0, comm, stream);
}
Result ncclAllGather(const void* from, void* to, std::size_t count, int type, Comm comm, Stream stream) {
  return call(__func__, from, to, count, type, 0, 0, comm, stream);
}
Result ncclBroadcast(const void* from, void* to, std::size_t count, int type, int root, Comm comm, Stream stream) {
  return call(__func__, from, to, count, type, 0, root, comm, stream);
}
Result ncclSend(const void* from, std::size_t count, int type, int peer, Comm comm, Stream stream) {
  return call(__func__, from, nullptr, count, type, 0, peer, comm, stream);
}
Result ncclRecv(void* to, std::size_t count, int type, int peer, Comm comm, Stream stream) {
  return call(__func__, nullptr, to, count, type, 0, peer, comm, stream);
}

}  // extern "C"
