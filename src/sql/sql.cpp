#include "shoal/sql/sql.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "sql/session.h"
#include "sql/values.h"

namespace shoal::sql {

Entity Value::entity() const { return kind == Kind::kEntity ? entity_of(integer) : kNullEntity; }

double Value::number() const { return kind == Kind::kReal ? real : static_cast<double>(integer); }

std::string Value::to_text() const {
    std::string result;
    if (kind == Kind::kEntity) return entity_text(entity());
    if (kind == Kind::kInteger) append_number(result, integer);
    if (kind == Kind::kReal && is_float) append_number(result, static_cast<float>(real));
    if (kind == Kind::kReal && !is_float) append_number(result, real);
    return kind == Kind::kText ? std::string(text) : result;
}

Row::Row(sqlite3_stmt* statement, const std::vector<Column>& columns) : statement_(statement), columns_(columns) {
    for (const Column& column : columns) {
        are_entities_.push_back(column.type == "entity");
        are_floats_.push_back(column.type == "float");
    }
}

Value Row::operator[](std::size_t column) const {
    SHOAL_ASSERT(column < columns_.size(), "the answer has no such column");
    const auto number = static_cast<int>(column);
    Value value;
    switch (sqlite3_column_type(statement_, number)) {
        case SQLITE_INTEGER:
            value.kind = are_entities_[column] ? Kind::kEntity : Kind::kInteger;
            value.integer = sqlite3_column_int64(statement_, number);
            break;
        case SQLITE_FLOAT:
            value.kind = Kind::kReal;
            value.is_float = are_floats_[column];
            value.real = sqlite3_column_double(statement_, number);
            break;
        case SQLITE_TEXT:
        case SQLITE_BLOB: {
            value.kind = Kind::kText;
            const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, number));
            value.text = {text == nullptr ? "" : text,
                          static_cast<std::size_t>(sqlite3_column_bytes(statement_, number))};
            break;
        }
        default:
            break;
    }
    return value;
}

/// Keeps the rows of the last statement that returns rows.
class AnswerSink final : public RowSink {
public:
    void begin(const std::vector<Column>& columns) override {
        answer.columns_ = columns;
        answer.cells_.clear();
        answer.texts_.clear();
    }
    bool take(const Row& row) override {
        for (std::size_t i = 0; i < row.num_columns(); ++i) {
            const Value value = row[i];
            answer.cells_.push_back({value, answer.texts_.size()});
            answer.texts_ += value.text;
        }
        return true;
    }

    Answer answer;
};

Value Answer::at(std::size_t row, std::size_t column) const {
    SHOAL_ASSERT(row < num_rows() && column < num_columns(), "the answer has no such row or column");
    const Cell& cell = cells_[row * num_columns() + column];
    Value value = cell.value;
    if (value.kind == Kind::kText) value.text = std::string_view(texts_).substr(cell.text_offset, value.text.size());
    return value;
}

std::size_t Answer::find_column(std::string_view name) const {
    std::size_t i = 0;
    while (i < columns_.size() && !is_same_name(columns_[i].name, name)) ++i;
    return i;
}

Connection::Connection(World& world) : session_(new Session(world)) {}
Connection::~Connection() { delete session_; }

Result<std::uint64_t> Connection::ask(std::string_view text, RowSink& sink, const Options& options) {
    return session_->run(text, sink, options);
}

Result<Answer> Connection::ask(std::string_view text, const Options& options) {
    AnswerSink sink;
    const Result<std::uint64_t> num_updated = session_->run(text, sink, options);
    if (!num_updated) return num_updated.status();
    sink.answer.num_updated_ = *num_updated;
    return std::move(sink.answer);
}

Result<std::vector<TableDescription>> Connection::tables() {
    if (Status opened = session_->open(); !opened) return opened;
    return session_->describe();
}

Result<Answer> ask(World& world, std::string_view text, const Options& options) {
    return Connection(world).ask(text, options);
}

}  // namespace shoal::sql
