#pragma once
// Copies elements of columns. The size of an element is known only at run time, but it is usually one of a few sizes,
// and the compiler generates separate code for each of them. No other code in the library branches on the size of an
// element.
//
//     copy_element      one element
//     swap_elements     two
//     copy_elements     many elements of one column: consecutive ones, listed ones, or one out of each struct
//     copy_strided      many elements, from one stride to another
//     fill_elements     copies of one element
//     ColumnsBySize     one element of each of several columns
//
// Thread: as for the columns.

#include "shoal/base/detail/array.h"
#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/row_range.h"

#include <cstddef>
#include <span>

namespace shoal {

/// The rows of a call, in order: consecutive rows, or the rows in a list. Lifetime: the list.
class RowList {
public:
    RowList(RowRange rows) : first_(rows.begin), size_(rows.size()) {}  // NOLINT: a range is a list
    RowList(std::span<const std::uint32_t> rows)                        // NOLINT: so is a span
        : listed_(rows.data()), size_(static_cast<std::uint32_t>(rows.size())) {}

    std::uint32_t size() const { return size_; }
    std::uint32_t operator[](std::size_t i) const {
        return listed_ != nullptr ? listed_[i] : first_ + static_cast<std::uint32_t>(i);
    }
    bool is_range() const { return listed_ == nullptr || size_ == 0; }
    RowRange range() const { return {first_, first_ + size_}; }  ///< Requires: is_range()
    const std::uint32_t* listed() const { return listed_; }      ///< nullptr for a range

private:
    const std::uint32_t* listed_ = nullptr;
    std::uint32_t first_ = 0, size_ = 0;
};

/// Copies one element, which may be copied onto itself. kBytes is 0 if the size is known only at run time.
template <std::size_t kBytes>
SHOAL_INLINE void copy_element(std::byte* to, const std::byte* from, std::size_t bytes = kBytes) {
    if constexpr (kBytes == 0) {
        move_bytes(to, from, bytes);
    } else if constexpr (kBytes == 12) {  // g++ keeps a local array of 12 bytes in memory
        std::uint64_t low;
        std::uint32_t high;
        copy_bytes(&low, from, 8);
        copy_bytes(&high, from + 8, 4);
        copy_bytes(to, &low, 8);
        copy_bytes(to + 8, &high, 4);
    } else {
        std::byte element[kBytes];
        copy_bytes(element, from, kBytes);
        copy_bytes(to, element, kBytes);
    }
}

/// Calls visit.operator()<kBytes>() with the size if it is one of the usual sizes, and with 0 otherwise.
template <class Visit>
SHOAL_INLINE void visit_element_size(std::size_t bytes, Visit&& visit) {
    switch (bytes) {
        case 1:
            return visit.template operator()<1>();
        case 2:
            return visit.template operator()<2>();
        case 4:
            return visit.template operator()<4>();
        case 8:
            return visit.template operator()<8>();
        case 12:
            return visit.template operator()<12>();
        case 16:
            return visit.template operator()<16>();
        case 48:
            return visit.template operator()<48>();
        default:
            return visit.template operator()<0>();
    }
}

SHOAL_INLINE void copy_element(std::byte* to, const std::byte* from, std::size_t bytes) {
    visit_element_size(bytes, [&]<std::size_t kBytes>() { copy_element<kBytes>(to, from, bytes); });
}

/// Swaps two different elements.
SHOAL_INLINE void swap_elements(std::byte* a, std::byte* b, std::size_t bytes) {
    visit_element_size(bytes, [&]<std::size_t kBytes>() {
        constexpr std::size_t kStep = kBytes == 0 ? 16 : kBytes;
        std::byte element[kStep];
        const auto swap_bytes = [&](std::size_t begin, std::size_t count) {
            copy_bytes(element, a + begin, count);
            copy_bytes(a + begin, b + begin, count);
            copy_bytes(b + begin, element, count);
        };
        std::size_t done = 0;
        for (; kBytes == 0 && done + kStep <= bytes; done += kStep) swap_bytes(done, kStep);
        if constexpr (kBytes != 0)
            swap_bytes(0, kBytes);
        else
            swap_bytes(done, bytes - done);
    });
}

/// Where elements are read: the element of row r is at `data + r * stride`.
struct ElementSource {
    const std::byte* data;
    std::size_t stride;  ///< bytes from one element to the next; 0: one element for all rows
};

/// Copies the element in row from_rows[i] to row to_rows[i]. Shape: both lists have the same length. Requires: no
/// element
/// is both read and written, unless the rows of both lists are consecutive.
SHOAL_API void copy_elements(std::byte* to, RowList to_rows, ElementSource from, RowList from_rows, std::size_t bytes);

/// Copies elements that are `from.stride` bytes apart to elements that are `to_stride` bytes apart.
SHOAL_API void copy_strided(std::byte* to, std::size_t to_stride, ElementSource from, std::size_t count,
                            std::size_t bytes);

/// Writes `count` copies of one element.
SHOAL_API void fill_elements(std::byte* to, const std::byte* element, std::size_t count, std::size_t bytes);

/// Columns grouped by the size of their elements, so that a loop over one element of each column needs no branch per
/// column.
class ColumnsBySize {
public:
    struct Column {
        std::uint16_t from, to;  ///< the column's number in each of two tables
        std::uint32_t bytes;
    };

    explicit ColumnsBySize(const char* owner) : all_(Owner(owner)) {}

    SHOAL_API void add(const Column& column);
    const Column* begin() const { return all_.data(); }
    const Column* end() const { return all_.data() + all_.size(); }
    std::size_t size() const { return all_.size(); }

    /// For each element size, where its columns end in an array of column addresses.
    template <class Address>
    struct Ends {
        const Address *of_4 = nullptr, *of_8 = nullptr, *of_12 = nullptr, *of_16 = nullptr, *all = nullptr;
    };
    template <class Address>
    Ends<Address> ends_in(const Address* addresses) const {
        return {addresses + ends_[0], addresses + ends_[1], addresses + ends_[2], addresses + ends_[3],
                addresses + all_.size()};
    }

    /// Calls copy.operator()<kBytes>(addresses[i], bytes) for each column i; kBytes is 0 for an unusual size. `ends` is
    /// where the columns of each size end in the array. Computing `ends` here would cost three instructions per size.
    template <class Address, class Copy>
    SHOAL_INLINE void for_each(const Address* addresses, const Ends<Address>& ends, Copy&& copy) const {
        const Address* address = addresses;
        for (; address != ends.of_4; ++address) copy.template operator()<4>(*address, 4);
        for (; address != ends.of_8; ++address) copy.template operator()<8>(*address, 8);
        for (; address != ends.of_12; ++address) copy.template operator()<12>(*address, 12);
        for (; address != ends.of_16; ++address) copy.template operator()<16>(*address, 16);
        for (; SHOAL_UNLIKELY(address != ends.all); ++address)
            copy.template operator()<0>(*address, all_[static_cast<std::size_t>(address - addresses)].bytes);
    }

private:
    Array<Column> all_;
    std::uint32_t ends_[4] = {};  // where the columns with elements of 4, 8, 12 and 16 bytes end
};

}  // namespace shoal
