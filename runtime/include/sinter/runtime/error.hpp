// Sinter's exceptions. Every message says what was requested, what each operand is, and what to do.
#pragma once
#include <stdexcept>
#include <string>

namespace sinter::inline v1 {

/// Base class of all Sinter exceptions.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Operands on different devices, a device that does not exist, an invalid device name.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Shapes that do not broadcast, a shape that does not fit the data.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// A dtype that an operation does not accept, or a conversion to a lower category.
class DTypeError : public Error {
 public:
  using Error::Error;
};

/// An index, axis or slice out of range, an unknown name.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// Out of device memory; the message gives the requested size and what is in use.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A failed CUDA driver call; the message names the call, its arguments and the driver's error name.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or that does not have the format it claims.
class FormatError : public Error {
 public:
  using Error::Error;
};

/// The kernel compiler rejected generated source. The message holds its log and the numbered source.
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
