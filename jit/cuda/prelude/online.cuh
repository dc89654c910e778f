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

// The mean of so many elements as the pivot of their sums, or of the next ones where there are none yet. So no pivot is so
// far from the mean that most of the sum of squares were lost when that is taken about the mean.
template <class T>
SINTER_DEVICE void move_mean(T& pivot, T& squares, T& squares_rest, T& distances, T& distances_rest, T next_sum, T count, T next_count) {
  if (count == T(0)) {
    pivot = first_pivot(next_sum, next_count);
    return;
  }
  squares = compensated(squares, squares_rest);
  distances = compensated(distances, distances_rest);
  squares_rest = distances_rest = T(0);
  const T mean = pivot + distances / count, step = mean - pivot;
  if (mean - mean != T(0)) return;
  squares -= step * (distances + (distances - count * step));
  distances -= count * step;
  pivot = mean;
}

// The moments of so many elements: sums of distances from a pivot and of their squares become the sum of squares about
// the mean, which is pivot + rest. Infinite and NaN elements have a NaN distance from the mean.
template <class T>
SINTER_DEVICE void about_mean(T& squares, T& rest, T distances, T count) {
  if (count == T(0)) return;
  rest = distances / count;
  const T least = squares - distances * rest;
  squares = squares - squares != T(0) ? squares + T(0) * distances : least > T(0) ? least : T(0);
}

// The moments of all elements of two parts (Chan, Golub and LeVeque, 1979).
template <class T>
SINTER_DEVICE void merge_moments(T& squares, T& mean, T& mean_rest, T& count, T b_squares, T b_mean, T b_mean_rest, T b_count) {
  if (b_count == T(0)) return;
  const T a_mean = mean, a_rest = mean_rest, a_count = count;
  count = a_count + b_count;
  if (a_count == T(0)) {
    squares = b_squares, mean = b_mean, mean_rest = b_mean_rest;
    return;
  }
  const T apart = (b_mean - a_mean) + (b_mean_rest - a_rest);
  squares = (squares + b_squares) + apart * apart * (a_count * b_count / count);
  mean = a_mean > b_mean ? a_mean : b_mean, mean_rest = T(0);
  add_exactly(mean, mean_rest, (a_count * ((a_mean - mean) + a_rest) + b_count * ((b_mean - mean) + b_mean_rest)) / count);
}
