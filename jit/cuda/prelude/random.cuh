// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3").
struct Philox {
  unsigned word[4];
};
SINTER_DEVICE Philox philox(long long number, long long seed) {
  Philox x = {{unsigned(number), unsigned(uint64(number) >> 32), 0, 0}};
  unsigned key0 = unsigned(seed), key1 = unsigned(uint64(seed) >> 32);
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = 0xD2511F53ull * x.word[0], b = 0xCD9E8D57ull * x.word[2];
    x = {{unsigned(b >> 32) ^ x.word[1] ^ key0, unsigned(b), unsigned(a >> 32) ^ x.word[3] ^ key1, unsigned(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return x;
}

SINTER_DEVICE float uniform24(unsigned word) { return float(word >> 8) * 0x1p-24f; }

SINTER_DEVICE double uniform53(unsigned low, unsigned high) {
  return double((low | static_cast<unsigned long long>(high) << 32) >> 11) * 0x1p-53;
}

SINTER_DEVICE float random_uniform(long long a, long long b) { return uniform24(philox(a, b).word[0]); }

SINTER_DEVICE double random_uniform_double(long long a, long long b) {
  const Philox x = philox(a, b);
  return uniform53(x.word[0], x.word[1]);
}

SINTER_DEVICE float random_normal(long long a, long long b) {
  const Philox x = philox(a, b);
  const float radius = ::sqrtf(-2.0f * ::logf(1.0f - uniform24(x.word[0])));
  return radius * ::cosf(6.28318530717958647693f * uniform24(x.word[1]));
}

SINTER_DEVICE double random_normal_double(long long a, long long b) {
  const Philox x = philox(a, b);
  const double radius = ::sqrt(-2.0 * ::log(1.0 - uniform53(x.word[0], x.word[1])));
  return radius * ::cos(6.28318530717958647693 * uniform53(x.word[2], x.word[3]));
}

SINTER_DEVICE long long random_below(long long a, long long b, long long c) {
  const Philox x = philox(a, b);
  const unsigned long long bits = x.word[0] | static_cast<unsigned long long>(x.word[1]) << 32;
  return static_cast<long long>(::__umul64hi(bits, static_cast<unsigned long long>(c)));
}
