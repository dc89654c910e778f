// Moves the pivot of a sum of exponentials to the greatest element so far where that is so much greater that the sum
// might overflow. Seldom: the sum is rounded each time.
template <class T>
SINTER_DEVICE void raise_pivot(T& pivot, T& sum, T& compensation, T greatest) {
  if (!(greatest - pivot > T(8)) || greatest - greatest != T(0)) return;
  const T scale = exp(pivot - greatest);
  sum *= scale;
  compensation *= scale;
  pivot = greatest;
}

// A sum of exponentials about the greatest element; where that is not finite about any.
template <class T>
SINTER_DEVICE T at_greatest(T sum, T pivot, T greatest) {
  return greatest - greatest == T(0) ? sum * exp(pivot - greatest) : sum;
}

// A sum of exponentials about the greatest element of a part of a row, as one about that of two parts.
template <class T>
SINTER_DEVICE T raised(T sum, T greatest, T other) {
  return other > greatest ? sum * exp(greatest - other) : sum;
}

// The first elements' mean as a pivot, which is finite.
template <class T>
SINTER_DEVICE T first_pivot(T sum, T count) {
  const T mean = sum / count;
  return mean - mean == T(0) ? mean : T(0);
}

// The mean of what there is as the pivot of the same sums. So no pivot is so far from the mean that most of the sum of
// squares were lost when that is taken about the mean.
template <class T>
SINTER_DEVICE void move_pivot(T& pivot, T& squares, T& squares_compensation, T& sum, T& sum_compensation, T count) {
  squares = compensated(squares, squares_compensation);
  sum = compensated(sum, sum_compensation);
  squares_compensation = sum_compensation = T(0);
  const T mean = pivot + sum / count, step = mean - pivot;
  if (mean - mean != T(0)) return;
  squares -= step * (sum + (sum - count * step));
  sum -= count * step;
  pivot = mean;
}

// Of so many elements: the sum of the squares of their distances from their mean, which is mean + compensation.
template <class T>
struct Moments {
  T squares, mean, compensation, count;
};

// From sums of distances from a pivot and of their squares. Infinite and NaN elements have a NaN distance from the mean.
template <class T>
SINTER_DEVICE auto moments_about(T pivot, T sum, T squares, T count) {
  if (count == T(0)) return Moments<T>{};
  const T compensation = sum / count, about_mean = squares - sum * compensation;
  if (squares - squares != T(0)) return Moments<T>{squares + T(0) * sum, pivot, compensation, count};
  return Moments<T>{about_mean > T(0) ? about_mean : T(0), pivot, compensation, count};
}

// Of all elements of two parts (Chan, Golub and LeVeque, 1979).
template <class T>
SINTER_DEVICE auto merged(const Moments<T>& a, const Moments<T>& b) {
  if (b.count == T(0)) return a;
  if (a.count == T(0)) return b;
  const T count = a.count + b.count, apart = (b.mean - a.mean) + (b.compensation - a.compensation);
  const T squares = (a.squares + b.squares) + apart * apart * (a.count * b.count / count);
  T mean = a.mean > b.mean ? a.mean : b.mean, compensation = T(0);
  add_exactly(mean, compensation, (a.count * ((a.mean - mean) + a.compensation) + b.count * ((b.mean - mean) + b.compensation)) / count);
  return Moments<T>{squares, mean, compensation, count};
}

// Those of another lane.
template <class T>
SINTER_DEVICE auto moments_across(const Moments<T>& a, int lanes) {
  return Moments<T>{from_lane(a.squares, lanes), from_lane(a.mean, lanes), from_lane(a.compensation, lanes), from_lane(a.count, lanes)};
}
