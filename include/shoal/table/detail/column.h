#pragma once
// Typed views of the columns of one field. The component's declaration decides which view a field has, but all views
// are used in the same way:
//
//     apart   Column<T, kApart>    T[]                      operator[], begin(), end(), span()
//     split   Column<T, kSplit>    float[] per lane         operator[], begin(), end(), x() y() z() w()
//     whole   Column<T, kWhole>    T inside each struct     operator[], begin(), end()
//
// In a view for reading, T is const: operator[] returns a `const T&`, or a const T if the field is split. In a view for
// writing, operator[] returns a `T&` or, if the field is split, a SplitReference, which is used like a reference: it
// has x, y, z and w, converts to T, and supports assignment and T's operators. Code that works with both kinds of view
// uses `auto&&`:
//
//     for (auto&& velocity : bodies.write_column<&Body::velocity>()) {
//         velocity.z -= 9.81f * dt;
//         velocity *= 1 - drag * dt;
//     }
//
// Code that needs a T in memory, such as a `T&`, a template that deduces T, or a member function of T, first makes a
// copy: `T value = velocity;`. A SplitReference cannot be copied, because the copy would still refer to the row,
// whereas `auto old = velocity;` copies the value of a `T&`.
//
// `all_fields<T>` stands for the component T itself. A component that is kept whole is viewed like a field; other
// components are assembled:
//
//     in columns    Column<T, kInColumns>    each field in its own column or lanes    operator[], begin(), end()
//
// A view for reading returns a const T; a view for writing returns a ComponentReference, which can be read and
// assigned. Lifetime: until the table's next structural call. If a view is used after rows were removed or moved, or
// after columns moved in memory, checked builds end the program. They do not detect the same mistake with a span.
// Thread: as for the table.

#include "shoal/base/detail/bytes.h"
#include "shoal/table/describe.h"
#include "shoal/table/detail/row_versions.h"

namespace shoal {

enum class ColumnLayout : std::uint8_t { kApart, kSplit, kWhole, kInColumns };

/// Assigns a value to a field, element by element if the field is an array.
template <class To, class From>
SHOAL_INLINE void assign_value(To&& to, From&& from) {
    using Value = std::remove_cvref_t<From>;
    if constexpr (std::is_array_v<Value>)
        for (std::size_t i = 0; i < std::extent_v<Value>; ++i) to[i] = from[i];
    else
        to = std::forward<From>(from);
}

/// Copies a field's value one number at a time. The compiler can then remove the copies of unused numbers, which it
/// cannot do in a struct copy.
template <class T>
SHOAL_INLINE void copy_numbers(T& to, const T& from) {
    const auto copy_each = [](auto* out, const auto* in, auto... indices)
                               SHOAL_INLINED { (copy_numbers(out[indices], in[indices]), ...); };
    const auto copy = [&]<std::size_t... kIndices>(auto* out, const auto* in, std::index_sequence<kIndices...>)
                          SHOAL_INLINED { copy_each(out, in, kIndices...); };
    constexpr FieldType kType = FieldTraits<T>::type;
    if constexpr (kIsArray<T> && kNumValues<T> <= 16)
        copy(&to[0], &from[0], std::make_index_sequence<kNumValues<T>>());
    else if constexpr (!kIsArray<T> && kType >= FieldType::kVec2 && kType <= FieldType::kMatrix3x4)
        copy(reinterpret_cast<float*>(&to), reinterpret_cast<const float*>(&from),
             std::make_index_sequence<sizeof(T) / sizeof(float)>());
    else
        assign_value(to, from);
}

template <class T>
inline constexpr std::uint32_t kLanesOf = field_type_lanes(FieldTraits<std::remove_const_t<T>>::type);

/// The lanes of a row, named as in vectors.
template <std::uint32_t kNumLanes>
struct RowLanes;
template <>
struct RowLanes<2> {
    float &x, &y;
};
template <>
struct RowLanes<3> {
    float &x, &y, &z;
};
template <>
struct RowLanes<4> {
    float &x, &y, &z, &w;
};

/// Row `row` of a split field, used like a `T&`.
template <class T>
class SplitReference : public RowLanes<kLanesOf<T>> {
    static constexpr std::uint32_t kNumLanes = kLanesOf<T>;
    using Lanes = RowLanes<kNumLanes>;

public:
    SHOAL_INLINE SplitReference(float* const (&lanes)[kNumLanes], std::size_t row)
        : SplitReference(lanes, row, std::make_index_sequence<kNumLanes>()) {}
    SplitReference(const SplitReference&) = delete;  // `auto old = p` would refer to the row, not keep its old value

    SHOAL_INLINE T get() const {
        float values[kNumLanes];
        values[0] = this->x, values[1] = this->y;
        if constexpr (kNumLanes > 2) values[2] = this->z;
        if constexpr (kNumLanes > 3) values[3] = this->w;
        T result;
        copy_bytes(static_cast<void*>(&result), values, sizeof values);
        return result;
    }
    SHOAL_INLINE void set(const T& value) const {
        float values[kNumLanes];
        copy_bytes(values, &value, sizeof values);
        this->x = values[0], this->y = values[1];
        if constexpr (kNumLanes > 2) this->z = values[2];
        if constexpr (kNumLanes > 3) this->w = values[3];
    }
    SHOAL_INLINE operator T() const { return get(); }  // NOLINT: it stands for a T
    SHOAL_INLINE const SplitReference& operator=(const T& value) const { return set(value), *this; }
    SHOAL_INLINE const SplitReference& operator=(const SplitReference& other) const { return set(other.get()), *this; }
    // The default argument allows lists of values: p += {0, 0, 1}.
    template <class U = T>
        requires requires(T& to, const U& by) { to += by; }
    SHOAL_INLINE const SplitReference& operator+=(const U& value) const {
        T result = get();
        return set(result += value), *this;
    }
    template <class U = T>
        requires requires(T& to, const U& by) { to -= by; }
    SHOAL_INLINE const SplitReference& operator-=(const U& value) const {
        T result = get();
        return set(result -= value), *this;
    }
    template <class U = T>
        requires requires(T& to, const U& by) { to *= by; }
    SHOAL_INLINE const SplitReference& operator*=(const U& value) const {
        T result = get();
        return set(result *= value), *this;
    }
    template <class U = T>
        requires requires(T& to, const U& by) { to /= by; }
    SHOAL_INLINE const SplitReference& operator/=(const U& value) const {
        T result = get();
        return set(result /= value), *this;
    }

private:
    template <std::size_t... kLanes>
    SHOAL_INLINE SplitReference(float* const (&lanes)[kNumLanes], std::size_t row, std::index_sequence<kLanes...>)
        : Lanes{lanes[kLanes][row]...} {}
};

/// Iterates over the rows of a view whose values are not contiguous; `*i` returns what the view's operator[] returns.
template <class View>
class RowIterator {
public:
    using value_type = typename View::Value;
    using difference_type = std::ptrdiff_t;
    using reference = decltype(std::declval<const View&>()[0]);
    using pointer = void;
    using iterator_category = std::input_iterator_tag;

    RowIterator(const View& view, std::size_t row) : view_(view), row_(row) {}
    SHOAL_INLINE decltype(auto) operator*() const { return view_[row_]; }
    RowIterator& operator++() { return ++row_, *this; }
    RowIterator operator++(int) { return {view_, row_++}; }
    /// Requires: both iterators belong to the same view.
    bool operator==(const RowIterator& other) const { return row_ == other.row_; }

private:
    View view_;
    std::size_t row_;
};

template <class T, ColumnLayout kLayout>
class Column;

template <class T>
class Column<T, ColumnLayout::kApart> : public detail::WatchedView {
public:
    using Value = std::remove_const_t<T>;
    static constexpr ColumnLayout kLayout = ColumnLayout::kApart;

    Column() = default;
    Column(T* data, std::size_t size) : data_(data), size_(size) {}

    std::size_t size() const { return size_; }
    T* data() const { return require_current(), data_; }
    T& operator[](std::size_t row) const {
        require_current();
        SHOAL_CHECK(row < size_, "the row is past the end of the column");
        return data_[row];
    }
    std::span<T> span() const { return {data(), size_}; }
    T* begin() const { return data(); }
    T* end() const { return data() + size_; }

private:
    T* data_ = nullptr;
    std::size_t size_ = 0;
};

template <class T>
class Column<T, ColumnLayout::kWhole> : public detail::WatchedView {
public:
    using Value = std::remove_const_t<T>;
    using Bytes = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    static constexpr ColumnLayout kLayout = ColumnLayout::kWhole;

    Column() = default;
    Column(Bytes* first, std::size_t stride, std::size_t size) : first_(first), stride_(stride), size_(size) {}

    std::size_t size() const { return size_; }
    T& operator[](std::size_t row) const {
        require_current();
        SHOAL_CHECK(row < size_, "the row is past the end of the column");
        return *reinterpret_cast<T*>(first_ + row * stride_);
    }
    auto begin() const { return RowIterator<Column>(*this, 0); }
    auto end() const { return RowIterator<Column>(*this, size_); }

private:
    Bytes* first_ = nullptr;
    std::size_t stride_ = 0;
    std::size_t size_ = 0;
};

template <class T>
class Column<T, ColumnLayout::kSplit> : public detail::WatchedView {
public:
    using Value = std::remove_const_t<T>;
    using Lane = std::conditional_t<std::is_const_v<T>, const float, float>;
    static constexpr ColumnLayout kLayout = ColumnLayout::kSplit;
    static constexpr std::uint32_t kNumLanes = kLanesOf<T>;

    Column() = default;
    Column(Lane* const* lanes, std::size_t size) : size_(size) {
        for (std::uint32_t lane = 0; lane < kNumLanes; ++lane) lanes_[lane] = lanes[lane];
    }

    std::size_t size() const { return size_; }
    /// For reading, returns a const value. Assigning to it, which would not change the row, does not compile.
    SHOAL_INLINE auto operator[](std::size_t row) const
        -> std::conditional_t<std::is_const_v<T>, T, SplitReference<Value>> {
        require_current();
        SHOAL_CHECK(row < size_, "the row is past the end of the column");
        if constexpr (std::is_const_v<T>) {
            float values[kNumLanes];
            for (std::uint32_t lane = 0; lane < kNumLanes; ++lane) values[lane] = lanes_[lane][row];
            Value result;
            copy_bytes(static_cast<void*>(&result), values, sizeof values);
            return result;
        } else {
            return SplitReference<Value>(lanes_, row);
        }
    }
    auto begin() const { return RowIterator<Column>(*this, 0); }
    auto end() const { return RowIterator<Column>(*this, size_); }
    /// Shape: size() floats of one lane.
    std::span<Lane> lane(std::uint32_t index) const {
        require_current();
        SHOAL_ASSERT(index < kNumLanes, "the field has no such lane");
        return {lanes_[index], size_};
    }
    std::span<Lane> x() const { return lane(0); }
    std::span<Lane> y() const { return lane(1); }
    std::span<Lane> z() const
        requires(kNumLanes > 2)
    {
        return lane(2);
    }
    std::span<Lane> w() const
        requires(kNumLanes > 3)
    {
        return lane(3);
    }

private:
    Lane* lanes_[kNumLanes] = {};
    std::size_t size_ = 0;
};

template <class T>
class ComponentReference;

template <class T>
class Column<T, ColumnLayout::kInColumns> : public detail::WatchedView {
public:
    using Value = std::remove_const_t<T>;
    using Bytes = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    static constexpr ColumnLayout kLayout = ColumnLayout::kInColumns;
    static constexpr std::uint32_t kNumColumns = DescriptionOf<Value>::kNumColumns;

    Column() = default;
    /// There is no loop here, so that the compiler sees early that the columns are distinct, and vectorises loops over
    /// rows.
    template <class Columns, std::size_t... kIndices>
    SHOAL_INLINE Column(Columns&& columns, std::index_sequence<kIndices...>, std::size_t size)
        : columns_{columns(static_cast<std::uint32_t>(kIndices))...}, size_(size) {}

    std::size_t size() const { return size_; }
    SHOAL_INLINE auto operator[](std::size_t row) const
        -> std::conditional_t<std::is_const_v<T>, T, ComponentReference<Value>> {
        require_current();
        SHOAL_CHECK(row < size_, "the row is past the end of the column");
        if constexpr (std::is_const_v<T>)
            return get(row);
        else
            return ComponentReference<Value>(*this, row);
    }
    auto begin() const { return RowIterator<Column>(*this, 0); }
    auto end() const { return RowIterator<Column>(*this, size_); }
    /// Requires: row < size().
    SHOAL_INLINE Value get(std::size_t row) const;
    SHOAL_INLINE void set(std::size_t row, const Value& value) const
        requires(!std::is_const_v<T>);
    /// Returns the row's element in one column.
    Bytes* element(std::uint32_t column, std::size_t row) const {
        return columns_[column] + row * DescriptionOf<Value>::column_bytes(column);
    }

private:
    template <auto kMember>
    auto field() const;

    Bytes* columns_[kNumColumns] = {};
    std::size_t size_ = 0;
};

/// Row `row` of a component whose fields are in columns.
template <class T>
class ComponentReference {
public:
    ComponentReference(const Column<T, ColumnLayout::kInColumns>& column, std::size_t row)
        : column_(column), row_(row) {}
    ComponentReference(const ComponentReference&) = delete;  // as for SplitReference
    SHOAL_INLINE T get() const { return column_.get(row_); }
    SHOAL_INLINE void set(const T& value) const { column_.set(row_, value); }
    SHOAL_INLINE operator T() const { return get(); }  // NOLINT: it stands for a T
    SHOAL_INLINE const ComponentReference& operator=(const T& value) const { return set(value), *this; }
    SHOAL_INLINE const ComponentReference& operator=(const ComponentReference& other) const {
        return set(other.get()), *this;
    }

private:
    Column<T, ColumnLayout::kInColumns> column_;
    std::size_t row_;
};

/// The layout of a member of a component, at compile time.
template <auto kMember>
struct FieldLayout {
    using Component = ComponentOf<kMember>;
    using Value = ValueOf<kMember>;
    static_assert(kIsDescribed<Component>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static constexpr int kIndex = DescriptionOf<Component>::template field_index<kMember>();
    static_assert(kIndex >= 0, "the member is not among the fields of its SHOAL_COMPONENT declaration");
    static constexpr ColumnLayout kLayout = DescriptionOf<Component>::kWhole          ? ColumnLayout::kWhole
                                            : DescriptionOf<Component>::split(kIndex) ? ColumnLayout::kSplit
                                                                                      : ColumnLayout::kApart;
    static constexpr std::uint32_t kFirstColumn = DescriptionOf<Component>::first_column(kIndex);
    static constexpr std::uint32_t kNumColumns = kLayout == ColumnLayout::kSplit ? kLanesOf<Value> : 1;
    /// Bytes from one row to the next in a column of the field.
    static constexpr std::size_t column_bytes(std::uint32_t) {
        return kLayout == ColumnLayout::kWhole ? sizeof(Component) : sizeof(Value) / kNumColumns;
    }
    /// The offset of the member in its struct.
    static std::size_t struct_offset() { return schema_of<Component>().fields()[kIndex].struct_offset; }
};

/// The layout of all fields of a component.
template <auto kMember>
    requires kNamesAllFields<kMember>
struct FieldLayout<kMember> {
    using Component = ComponentOf<kMember>;
    using Value = Component;
    static_assert(kIsDescribed<Component>, "the component is not declared; write SHOAL_COMPONENT(Name, fields...)");
    static_assert(DescriptionOf<Component>::kNumFields != 0, "a component without fields has no values to look at");
    static_assert(DescriptionOf<Component>::kIsPlain,
                  "a field has a type that only C++ knows; name the fields one by one: &T::field");
    static constexpr ColumnLayout kLayout =
        DescriptionOf<Component>::kWhole ? ColumnLayout::kWhole : ColumnLayout::kInColumns;
    static constexpr std::uint32_t kFirstColumn = 0, kNumColumns = DescriptionOf<Component>::kNumColumns;
    static constexpr std::size_t column_bytes(std::uint32_t column) {
        return kLayout == ColumnLayout::kWhole ? sizeof(Component) : DescriptionOf<Component>::column_bytes(column);
    }
    static std::size_t struct_offset() { return 0; }
};

/// The view of field `kMember`, for reading or writing.
template <auto kMember>
using ReadColumn = Column<const ValueOf<kMember>, FieldLayout<kMember>::kLayout>;
template <auto kMember>
using WriteColumn = Column<ValueOf<kMember>, FieldLayout<kMember>::kLayout>;

/// Makes the view from the first elements of the columns. `columns(c)` returns the first element of schema column c.
template <auto kMember, class T, class Columns>
SHOAL_INLINE Column<T, FieldLayout<kMember>::kLayout> make_column(Columns&& columns, std::size_t struct_offset,
                                                                  std::size_t num_rows) {
    using Layout = FieldLayout<kMember>;
    if constexpr (Layout::kLayout == ColumnLayout::kApart) {
        return {reinterpret_cast<T*>(columns(Layout::kFirstColumn)), num_rows};
    } else if constexpr (Layout::kLayout == ColumnLayout::kWhole) {
        auto* const first = columns(0);  // nullptr in a table that has never held a row
        return {first == nullptr ? first : first + struct_offset, sizeof(ComponentOf<kMember>), num_rows};
    } else if constexpr (Layout::kLayout == ColumnLayout::kInColumns) {
        return {columns, std::make_index_sequence<Layout::kNumColumns>(), num_rows};
    } else {
        using Lane = typename Column<T, ColumnLayout::kSplit>::Lane;
        Lane* lanes[Layout::kNumColumns];
        for (std::uint32_t lane = 0; lane < Layout::kNumColumns; ++lane)
            lanes[lane] = reinterpret_cast<Lane*>(columns(Layout::kFirstColumn + lane));
        return {lanes, num_rows};
    }
}

/// Makes a view for a program. In checked builds, the view watches its table. The component's columns begin at `first`.
template <auto kMember, class T, class Columns>
SHOAL_INLINE auto make_column(Columns&& columns, std::size_t struct_offset, std::size_t num_rows, const auto& table,
                              std::uint32_t first) {
    auto column = make_column<kMember, T>(columns, struct_offset, num_rows);
    column.template watch<kMember, T>(table, first);
    return column;
}

template <class T>
template <auto kMember>
SHOAL_INLINE auto Column<T, ColumnLayout::kInColumns>::field() const {
    using Member = std::conditional_t<std::is_const_v<T>, const ValueOf<kMember>, ValueOf<kMember>>;
    return make_column<kMember, Member>([this](std::uint32_t c) SHOAL_INLINED { return columns_[c]; }, 0, size_);
}

template <class T>
SHOAL_INLINE auto Column<T, ColumnLayout::kInColumns>::get(std::size_t row) const -> Value {
    Value result{};
    DescriptionOf<Value>::for_each_field([&]<auto kMember, std::uint32_t, bool kSplit>() SHOAL_INLINED {
        const auto column = field<kMember>();
        if constexpr (kSplit)
            copy_numbers((&result)->*kMember, ValueOf<kMember>(column[row]));
        else
            copy_numbers((&result)->*kMember, column[row]);
    });
    return result;
}

template <class T>
SHOAL_INLINE void Column<T, ColumnLayout::kInColumns>::set(std::size_t row, const Value& value) const
    requires(!std::is_const_v<T>)
{
    DescriptionOf<Value>::for_each_field([&]<auto kMember, std::uint32_t, bool kSplit>() SHOAL_INLINED {
        const auto column = field<kMember>();
        if constexpr (kSplit)
            column[row] = (&value)->*kMember;
        else
            copy_numbers(column[row], (&value)->*kMember);
    });
}

}  // namespace shoal
