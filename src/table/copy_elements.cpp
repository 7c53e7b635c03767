#include "shoal/table/detail/copy_elements.h"

#include "shoal/base/assert.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kAhead = 48;  // how far ahead elements are prefetched

template <bool kListedTo, bool kListedFrom>
void copy_by_size(std::byte* to, RowList to_rows, ElementSource from, RowList from_rows, std::size_t bytes) {
    const std::uint32_t* const to_list = to_rows.listed();
    const std::uint32_t* const from_list = from_rows.listed();
    if constexpr (!kListedTo) to += to_rows.range().begin * bytes;
    if constexpr (!kListedFrom) from.data += from_rows.range().begin * from.stride;
    const std::size_t count = to_rows.size();
    visit_element_size(bytes, [&]<std::size_t kBytes>() {
        const std::size_t size = kBytes != 0 ? kBytes : bytes;
        const auto target = [&](std::size_t i) { return to + (kListedTo ? to_list[i] : i) * size; };
        const auto source = [&](std::size_t i) { return from.data + (kListedFrom ? from_list[i] : i) * from.stride; };
        std::size_t i = 0;
        for (; (kListedTo || kListedFrom) && i + kAhead < count; ++i) {
            if constexpr (kListedFrom) __builtin_prefetch(source(i + kAhead));
            if constexpr (kListedTo) __builtin_prefetch(target(i + kAhead), 1);
            std::memcpy(target(i), source(i), size);
        }
        for (; i < count; ++i) std::memcpy(target(i), source(i), size);
    });
}

}  // namespace

void copy_elements(std::byte* to, RowList to_rows, ElementSource from, RowList from_rows, std::size_t bytes) {
    SHOAL_ASSERT(to_rows.size() == from_rows.size(), "as many elements are read as are written");
    if (to_rows.size() == 0 || bytes == 0) return;
    if (to_rows.is_range() && from.stride == 0) {
        fill_elements(to + to_rows.range().begin * bytes, from.data, to_rows.size(), bytes);
    } else if (to_rows.is_range() && from_rows.is_range()) {
        const std::size_t to_begin = to_rows.range().begin, from_begin = from_rows.range().begin;
        if (from.stride == bytes)
            std::memmove(to + to_begin * bytes, from.data + from_begin * bytes, to_rows.size() * bytes);
        else
            copy_by_size<false, false>(to, to_rows, from, from_rows, bytes);
    } else if (to_rows.is_range()) {
        copy_by_size<false, true>(to, to_rows, from, from_rows, bytes);
    } else if (from_rows.is_range()) {
        copy_by_size<true, false>(to, to_rows, from, from_rows, bytes);
    } else {
        copy_by_size<true, true>(to, to_rows, from, from_rows, bytes);
    }
}

void copy_strided(std::byte* to, std::size_t to_stride, ElementSource from, std::size_t count, std::size_t bytes) {
    visit_element_size(bytes, [&]<std::size_t kBytes>() {
        for (std::size_t i = 0; i < count; ++i)
            copy_element<kBytes>(to + i * to_stride, from.data + i * from.stride, bytes);
    });
}

/// Fills memory by repeatedly copying the filled part to the part after it with memcpy. A few zeros need only one call.
void fill_elements(std::byte* to, const std::byte* element, std::size_t count, std::size_t bytes) {
    if (count == 0 || bytes == 0) return;
    constexpr std::size_t kMaxStep = 4096;  // a source of this many bytes stays in the first-level cache
    if (count * bytes <= kMaxStep && element[0] == std::byte(0) && std::memcmp(element, element + 1, bytes - 1) == 0)
        return static_cast<void>(std::memset(to, 0, count * bytes));
    std::memcpy(to, element, bytes);
    for (std::size_t done = 1; done < count;) {
        std::size_t step = std::min(done, count - done);
        if (step * bytes > kMaxStep) step = std::max<std::size_t>(1, kMaxStep / bytes);
        std::memcpy(to + done * bytes, to, step * bytes);
        done += step;
    }
}

void ColumnsBySize::add(const Column& column) {
    constexpr std::uint32_t kSizes[] = {4, 8, 12, 16};
    std::size_t size = 0;
    while (size < std::size(kSizes) && kSizes[size] != column.bytes) ++size;
    const std::size_t place = size < std::size(kSizes) ? ends_[size] : all_.size();
    all_.insert(all_.begin() + static_cast<std::ptrdiff_t>(place), column);
    for (; size < std::size(kSizes); ++size) ++ends_[size];
}

}  // namespace shoal
