// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3") of counter {group, draw} and key seed.
struct Philox {
  unsigned word[4];
};
SINTER_DEVICE Philox philox(unsigned long long group, long long draw, long long seed) {
  Philox x = {{unsigned(group), unsigned(group >> 32), unsigned(draw), unsigned(uint64(draw) >> 32)}};
  unsigned key0 = unsigned(seed), key1 = unsigned(uint64(seed) >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * x.word[0], b = 0xCD9E8D57ull * x.word[2];
    x = {{unsigned(b >> 32) ^ x.word[1] ^ key0, unsigned(b), unsigned(a >> 32) ^ x.word[3] ^ key1, unsigned(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

// Four adjacent numbers of 32 bits share a counter, or two of 64. Where the compiler knows an index's lowest bits, it
// computes the counter once for them and selects no words.
SINTER_DEVICE Philox philox32(long long a, long long b, long long c) { return philox(uint64(a) >> 2, b, c); }
SINTER_DEVICE Philox philox64(long long a, long long b, long long c) {
  return philox(uint64(a) >> 1 | 1ull << 63, b, c);
}

SINTER_DEVICE float uniform24(unsigned word) { return float(word >> 8) * 0x1p-24f; }

SINTER_DEVICE double uniform53(unsigned low, unsigned high) {
  return double((low | static_cast<unsigned long long>(high) << 32) >> 11) * 0x1p-53;
}

SINTER_DEVICE float random_uniform(long long a, long long b, long long c) {
  const Philox x = philox32(a, b, c);
  return uniform24(a & 2 ? (a & 1 ? x.word[3] : x.word[2]) : (a & 1 ? x.word[1] : x.word[0]));
}

SINTER_DEVICE double random_uniform_double(long long a, long long b, long long c) {
  const Philox x = philox64(a, b, c);
  return a & 1 ? uniform53(x.word[2], x.word[3]) : uniform53(x.word[0], x.word[1]);
}

// Two adjacent numbers have one radius; the angle of the second is a quarter turn less.
SINTER_DEVICE float random_normal(long long a, long long b, long long c) {
  const Philox x = philox32(a, b, c);
  const float first = uniform24(a & 2 ? x.word[2] : x.word[0]), second = uniform24(a & 2 ? x.word[3] : x.word[1]);
  return ::sqrtf(-2.0f * ::logf(1.0f - first)) * ::cosf(6.28318530717958647693f * (second - (a & 1 ? 0.25f : 0.0f)));
}

SINTER_DEVICE double random_normal_double(long long a, long long b, long long c) {
  const Philox x = philox64(a, b, c);
  const double first = uniform53(x.word[0], x.word[1]), second = uniform53(x.word[2], x.word[3]);
  return ::sqrt(-2.0 * ::log(1.0 - first)) * ::cos(6.28318530717958647693 * (second - (a & 1 ? 0.25 : 0.0)));
}

SINTER_DEVICE long long random_bits(long long a, long long b, long long c) {
  const Philox x = philox64(a, b, c);
  const unsigned low = a & 1 ? x.word[2] : x.word[0], high = a & 1 ? x.word[3] : x.word[1];
  return static_cast<long long>(low | static_cast<unsigned long long>(high) << 32);
}

SINTER_DEVICE long long mul_high(long long a, long long b) {
  return static_cast<long long>(::__umul64hi(static_cast<unsigned long long>(a), static_cast<unsigned long long>(b)));
}
