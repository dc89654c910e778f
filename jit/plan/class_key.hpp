// The properties of an evaluation that a kernel's text is specialized for. Everything else - values, extents, strides -
// is a parameter.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "faults.hpp"
#include "loop_nest.hpp"
#include "plan.hpp"
#include "row_scheme.hpp"

namespace sinter::inline v1::jit {

/// Numbers of elements, and offsets to them, below it fit in 31 bits.
inline constexpr std::int64_t narrow_limit = std::int64_t{1} << 31;
/// A GPU thread loads and stores vectors of at most this many bytes.
inline constexpr int max_vector_bytes = 16;

/// The layout of an operand over the loop nest. Vectors of a contiguous draw index begin at multiples of their width.
enum class AccessPattern : std::uint8_t {
  Contiguous,       // through the whole nest
  Uniform,          // one element for all
  InnerContiguous,  // contiguous along the innermost dim
  InnerBroadcast,   // one element for each run of the innermost dim
  Strided,
  Transposed,  // of an input: contiguous along the tile dim (KernelClass::tile_dim)
};

/// Strides that a kernel over `ndim` dims receives of an operand.
constexpr int stride_count(AccessPattern p, int ndim) noexcept {
  return p == AccessPattern::Strided || p == AccessPattern::Transposed               ? ndim
         : p == AccessPattern::InnerContiguous || p == AccessPattern::InnerBroadcast ? ndim - 1
                                                                                     : 0;
}

/// What a lowering needs to know besides the graph.
///
/// The kernel's parameters are 8-byte words: where it may fault, the address of the device's fault word; pointers to
/// the outputs and inputs; the number of elements; from the innermost dim to the second, its extent (over extent_step)
/// and its fast divisor (one word, two when wide); for each output and input its first stride_count strides; the
/// scalars in the order of their nodes; of each iota its first element; a code for each fault that it may find.
///
/// In a kernel that reduces, the operands' pointers are followed, if blocks share rows, by one to the partial results
/// of each stage; instead of the count, the numbers of work items, rows and columns and, if blocks share rows, the
/// number of splits of a row, the vectors per split, the splits in this launch and its pass or, if rows are cached, the
/// number of elements of each cached input that the row cache holds. Then, from the innermost dim of the rows to the
/// second, its extent and its 64-bit fast divisor; the same for the reduced dims; for each output and input its strides
/// along the rows' dims and along reduced ones (reduced_strides).
struct KernelClass {
  int ndim = 1;
  int vector_width = 1;                 // elements that a thread loads and computes together
  bool wide = false;                    // 64-bit indices
  bool aliased = false;                 // an input may share memory with an output
  std::vector<AccessPattern> patterns;  // outputs, then inputs
  int reduced = 0;          // the number of reduced dims, in a kernel that reduces; its patterns are along a row
  RowConfig rows = {};      // or, if row_per_element, across rows; Uniform: one element for a row
  bool contiguous = false;  // one dim, all patterns are Contiguous: there are no extents and strides to pass
  int tile_dim = -1;  // if an input is transposed: a thread processes a square tile of this dim and the innermost one

  constexpr bool is_tiled() const noexcept { return tile_dim >= 0; }
};

/// The numbers of tiles that a warp processes along the innermost dim and along the tile dim.
inline constexpr int warp_tiles_inner = 8, warp_tiles_tile_dim = 4;

/// What the extent of a dim is divided by in the parameters: in a tiled class, the positions that a warp processes.
constexpr int extent_step(const KernelClass& c, int dim) noexcept {
  if (!c.is_tiled()) return 1;
  return dim == c.ndim - 1   ? warp_tiles_inner * c.vector_width
         : dim == c.tile_dim ? warp_tiles_tile_dim * c.vector_width
                             : 1;
}

/// How many strides of an operand along reduced dims are passed to a kernel of the class.
constexpr int reduced_strides(const KernelClass& c, AccessPattern p) noexcept {
  return p == AccessPattern::Uniform                                 ? 0
         : p == AccessPattern::Contiguous && !c.rows.row_per_element ? c.reduced - 1
                                                                     : c.reduced;
}

/// A KernelClass in comparable form. Kernels with more operands than it holds always run as their generic class.
class ClassKey {
 public:
  static constexpr std::size_t max_operands = 128;

  void set_head(int ndim, int width, bool wide, bool aliased) noexcept {
    words_[0] = static_cast<std::uint64_t>(ndim | width << 8 | wide << 16 | aliased << 17);
  }
  /// After set_head.
  void set_rows(const RowConfig& t, int reduced) noexcept;
  void set_pattern(std::size_t operand, AccessPattern p) noexcept {
    const std::size_t word = 1 + operand / 16;
    if (operand % 16 == 0) words_[word] = 0;
    words_[word] |= static_cast<std::uint64_t>(p) << operand % 16 * 4;
  }
  void replace_pattern(std::size_t operand, AccessPattern p) noexcept {
    words_[1 + operand / 16] &= ~(std::uint64_t{15} << operand % 16 * 4);
    words_[1 + operand / 16] |= static_cast<std::uint64_t>(p) << operand % 16 * 4;
  }
  bool is_contiguous(std::size_t operand) const noexcept {
    return pattern(operand) == AccessPattern::Contiguous || pattern(operand) == AccessPattern::InnerContiguous;
  }
  /// After set_head.
  void set_tile(int dim, int width) noexcept {
    words_[0] = (words_[0] & ~std::uint64_t{0xFF00}) | static_cast<std::uint64_t>(width) << 8;
    words_[0] |= static_cast<std::uint64_t>(dim + 1) << tile_at;
  }
  int tile_dim() const noexcept { return static_cast<int>(words_[0] >> tile_at & 15) - 1; }
  /// All operands are contiguous.
  void set_contiguous(std::size_t operands) noexcept {
    static_assert(static_cast<int>(AccessPattern::Contiguous) == 0);
    for (std::size_t word = 1; word <= (operands + 15) / 16; ++word) words_[word] = 0;
  }
  AccessPattern pattern(std::size_t operand) const noexcept {
    return static_cast<AccessPattern>(words_[1 + operand / 16] >> operand % 16 * 4 & 15);
  }
  int ndim() const noexcept { return static_cast<int>(words_[0] & 0xFF); }
  int vector_width() const noexcept { return static_cast<int>(words_[0] >> 8 & 0xFF); }
  bool wide() const noexcept { return words_[0] >> 16 & 1; }
  bool aliased() const noexcept { return words_[0] >> 17 & 1; }
  bool equals(const ClassKey& o, std::size_t operands) const noexcept {
    for (std::size_t word = 0; word <= (operands + 15) / 16; ++word)
      if (words_[word] != o.words_[word]) return false;
    return true;
  }
  KernelClass decode(std::size_t operands) const;

 private:
  static constexpr int tile_at = 48;  // in the head

  std::array<std::uint64_t, 1 + max_operands / 16> words_;  // words past the last operand's are never read
};

/// What classification needs to know of a kernel.
struct KernelTraits {
  struct Access {
    DType dtype = DType::Bool;
    bool memory = true;                 // false for iotas, whose elements are computed
    bool array = false;                 // gathered from
    bool per_row = false;               // one element for each row
    bool is_draw_index = false;         // an iota whose elements are indices of random numbers
    std::uintptr_t alignment_mask = 0;  // bits of an address that must be 0 for vectors; none where there are none
  };
  explicit KernelTraits(const Kernel& kernel);

  std::vector<Access> operands;  // outputs, then inputs
  int outputs;
  bool has_draws = false;  // some iota is a draw index
  Faults faults;
  int vector_width;  // 16 bytes of the widest operand, 64 of positions; fewer where registers would not suffice
  std::optional<RowTraits> rows;  // of a kernel that reduces
};

/// Whether an operand's vectors along `dim` are aligned: in memory, or as the positions of an iota. `bytes`: of an
/// element.
bool has_aligned_vectors(const LoopNest& nest, const NestOperand& o, int dim, int width, std::size_t bytes) noexcept;

/// The narrowest class that holds the nest, without tiles. `aliased`: an input is the same memory as an output.
ClassKey classify_untiled(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept;

/// The narrowest class that holds the nest; tiled if an input is transposed relative to the outputs and the extents
/// allow it.
ClassKey classify(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept;

/// The narrowest class of a kernel that reduces.
ClassKey classify_rows(const KernelTraits& traits, const LoopNest& nest, bool aliased) noexcept;

/// The class that holds every nest: any number of dims, any strides, 64-bit, aliased.
KernelClass generic_class(const KernelTraits& traits);

}  // namespace sinter::inline v1::jit
