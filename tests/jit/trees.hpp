// Programs bound to arrays, as the typed layer passes them.
#pragma once
#include "arrays.hpp"
#include "programs.hpp"

namespace sinter::testing {

class Tree {
 public:
  Tree(Written text, std::vector<TensorRef> arrays, std::vector<jit::Scalar> scalars = {})
      : text_(std::move(text)), arrays_(std::move(arrays)), scalars_(std::move(scalars)), program_(text_.program()) {
    for (const TensorRef& a : arrays_) leaves_.push_back(a.get());
  }
  Tree(const Tree&) = delete;
  jit::Bound bound() { return {&site_, &program_, leaves_.data(), scalars_.data()}; }

 private:
  Written text_;
  std::vector<TensorRef> arrays_;
  std::vector<jit::Scalar> scalars_;
  std::vector<TensorImpl*> leaves_;
  jit::Program program_;
  jit::CallSiteCache site_;
};

}  // namespace sinter::testing
