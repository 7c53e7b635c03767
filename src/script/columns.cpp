// Batches and columns, which give a script access to the rows of a query while a function is called.

#include "script/state.h"

#include "shoal/table/detail/saved_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace shoal::lua {
namespace {

/// The number of the prelude's column class that reads a type without calling C, or -1.
int fast_type(FieldType type) {
    constexpr FieldType kTypes[] = {FieldType::kInt8,  FieldType::kInt16,  FieldType::kInt32,
                                    FieldType::kUint8, FieldType::kUint16, FieldType::kUint32,
                                    FieldType::kFloat, FieldType::kDouble, FieldType::kBool};
    const auto at = std::ranges::find(kTypes, type) - std::begin(kTypes);
    return at == std::ssize(kTypes) ? -1 : static_cast<int>(at);
}

/// The number of a slot's column class in the prelude, which is 1 + (type * 3 + layout) * 2 + is_written, or 0 if
/// accesses must call C.
std::uint32_t form_of(const Slot& slot) {
    const int type = fast_type(slot.plan->type.type);
    if (type < 0 || slot.first == nullptr || slot.stride % slot.plan->type.value_bytes != 0) return 0;
    const int layout = slot.rows != nullptr ? 2 : slot.step == 1 ? 0 : 1;
    return static_cast<std::uint32_t>(1 + (type * 3 + layout) * 2 + (slot.is_written ? 1 : 0));
}

}  // namespace

// --- slots -------------------------------------------------------------------------------------------------------

namespace {

/// The slots of a batch during a call. The first one is for the batch itself and its entities, and the others are for
/// its columns.
class OpenBatch {
public:
    OpenBatch(State& state, const Query& query, const TextBatch& rows)
        : state_(state), first_(state.num_slots), serial_(state.next_serial()) {
        SHOAL_ASSERT(fits(state, query), "loops are too deep; ask fits() before");
        Slot& batch = state.slots[state.num_slots++];
        batch = {};
        batch.first = reinterpret_cast<std::byte*>(const_cast<Entity*>(rows.entities().data()));  // NOLINT: is read
        batch.count = rows.num_rows();
        batch.serial = serial_;
        for (const GuestColumn& plan : query.columns) open(state.slots[state.num_slots++], query, plan, rows);
    }
    OpenBatch(const OpenBatch&) = delete;
    OpenBatch& operator=(const OpenBatch&) = delete;
    ~OpenBatch() {
        while (state_.num_slots != first_) {
            Slot& slot = state_.slots[--state_.num_slots];
            slot.count = slot.serial = 0;
        }
    }

    static bool fits(const State& state, const Query& query) {
        return state.num_slots + query.columns.size() + 1 <= kNumSlots;
    }
    std::uint32_t first() const { return first_; }
    std::uint32_t serial() const { return serial_; }

private:
    void open(Slot& slot, const Query& query, const GuestColumn& plan, const TextBatch& rows) const {
        const TextColumn column = rows.column(plan.component, plan.column);
        slot.first = column.first == nullptr ? nullptr : column.first + plan.offset;
        slot.rows = column.rows;
        slot.count = rows.num_rows();
        slot.serial = serial_;
        slot.stride = static_cast<std::uint32_t>(column.stride);
        slot.step = slot.stride / plan.type.value_bytes;
        slot.plan = &plan;
        slot.is_written = query.query->components()[plan.component].is_written;
        slot.form = form_of(slot);
    }

    State& state_;
    std::uint32_t first_;
    std::uint32_t serial_;
};

/// Finds the slot of a token. Errors: the batch has ended.
Slot* find_slot(State& state, const Token& token) {
    if (token.slot < state.num_slots && token.serial != 0 && state.slots[token.slot].serial == token.serial)
        return &state.slots[token.slot];
    fail(state,
         "the batch has ended; use a batch and its columns only in the function that it was given to, and keep "
         "entities instead");
    return nullptr;
}

/// Finds the value in a row; nullptr if the entity does not have the component.
std::byte* value_at(const Slot& slot, std::uint32_t i) {
    if (slot.first == nullptr) return nullptr;
    const std::uint32_t row = slot.rows == nullptr ? i : slot.rows[i];
    return slot.rows != nullptr && row == kNilRow ? nullptr : slot.first + std::size_t(row) * slot.stride;
}

bool read_row(lua_State* lua, State& state, const Slot& slot, std::uint32_t& i) {
    std::int64_t row = -1;
    if (lua_type(lua, 2) == LUA_TNUMBER && read_integer(lua, 2, row) && row >= 0 && row < slot.count)
        return i = static_cast<std::uint32_t>(row), true;
    const char* const name = slot.plan == nullptr ? "entities" : slot.plan->name.c_str();
    if (lua_type(lua, 2) != LUA_TNUMBER)
        return fail(state, "a row of \"", name, "\" is a number, not ", type_of(lua, 2)), false;
    return fail(state, "row ", static_cast<double>(lua_tonumber(lua, 2)), " of \"", name,
                "\" is outside: rows are 0 to ", "batch.count - 1, and the batch has ", slot.count),
           false;
}

// --- reading and writing -----------------------------------------------------------------------------------------

bool read_any_token(lua_State* lua, State& state, Token& token) {
    if (read_foreign_token(lua, 1, token)) return true;
    if (lua_type(lua, 1) == LUA_TUSERDATA) return token = *static_cast<const Token*>(lua_touserdata(lua, 1)), true;
    return fail(state, "argument 1 is a column, a batch, a query or a channel, not ", type_of(lua, 1)), false;
}

/// Pushes a method by name.
int push_method(lua_State* lua, State& state, const Token& token) {
    static constexpr const char* kMembers[kNumTokenKinds] = {
        "rows by number, and fill, copy, add, mul, sum, min and max", "rows by number", "count and entities",
        "each, count and entities", "write, read and read_last"};
    static constexpr const char* kNames[kNumTokenKinds] = {"a column", "a list of entities", "a batch", "a query",
                                                           "a channel"};
    lua_rawgeti(lua, LUA_REGISTRYINDEX, state.tokens);
    lua_rawgeti(lua, -1, static_cast<int>(token.kind) + 1);
    lua_pushvalue(lua, 2);
    lua_rawget(lua, -2);
    if (lua_type(lua, -1) == LUA_TFUNCTION) return 1;
    std::string_view name;
    if (!read_text(lua, state, 2, "a member", name)) return kFailed;
    return fail(state, kNames[token.kind], " has no \"", name, "\"; it has ", kMembers[token.kind]);
}

int index_batch(lua_State* lua, State& state, const Token& token) {
    const Slot* const slot = find_slot(state, token);
    if (slot == nullptr) return kFailed;
    const std::string_view key = lua_type(lua, 2) == LUA_TSTRING ? lua_tostring(lua, 2) : "";
    if (key == "count") return push_integer(lua, slot->count), 1;
    if (key == "entities") return push_token(lua, state, {token.slot, token.serial, kEntities}), 1;
    return fail(state, "a batch has count and entities; columns are the arguments behind it");
}

int index(lua_State* lua, State& state) {
    Token token;
    if (!read_any_token(lua, state, token)) return kFailed;
    if (token.kind == kBatch) return index_batch(lua, state, token);
    if (lua_type(lua, 2) == LUA_TSTRING || token.kind > kEntities) return push_method(lua, state, token);
    const Slot* const slot = find_slot(state, token);
    std::uint32_t i = 0;
    if (slot == nullptr || !read_row(lua, state, *slot, i)) return kFailed;
    if (token.kind == kEntities) {
        push_entity(lua, reinterpret_cast<const Entity*>(slot->first)[i]);
        return 1;
    }
    if (slot->plan == nullptr) return fail(state, "this is no column");
    const std::byte* const value = value_at(*slot, i);
    if (value == nullptr) return lua_pushnil(lua), 1;
    return push_value(lua, state, slot->plan->type, value, false);
}

int set_row(lua_State* lua, State& state) {
    Token token;
    if (!read_any_token(lua, state, token)) return kFailed;
    if (token.kind != kColumn) return fail(state, "only columns can be written, by the number of a row");
    const Slot* const slot = find_slot(state, token);
    std::uint32_t i = 0;
    if (slot == nullptr || slot->plan == nullptr || !read_row(lua, state, *slot, i)) return kFailed;
    const GuestColumn& plan = *slot->plan;
    if (!slot->is_written)
        return fail(state, "the query only reads \"", plan.name, "\"; write &",
                    std::string_view(plan.name).substr(0, plan.name.find('.')), " in its text");
    std::byte* const value = value_at(*slot, i);
    if (value == nullptr) return fail(state, "the entity of row ", i, " has no \"", plan.name, "\"");
    return done(state, read_value(lua, state, 3, 1, plan.type, plan.name, value));
}

int length(lua_State* lua, State& state) {
    Token token;
    if (!read_any_token(lua, state, token)) return kFailed;
    if (token.kind > kBatch) return fail(state, "it has no length; call :count()");
    const Slot* const slot = find_slot(state, token);
    if (slot == nullptr) return kFailed;
    return push_integer(lua, slot->count), 1;
}

/// make_column(slot, serial) makes a column for the prelude.
int make_column(lua_State* lua, State& state) {
    push_token(
        lua, state,
        {static_cast<std::uint32_t>(lua_tonumber(lua, 1)), static_cast<std::uint32_t>(lua_tonumber(lua, 2)), kColumn});
    return 1;
}

// --- whole columns -----------------------------------------------------------------------------------------------

/// The operands of an operation on a numeric column. The second is a column or a number.
struct Operands {
    const Slot* to = nullptr;
    const Slot* other = nullptr;  // nullptr: the operand is a number
    double number = 0;
    double factor = 1;
};

const Slot* read_column(lua_State* lua, State& state, int at) {
    Token token;
    if (!read_token(lua, state, at, kColumn, "a column", token)) return nullptr;
    const Slot* const slot = find_slot(state, token);
    if (slot == nullptr) return nullptr;
    const bool has_numbers = slot->plan != nullptr && (slot->plan->type.type == FieldType::kFloat ||
                                                       slot->plan->type.type == FieldType::kDouble);
    if (has_numbers && slot->first != nullptr && slot->rows == nullptr) return slot;
    if (!has_numbers)
        fail(state, "argument ", at, " is a column of float or double, as whole columns are computed");
    else
        fail(state, "\"", slot->plan->name,
             "\" is not there for all rows one behind the other; use a loop over the rows");
    return nullptr;
}

bool read_operands(lua_State* lua, State& state, Operands& operands) {
    operands.to = read_column(lua, state, 1);
    if (operands.to == nullptr) return false;
    state.link.steps_left -= static_cast<double>(operands.to->count) / 16;
    const GuestColumn& plan = *operands.to->plan;
    if (!operands.to->is_written)
        return fail(state, "the query only reads \"", plan.name, "\"; write & before its component"), false;
    if (lua_type(lua, 2) == LUA_TNUMBER) return operands.number = lua_tonumber(lua, 2), true;
    operands.other = read_column(lua, state, 2);
    if (operands.other == nullptr) return false;
    if (operands.other->plan->type.type != plan.type.type || operands.other->count != operands.to->count)
        return fail(state, "\"", operands.other->plan->name, "\" and \"", plan.name,
                    "\" differ in type or in the number of rows"),
               false;
    return true;
}

/// Calls operation(to, other) for each value, in blocks that compilers can vectorize.
template <class T, class Operation>
void for_values(const Operands& operands, Operation operation) {
    const Slot& to = *operands.to;
    const bool is_array = to.stride == sizeof(T);
    const auto number = static_cast<T>(operands.number);
    if (is_array && operands.other != nullptr && operands.other->stride == sizeof(T) &&
        operands.other->first != to.first) {
        T* __restrict a = reinterpret_cast<T*>(to.first);
        const T* __restrict b = reinterpret_cast<const T*>(operands.other->first);
        std::uint32_t i = 0;
        for (; i + 16 <= to.count; i += 16)
            for (std::uint32_t k = 0; k < 16; ++k) a[i + k] = operation(a[i + k], b[i + k]);
        for (; i < to.count; ++i) a[i] = operation(a[i], b[i]);
        return;
    }
    for (std::uint32_t i = 0; i < to.count; ++i) {
        T& value = *reinterpret_cast<T*>(to.first + std::size_t(i) * to.stride);
        const T other =
            operands.other == nullptr
                ? number
                : *reinterpret_cast<const T*>(operands.other->first + std::size_t(i) * operands.other->stride);
        value = operation(value, other);
    }
}

template <class Operation>
void for_all(const Operands& operands, Operation operation) {
    if (operands.to->plan->type.type == FieldType::kFloat)
        for_values<float>(operands, operation);
    else
        for_values<double>(operands, operation);
}

int fill(lua_State* lua, State& state) {
    Operands operands;
    if (!read_operands(lua, state, operands)) return kFailed;
    for_all(operands, [](auto, auto other) { return other; });
    return 0;
}

int add_into(lua_State* lua, State& state) {
    Operands operands;
    if (!read_operands(lua, state, operands)) return kFailed;
    if (lua_type(lua, 3) != LUA_TNUMBER && lua_type(lua, 3) > LUA_TNIL)
        return fail(state, "argument 3 is a factor, a number, not ", type_of(lua, 3));
    if (lua_type(lua, 3) == LUA_TNUMBER) operands.factor = lua_tonumber(lua, 3);
    const double factor = operands.factor;
    for_all(operands, [factor](auto value, auto other) {
        return static_cast<decltype(value)>(value + other * static_cast<decltype(value)>(factor));
    });
    return 0;
}

int mul(lua_State* lua, State& state) {
    Operands operands;
    if (!read_operands(lua, state, operands)) return kFailed;
    for_all(operands, [](auto value, auto other) { return static_cast<decltype(value)>(value * other); });
    return 0;
}

double load_number(const Slot& slot, std::uint32_t i) {
    const std::byte* const at = slot.first + std::size_t(i) * slot.stride;
    if (slot.plan->type.type == FieldType::kFloat) return *reinterpret_cast<const float*>(at);
    return *reinterpret_cast<const double*>(at);
}

template <class Operation>
int reduce(lua_State* lua, State& state, double first, Operation operation) {
    const Slot* const slot = read_column(lua, state, 1);
    if (slot == nullptr) return kFailed;
    state.link.steps_left -= static_cast<double>(slot->count) / 16;
    for (std::uint32_t i = 0; i < slot->count; ++i) first = operation(first, load_number(*slot, i));
    return lua_pushnumber(lua, first), 1;
}

int sum(lua_State* lua, State& state) {
    return reduce(lua, state, 0, [](double a, double b) { return a + b; });
}
int minimum(lua_State* lua, State& state) {
    return reduce(lua, state, std::numeric_limits<double>::infinity(),
                  [](double a, double b) { return b < a ? b : a; });
}
int maximum(lua_State* lua, State& state) {
    return reduce(lua, state, -std::numeric_limits<double>::infinity(),
                  [](double a, double b) { return b > a ? b : a; });
}

// --- queries -----------------------------------------------------------------------------------------------------

Status add_scalar(Query& query, const NamedColumn& place, std::string_view field, std::string_view name) {
    const Result<FieldPart> part = find_field_part(*place.schema, field);
    if (!part) return part.status();
    if (query.columns.size() == kMostGuestColumns)
        return Status::error(
            concat("a query shows at most ", kMostGuestColumns, " columns; parts of vectors count one each"));
    query.columns.push_back(
        {std::string(name), part->type, place.component, part->first_column, part->offset_in_column});
    return {};
}

/// Adds the parts of a vector or an array, and pushes a table of them, in which ".x" has the key x, and "[0]" has the
/// key 1.
Status add_parts(lua_State* lua, Query& query, const NamedColumn& place, const FieldPart& part, std::string_view name) {
    const bool is_array = part.type.array_length != 0;
    const std::uint32_t count = is_array ? part.type.array_length : part.type.value_bytes / sizeof(float);
    lua_createtable(lua, 0, static_cast<int>(count));
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::string suffix = is_array ? concat("[", i, "]") : concat(".", lane_name(i));
        Status status = add_scalar(query, place, concat(place.field, suffix), concat(name, suffix));
        if (!status) return status;
        if (query.columns.back().type.type >= FieldType::kVec2 &&
            query.columns.back().type.type <= FieldType::kMatrix3x4)
            return Status::error(concat("\"", name, "\" is an array of vectors; name one of them: ", name, "[0]"));
        if (is_array)
            push_integer(lua, i + 1);
        else
            push_text(lua, lane_name(i));
        push_integer(lua, static_cast<std::int64_t>(query.columns.size()));
        lua_rawset(lua, -3);
    }
    return {};
}

/// Adds the columns for a name, and pushes their shape: a column number, or a table with the column number of each
/// part.
Status add_columns(lua_State* lua, Query& query, std::string_view name) {
    const Result<NamedColumn> place = find_named_column(*query.query, name);
    if (!place) return place.status();
    const Result<FieldPart> part = find_field_part(*place->schema, place->field);
    if (!part) return part.status();
    const FieldType type = part->type.type;
    if (part->type.array_length != 0 || (type >= FieldType::kVec2 && type <= FieldType::kQuaternion))
        return add_parts(lua, query, *place, *part, name);
    if (type == FieldType::kMatrix3x4)
        return Status::error(
            concat("\"", name, "\" is a matrix; name its rows, ", name, "[0], or its position, ", name, ".position"));
    if (type == FieldType::kBlobArray || type == FieldType::kOpaque)
        return Status::error(concat("\"", name, "\" is ", part->type.to_text(), ", which scripts do not read"));
    if (Status status = add_scalar(query, *place, place->field, name); !status) return status;
    push_integer(lua, static_cast<std::int64_t>(query.columns.size()));
    return {};
}

}  // namespace

Status Query::find_columns() {
    lua_State* const lua = state_of(guest).running;
    lua_createtable(lua, static_cast<int>(column_names.size()), 0);
    const int list = lua_gettop(lua);
    for (std::size_t i = 0; i < column_names.size(); ++i) {
        if (Status status = add_columns(lua, *this, column_names[i]); !status) {
            lua_settop(lua, list - 1);
            return status;
        }
        lua_rawseti(lua, list, static_cast<int>(i) + 1);
    }
    shapes = luaL_ref(lua, LUA_REGISTRYINDEX);
    limit_writes();
    return {};
}

void Query::forget_columns() { luaL_unref(state_of(guest).lua, LUA_REGISTRYINDEX, std::exchange(shapes, LUA_NOREF)); }

namespace {

struct BatchCall {
    lua_State* lua;
    State& state;
    const Query& query;
    int function, frame;
    Status status;
};

void run_batch(BatchCall& run, Commands& commands, const TextBatch& rows) {
    if (!run.status || rows.num_rows() == 0) return;
    State& state = run.state;
    const OpenBatch batch(state, run.query, rows);
    Commands* const before = std::exchange(state.commands, &commands);
    lua_rawgeti(run.lua, LUA_REGISTRYINDEX, state.enter);
    lua_pushvalue(run.lua, run.function);
    if (run.frame == LUA_NOREF)
        lua_pushnil(run.lua);
    else
        lua_rawgeti(run.lua, LUA_REGISTRYINDEX, run.frame);
    push_token(run.lua, state, {batch.first(), batch.serial(), kBatch});
    lua_pushnumber(run.lua, batch.first());
    lua_pushnumber(run.lua, batch.serial());
    lua_rawgeti(run.lua, LUA_REGISTRYINDEX, run.query.shapes);
    run.status = state.call(run.lua, 6, 0);
    state.commands = before;
}

}  // namespace

Status run_query(lua_State* lua, State& state, const Query& query, int function, int frame) {
    constexpr std::uint32_t kDeepest = 8;
    if (state.num_loops == kDeepest || !OpenBatch::fits(state, query))
        return Status::error(concat("at most ", kDeepest, " loops over queries run one within the other"));
    state.link.steps_left -= static_cast<double>(query.query->num_rows()) / 16;
    BatchCall run{lua, state, query, function, frame, {}};
    SerialExecutor serial;
    const LoopScope loop(state);
    query.query->for_each_batch(
        serial, state.world.directory(),
        [](void* of, Commands& commands, const TextBatch& rows) {
            run_batch(*static_cast<BatchCall*>(of), commands, rows);
        },
        &run);
    return std::move(run.status);
}

// --- queries of scripts ------------------------------------------------------------------------------------------

namespace {

Query* read_query(lua_State* lua, State& state) {
    Token token;
    if (!read_token(lua, state, 1, kQuery, "a query", token)) return nullptr;
    Query* const query = find_part<Query>(state, &Guest::queries, token);
    if (query == nullptr) return fail(state, "the script that has made the query was unloaded"), nullptr;
    if (!query->query) return fail(state, query->problem.message()), nullptr;
    return query;
}

/// In a pass, a query may access only what the pass declares. Outside of passes, it may access anything.
bool check_query(State& state, const Query& query) {
    if (state.pass == nullptr || state.pass->is_everything) return true;
    for (const TextComponent& component : query.query->components()) {
        const KeptComponent kept = state.world.directory().find_kept(component.schema->id());
        if (!kept) continue;
        const Status status = check_access(state, *kept.store, *kept.schema, component.is_written);
        if (!status) return fail(state, status.message()), false;
    }
    return true;
}

/// Finds a query that the script made earlier with the same arguments.
Query* find_same(const State& state, std::string_view text, const Array<std::string>& names) {
    for (GuestQuery* query : state.script->queries)
        if (static_cast<Query*>(query)->serial != 0 && query->query && query->text == text &&
            std::ranges::equal(query->column_names, names))
            return static_cast<Query*>(query);
    return nullptr;
}

int query(lua_State* lua, State& state) {
    std::string_view text;
    if (!read_text(lua, state, 1, "the text of a query", text)) return kFailed;
    if (state.rows_are_held()) return fail(state, "make a query outside of passes and loops, and keep it");
    Array<std::string> names{Owner("scripts")};
    if (lua_type(lua, 2) > LUA_TNIL) {
        lua_settop(lua, 2);
        lua_createtable(lua, 0, 1);
        lua_pushvalue(lua, 2);
        lua_setfield(lua, -2, "columns");
        if (const Status status = read_texts(lua, 3, "columns", names); !status) return fail(state, status.message());
    }
    if (const Query* const same = find_same(state, text, names))
        return push_token(lua, state, {0, same->serial, kQuery}), 1;
    if (!has_room(state, state.script->queries.size(), "queries")) return kFailed;
    auto* const made = make_owned<Query>("scripts", *state.script, text, std::move(names));
    if (const Status status = state.script->add(*made); !status) return fail(state, status.message());
    made->serial = state.next_serial();
    push_token(lua, state, {0, made->serial, kQuery});
    return 1;
}

int each(lua_State* lua, State& state) {
    const Query* const query = read_query(lua, state);
    if (query == nullptr || !read_function(lua, state, 2, "what is called for each batch")) return kFailed;
    if (!check_query(state, *query)) return kFailed;
    return done(state, run_query(lua, state, *query, 2, LUA_NOREF));
}

int count(lua_State* lua, State& state) {
    const Query* const query = read_query(lua, state);
    if (query == nullptr || !check_query(state, *query)) return kFailed;
    std::int64_t rows = 0;
    state.link.steps_left -= static_cast<double>(query->query->num_rows()) / 16;
    query->query->for_each_batch([&](const TextBatch& batch) { rows += batch.num_rows(); });
    return push_integer(lua, rows), 1;
}

int push_entities(lua_State* lua, State& state, const TextQuery& query) {
    state.link.steps_left -= static_cast<double>(query.num_rows()) / 16;
    lua_createtable(lua, 0, 0);
    int i = 0;
    query.for_each_batch([&](const TextBatch& batch) {
        for (const Entity entity : batch.entities()) {
            push_entity(lua, entity);
            lua_rawseti(lua, -2, ++i);
        }
    });
    return 1;
}

int entities(lua_State* lua, State& state) {
    const Query* const query = read_query(lua, state);
    if (query == nullptr || !check_query(state, *query)) return kFailed;
    return push_entities(lua, state, *query->query);
}

/// Returns a list of the entities that match a text query.
int find(lua_State* lua, State& state) {
    std::string_view text;
    if (!read_text(lua, state, 1, "the text of a query", text)) return kFailed;
    if (state.rows_are_held()) return fail(state, "find() runs outside of passes and loops; make a query and keep it");
    state.link.steps_left -= kStepsToMake;
    const Result<TextQuery> made = TextQuery::make(state.world.directory(), text);
    if (!made) return fail(state, "query \"", text, "\": ", made.message());
    return push_entities(lua, state, *made);
}

constexpr Function kColumnMethods[] = {{"fill", run_body<fill>},  {"copy", run_body<fill>}, {"add", run_body<add_into>},
                                       {"mul", run_body<mul>},    {"sum", run_body<sum>},   {"min", run_body<minimum>},
                                       {"max", run_body<maximum>}};
constexpr Function kQueryMethods[] = {{"each", run_body<in_world<each>>},
                                      {"count", run_body<in_world<count>>},
                                      {"entities", run_body<in_world<entities>>}};
constexpr Function kNative[] = {{"index", run_body<index>},
                                {"set", run_body<set_row>},
                                {"length", run_body<length>},
                                {"column", run_body<make_column>}};
constexpr Function kQueryFunctions[] = {{"query", run_body<in_world<query>>}, {"find", run_body<in_world<find>>}};

}  // namespace

std::span<const Function> query_functions() { return kQueryFunctions; }

std::span<const Function> methods_of(std::uint32_t kind) {
    if (kind == kColumn) return kColumnMethods;
    if (kind == kQuery) return kQueryMethods;
    if (kind == kChannel) return event_functions().subspan(1);
    if (kind == kNumTokenKinds) return kNative;
    return {};
}

}  // namespace shoal::lua
