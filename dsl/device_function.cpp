#include <sinter/dsl/device_function.hpp>

namespace sinter::inline v1::detail {

jit::FunctionId define_function(std::string_view name, DType result, std::initializer_list<DType> parameters,
                                std::string_view body, std::initializer_list<std::string_view> derivatives) {
  jit::FunctionSource source{
      std::string(name), result, {}, std::string(body), {derivatives.begin(), derivatives.end()}};
  for (char letter = 'a'; const DType dtype : parameters)
    source.parameters.push_back({std::string(1, letter++), dtype});
  return jit::define_function(std::move(source));
}

}  // namespace sinter::inline v1::detail
