// jit::record: programs that make sense give the graph one expects; any other bytes give an Error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "programs.hpp"

namespace sinter::testing {
namespace {

TEST(Record, TheExample) {
  Written p;
  p.leaf(DType::Float32).scalar(Category::Int).op(Op::add).op(Op::exp).leaf(DType::Float32).op(Op::mul);
  EXPECT_EQ(to_text(p.record()),
            "%0 = leaf 0 float32\n%1 = scalar 0 int64\n%2 = scalar 0 float32\n%3 = add(%0, %2) float32\n"
            "%4 = exp(%3) float32\n%5 = leaf 1 float32\n%6 = mul(%4, %5) float32\noutput %6\n");
}

TEST(Record, EqualLeavesBecomeTheFirst) {
  Written p;
  p.leaf(DType::Int32).leaf(DType::Int32).op(Op::add).leaf(DType::Int32, 1).op(Op::mul);
  EXPECT_EQ(to_text(p.record()),
            "%0 = leaf 0 int32\n%1 = leaf 1 int32\n%2 = add(%0, %1) int32\n%3 = mul(%2, %1) int32\noutput %3\n");
}

TEST(Record, ConstantsAreWeakAndFold) {
  Written p;
  p.leaf(DType::Float64).constant(-3).op(Op::pow);
  const Graph g = p.record();
  const Node& c = g[g.operands(g[g.outputs()[0]])[1]];
  EXPECT_EQ(c.dtype, DType::Float64);
  EXPECT_EQ(std::bit_cast<double>(c.attribute), -3.0);
}

TEST(Record, SmallConstantsAreOneByte) {
  for (int value : {-128, -1, 0, 127}) {
    Written small, large;
    small.leaf(DType::Int32).byte(jit::Code::integer).byte(value).op(Op::mul);
    large.leaf(DType::Int32).constant(value).op(Op::mul);
    EXPECT_EQ(to_text(small.record()), to_text(large.record()));
  }
}

TEST(Record, NamesAreBoundAndUnbound) {
  Written p;  // let(x + x, a => let(a * a, b => b - a))
  p.leaf(DType::Float32).leaf(DType::Float32, 0).op(Op::add).byte(jit::Code::bind);
  p.byte(jit::Code::reference).byte(0).byte(jit::Code::reference).byte(0).op(Op::mul).byte(jit::Code::bind);
  p.byte(jit::Code::reference).byte(1).byte(jit::Code::reference).byte(0).op(Op::sub);
  p.byte(jit::Code::unbind).byte(jit::Code::unbind);
  EXPECT_EQ(
      to_text(p.record()),
      "%0 = leaf 0 float32\n%1 = add(%0, %0) float32\n%2 = mul(%1, %1) float32\n%3 = sub(%2, %1) float32\noutput %3\n");
}

TEST(Record, IndexLeaves) {
  Written p;
  p.leaf(DType::Int64).scalar(Category::Int).op(Op::add);
  const bool lacks_memory[] = {true};
  EXPECT_EQ(jit::record(p.program(), p.dtypes, p.same_as, lacks_memory).nodes()[0].op, Op::iota);
}

TEST(Record, ArraysAreLoadedFrom) {
  Written p;  // x[i] + x: the same tensor twice
  p.leaf(DType::Float16);
  p.code[0] = static_cast<std::uint8_t>(Op::array);
  p.leaf(DType::Int64).op(Op::load).leaf(DType::Float16, 0).op(Op::add);
  const Graph g = p.record();
  EXPECT_EQ(to_text(g),
            "%0 = array 0 float16\n%1 = leaf 1 int64\n%2 = load(%0, %1) float16\n%3 = leaf 0 float16\n"
            "%4 = add(%2, %3) float16\noutput %4\n");
}

TEST(Record, ATensorIsOneNodeOfEachKind) {
  Written p;  // x[i] + x[i] + x + x
  p.array(DType::Float32).leaf(DType::Int64).op(Op::load).array(DType::Float32, 0).leaf(DType::Int64, 1).op(Op::load);
  p.op(Op::add).leaf(DType::Float32, 0).op(Op::add).leaf(DType::Float32, 0).op(Op::add);
  const Graph g = p.record();
  EXPECT_EQ(std::ranges::count(g.nodes(), Op::array, &Node::op), 1) << to_text(g);
  EXPECT_EQ(std::ranges::count(g.nodes(), Op::leaf, &Node::op), 2) << to_text(g);
  Written first;
  first.leaf(DType::Float32).leaf(DType::Float32, 0).op(Op::mul);
  EXPECT_EQ(to_text(first.record()), "%0 = leaf 0 float32\n%1 = mul(%0, %0) float32\noutput %1\n");
}

TEST(Record, SeveralOutputsInTheirOrder) {
  Written p;
  p.leaf(DType::Float32).op(Op::exp).leaf(DType::Float32).op(Op::log);
  p.outputs = 2;
  const Graph g = p.record();
  ASSERT_EQ(g.outputs().size(), 2u);
  EXPECT_EQ(g[g.outputs()[0]].op, Op::exp);
  EXPECT_EQ(g[g.outputs()[1]].op, Op::log);
}

TEST(Record, RunTimeDtypes) {
  Written p;
  p.leaf(DType::Int32).op(Op::exp);
  p.code[1] = jit::any_dtype;
  EXPECT_EQ(p.record()[p.record().outputs()[0]].dtype, DType::Float32);
  p.dtypes[0] = DType::Float64;
  EXPECT_EQ(p.record()[p.record().outputs()[0]].dtype, DType::Float64);
  p.code.back() = static_cast<std::uint8_t>(Op::bitwise_not);
  EXPECT_THROW(p.record(), DTypeError);
}

TEST(Record, AgreesWithThePromotionOfItsOperands) {
  // random_program tracks dtypes only by op_types; recording must derive the same ones and refuse none of them.
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937_64 random(seed);
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Written p = random_program(random, 60);
    const Graph g = p.record();
    ASSERT_EQ(g.outputs().size(), p.outputs);
    for (std::size_t i = 0; i < g.nodes().size(); ++i)
      for (Operand o : g.operands(g.nodes()[i])) ASSERT_LT(o.node, static_cast<NodeId>(i));
  }
}

TEST(Record, MalformedPrograms) {
  const auto refuses = [](auto change, const char* why, std::string_view message) {
    Written p;
    p.leaf(DType::Float32).scalar(Category::Int).op(Op::add).leaf(DType::Float32).op(Op::mul);
    change(p);
    try {
      p.record();
      ADD_FAILURE() << why;
    } catch (const Error& e) {
      EXPECT_EQ(e.what(), "malformed program: " + std::string(message)) << why;
    }
  };
  refuses([](Written& p) { p.code.clear(); }, "no code",
          "byte 0 of 0 leaves a number of values that differs from its outputs");
  refuses([](Written& p) { p.code.pop_back(); }, "two values left",
          "byte 7 of 7 leaves a number of values that differs from its outputs");
  refuses([](Written& p) { p.op(Op::exp).op(Op::mul); }, "too few operands",
          "byte 10 of 10 takes a value that is not there");
  refuses(
      [](Written& p) {
        p.outputs = 0;
        p.code.clear();
      },
      "no outputs", "byte 0 of 0 leaves a number of values that differs from its outputs");
  refuses([](Written& p) { p.outputs = 3; }, "too few outputs",
          "byte 8 of 8 leaves a number of values that differs from its outputs");
  refuses(
      [](Written& p) {
        p.dtypes.pop_back();
        p.same_as.pop_back();
      },
      "more leaves than given", "byte 7 of 8 refers to more leaves than the program has");
  refuses([](Written& p) { p.dtypes.pop_back(), p.same_as.push_back(2); }, "more leaves than dtypes",
          "byte 7 of 8 refers to more leaves than the program has");
  refuses([](Written& p) { p.categories.clear(); }, "more scalars than given",
          "byte 4 of 8 refers to more scalars than the program has");
  refuses([](Written& p) { p.code[1] = 9; }, "no such dtype",
          "byte 2 of 8 is a leaf whose dtype differs from the given one");
  refuses([](Written& p) { p.code[1] = static_cast<std::uint8_t>(DType::Int32); }, "another dtype",
          "byte 2 of 8 is a leaf whose dtype differs from the given one");
  refuses([](Written& p) { p.code[3] = 3; }, "no such category", "byte 4 of 8 names a category that does not exist");
  refuses([](Written& p) { p.same_as[1] = 2; }, "twin that does not exist",
          "byte 7 of 8 is a leaf whose same_as entry is invalid");
  refuses([](Written& p) { p.dtypes[1] = DType::Int32, p.same_as[1] = 0, p.code[6] = jit::any_dtype; },
          "twin of another dtype", "byte 7 of 8 is a leaf whose same_as entry is invalid");
  refuses([](Written& p) { p.same_as[1] = 0, p.leaf(DType::Float32, 1).op(Op::add); }, "twin that has a twin",
          "byte 10 of 11 is a leaf whose same_as entry is invalid");
  refuses([](Written& p) { p.code.push_back(static_cast<std::uint8_t>(Op::cast)); }, "cut off in a cast",
          "byte 9 of 9 is missing");
  refuses([](Written& p) { p.constant(1).code.pop_back(); }, "cut off in a constant", "byte 17 of 17 is missing");
  refuses([](Written& p) { p.byte(jit::Code::unbind); }, "nothing to unbind",
          "byte 9 of 9 unbinds a name that is not bound");
  refuses([](Written& p) { p.byte(jit::Code::bind); }, "bound for ever",
          "byte 9 of 9 leaves a number of values that differs from its outputs");
  refuses([](Written& p) { p.byte(jit::Code::integer); }, "no byte of value", "byte 9 of 9 is missing");
  refuses([](Written& p) { p.byte(jit::Code::reference).byte(0); }, "no such name",
          "byte 10 of 10 refers to a name that is not bound");
  refuses([](Written& p) { p.byte(all_op_count); }, "no such operation", "byte 9 of 9 is not a code");
  refuses([](Written& p) { p.op(Op::broadcast_like); }, "an operation that only simplifying makes",
          "byte 9 of 9 is not a code");
  refuses([](Written& p) { p.code[0] = static_cast<std::uint8_t>(Op::array); }, "an array as a value",
          "byte 5 of 8 uses an array as a value");
  refuses([](Written& p) { p.leaf(DType::Float32, 1).op(Op::load); }, "loads from something other than an array",
          "byte 11 of 11 loads from something other than an array");
}

TEST(Record, ArraysAreNoValues) {
  const auto refuses = [](auto change) {
    Written p;
    p.leaf(DType::Float32).leaf(DType::Int64);
    p.code[0] = static_cast<std::uint8_t>(Op::array);
    change(p);
    EXPECT_THROW(p.record(), Error);
  };
  refuses([](Written& p) { p.outputs = 2; });
  refuses([](Written& p) { p.cast(DType::Float64).op(Op::load); });
  refuses([](Written& p) { p.op(Op::add); });
  refuses([](Written& p) { p.code.resize(2), p.dtypes.resize(1), p.same_as.resize(1), p.cast(DType::Float64); });
  Written fine;
  fine.leaf(DType::Float32).leaf(DType::Int64).op(Op::load);
  fine.code[0] = static_cast<std::uint8_t>(Op::array);
  const bool lacks_memory[] = {true, false};
  EXPECT_NO_THROW(fine.record());
  EXPECT_THROW(jit::record(fine.program(), fine.dtypes, fine.same_as, lacks_memory), Error);
}

TEST(Record, AnAbsentAddendIsLeftOut) {
  const bool is_absent[] = {false, true};
  for (const DType dtype : {DType::Float16, DType::BFloat16, DType::Float32, DType::Float64}) {
    Written sum;
    sum.leaf(dtype).leaf(dtype).op(Op::add);
    const Graph recorded = jit::record(sum.program(), sum.dtypes, sum.same_as, is_absent);
    EXPECT_EQ(recorded[recorded.outputs()[0]].op, Op::leaf) << name(dtype);
    Written difference;
    difference.leaf(dtype).leaf(dtype).op(Op::sub);
    const Graph other = jit::record(difference.program(), difference.dtypes, difference.same_as, is_absent);
    const jit::Node& constant = other[other.operands(other[other.outputs()[0]])[1]];
    EXPECT_EQ(constant.op, Op::constant) << name(dtype);
    EXPECT_EQ(constant.attribute, std::uint64_t{1} << (8 * size_of(dtype) - 1)) << name(dtype);  // only the sign bit
  }
  Written integers;
  integers.leaf(DType::Int32).leaf(DType::Int32).op(Op::add);
  EXPECT_THROW(jit::record(integers.program(), integers.dtypes, integers.same_as, is_absent), Error);
}

TEST(Record, AnyBytesGiveAGraphOrAnError) {
  const std::uint16_t same_as[] = {0, 0, 2, 3, 1, 5};
  const DType dtypes[] = {DType::Float32, DType::Float32, DType::Int32, DType::Bool, DType::Float32, DType::Float64};
  int graphs = 0;
  for (unsigned seed = 0; seed < 40000; ++seed) {
    std::mt19937_64 random(seed);
    Written p;
    if (seed % 2) {
      p = random_program(random, 30);
      for (int flips = 1 + static_cast<int>(random() % 3); flips-- > 0 && !p.code.empty();)
        p.code[random() % p.code.size()] = static_cast<std::uint8_t>(random() % 3 ? random() % op_count : random());
    } else {
      for (std::size_t n = random() % 64; n-- > 0;) p.byte(random() % 8 ? random() % 20 : random());
      p.dtypes.assign(dtypes, dtypes + 6);
      p.same_as.assign(same_as, same_as + 6);
      p.categories = {0, 1, 2};
      p.outputs = static_cast<std::uint16_t>(random() % 3);
    }
    // Exactly sized, so that a sanitizer sees a read past the end.
    const std::vector<std::uint8_t> exact(p.code.begin(), p.code.end());
    p.code = exact;
    try {
      const Graph g = jit::simplify(p.record());
      graphs += !g.outputs().empty();
    } catch (const Error&) {
    }
  }
  EXPECT_GT(graphs, 100);
}

}  // namespace
}  // namespace sinter::testing
