// Views and indexing in texts: against C++, and indices against Python's rules written out.
#include <sinter/dsl/parse.hpp>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "devices.hpp"
#include "text_test.hpp"

namespace sinter {
namespace {

using sinter_tests::message_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

class ParseViews : public sinter_tests::TextTest {
 protected:
  ParseViews() { operands = {{"x", x}, {"m", m}, {"ids", ids}, {"mask", mask}, {"s", 2}}; }
  const Tensor<float> x = arange<float>(24).reshape({2, 3, 4}), m = arange<float>(6).reshape({2, 3});
  const Tensor<std::int64_t> ids = (arange(4) * 2 - 1) % 2;
  const Tensor<bool> mask = m > 2;
};

TEST_F(ParseViews, AreThoseOfCpp) {
  is("m.t() + 1", m.t() + 1);
  is("m.T @ m", matmul(m.t(), m));
  is("(m * 2).T", (m * 2).t());
  is("x.transpose(0, -1)", x.transpose(0, -1));
  is("x.transpose(dim0=0, dim1=1)", x.transpose(0, 1));
  is("x.permute(2, 0, 1)", x.permute(2, 0, 1));
  is("permute(x, (2, 0, 1))", x.permute(2, 0, 1));
  is("x.movedim(0, 2)", x.movedim(0, 2));
  is("x.reshape(6, -1) * 2", x.reshape({6, 4}) * 2);
  is("x.reshape((6, -1))", x.reshape({6, 4}));
  is("x.reshape(shape=[24])", x.reshape({24}));
  is("m.T.reshape(6)", m.t().reshape({6}));
  is("x.flatten()", x.flatten());
  is("x.flatten(1)", x.flatten(1));
  is("x.flatten(start_dim=0, end_dim=1)", x.flatten(0, 1));
  is("x.unflatten(-1, (2, 2))", x.unflatten(-1, {2, 2}));
  is("m.unsqueeze(1).squeeze()", m);
  is("m.unsqueeze(0).squeeze(0)", m);
  is("m.unsqueeze(dim=1).expand(2, 4, 3)", m.unsqueeze(1).expand({2, 4, 3}));
  is("broadcast_to(m, (4, 2, 3))", m.expand({4, 2, 3}));
  is("x.narrow(2, 1, 2)", x.narrow(2, 1, 2));
  is("x.select(1, -1)", x.select(1, -1));
  is("x.flip(0, 2)", x.flip(0, 2));
  is("m.diagonal()", m.diagonal());
  is("x.diagonal(1, dim1=1, dim2=2)", x.diagonal(1, 1, 2));
  is("(x + 1).sum(0).T", (x + 1).sum(0).t());
  is("softmax(m, 1)[0]", Tensor(softmax(m, 1))[0]);
}

TEST_F(ParseViews, WhatIsReadFromIsNotCopied) {
  const auto before = jit_stats().launches;
  const auto rows = parse("embedding(m, ids) + m[ids]", operands), more = parse("take(x, ids)", operands);
  EXPECT_EQ(jit_stats().launches, before);
  (void)parse("take(x + 1, ids)", operands);
  EXPECT_EQ(jit_stats().launches, before + 1) << "an expression is evaluated";
}

TEST_F(ParseViews, ElementsAtComputedPlaces) {
  is("m[ids]", m[ids]);
  is("m[ids + 0 * 2] * s", m[ids] * 2);
  is("embedding(m, ids)", embedding(m, ids));
  is("x.take(ids)", take(x, ids));
  is("m.index_select(1, ids)", index_select(m, 1, ids));
  is("gather(x.flatten(1), 1, (m * 2).to(int64))", gather(x.flatten(1), 1, (m * 2).to<std::int64_t>()));
}

/// The meaning of a part of an index in Python.
struct Part {
  enum Kind { Position, Slice, NewAxis, Ellipsis } kind;
  std::optional<std::int64_t> first{}, last{}, step{};  // a position is the first

  std::string text() const {
    const auto bound = [](const auto& b) { return b ? fmt::format("{}", *b) : std::string(); };
    switch (kind) {
      case Position: return bound(first);
      case Slice: return bound(first) + ":" + bound(last) + (step ? ":" + bound(step) : "");
      case NewAxis: return "None";
      case Ellipsis: return "...";
    }
    return {};
  }
  /// slice.indices of Python's documentation.
  std::vector<std::int64_t> positions(std::int64_t extent) const {
    const std::int64_t by = step.value_or(1);
    const auto bound = [&](std::int64_t at, std::int64_t least, std::int64_t most) {
      return std::clamp(at < 0 ? at + extent : at, least, most);
    };
    std::vector<std::int64_t> all;
    const std::int64_t end = last ? bound(*last, 0, extent) : extent;
    for (std::int64_t i = first ? bound(*first, 0, extent) : 0; i < end; i += by) all.push_back(i);
    return all;
  }
};

/// The elements of x, row-major, at the index: each axis of the result has the positions of one of x, or is new.
struct Selection {
  std::vector<std::vector<std::int64_t>> axes;  // elements from the beginning, of each axis of the result
  std::int64_t start = 0;

  Selection(const std::vector<Part>& parts, const Shape& shape) {
    const Shape strides = contiguous_strides(shape);
    const auto named = std::ranges::count_if(parts, [](const Part& p) { return p.kind <= Part::Slice; });
    std::int64_t axis = 0;
    const auto whole = [&](std::int64_t count) {
      for (; count > 0; --count, ++axis) add(Part{Part::Slice}.positions(shape[axis]), strides[axis]);
    };
    for (const Part& p : parts) {
      if (p.kind == Part::NewAxis) add({0}, 0);
      if (p.kind == Part::Ellipsis) whole(shape.ndim() - named);
      if (p.kind == Part::Slice) add(p.positions(shape[axis]), strides[axis]), ++axis;
      if (p.kind == Part::Position) start += (*p.first < 0 ? *p.first + shape[axis] : *p.first) * strides[axis], ++axis;
    }
    whole(shape.ndim() - axis);
  }
  void add(const std::vector<std::int64_t>& positions, std::int64_t stride) {
    axes.emplace_back();
    for (const std::int64_t p : positions) axes.back().push_back(p * stride);
  }
  std::vector<float> elements() const {
    std::vector<std::int64_t> places{start};
    for (const auto& axis : axes) {
      std::vector<std::int64_t> next;
      for (const std::int64_t place : places)
        for (const std::int64_t offset : axis) next.push_back(place + offset);
      places = std::move(next);
    }
    return {places.begin(), places.end()};  // in an arange, an element is its own position
  }
  static Shape contiguous_strides(const Shape& shape) {
    Shape strides = shape;
    std::int64_t stride = 1;
    for (std::int64_t i = shape.ndim(); i-- > 0; stride *= shape[i]) strides[i] = stride;
    return strides;
  }
};

std::vector<Part> random_index(std::mt19937& random, const Shape& shape) {
  const auto up_to = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<unsigned>(n + 1)); };
  std::vector<Part> parts;
  std::int64_t axis = 0;
  const std::int64_t named = up_to(shape.ndim());
  bool ellipsis = false;
  for (std::int64_t i = 0; i < named; ++i) {
    if (up_to(4) == 0) parts.push_back({Part::NewAxis});
    if (!ellipsis && up_to(4) == 0) parts.push_back({Part::Ellipsis}), ellipsis = true, axis += shape.ndim() - named;
    const std::int64_t extent = shape[axis++];
    if (up_to(2) == 0 && extent > 0) {
      parts.push_back({Part::Position, up_to(2 * extent - 1) - extent});
      continue;
    }
    Part slice{Part::Slice};
    if (up_to(2)) slice.first = up_to(2 * extent + 4) - extent - 2;
    if (up_to(2)) slice.last = up_to(2 * extent + 4) - extent - 2;
    if (up_to(2) == 0) slice.step = 1 + up_to(2);
    parts.push_back(slice);
  }
  if (parts.empty() || up_to(5) == 0) parts.push_back({ellipsis ? Part::NewAxis : Part::Ellipsis});
  return parts;
}

TEST_F(ParseViews, RandomIndicesArePythons) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  const Shape shapes[] = {{7}, {2, 3, 4}, {5, 1, 3}, {3, 0, 2}, {8, 9}};
  for (int trial = 0; trial < 300; ++trial) {
    const Shape& shape = shapes[random() % std::size(shapes)];
    const std::vector<Part> parts = random_index(random, shape);
    std::string text = "a[";
    for (const Part& p : parts) text += (text.back() == '[' ? "" : ", ") + p.text();
    text += "]";
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const Tensor<float> a = arange<float>(shape.numel()).reshape(shape);
    const Selection selection(parts, shape);
    Shape expected_shape;
    for (const auto& axis : selection.axes) expected_shape.push_back(static_cast<std::int64_t>(axis.size()));
    const Tensor<float> got = parse(text, {{"a", a}}).to<float>();
    ASSERT_EQ(got.shape(), expected_shape);
    const Tensor<float> flat = got.contiguous().reshape({got.numel()});
    const std::vector<float> wanted = selection.elements();
    ASSERT_EQ(static_cast<std::size_t>(flat.numel()), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(flat[static_cast<std::int64_t>(i)].item(), wanted[i]);
  }
}

TEST_F(ParseViews, BackwardsSlices) {
  is("x[::-1]", x.flip(0));
  is("m[:, -1:0:-2]", m(range(), range(-1, 0, -2)));
}

TEST_F(ParseViews, AWriteToTheTensorIsSeen) {
  Tensor<float> written = arange<float>(3);
  const auto later = parse("w[1:] + 1", {{"w", written}});
  written.assign(full({3}, 5.f));
  EXPECT_THAT(message_of<Error>([&] { (void)Tensor(later); }), HasSubstr("written to after the expression was built"));
}

TEST_F(ParseViews, ErrorsShowThePlace) {
  EXPECT_THAT(error("m[]"), HasSubstr("an index is expected"));
  EXPECT_THAT(error("m[0"), HasSubstr("',' or ']' is expected, but got the end of the text"));
  EXPECT_THAT(error("m[1:2:3:4]"), HasSubstr("',' or ']'"));
  EXPECT_THAT(error("m[0:1 2]"), HasSubstr("',' or ']'"));
  EXPECT_THAT(error("m[0:1"), HasSubstr("',' or ']'"));
  EXPECT_THAT(error("m[..., ...]"), AllOf(HasSubstr("at most one '...'"), HasSubstr("\n  m[..., ...]\n         ^^^")));
  EXPECT_THAT(error("m[0.5]"), HasSubstr("but got the number 0.5"));
  EXPECT_THAT(error("m[(0, 1)]"), HasSubstr("but got a list"));
  EXPECT_THAT(error("m[0, ids]"), HasSubstr("index_select(x, axis, ids)"));
  EXPECT_THAT(error("m[mask]"), HasSubstr("where(mask, x, 0)"));
  EXPECT_THAT(error("m[ids:]"), HasSubstr("the bounds of a slice are integers, but got int64 (4,)"));
  EXPECT_THAT(error("s[0]"), HasSubstr("only a tensor can be indexed"));
  EXPECT_THAT(error("(1, 2)[0]"), HasSubstr("but got a list"));
  EXPECT_THAT(error("m.mT"), HasSubstr("'(' after the method's name"));
  EXPECT_THAT(error<IndexError>("m[2]"), AllOf(HasSubstr("2"), HasSubstr("\n  m[2]\n   ^")));
  EXPECT_THAT(error<IndexError>("m[0, 0, 0]"), HasSubstr("(2, 3)"));
  EXPECT_THAT(error<Error>("m[::0]"), HasSubstr("step"));
  EXPECT_THAT(error<ShapeError>("m.reshape(4, -1)"), HasSubstr("(2, 3)"));
  EXPECT_THAT(error("m.reshape(2.5)"), HasSubstr("a list of integers"));
  EXPECT_THAT(error("m.reshape()"), HasSubstr("it is missing"));
  EXPECT_THAT(error("m.permute(0, 1, dims=(0, 1))"), HasSubstr("twice"));
  EXPECT_THAT(error<ShapeError>("x.t()"), HasSubstr("(2, 3, 4)"));
  EXPECT_THAT(error("x.transpse(0, 1)"), HasSubstr("did you mean 'transpose'"));
  EXPECT_THAT(error("x.transpose(0)"), HasSubstr("dim1"));
}

}  // namespace
}  // namespace sinter
