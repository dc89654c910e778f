#include <jit/cache/disk_entry.hpp>

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sinter::testing {
namespace {

using jit::decode;
using jit::DiskEntry;
using jit::encode;
using jit::entry_name;
using jit::KernelKey;

constexpr std::size_t header_bytes = 48;

const KernelKey add_key{"sm_90 nvrtc 1f", "sinter_add", "extern \"C\" __global__ void sinter_add() {}"};
const std::string binary(
    "\x7f"
    "ELF\0\1\2\3",
    8);

TEST(DiskEntry, ComesBackAsItWas) {
  const std::optional<DiskEntry> entry = decode(encode(add_key, binary));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->key, add_key);
  EXPECT_EQ(entry->binary, binary);
  const auto bare = decode(encode({}, "x"));
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->key, KernelKey());
}

TEST(DiskEntry, CutAtEveryByteItIsNone) {
  const std::string file = encode(add_key, binary);
  for (std::size_t n = 0; n < file.size(); ++n) EXPECT_FALSE(decode(file.substr(0, n))) << n;
  EXPECT_FALSE(decode(file + '\0'));
  EXPECT_FALSE(decode(file + file));
}

TEST(DiskEntry, EveryFlippedBitIsSeen) {
  const std::string file = encode(add_key, binary);
  for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(decode(damaged)) << "bit " << bit;
  }
}

TEST(DiskEntry, FlippedBitsOfALargeBinaryAreSeen) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  std::string large(100'000, 'x');
  for (char& c : large) c = static_cast<char>(random());
  const std::string file = encode(add_key, large);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t bit = random() % (8 * file.size());
    std::string damaged = file;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    EXPECT_FALSE(decode(damaged)) << "bit " << bit;
  }
}

/// The same with a checksum that fits, as only a writer of another version, or a liar, makes it.
std::string sealed(std::string file) {
  jit::seal(file);
  return file;
}

TEST(DiskEntry, AnotherVersionOrMagicIsNone) {
  const std::string file = encode(add_key, binary);
  EXPECT_TRUE(decode(sealed(file)));
  for (std::size_t byte = 0; byte < 12; ++byte) {
    std::string other = file;
    ++other[byte];
    EXPECT_FALSE(decode(sealed(other))) << byte;
  }
}

TEST(DiskEntry, LengthsThatDoNotAddUpAreNone) {
  const std::string file = encode(add_key, binary);
  for (std::size_t byte = 12; byte < 32; ++byte)
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string other = file;
      other[byte] = value;
      if (other != file) {
        EXPECT_FALSE(decode(sealed(other))) << byte;
      }
    }
  EXPECT_FALSE(decode(encode(add_key, ""))) << "an entry without a binary";
  EXPECT_FALSE(decode(sealed(std::string(header_bytes, '\0'))));
}

TEST(DiskEntry, NamesAreShortAndDifferForEveryPartOfTheKey) {
  std::set<std::string> names;
  for (const KernelKey& k : {KernelKey{"a", "b", "c"}, KernelKey{"ab", "", "c"}, KernelKey{"a", "bc", ""},
                             KernelKey{"", "ab", "c"}, KernelKey{"a", "b", "d"}, KernelKey{"sm_80", "b", "c"},
                             KernelKey{"sm_90", "b", "c"}, KernelKey{"a", std::string(5000, 'b'), "c"}}) {
    names.insert(entry_name(k));
    EXPECT_EQ(entry_name(k).size(), 39u);
    EXPECT_EQ(entry_name(k).find_first_not_of("0123456789abcdef"), 32u);
  }
  EXPECT_EQ(names.size(), 8u);
}

}  // namespace
}  // namespace sinter::testing
