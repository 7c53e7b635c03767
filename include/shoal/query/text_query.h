#pragma once
// Queries that are parsed at run time, for consoles, scripts, tools and plugins. They need no C++ types.
//
//     Result<TextQuery> hungry = TextQuery::make(world.directory(), "fish, &body, !asleep, fish.hunger >= 2.5");
//     if (!hungry) return hungry.status();  // 1:15: no store keeps a component "aslep"; did you mean "asleep"?
//     hungry->for_each_batch([&](const TextBatch& batch) {
//         const TextColumn hunger = batch.column(0, 0), mass = batch.column(1, 0);  // of fish and body
//         for (std::uint32_t i = 0; i < batch.num_rows(); ++i) *mass.write<float>(i) -= 0.01f * *hunger.read<float>(i);
//     });
//
//     term                      rows visited            columns
//     body                      those that have it      to read
//     &body                     those that have it      to read and write; the loop marks what it visits as written
//     ?body                     all                     to read; none where the entity lacks it
//     !body                     those that lack it      none
//     body.position.x < 10      where this holds        to read, as by the name alone
//     ^body                     all                     of the parent in the transforms, to read; none for roots
//     mast | crew               those that have one     none
//     #enemy, !#enemy           those with the tag      none
//     $wind                     all                     of the one `wind` that the world has, to read
//
// Commas separate the terms. All terms must hold, and at least one must name a component or a tag that the visited rows
// have. A tag with characters that a name cannot have is quoted: #"needs light". While the world has no `wind`, `$wind`
// makes the loop visit no rows. A comparison (< <= > >= == !=) compares a field or a part of a field with a number,
// true, false, a string in quotes, or an enumerator's name without quotes. It may also follow `^body` or `$wind`.
// `health < 10` compares the only field of "health", and `world_pose.position.y < 10` compares the position in the
// matrix of that component (table/detail/field_part.h). A disabled component counts as missing. Inactive entities are
// skipped, unless a term names "inactive". If an entity has several components of a type, the first one is used.
//
// The loops are the same as for compiled queries over a world: a batch is a run of rows in a table, or up to 256 rows
// of a join. See query.h for the restrictions on functions, and for lifetimes. A value that a store computes, such as
// world_pose, can be read but not written. If a store computes other values from a written component, as transforms do,
// it computes them when the loop ends.
// Thread: as for a Query.

#include "shoal/document/diagnostics.h"
#include "shoal/query/detail/access.h"
#include "shoal/table/detail/any_value.h"
#include "shoal/table/detail/field_part.h"

namespace shoal {

/// A component type whose columns a text query passes to its function.
struct TextComponent {
    const Schema* schema = nullptr;  ///< Lifetime: the store
    bool has_columns = true;         ///< false: its store keeps the fields in another form
    bool is_optional = false;        ///< rows may lack it
    bool is_written = false;
    bool is_of_parent = false;                          ///< it is the parent's component: see `^body`
    bool is_singleton = false;                          ///< it is a singleton: its columns are the same for all rows
    std::uint64_t written_columns = ~std::uint64_t(0);  ///< bit i is set if loops write column i (i < 64)
};

/// One column of a component, for the rows of a batch.
struct TextColumn {
    std::byte* first = nullptr;  ///< the element of the batch's first row, or of row 0 if `rows` is set
    std::size_t stride = 0;      ///< bytes from one row to the next; 0: all rows share one element
    const std::uint32_t* rows =
        nullptr;  ///< the row of each entity; kNilRow: it lacks the component. nullptr: the rows are consecutive
    bool is_written = false;
    std::uint32_t num_rows = 0;  ///< the number of rows in the batch

    /// All elements, if they are contiguous as in a table; otherwise empty. Loops over them vectorise. Shape: num_rows,
    /// or 0. Requires: T is the type of the column's elements.
    template <class T>
    std::span<const T> values() const {
        if (rows != nullptr || first == nullptr || stride != sizeof(T)) return {};
        return {reinterpret_cast<const T*>(first), num_rows};
    }
    /// Requires: as for values(), and the query writes the component.
    template <class T>
    std::span<T> written_values() const {
        SHOAL_ASSERT(is_written, "the query only reads the component; write &name in its text");
        const std::span<const T> found = values<T>();
        return {const_cast<T*>(found.data()), found.size()};
    }
    /// The element of row `i` of the batch; nullptr if the entity lacks it.
    const std::byte* at(std::uint32_t i) const {
        if (rows == nullptr) return first == nullptr ? nullptr : first + i * stride;
        return rows[i] == kNilRow ? nullptr : first + rows[i] * stride;
    }
    /// Requires: T is the type of the column's elements.
    template <class T>
    const T* read(std::uint32_t i) const {
        return reinterpret_cast<const T*>(at(i));
    }
    /// Requires: as for read(), and the query writes the component.
    template <class T>
    T* write(std::uint32_t i) const {
        SHOAL_ASSERT(is_written, "the query only reads the component; write &name in its text");
        return reinterpret_cast<T*>(const_cast<std::byte*>(at(i)));
    }
};

/// Rows of a text query. Lifetime: the call to the function that gets the batch.
class SHOAL_API TextBatch {
public:
    std::uint32_t num_rows() const { return static_cast<std::uint32_t>(entities_.size()); }
    /// Shape: num_rows().
    std::span<const Entity> entities() const { return entities_; }
    /// Returns a column of a component. Shape: `component` is an index into the query's components(), and `column` is
    /// an index into Schema::columns().
    TextColumn column(std::size_t component, std::size_t column) const;
    /// Copies part of a field in row `i` to `value`, in any layout. Returns false if the entity lacks the component.
    /// Shape: part.type.num_bytes().
    bool read(std::size_t component, const FieldPart& part, std::uint32_t i, std::byte* value) const;

private:
    friend class TextQuery;
    friend class HeldRows;
    /// Where the rows of a component are.
    struct ComponentRows {
        Table* table = nullptr;  // nullptr: no row has the component
        std::uint32_t first_column = 0;
        std::uint32_t first_row = 0;
        const std::uint32_t* rows = nullptr;  // nullptr: the rows are consecutive, from first_row on
        bool is_singleton = false;            // all rows use row 0
    };
    TextBatch(std::span<const TextComponent> components, std::span<const ComponentRows> places)
        : components_(components), places_(places) {}

    std::span<const TextComponent> components_;
    std::span<const Entity> entities_;
    std::span<const ComponentRows> places_;  // by component; without `rows`, the batch begins at first_row + first_row_
    std::uint32_t first_row_ = 0;
};

class Commands;
class Database;
class TextQueryReader;

class SHOAL_API TextQuery {
public:
    /// Parses file number `file` of `diagnostics` as a query over a directory's stores. Errors: the text is not a
    /// query; no store keeps a component type that the text names; a component type lacks a field that the text names;
    /// a store does not let queries write its components. Each error is added to `diagnostics`.
    static Result<TextQuery> make(const ComponentDirectory& directory, std::uint32_t file, Diagnostics& diagnostics);
    /// Parses `text` as a query. The message of the status is the first error, with its line and column.
    static Result<TextQuery> make(const ComponentDirectory& directory, std::string_view text);

    TextQuery(TextQuery&& other) noexcept : plan_(other.plan_) { other.plan_ = nullptr; }
    TextQuery& operator=(TextQuery&& other) noexcept;
    ~TextQuery();

    /// The components that are named without `!`, each once, in the order of the text.
    std::span<const TextComponent> components() const;
    /// Sets which columns of a written component the loops mark. Shape: bit i of `columns` stands for column i of the
    /// component; columns 64 and up are always marked.
    /// Requires: components()[component].is_written.
    void write_columns(std::size_t component, std::uint64_t columns);
    /// The store whose rows a loop would currently visit.
    const Store& driver() const;
    /// An upper bound on the number of rows that a loop visits: all rows of the driver, even rows that are disabled or
    /// fail a comparison.
    std::uint64_t num_rows() const;
    /// A loop's accesses, for schedules. Lifetime: this query.
    std::span<const Access> accesses() const;

    /// If a loop visits a single table and skips only inactive entities, calls look(context, batch) once with all rows
    /// of the table. The entities and columns of the loop's batches are parts of that batch. Marks nothing as written.
    void look_at_table(void (*look)(void* context, const TextBatch& batch), void* context) const;
    /// Calls visit(context, batch) for all rows that match, and marks the components that the text writes.
    void for_each_batch(void (*visit)(void* context, const TextBatch& batch), void* context) const;
    /// Calls visit(context, batch) for all rows that match, on several threads at the same time, and marks all rows of
    /// the driver that the loop looked at. A loop that visits each value of a `many` type and writes another store
    /// stays on the calling thread. Batches are the same for any number of workers.
    void for_each_batch(Executor& executor, void (*visit)(void* context, const TextBatch& batch), void* context) const;
    /// Calls visit(context, commands, batch) for all rows that match, on several threads at the same time. `commands`
    /// records the commands of the batch's chunk, which apply to `directory`, the directory of the stores.
    void for_each_batch(Executor& executor, ComponentDirectory& directory,
                        void (*visit)(void* context, Commands& commands, const TextBatch& batch), void* context) const;
    template <class Function>
    void for_each_batch(Executor& executor, Function&& function) const {
        static_assert(std::is_invocable_v<Function&, const TextBatch&>, "the function takes a const TextBatch&");
        for_each_batch(executor, call<std::remove_reference_t<Function>>,
                       const_cast<void*>(static_cast<const void*>(&function)));  // NOLINT: it is called as what it is
    }
    template <class Function>
    void for_each_batch(Function&& function) const {
        static_assert(std::is_invocable_v<Function&, const TextBatch&>, "the function takes a const TextBatch&");
        for_each_batch(call<std::remove_reference_t<Function>>,
                       const_cast<void*>(static_cast<const void*>(&function)));  // NOLINT: it is called as what it is
    }

private:
    struct Plan;
    struct Held;
    struct Visitor;
    friend class TextQueryReader;
    friend class HeldRows;
    template <class Function>
    static void call(void* function, const TextBatch& batch) {
        if constexpr (std::is_invocable_v<Function&, const TextBatch&>) (*static_cast<Function*>(function))(batch);
    }
    explicit TextQuery(Plan* plan) : plan_(plan) {}

    Plan* plan_;
};

}  // namespace shoal
