// World.sql(): answers as NumPy arrays, a column each.

#include "world.h"

#if defined(SHOAL_PYTHON_HAS_SQL)
#include "shoal/sql/sql.h"
#endif

#include <algorithm>
#include <cmath>
#include <limits>

namespace shoal_python {

#if defined(SHOAL_PYTHON_HAS_SQL)

namespace {

/// The values of one column. Numbers stay numbers; the first text makes all of them objects.
struct AnswerColumn {
    std::string name, type;
    std::vector<sql::Value> values{};
    std::vector<std::string> texts{};  // of those that are texts, in their order
    bool has_null = false, has_real = false;

    void add(const sql::Value& value) {
        values.push_back(value);
        if (value.kind == sql::Kind::kText) texts.emplace_back(value.text);
        has_null |= value.kind == sql::Kind::kNull;
        has_real |= value.kind == sql::Kind::kReal;
    }
    py::object array() const;

private:
    template <class T, class Convert>
    py::array numbers(Convert&& convert) const {
        py::array_t<T> array(static_cast<py::ssize_t>(values.size()));
        for (std::size_t i = 0; i < values.size(); ++i) array.mutable_data()[i] = convert(values[i]);
        return array;
    }
    py::array objects() const;
};

/// Texts, beside what else is in the column; NULL is None.
py::array AnswerColumn::objects() const {
    py::list list;
    std::size_t next = 0;
    for (const sql::Value& value : values) {
        if (value.kind == sql::Kind::kText)
            list.append(py::reinterpret_steal<py::object>(
                PyUnicode_DecodeUTF8(texts[next].data(), static_cast<py::ssize_t>(texts[next].size()), "replace")));
        else if (value.kind == sql::Kind::kNull)
            list.append(py::none());
        else if (value.kind == sql::Kind::kReal)
            list.append(value.real);
        else
            list.append(value.integer);
        next += value.kind == sql::Kind::kText;
    }
    const py::object empty = py::module_::import("numpy").attr("empty")(values.size(), "O");
    if (!values.empty()) empty[py::slice(0, static_cast<py::ssize_t>(values.size()), 1)] = list;
    return empty;
}

/// Entities are ids, of which none is 0; a number that may be NULL is a float, NaN for NULL.
py::object AnswerColumn::array() const {
    const double none = std::numeric_limits<double>::quiet_NaN();
    const auto real = [&](const sql::Value& v) { return v.kind == sql::Kind::kNull ? none : v.number(); };
    if (!texts.empty() || type == "text") return objects();
    if (type == "entity" && !has_real) return numbers<EntityBits>([](const sql::Value& v) { return v.entity().id; });
    if (type == "boolean" && !has_real && !has_null)
        return numbers<bool>([](const sql::Value& v) { return v.integer != 0; });
    if (type == "float") return numbers<float>([&](const sql::Value& v) { return static_cast<float>(real(v)); });
    if (has_real || has_null || type == "double") return numbers<double>(real);
    return numbers<std::int64_t>([](const sql::Value& v) { return v.integer; });
}

/// Keeps the rows of the last statement, column by column. No code of Python runs while rows are read.
class ColumnSink final : public sql::RowSink {
public:
    void begin(const std::vector<sql::Column>& given) override {
        columns.clear();
        for (const sql::Column& column : given) {
            std::string name = column.name;
            const auto is_name = [&](const AnswerColumn& other) { return other.name == name; };
            for (int i = 2; std::any_of(columns.begin(), columns.end(), is_name); ++i)
                name = concat(column.name, '_', i);
            columns.push_back({std::move(name), column.type});
        }
    }
    bool take(const sql::Row& row) override {
        for (std::size_t i = 0; i < columns.size(); ++i) columns[i].add(row[i]);
        return true;
    }
    std::vector<AnswerColumn> columns;
};

py::object ask(WorldState& state, const std::string& text, bool updates, double seconds, std::uint64_t max_rows) {
    World& world = updates ? state.require_free("UPDATE") : state.require_open("a question");
    if (!(seconds > 0)) throw py::value_error("seconds is a number above 0");
    ColumnSink sink;
    sql::Connection connection(world);
    const sql::Options options{
        .max_rows = max_rows, .max_bytes = std::uint64_t(4) << 30, .max_seconds = seconds, .allow_updates = updates};
    const std::uint64_t num_updated = require(connection.ask(text, sink, options));
    if (sink.columns.empty()) return py::int_(num_updated);
    py::dict answer;
    for (const AnswerColumn& column : sink.columns)
        answer[py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
            column.name.data(), static_cast<py::ssize_t>(column.name.size()), "replace"))] = column.array();
    return answer;
}

}  // namespace

#else

namespace {

py::object ask(WorldState&, const std::string&, bool, double, std::uint64_t) {
    throw Error("this module was built without SQLite; install it and build the module again");
}

}  // namespace

#endif

void bind_sql(py::module_& module) {
    py::object world = module.attr("World");
    world.attr("_sql") = py::cpp_function(&ask, py::name("_sql"), py::is_method(world));
}

}  // namespace shoal_python
