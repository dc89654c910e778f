// MPI datatypes and operations for Sinter's dtypes.
#include <utility>

#include "combine.hpp"
#include "processes.hpp"

namespace sinter::inline v1::runtime {
namespace {

constexpr std::size_t reduce_op_count = 4;  // the number of ReduceOp values

template <std::size_t Index>
void combine_elements(void* in, void* in_out, int* count, mpi::Datatype*) {
  std::byte* const result = static_cast<std::byte*>(in_out);
  const std::byte* const both[] = {result, static_cast<const std::byte*>(in)};
  combine(static_cast<DType>(Index / reduce_op_count), static_cast<ReduceOp>(Index % reduce_op_count), result, both,
          *count);
}

template <std::size_t... Index>
constexpr auto functions_of(std::index_sequence<Index...>) {
  return std::array<mpi::UserFunction, sizeof...(Index)>{&combine_elements<Index>...};
}
constexpr auto functions = functions_of(std::make_index_sequence<dtype_count * reduce_op_count>());
static_assert(functions.size() <= 64);

}  // namespace

mpi::Datatype Processes::element(std::size_t bytes) {
  mpi::Datatype& type = elements_.at(bytes);
  if (type) return type;
  const Call setup{.kind = CallKind::Setup};
  check(setup, "MPI_Type_contiguous", mpi_.MPI_Type_contiguous(static_cast<int>(bytes), mpi_.byte, &type));
  check(setup, "MPI_Type_commit", mpi_.MPI_Type_commit(&type));
  return type;
}

mpi::Op Processes::operation(DType dtype, ReduceOp how) {
  const std::size_t index = static_cast<std::size_t>(dtype) * reduce_op_count + static_cast<std::size_t>(how);
  mpi::Op& op = operations_.at(index);
  constexpr int commutes = 1;  // bit for bit: combine.hpp
  if (!op) check({.kind = CallKind::Setup}, "MPI_Op_create", mpi_.MPI_Op_create(functions[index], commutes, &op));
  return op;
}

}  // namespace sinter::inline v1::runtime
