#include "collective.hpp"
namespace sinter::inline v1::runtime {
std::unique_ptr<Communicator> make_nccl(const std::vector<Device>&) { return nullptr; }
const World& world() { static const World w{0, try_all_gpus(), 0, int(try_all_gpus().size())}; return w; }
std::unique_ptr<Communicator> make_world_communicator(const World& w) { return make_loopback(w.all); }
}
