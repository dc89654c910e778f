// Random tensors on any device, and views of them.
#pragma once
#include <random>
#include <utility>
#include <vector>

#include <sinter/sinter.hpp>

namespace sinter_tests {

template <class T>
sinter::Tensor<T, sinter::AnyDevice> random_tensor(const sinter::Shape& shape, sinter::Device device,
                                                   std::mt19937& random) {
  std::vector<T> values(static_cast<std::size_t>(shape.numel()));
  const auto number = [&] { return static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 500.f; };
  for (T& v : values) {
    if constexpr (sinter::complex_element<T>)
      v = T(number(), number());
    else
      v = T(number());
  }
  return sinter::tensor(values, shape).to(device);
}

/// One of the views of a tensor that has this shape.
template <class T>
sinter::Tensor<T, sinter::AnyDevice> random_view(const sinter::Shape& shape, sinter::Device device,
                                                 std::mt19937& random) {
  const int last = shape.ndim() - 1;
  switch (random() % 7) {
    case 0: return random_tensor<T>(shape, device, random);
    case 1: {  // columns side by side
      sinter::Shape swapped = shape;
      std::swap(swapped[last], swapped[last - 1]);
      return random_tensor<T>(swapped, device, random).transpose(-2, -1);
    }
    case 2: {  // with gaps
      sinter::Shape wider = shape;
      wider[last] += 3;
      return random_tensor<T>(wider, device, random).narrow(-1, 2, shape[last]);
    }
    case 3: {  // every second
      sinter::Shape wider = shape;
      wider[last] *= 2;
      return random_tensor<T>(wider, device, random).slice(last, 0, sinter::range::none, 2);
    }
    case 4: return random_tensor<T>(shape, device, random).flip(last - static_cast<int>(random() % 2));
    case 5: {  // rows that are all the same
      sinter::Shape one = shape;
      one[last - 1] = 1;
      return random_tensor<T>(one, device, random).expand(shape);
    }
    default: {  // a batch whose matrices are the same, or in another order
      if (last < 2) return random_tensor<T>(shape, device, random);
      sinter::Shape other = shape;
      std::swap(other[0], other[last]);
      return random_tensor<T>(other, device, random).transpose(0, last);
    }
  }
}

}  // namespace sinter_tests
