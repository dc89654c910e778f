#include "cpu_sort.hpp"
#include <runtime/bools.hpp>
#include <runtime/parallel.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "../cpu/is_nan.hpp"
#include "sort_keys.hpp"

namespace sinter::inline v1::jit::cpu {
namespace {

constexpr std::int64_t sort_part = 1 << 16;  // elements per task: about a millisecond
constexpr std::int64_t short_row = 512;      // up to here comparison sorts are faster than radix passes
constexpr std::int64_t max_in_heap = 1024;   // elements to select, if the row is many times longer

template <class T>
struct SortRow {
  const T* data;
  std::int64_t length;
  std::uint64_t flip;  // all ones of a key where the order descends

  template <class Entry>
  Entry entry(std::int64_t i) const noexcept {
    return Entry(static_cast<decltype(sort_key(T{}))>(sort_key(value(i)) ^ flip), i);
  }
  T value(std::int64_t i) const noexcept { return runtime::element_at(data + i); }
};

/// A thread's buffers.
template <class Entry>
struct Room {
  std::unique_ptr<Entry[]> entries, spare;

  explicit Room(std::int64_t n, bool with_spare)
      : entries(std::make_unique_for_overwrite<Entry[]>(static_cast<std::size_t>(n))),
        spare(with_spare ? std::make_unique_for_overwrite<Entry[]>(static_cast<std::size_t>(n)) : nullptr) {}
};

std::int64_t parts_of(std::int64_t n) noexcept { return (n + sort_part - 1) / sort_part; }

/// Calls f(first, end) for each part of a row.
template <class F>
void for_each_range(std::int64_t n, F f) {
  runtime::parallel_for_erased(
      parts_of(n), [=](std::int64_t part) { f(part, part * sort_part, std::min((part + 1) * sort_part, n)); });
}

/// LSD radix sort by bytes (Knuth, The Art of Computer Programming 3, 5.2.5). Each thread counts and moves a part.
/// Returns where the sorted entries are.
template <class Entry>
const Entry* radix_sort(Room<Entry>& room, std::int64_t n, int key_bytes) {
  Entry *from = room.entries.get(), *to = room.spare.get();
  using Counts = std::array<std::int64_t, 256>;
  std::vector<Counts> counts(static_cast<std::size_t>(parts_of(n)));
  for (int byte = 0; byte < key_bytes; ++byte) {
    const auto digit = [byte](const Entry& e) { return e.key() >> (8 * byte) & 0xFF; };
    for_each_range(n, [&](std::int64_t part, std::int64_t first, std::int64_t end) {
      Counts& c = counts[static_cast<std::size_t>(part)];
      c.fill(0);
      for (std::int64_t i = first; i < end; ++i) ++c[digit(from[i])];
    });
    std::int64_t before = 0, most = 0;
    for (std::size_t d = 0; d < 256; ++d) {
      const std::int64_t of_less = before;
      for (Counts& c : counts) before += std::exchange(c[d], before);
      most = std::max(most, before - of_less);
    }
    if (most == n) continue;  // all have the same digit
    for_each_range(n, [&](std::int64_t part, std::int64_t first, std::int64_t end) {
      Counts& c = counts[static_cast<std::size_t>(part)];
      for (std::int64_t i = first; i < end; ++i) to[c[digit(from[i])]++] = from[i];
    });
    std::swap(from, to);
  }
  return from;
}

template <class Entry, class T>
void write_entries(const SortRow<T>& row, Room<Entry>& room) {
  for_each_range(row.length, [&](std::int64_t, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) room.entries[static_cast<std::size_t>(i)] = row.template entry<Entry>(i);
  });
}

/// Sorts at least the first ones. Entries are all distinct, so an unstable sort of them is a stable one of the
/// elements.
template <class Entry, class T>
const Entry* sort_row(const SortRow<T>& row, std::int64_t first, Room<Entry>& room) {
  write_entries(row, room);
  Entry* const entries = room.entries.get();
  if (row.length > short_row) return radix_sort(room, row.length, sizeof(T));
  if (first < row.length) std::nth_element(entries, entries + first, entries + row.length);
  std::sort(entries, entries + first);
  return entries;
}

/// The first k of [first, end), in any order.
template <class Entry, class T>
void smallest(const SortRow<T>& row, std::int64_t first, std::int64_t end, std::int64_t k, std::vector<Entry>& heap) {
  const std::int64_t known = std::min(first + k, end);
  heap.clear();
  for (std::int64_t i = first; i < known; ++i) heap.push_back(row.template entry<Entry>(i));
  std::make_heap(heap.begin(), heap.end());
  for (std::int64_t i = known; i < end; ++i) {
    const auto e = row.template entry<Entry>(i);
    if (!(e < heap.front())) continue;
    std::pop_heap(heap.begin(), heap.end());
    heap.back() = e;
    std::push_heap(heap.begin(), heap.end());
  }
}

/// The first k of a row in order.
template <class Entry, class T>
void smallest_in_order(const SortRow<T>& row, std::int64_t k, std::vector<Entry>& found) {
  if (parts_of(row.length) == 1) {
    smallest(row, 0, row.length, k, found);
  } else {
    std::vector<std::vector<Entry>> of_parts(static_cast<std::size_t>(parts_of(row.length)));
    for_each_range(row.length, [&](std::int64_t part, std::int64_t first, std::int64_t end) {
      smallest(row, first, end, k, of_parts[static_cast<std::size_t>(part)]);
    });
    found.clear();
    for (const std::vector<Entry>& some : of_parts) found.insert(found.end(), some.begin(), some.end());
    std::nth_element(found.begin(), found.begin() + k - 1, found.end());
    found.resize(static_cast<std::size_t>(k));
  }
  std::sort(found.begin(), found.end());
}

template <class Entry, class T>
void write_results(const SortRow<T>& row, const Entry* found, std::int64_t count, T* values, std::int64_t* indices) {
  for_each_range(count, [=](std::int64_t, std::int64_t first, std::int64_t end) {
    for (std::int64_t i = first; i < end; ++i) {
      indices[i] = found[i].index();
      if (values) values[i] = row.value(indices[i]);
    }
  });
}

/// The k-th of the entries, from 0.
template <class Entry>
const Entry& at_position(Room<Entry>& room, std::int64_t n, std::int64_t k) {
  Entry* const entries = room.entries.get();
  std::nth_element(entries, entries + k, entries + n);
  return entries[k];
}

/// Calls f(row, room) for each row: several rows per task if they are short, several threads per row if they are long.
template <class Make, class F>
void for_each_row(const RowArray& rows, Make make, F f) {
  const std::int64_t at_once = std::max<std::int64_t>(1, sort_part / std::max<std::int64_t>(rows.length, 1));
  const std::int64_t groups = (rows.count + at_once - 1) / at_once;
  const auto run = [&](std::int64_t group) {
    auto room = make();
    const std::int64_t end = std::min((group + 1) * at_once, rows.count);
    for (std::int64_t row = group * at_once; row < end; ++row) f(row, room);
  };
  if (parts_of(rows.length) <= 1) return runtime::parallel_for_erased(groups, run);
  auto room = make();
  for (std::int64_t row = 0; row < rows.count; ++row) f(row, room);
}

template <class Entry, class T>
void sort_rows(const RowArray& rows, bool descending, std::int64_t first, T* values, std::int64_t* indices) {
  const T* const data = reinterpret_cast<const T*>(rows.data);
  const auto row_at = [=](std::int64_t r) {
    return SortRow<T>{data + r * rows.length, rows.length, descending ? ~std::uint64_t{0} : 0};
  };
  const auto results = [=](std::int64_t r, const SortRow<T>& row, const Entry* found) {
    write_results(row, found, first, values ? values + r * first : nullptr, indices + r * first);
  };
  if (first <= max_in_heap && first * 32 <= rows.length) {
    for_each_row(
        rows, [] { return std::vector<Entry>(); },
        [&](std::int64_t r, std::vector<Entry>& heap) {
          smallest_in_order(row_at(r), first, heap);
          results(r, row_at(r), heap.data());
        });
  } else {
    for_each_row(
        rows, [&] { return Room<Entry>(rows.length, rows.length > short_row); },
        [&](std::int64_t r, Room<Entry>& room) { results(r, row_at(r), sort_row(row_at(r), first, room)); });
  }
}

/// The position, in ascending order, of the requested element.
template <class T>
std::int64_t position_in(const SortRow<T>& row, Statistic statistic, std::int64_t position) {
  if (statistic == Statistic::Kth) return position;
  std::int64_t nans = 0;
  if constexpr (!std::is_integral_v<T>) nans = std::count_if(row.data, row.data + row.length, is_nan<T>);
  if (statistic == Statistic::Median && nans > 0) return row.length - nans;
  return std::max<std::int64_t>(row.length - nans - 1, 0) / 2;
}

template <class Entry, class T>
void pick_from_rows(const RowArray& rows, Statistic statistic, std::int64_t position, T* values,
                    std::int64_t* indices) {
  for_each_row(
      rows, [&] { return Room<Entry>(rows.length, false); },
      [=, data = reinterpret_cast<const T*>(rows.data)](std::int64_t r, Room<Entry>& room) {
        const SortRow<T> row{data + r * rows.length, rows.length, 0};
        write_entries(row, room);
        indices[r] = at_position(room, row.length, position_in(row, statistic, position)).index();
        values[r] = row.value(indices[r]);
      });
}

/// Calls f(an Entry, an element) with the types for this dtype and row length.
template <class F>
void with_types(const RowArray& rows, F f) {
  visit(rows.dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (!complex_element<T>) {
      if constexpr (sizeof(T) <= 4)
        if (rows.length <= PackedEntry::most) return f(std::type_identity<PackedEntry>(), std::type_identity<T>());
      f(std::type_identity<WideEntry>(), std::type_identity<T>());
    }
  });
}

}  // namespace

void sort(const RowArray& rows, bool descending, std::int64_t first, std::byte* values, std::int64_t* indices) {
  if (rows.count * first == 0) return;
  with_types(rows, [&]<class Entry, class T>(std::type_identity<Entry>, std::type_identity<T>) {
    sort_rows<Entry>(rows, descending, first, reinterpret_cast<T*>(values), indices);
  });
}

void pick(const RowArray& rows, Statistic statistic, std::int64_t position, std::byte* values, std::int64_t* indices) {
  with_types(rows, [&]<class Entry, class T>(std::type_identity<Entry>, std::type_identity<T>) {
    pick_from_rows<Entry>(rows, statistic, position, reinterpret_cast<T*>(values), indices);
  });
}

}  // namespace sinter::inline v1::jit::cpu
