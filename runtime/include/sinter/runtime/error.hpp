// What Sinter throws. Every message says what was asked, what each operand is, and what to do.
#pragma once
#include <stdexcept>
#include <string>

namespace sinter::inline v1 {

/// Base of everything that Sinter throws.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operands on different devices, a device that does not exist, a device name that cannot be read.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Shapes that do not broadcast, a shape that does not fit the data.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A dtype that an operation does not take, or that would lose its category.
class DtypeError : public Error {
 public:
  using Error::Error;
};

/// An index, axis or slice outside its range, a name that is not there.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// Memory that a device does not have; says what was asked and what is in use.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A call of the CUDA driver failed; says which one, on what, and the driver's own name for it.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or is not what it claims to be.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// The kernel compiler refused generated text. The message holds its log and the numbered source.
class CompileError : public Error {
 public:
  CompileError(const std::string& what, std::string log, std::string source);

  const std::string& log() const noexcept { return log_; }
  const std::string& source() const noexcept { return source_; }

 private:
  std::string log_;
  std::string source_;
};

}  // namespace sinter::inline v1
