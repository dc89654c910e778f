#include "plan_builder.hpp"

#include <algorithm>
#include <utility>

namespace sinter::inline v1::jit {

std::uint64_t Sources::add(Slot slot, const Shape& shape) {
  const auto [place, is_new] = numbers_.try_emplace({slot.kind, slot.number}, slots.size());
  if (is_new) slots.push_back(slot), shapes.push_back(shape);
  return place->second;
}

Slot PlanBuilder::add_temporary(DType dtype) {
  plan_.temporaries.push_back(dtype);
  return {Slot::Kind::Temporary, static_cast<std::uint32_t>(plan_.temporaries.size() - 1)};
}

void PlanBuilder::append(Plan part, const Sources& leaves, std::span<const Slot> outputs) {
  const auto first = static_cast<std::uint32_t>(plan_.temporaries.size());
  plan_.temporaries.insert(plan_.temporaries.end(), part.temporaries.begin(), part.temporaries.end());
  const auto moved = [&](const Slot& s) {
    switch (s.kind) {
      case Slot::Kind::Temporary: return Slot{s.kind, first + s.number};
      case Slot::Kind::Output: return outputs[s.number];
      case Slot::Kind::Array: return Slot{s.kind, leaves.slots[s.number].number};
      default: return leaves.slots[s.number];
    }
  };
  for (Kernel& k : part.kernels) {
    for (Slot& s : k.inputs) s = moved(s);
    for (Slot& s : k.outputs) s = moved(s);
    if (k.rows) std::ranges::transform(k.rows->domain, k.rows->domain.begin(), moved);
    plan_.kernels.push_back(std::move(k));
  }
}

Plan PlanBuilder::finish() {
  plan_.last_use.assign(plan_.temporaries.size(), 0);
  for (std::uint32_t k = 0; k < plan_.kernels.size(); ++k) {
    const auto use = [&](const Slot& s) {
      if (s.kind == Slot::Kind::Temporary) plan_.last_use[s.number] = k;
    };
    std::ranges::for_each(plan_.kernels[k].inputs, use);
    std::ranges::for_each(plan_.kernels[k].outputs, use);
    if (plan_.kernels[k].rows) std::ranges::for_each(plan_.kernels[k].rows->domain, use);
  }
  return std::move(plan_);
}

}  // namespace sinter::inline v1::jit
