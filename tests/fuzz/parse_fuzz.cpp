// Any bytes as an expression, and as a signature: they are read, or refused with one of our errors that shows the
// place. What a signature reads as is written again and must read the same.
#include <cstdint>
#include <cstdlib>
#include <new>

#include <sinter/dsl/factory.hpp>
#include <sinter/dsl/parse.hpp>

using namespace sinter;

namespace {

void check(bool right) {
  if (!right) std::abort();
}

template <class F>
void refused_at_most(std::string_view text, F read) {
  try {
    read();
  } catch (const ParseError& e) {
    check(e.position() <= text.size());
  } catch (const Error&) {
  }
}

void signature(std::string_view text) {
  const std::vector<ArgumentType> read = parse_signature(text);
  std::string again;
  for (const ArgumentType& a : read) again += to_string(a) + ", ";
  check(parse_signature(again) == read);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<NamedOperand> operands{{"x", ones({2, 3})},
                                                  {"y", ones<double>({3})},
                                                  {"i", arange(3)},
                                                  {"b", ones<bool>({2, 1})},
                                                  {"z", ones<std::complex<float>>({2, 3})},
                                                  {"s", 2.5}};
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Shapes and dtypes are checked; evaluated is only what a view of a reduction or a product asks for, which is as
  // large as a text makes its operands.
  for (const std::string_view enlarges : {"expand", "broadcast_to"})
    if (text.find(enlarges) != text.npos) return 0;
  refused_at_most(text, [&] { parse(text, operands).node()->dtype(); });
  refused_at_most(text, [&] { signature(text); });
  return 0;
}
