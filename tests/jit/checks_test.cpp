// What evaluations refuse, and the words in which they do.
#include <jit/run/checks.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sinter/jit/evaluate.hpp>
#include "device_arrays.hpp"
#include "trees.hpp"

namespace sinter::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

bool has_gpus() { return device_count() > 1; }

/// The message of the E that f throws.
template <class E, class F>
std::string message(F f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  } catch (const std::exception& e) {
    return std::string("another error: ") + e.what();
  }
  return "no error";
}

TensorRef zeros(const Shape& shape, DType t = f32, Device device = {}) {
  return device_array(t, shape, device, std::vector<std::uint64_t>(static_cast<std::size_t>(shape.numel())));
}

template <class E>
std::string refusal(Written p, std::vector<TensorRef> arrays, TensorRef out = {}) {
  Tree tree(std::move(p), std::move(arrays), {0.0, 0.0});
  std::vector<TensorRef> outputs(8);
  outputs[0] = out;
  const std::string why = message<E>([&] { jit::evaluate(tree.bound(), outputs.data()); });
  EXPECT_EQ(outputs[0], out);  // as it was
  return why;
}

TEST(Checks, ShapesThatDoNotBroadcast) {
  Written p;
  p.leaf(f32).op(Op::exp).leaf(DType::Int32).op(Op::mul);
  const std::string why = refusal<ShapeError>(p, {zeros({2, 3}), zeros({2, 4}, DType::Int32)});
  EXPECT_THAT(
      why, StartsWith("The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1\n"));
  EXPECT_THAT(why, AllOf(HasSubstr("in mul(a, b)"), HasSubstr("a: float32 (2, 3) on cpu"),
                         HasSubstr("b: int32 (2, 4) on cpu")));
  EXPECT_THAT(why, HasSubstr("reshape"));
}

TEST(Checks, TheInnermostOperationIsNamed) {
  Written p;  // (x + y) * z, where x + y fails
  p.leaf(f32).leaf(f32).op(Op::add).leaf(f32).op(Op::mul);
  const std::string why = refusal<ShapeError>(p, {zeros({4, 1, 3}), zeros({5, 2}), zeros({7})});
  EXPECT_THAT(why, AllOf(HasSubstr("tensor a (3)"), HasSubstr("tensor b (2)"), HasSubstr("dimension 2"),
                         HasSubstr("add(a, b)")));
}

TEST(Checks, ThreeOperandsAndScalars) {
  Written p;
  p.leaf(f32).scalar(Category::Float).leaf(f32).op(Op::fma);
  const std::string why = refusal<ShapeError>(p, {zeros({3}), zeros({2})});
  EXPECT_THAT(why,
              AllOf(HasSubstr("fma(a, b, c)"), HasSubstr("b: float32 scalar"), HasSubstr("c: float32 (2,) on cpu")));
}

TEST(Checks, AShapeThatSimplifyingWouldDropStillCounts) {
  Written p;  // x + y * 0 with y too long
  p.leaf(DType::Int32).leaf(DType::Int32).constant(0).op(Op::mul).op(Op::add);
  refusal<ShapeError>(p, {zeros({3}, DType::Int32), zeros({4}, DType::Int32)});
  Tree tree(p, {zeros({3}, DType::Int32), zeros({2, 3}, DType::Int32)});
  TensorRef out;
  jit::evaluate(tree.bound(), &out);
  EXPECT_EQ(out->shape, (Shape{2, 3}));
}

TEST(Checks, MixedDevices) {
  if (!has_gpus()) GTEST_SKIP() << "no two GPUs";
  const std::string why = refusal<DeviceError>(Written().leaf(f32).leaf(f32).op(Op::add).op(Op::exp),
                                               {zeros({3}, f32, Device(0)), zeros({3})});
  EXPECT_THAT(
      why,
      StartsWith("Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!\n"));
  EXPECT_THAT(why, AllOf(HasSubstr("in add(a, b)"), HasSubstr("a: float32 (3,) on cuda:0"),
                         HasSubstr("b: float32 (3,) on cpu"), HasSubstr(".to(\"cuda:0\")")));
  EXPECT_THAT(refusal<DeviceError>(Written().leaf(f32).leaf(f32).op(Op::add),
                                   {zeros({3}, f32, Device(0)), zeros({3}, f32, Device(1))}),
              HasSubstr("cuda:0 and cuda:1!"));
  Written two;
  two.leaf(f32).op(Op::exp).leaf(f32).op(Op::log);
  two.outputs = 2;
  EXPECT_THAT(refusal<DeviceError>(two, {zeros({3}), zeros({3}, f32, Device(1))}),
              AllOf(HasSubstr("cpu and cuda:1!"), HasSubstr("evaluate")));
  EXPECT_THAT(refusal<DeviceError>(two, {zeros({3}, f32, Device(1)), zeros({3}, f32, Device(0))}),
              HasSubstr("cuda:1 and cuda:0!"));
}

TEST(Checks, OutputsOnAnotherDevice) {
  if (!has_gpus()) GTEST_SKIP() << "no two GPUs";
  EXPECT_THAT(refusal<DeviceError>(Written().leaf(f32).op(Op::exp), {zeros({3})}, zeros({3}, f32, Device(1))),
              AllOf(HasSubstr("cpu and cuda:1!"), HasSubstr("the output is float32 (3,) on cuda:1")));
}

TEST(Checks, OutputsOfAnotherShape) {
  const std::string why = refusal<ShapeError>(Written().leaf(f32).op(Op::exp), {zeros({2, 3})}, zeros({3}));
  EXPECT_THAT(why, StartsWith("output with shape (3,) doesn't match the broadcast shape (2, 3)"));
  refusal<ShapeError>(Written().leaf(f32).op(Op::exp), {zeros({2, 3})}, zeros({1, 3}));
  EXPECT_EQ(refusal<ShapeError>(Written().leaf(f32).op(Op::exp), {zeros({1, 3})}, zeros({2, 3})), "no error");
}

TEST(Checks, OutputsOfALowerCategory) {
  const std::string why =
      refusal<DTypeError>(Written().leaf(f32).leaf(f32).op(Op::add), {zeros({3}), zeros({3})}, zeros({3}, DType::Bool));
  EXPECT_THAT(why, StartsWith("result type float32 can't be cast to the desired output type bool\n"));
  EXPECT_THAT(why, AllOf(HasSubstr("bool (3,) on cpu"), HasSubstr("cast<")));
  refusal<DTypeError>(Written().leaf(DType::Int64).op(Op::neg), {zeros({3}, DType::Int64)}, zeros({3}, DType::Bool));
  EXPECT_EQ(refusal<DTypeError>(Written().leaf(DType::Int64).op(Op::neg), {zeros({3}, DType::Int64)},
                                zeros({3}, DType::Int32)),
            "no error");
}

TEST(Checks, ExpandedOutputs) {
  const TensorRef row = zeros({3}), expanded = runtime::view(*row, {2, 3}, {0, 1});
  EXPECT_THAT(
      refusal<Error>(Written().leaf(f32).op(Op::exp), {zeros({2, 3})}, expanded),
      StartsWith(
          "unsupported operation: more than one element of the written-to tensor refers to a single memory location"));
}

TEST(Checks, MovedFromExpressions) {
  Tree tree(Written().leaf(f32).leaf(f32).op(Op::add), {zeros({3}), TensorRef()});
  TensorRef out;
  EXPECT_THAT(message<Error>([&] { jit::evaluate(tree.bound(), &out); }), HasSubstr("moved from"));
  EXPECT_THAT(message<Error>([&] { jit::result_shape(tree.bound()); }), HasSubstr("moved from"));
  EXPECT_FALSE(out);
}

TEST(Checks, FailuresLeaveOutputsAlone) {
  const TensorRef x = zeros({3}), target = zeros({3});
  const std::uint64_t version = target->buffer->version();
  refusal<ShapeError>(Written().leaf(f32).leaf(f32).op(Op::add), {x, zeros({2})}, target);
  EXPECT_EQ(target->buffer->version(), version);
}

TEST(Checks, ResultShape) {
  Tree tree(Written().leaf(f32).leaf(f32).op(Op::add), {zeros({4, 1}), zeros({3})});
  EXPECT_EQ(jit::result_shape(tree.bound()), (Shape{4, 3}));
  Tree wrong(Written().leaf(f32).leaf(f32).op(Op::add), {zeros({4, 2}), zeros({3})});
  EXPECT_THROW(jit::result_shape(wrong.bound()), ShapeError);
}

}  // namespace
}  // namespace sinter::testing
