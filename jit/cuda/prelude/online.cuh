// Updates the shift of a sum of exponentials if the maximum so far is so much greater that the sum might overflow, and
// rescales the sum. That happens seldom: each rescaling rounds.
template <class T>
SINTER_DEVICE void update_max_shift(T& shift, T& sum, T& compensation, T max) {
  if (!(max - shift > T(8)) || max - max != T(0)) return;
  const T scale = exp(shift - max);
  sum *= scale;
  compensation *= scale;
  shift = max;
}

// Rescales sum(exp(x - shift)) to sum(exp(x - max)); if max is not finite, the shift is irrelevant.
template <class T>
SINTER_DEVICE T rescale_to_max(T sum, T shift, T max) {
  return max - max == T(0) ? sum * exp(shift - max) : sum;
}

// Rescales a partial sum(exp(x - max)) to the larger of two partial maxima.
template <class T>
SINTER_DEVICE T rescale_to_larger_max(T sum, T max, T other) {
  return other > max ? sum * exp(max - other) : sum;
}

// The first elements' mean; 0 if it is not finite.
template <class T>
SINTER_DEVICE T initial_shift(T sum, T count) {
  const T mean = sum / count;
  return mean - mean == T(0) ? mean : T(0);
}

// Moves the shift of the running sums to the mean of the `count` elements so far or, at the start, of the next ones. No
// shift is thus so far from the mean that most of the sum of squares is lost when that is taken relative to the mean.
template <class T>
SINTER_DEVICE void recenter(T& shift, T& squares, T& squares_comp, T& deviations, T& deviations_comp, T next_sum, T count, T next_count) {
  if (count == T(0)) {
    shift = initial_shift(next_sum, next_count);
    return;
  }
  squares = compensated_value(squares, squares_comp);
  deviations = compensated_value(deviations, deviations_comp);
  squares_comp = deviations_comp = T(0);
  const T mean = shift + deviations / count, step = mean - shift;
  if (mean - mean != T(0)) return;
  squares -= step * (deviations + (deviations - count * step));
  deviations -= count * step;
  shift = mean;
}

// The moments of `count` elements from sums of deviations from a shift and of their squares: the sum of squared
// deviations from the mean, which is shift + mean_comp. Infinite and NaN elements have a NaN deviation from the mean.
template <class T>
SINTER_DEVICE void moments_from_shifted_sums(T& squares, T& mean_comp, T deviations, T count) {
  if (count == T(0)) return;
  mean_comp = deviations / count;
  const T min = squares - deviations * mean_comp;
  squares = squares - squares != T(0) ? squares + T(0) * deviations : min > T(0) ? min : T(0);
}

// The moments of the elements of two partial results (Chan, Golub and LeVeque, 1979).
template <class T>
SINTER_DEVICE void merge_moments(T& squares, T& mean, T& mean_comp, T& count, T b_squares, T b_mean, T b_mean_comp, T b_count) {
  if (b_count == T(0)) return;
  const T a_mean = mean, a_comp = mean_comp, a_count = count;
  count = a_count + b_count;
  if (a_count == T(0)) {
    squares = b_squares, mean = b_mean, mean_comp = b_mean_comp;
    return;
  }
  const T delta = (b_mean - a_mean) + (b_mean_comp - a_comp);
  squares = (squares + b_squares) + delta * delta * (a_count * b_count / count);
  mean = a_mean > b_mean ? a_mean : b_mean, mean_comp = T(0);
  compensated_add(mean, mean_comp, (a_count * ((a_mean - mean) + a_comp) + b_count * ((b_mean - mean) + b_mean_comp)) / count);
}
