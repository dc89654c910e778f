// The loops of a reducing kernel's text: a thread's passes through its part of a row.
#pragma once
#include "row_reads.hpp"

namespace sinter::inline v1::jit::cuda {

class RowLoops {
 public:
  RowLoops(const RowLayout& layout, RowLines& out)
      : layout_(layout), scheme_(layout.scheme), c_(layout.c), vectors_(layout), out_(out), reads_(layout, out) {}

  /// What stays in registers for the whole row.
  void load_kept();
  /// A pass that leaves its part of the row in a<stage>, or writes.
  void pass(std::size_t number);
  /// "Part0 a0" of no element, for each of the thread's rows.
  void declare(std::string_view type, int stage, std::string_view name);

 private:
  /// Where a pass finds and leaves the values of one vector.
  struct Place {
    int lanes;
    std::string kept;  // what follows the name of a kept input: _kept[k]
    std::string read;  // of another one: _in
    bool may_be_outside;
    std::string into;  // the part that it is added to
    bool adds_long;
  };
  /// Values of a vector's elements, of which one function gives one each.
  struct Values {
    std::string type;      // Part0
    std::string function;  // stage0
    std::string more;      // arguments
  };

  bool reduces(std::size_t pass) const noexcept { return !layout_.passes.passes[pass].reductions.empty(); }
  bool needs_c(std::size_t pass) const;
  int tail_steps() const noexcept;
  void tail_head();
  template <class F>
  void kept_loop(std::string_view thread, F body);
  bool is_online(std::size_t pass) const noexcept {
    return reduces(pass) && layout_.functions.is_online(static_cast<int>(pass));
  }
  void kept_pass(std::size_t number, const std::string& part, bool adds_long);
  void looped_pass(std::size_t number, const std::string& part, bool adds_long);
  void batches(std::size_t number, const std::string& part, bool adds_long);
  void online_batch(std::size_t number);
  template <class F>
  void batch_loop(std::size_t number, F body);
  void vector(std::size_t number, const Place& place);
  void add_vector(std::size_t number, const Place& place);
  void add_online(std::size_t number, const Place& place);
  template <class F>
  void each_value(std::size_t number, const Place& place, const Values& values, F added);
  Values values(std::size_t number, const Place& place) const;
  Values pivots(std::size_t number, const Place& place) const;
  Values centered(std::size_t number) const;
  std::string position(std::size_t number, const Place& place) const;
  void write_vector(std::size_t number, const Place& place);
  std::string arguments(std::size_t number, const Place& place) const;

  const RowLayout& layout_;
  const RowText& scheme_;
  const KernelClass& c_;
  const RowVectors vectors_;
  RowLines& out_;
  const RowReads reads_;
};

}  // namespace sinter::inline v1::jit::cuda
