// The table of losses and layers: PyTorch's operands and the results of its calls, by name.
#pragma once
#include <cmath>
#include <map>

#include <sinter/sinter.hpp>
#include "table.hpp"

namespace sinter_tests {

class TorchResults {
 public:
  explicit TorchResults(sinter::Device device) : device_(device) {
    for (sinter::testing::Row row : sinter::testing::read_table("losses.tsv")) {
      row.resize(5);
      (row[0] == "input" ? inputs_ : results_)[row[1]] =
          sinter::testing::host_tensor(sinter::testing::dtype_named(row[2]), sinter::testing::parse_shape(row[3]),
                                       sinter::testing::parse_bits(row[4]));
    }
  }
  template <class T = float>
  sinter::Tensor<T> operator[](const std::string& input) const {
    return sinter::AnyTensor(inputs_.at(input)).as<T>().to(device_);
  }
  /// Whether an expression gives the result of the PyTorch call of that name, up to a few roundings of float.
  template <class E>
  void expect(const std::string& call, const E& e) {
    const sinter::Tensor<float> wanted = sinter::AnyTensor(results_.at(call)).as<float>();
    const sinter::Tensor<float> got = sinter::Tensor<float>(e).to(sinter::Device());
    ASSERT_EQ(got.shape(), wanted.shape()) << call;
    EXPECT_TRUE(sinter::allclose(got, wanted, 2e-6, 1e-6)) << call << "\n" << got << "\ninstead of\n" << wanted;
    seen_[call] = true;
  }
  /// The calls in the table with this prefix that were not made.
  std::string left_out(const std::string& prefix) const {
    std::string names;
    for (const auto& [name, array] : results_)
      if (name.starts_with(prefix) && !seen_.contains(name)) names += name + "; ";
    return names;
  }

 private:
  sinter::Device device_;
  std::map<std::string, sinter::runtime::TensorRef> inputs_, results_;
  std::map<std::string, bool> seen_;
};

}  // namespace sinter_tests
