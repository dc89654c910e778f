// einsum, against a loop over all positions of all letters.
#include "devices.hpp"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <sstream>

namespace sn = sinter;
using namespace sinter_tests;
using sn::Shape;
using testing::AllOf;
using testing::HasSubstr;

namespace {

using Positions = std::map<char, std::int64_t>;

/// The element of a contiguous array at the positions of its letters; an extent of 1 is broadcast.
double at(const std::vector<double>& values, const Shape& shape, const std::string& letters, const Positions& where) {
  std::int64_t offset = 0;
  for (int i = 0; i < shape.ndim(); ++i)
    offset = offset * shape[i] + (shape[i] == 1 ? 0 : where.at(letters[static_cast<std::size_t>(i)]));
  return values[static_cast<std::size_t>(offset)];
}

template <class F>
void for_each_position(const std::string& letters, const Positions& extents, Positions where, F f) {
  if (letters.empty()) return f(where);
  for (std::int64_t i = 0; i < extents.at(letters[0]); ++i) {
    where[letters[0]] = i;
    for_each_position(letters.substr(1), extents, where, f);
  }
}

using Tensor = sn::Tensor<double, sn::AnyDevice>;

/// `terms` and `result` consist only of letters.
void expect_einsum(const std::string& equation, const std::vector<std::string>& terms, const std::string& result,
                   const std::vector<Tensor>& x, const Tensor& got) {
  SCOPED_TRACE(equation);
  Positions extents;
  std::string others;
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t i = 0; i < terms[k].size(); ++i) {
      const char letter = terms[k][i];
      if (!extents.contains(letter) && result.find(letter) == std::string::npos) others += letter;
      extents[letter] = std::max(extents[letter], x[k].shape()[static_cast<int>(i)]);
    }
  std::vector<std::vector<double>> values;
  for (const Tensor& t : x) values.push_back(sn::Tensor(t.cpu()).contiguous().to_vector());
  std::vector<double> right;
  Shape shape;
  for (const char letter : result) shape.push_back(extents[letter]);
  for_each_position(result, extents, {}, [&](const Positions& outer) {
    double sum = 0;
    for_each_position(others, extents, outer, [&](const Positions& where) {
      double product = 1;
      for (std::size_t k = 0; k < x.size(); ++k) product *= at(values[k], x[k].shape(), terms[k], where);
      sum += product;
    });
    right.push_back(sum);
  });
  ASSERT_EQ(got.shape(), shape);
  EXPECT_EQ(got.device(), x[0].device());
  EXPECT_EQ(sn::Tensor(got.cpu()).contiguous().to_vector(), right);  // of small integers, so exact
}

Tensor numbers(const Shape& shape, sn::Device device) {
  static std::mt19937 random(1);
  std::vector<double> values(static_cast<std::size_t>(shape.numel()));
  for (double& v : values) v = static_cast<double>(random() % 9) - 4;
  return sn::tensor(values, shape).to(device);
}

TEST(Einsum, Equations) {
  for (const sn::Device device : devices()) {
    const Tensor a = numbers({2, 3}, device), b = numbers({3, 4}, device), c = numbers({3}, device),
                 s = numbers({3, 3}, device), x = numbers({2, 5, 3}, device), y = numbers({2, 3, 4}, device),
                 t = numbers({2, 3, 3, 2}, device);
    const auto of = [&](const std::string& equation, std::vector<std::string> terms, const std::string& result,
                        const auto&... operands) {
      expect_einsum(equation, terms, result, {operands...}, sn::einsum(equation, operands...));
    };
    of("ij->ji", {"ij"}, "ji", a);
    of("ij->", {"ij"}, "", a);
    of("ij->j", {"ij"}, "j", a);
    of("ii", {"ii"}, "", s);
    of("ii->i", {"ii"}, "i", s);
    of("iji->j", {"iji"}, "j", numbers({3, 2, 3}, device));
    of("ijji->ij", {"ijji"}, "ij", t);
    of("ij,jk->ik", {"ij", "jk"}, "ik", a, b);
    of("ij,jk", {"ij", "jk"}, "ik", a, b);
    of("ij , jk -> ki", {"ij", "jk"}, "ki", a, b);
    of("ba", {"ba"}, "ab", a);
    of("i,i->", {"i", "i"}, "", c, c);
    of("i,j->ij", {"i", "j"}, "ij", c, c);
    of("ij,j->i", {"ij", "j"}, "i", a, c);
    of("ij,ij->ij", {"ij", "ij"}, "ij", a, a);
    of("ij,ij->", {"ij", "ij"}, "", a, a);
    of("bij,bjk->bik", {"bij", "bjk"}, "bik", x, y);
    of("bij,bjk->ikb", {"bij", "bjk"}, "ikb", x, y);
    of("bij,bjk->ik", {"bij", "bjk"}, "ik", x, y);
    of("bij,kj->bik", {"bij", "kj"}, "bik", x, b.t());
    of("ij,jk,k->i", {"ij", "jk", "k"}, "i", a, b, numbers({4}, device));
    of("i,ij,j->", {"i", "ij", "j"}, "", numbers({2}, device), a, c);
    of("abcdefgh,abcdefgh->abcdefgh", {"abcdefgh", "abcdefgh"}, "abcdefgh", numbers({2, 1, 2, 1, 2, 1, 2, 1}, device),
       numbers({2, 1, 2, 1, 2, 1, 2, 1}, device));
    of("bi,bi->b", {"bi", "bi"}, "b", a, a);
    of("ij,kl->ijkl", {"ij", "kl"}, "ijkl", a, b);
    of("abcdef,ghi,ghi->abcdef", {"abcdef", "ghi", "ghi"}, "abcdef", numbers({2, 1, 3, 1, 2, 1}, device),
       numbers({2, 1, 3}, device), numbers({2, 1, 3}, device));
    of("ijk,ikl,jm->lm", {"ijk", "ikl", "jm"}, "lm", x, y, numbers({5, 2}, device));
    of("aB,Bc->ac", {"aB", "Bc"}, "ac", a, b);
    of("...ij,...jk->...ik", {"bij", "bjk"}, "bik", x, y);
    of("...ij,jk->...ik", {"bij", "jk"}, "bik", x, b);
    of("i...->...", {"ijk"}, "jk", x);
    of("...", {"ij"}, "ij", a);
    of("bij,bjk->bik", {"bij", "bjk"}, "bik", numbers({1, 5, 3}, device), y);
    of("ij,jk->ik", {"ij", "jk"}, "ik", numbers({2, 1}, device), b);
    of("...i,...i->...", {"abi", "bi"}, "ab", numbers({2, 4, 3}, device), numbers({4, 3}, device));
  }
}

TEST(Einsum, IntegersAndExpressions) {
  const auto a = sn::tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(printed(sn::einsum("ij,jk->ik", a, a)), "tensor([[ 7, 10],\n        [15, 22]])");
  EXPECT_EQ(printed(sn::einsum("ij->j", a)), "tensor([4, 6])");
  EXPECT_EQ(sn::einsum("ij,jk->ik", a.to<std::int8_t>(), a.to<std::int8_t>()).to_vector(),
            (std::vector<std::int8_t>{7, 10, 15, 22}));
  const auto x = sn::tensor({{1.f, 2.f}, {3.f, 4.f}});
  EXPECT_EQ(printed(sn::einsum("ij,jk->ik", x + 1, x * 2)), "tensor([[22., 32.],\n        [38., 56.]])");
  const sn::AnyTensor any = x;
  EXPECT_EQ(printed(sn::einsum("ij,ij->i", any, any)), "tensor([ 5., 25.])");
}

TEST(Einsum, AnotherOrderWhereTheLeftOneTakesTooManyDimensions) {
  for (const sn::Device device : devices()) {
    const Tensor a = numbers({2, 1, 2, 1, 2}, device), b = numbers({3, 2, 1, 2, 1}, device),
                 c = numbers({1, 2}, device), d = numbers({3, 2, 1, 2, 2}, device), e = numbers({2, 3}, device);
    const auto of = [&](const std::string& equation, std::vector<std::string> terms, const std::string& result,
                        const auto&... operands) {
      expect_einsum(equation, terms, result, {operands...}, sn::einsum(equation, operands...));
    };
    of("abcde,vwxyz,vwxyz->abcde", {"abcde", "vwxyz", "vwxyz"}, "abcde", a, b, b);
    of("abcde,vwxyz,zq,vwxyq->e", {"abcde", "vwxyz", "zq", "vwxyq"}, "e", a, b, c, d);
    of("abcde,vwxyz,ev,abcdf,wxyzf->", {"abcde", "vwxyz", "ev", "abcdf", "wxyzf"}, "", a, b, e, a,
       numbers({2, 1, 2, 1, 2}, device));
  }
  const auto ones = sn::ones<std::int64_t>({1, 2, 1, 2, 2});
  EXPECT_EQ(sn::einsum("abcde,vwxyz,vwxyz->", ones, ones, ones).item(), 64);
}

TEST(Einsum, NoElements) {
  EXPECT_EQ(sn::einsum("ij,jk->ik", sn::ones({2, 0}), sn::ones({0, 3})).to_vector(), std::vector<float>(6));
  EXPECT_EQ(sn::einsum("ij,jk->ik", sn::ones({0, 2}), sn::ones({2, 3})).shape(), (Shape{0, 3}));
}

TEST(Einsum, WhatIsNoEquation) {
  const auto a = sn::ones({2, 3});
  const auto message = [&](std::string_view equation) {
    return message_of<sn::Error>([&] { (void)sn::einsum(equation, a, a); });
  };
  EXPECT_EQ(message("ij->i"),
            "einsum(\"ij->i\"): it has subscripts for 1 operands, but 2 are given\n"
            "  the operands are\n    float32 (2, 3) on cpu\n    float32 (2, 3) on cpu");
  EXPECT_THAT(message("ijk,ij->i"), HasSubstr("\"ijk\" has 3 subscripts, for an operand of 2 dimensions"));
  EXPECT_THAT(message("i,ij->i"), HasSubstr("\"i\" has 1 subscripts, for an operand of 2 dimensions"));
  EXPECT_THAT(message("ij...k,ij->i"), HasSubstr("\"ij...k\" has 3 subscripts"));
  EXPECT_THAT(message("i1,ij->i"), HasSubstr("'1' is a digit: subscripts are letters"));
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::einsum("...->0", a); }), HasSubstr("'0' is a digit"));
  EXPECT_THAT(message("i.,ij->i"), HasSubstr("'.' is not a subscript"));
  EXPECT_THAT(message_of<sn::Error>([&] { (void)sn::einsum("......", a); }), HasSubstr("a second \"...\""));
  EXPECT_THAT(message("ij,ij->ii"), HasSubstr("the result names 'i' twice"));
  EXPECT_THAT(message("ij,ij->k"), HasSubstr("the result names 'k', which no operand has"));
  EXPECT_THAT(message("ij,ji->i"), HasSubstr("'i' is 2 in one operand and 3 in another"));
  EXPECT_THAT(message_of<sn::ShapeError>([&] { (void)sn::einsum("ii", a); }),
              HasSubstr("'i' is 2 and 3 in one operand"));
  for (const char* equation : {"", ",", "->", "ij,", "i,,j", "\xff,ij"})
    EXPECT_FALSE(message(equation).empty()) << equation;
  const auto six = sn::ones({1, 1, 1, 1, 1, 1});
  EXPECT_THAT(
      message_of<sn::ShapeError>([&] { (void)sn::einsum("abcdef,ghijkl,aglm->bcdefhijkm", six, six, six(0, 0)); }),
      HasSubstr("an intermediate product has more than 8 dimensions"));
  const sn::AnyTensor f = a, d = sn::ones<double>({2, 3});
  EXPECT_THAT(message_of<sn::DTypeError>([&] { (void)sn::einsum("ij,ij->", f, d); }), HasSubstr("of one dtype"));
}

TEST(Einsum, ShowsWhichCharacterIsWrong) {
  const auto a = sn::ones({2, 3});
  const auto message = [&](std::string_view equation) {
    return message_of<sn::Error>([&] { (void)sn::einsum(equation, a, a); });
  };
  EXPECT_EQ(message("ij,jk>ik"),
            "einsum(\"ij,jk>ik\"): '>' is not an arrow: write \"->\" before the result's subscripts\n"
            "  ij,jk>ik\n"
            "       ^\n"
            "  the operands are\n    float32 (2, 3) on cpu\n    float32 (2, 3) on cpu");
  EXPECT_THAT(message("ij,jk - > ik"), HasSubstr("'-' is not an arrow: write \"->\" before the result's subscripts\n"
                                                 "  ij,jk - > ik\n        ^\n"));
  EXPECT_THAT(message("ij,ij->i->j"), HasSubstr("a second arrow, but only one result\n  ij,ij->i->j\n          ^\n"));
  EXPECT_THAT(message("ij,ij->i,j"), HasSubstr("a comma after the arrow, but only one result\n"));
  EXPECT_THAT(message("*ij,ij->i"),
              HasSubstr("'*' is not a subscript: subscripts are letters, and one \"...\" per operand\n"
                        "  *ij,ij->i\n  ^\n"));
  EXPECT_THAT(message("ij,ij->i\n"), HasSubstr("'\\x0a' is not a subscript"));
  EXPECT_THAT(message("i..,ij->i"), HasSubstr("'.' is not a subscript"));
}

TEST(Einsum, MessagesStayShort) {
  const auto a = sn::ones({2, 3});
  const std::string letters(200'000, 'i');
  for (const std::string& equation : {letters, letters + "*", letters + "->" + letters, letters + "," + letters})
    EXPECT_LT(message_of<sn::Error>([&] { (void)sn::einsum(equation, a); }).size(), 2000u);
}

TEST(Einsum, NamesTheOperandsOfDifferentDevices) {
  const sn::AnyTensor a = sn::ones({2, 3}), b = sn::ones({3, 2}).to("cuda:0");
  EXPECT_EQ(message_of<sn::DeviceError>([&] { (void)sn::einsum("ij,jk->ik", a, b); }),
            "Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!\n"
            "  in einsum(\"ij,jk->ik\"), where the operands are\n"
            "    float32 (2, 3) on cpu\n    float32 (3, 2) on cuda:0\n"
            "  Move one of them first, with .to(\"cpu\") or .to(\"cuda:0\")");
}

}  // namespace
