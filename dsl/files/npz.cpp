#include <sinter/dsl/npz.hpp>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <runtime/atomic_file_writer.hpp>
#include <sinter/runtime/error.hpp>
#include "duplicate.hpp"
#include "element_bytes.hpp"
#include "excerpt.hpp"
#include "file.hpp"
#include "npy_format.hpp"
#include "npz_format.hpp"
#include "zip.hpp"

namespace sinter::inline v1 {

namespace {

using detail::excerpt;
using detail::FileName;
using detail::FileSource;
using detail::first_duplicate;
using detail::for_each_chunk;
using runtime::AtomicFileWriter;
namespace npy = detail::npy;
namespace zip = detail::zip;

constexpr std::string_view suffix = ".npy";

npy::Contents contents_of(const StateDict::Entry& entry) try {
  if (!entry.tensor.defined()) throw Error(fmt::format("cannot save '{}': the tensor is undefined", entry.name));
  return npy::contents_of(entry.tensor.impl());
} catch (const DTypeError& error) {
  throw DTypeError(fmt::format("cannot save '{}': {}", entry.name, error.what()));
}

bool is_utf8(const std::string& text) try {
  (void)nlohmann::json(text).dump();
  return true;
} catch (const nlohmann::json::exception&) {
  return false;
}

/// NumPy reads through Python's zipfile, which decodes names as UTF-8 and cuts them at a zero byte.
void check_name(const std::string& name) {
  const bool ends_early = name.find('\0') != std::string::npos;
  if (!ends_early && is_utf8(name)) return;
  throw FormatError(
      fmt::format("cannot save '{}': this name {}, and NumPy would not open the file. Give the tensor a name in UTF-8 "
                  "without bytes of 0",
                  excerpt(name), ends_early ? "has a byte of 0" : "is not UTF-8"));
}

}  // namespace

StateDict detail::npz::read(ByteSource& source, Device device) {
  std::vector<zip::Entry> files = zip::read_directory(source);
  std::vector<StateDict::Entry> entries;
  entries.reserve(files.size());
  for (const zip::Entry& file : files) {
    std::string name = file.name.ends_with(suffix) ? file.name.substr(0, file.name.size() - suffix.size()) : file.name;
    entries.push_back({std::move(name), {}});
  }
  if (const std::string* name = first_duplicate(entries, &StateDict::Entry::name))
    throw FormatError(fmt::format("{}: there are two arrays '{}'", source.name(), excerpt(*name)));
  for (std::size_t i = 0; i < files.size(); ++i) {
    zip::EntrySource content(source, files[i]);
    entries[i].tensor = AnyTensor(npy::read(content, device));
    content.check();
  }
  return StateDict(std::move(entries));
}

StateDict load_npz(const FileName& name, Device device) {
  FileSource file(name.text);
  return detail::npz::read(file, device);
}

void save_npz(const FileName& name, const StateDict& state) {
  for (const StateDict::Entry& entry : state) check_name(entry.name);
  AtomicFileWriter file(name.text);
  zip::Writer archive(file);
  for (const StateDict::Entry& entry : state) {
    const npy::Contents contents = contents_of(entry);
    const auto& elements = *contents.elements;
    archive.begin(entry.name + std::string(suffix),
                  contents.header.size() + static_cast<std::uint64_t>(elements.numel) * size_of(elements.dtype));
    archive.write(std::as_bytes(std::span(contents.header)));
    for_each_chunk(elements, [&](std::span<const std::byte> bytes) { archive.write(bytes); });
    archive.end();
  }
  archive.finish();
  file.commit();
}

}  // namespace sinter::inline v1
