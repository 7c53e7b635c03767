// A spatial hash as a store of a plugin, in C++. Observers keep it right, and a pass looks up neighbours in it.
//
//     mote       x, y        metres; rows of the world. In a source, `mote = { at = [3 4] }` will do
//     neighbour  x, y        where the mote was when the world settled; rows of this plugin, one for each mote
//                num_near    other motes nearer than a metre, which the pass "neighbours" counts
//
//     mote is added, moved, removed --observer--> neighbour --> cells --> pass
//
// The store keeps columns for queries, and beside them which rows lie in which cell of one metre. When the plugin is exchanged,
// the columns are saved, and the cells are made anew. The verb `shoal --plugin libgrid.so cell X Y` says in which cell a place is.

#include "shoal/plugin/shoal_abi.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr float kRadius = 1;  // metres; as large as a cell, so that nine of them have all that is near

struct Position {
    float x, y;
};
struct Neighbour {
    float x, y;
    uint32_t num_near;
};

/// An array on 64 bytes, with memory up to the next 64 bytes.
template <class T>
class Column {
public:
    Column() = default;
    Column(const Column&) = delete;
    Column& operator=(const Column&) = delete;
    ~Column() { std::free(data_); }
    T* data() const { return data_; }
    T& operator[](uint32_t row) const { return data_[row]; }
    void reserve(uint32_t num_rows) {
        if (num_rows <= room_) return;
        room_ = (num_rows + num_rows / 2 + 63) / 64 * 64;
        T* const moved = static_cast<T*>(std::aligned_alloc(64, room_ * sizeof(T)));
        if (moved == nullptr) std::abort();
        if (num_rows_ != 0) std::memcpy(moved, data_, num_rows_ * sizeof(T));
        std::free(data_);
        data_ = moved;
    }
    void resize(uint32_t num_rows) {
        reserve(num_rows);
        num_rows_ = num_rows;
    }

private:
    T* data_ = nullptr;
    uint32_t num_rows_ = 0, room_ = 0;
};

int32_t cell_of(float at) { return static_cast<int32_t>(std::floor(at / kRadius)); }
uint64_t key_of(int32_t column, int32_t row) {
    return static_cast<uint64_t>(static_cast<uint32_t>(column)) << 32 | static_cast<uint32_t>(row);
}

/// The store: columns, the row of each entity, and the rows in each cell.
class Grid {
public:
    void put(shoal_entity entity, const Neighbour& values) {
        const auto [at, is_new] = rows_.emplace(entity, num_rows_);
        const uint32_t row = at->second;
        if (is_new)
            append(entity);
        else
            leave_cell(row);
        x_[row] = values.x, y_[row] = values.y, num_near_[row] = values.num_near;
        cells_[key(row)].push_back(row);
    }
    bool remove(shoal_entity entity) {
        const auto at = rows_.find(entity);
        if (at == rows_.end()) return false;
        const uint32_t row = at->second, last = num_rows_ - 1;
        rows_.erase(at);
        leave_cell(row);
        if (row != last) move(last, row);
        resize(last);
        return true;
    }
    uint32_t find(shoal_entity entity) const {
        const auto at = rows_.find(entity);
        return at == rows_.end() ? SHOAL_NO_ROW : at->second;
    }
    uint32_t count_near(shoal_entity entity) const {
        const uint32_t row = find(entity);
        if (row == SHOAL_NO_ROW) return 0;
        uint32_t count = 0;
        for (int32_t dx = -1; dx <= 1; ++dx)
            for (int32_t dy = -1; dy <= 1; ++dy) {
                const auto cell = cells_.find(key_of(cell_of(x_[row]) + dx, cell_of(y_[row]) + dy));
                if (cell == cells_.end()) continue;
                for (const uint32_t other : cell->second) count += other != row && are_near(row, other);
            }
        return count;
    }
    void show(shoal_rows& rows) {
        columns_[0] = x_.data(), columns_[1] = y_.data(), columns_[2] = num_near_.data();
        rows.num_rows = num_rows_;
        rows.entities = entities_.data();
        rows.columns = columns_;
    }
    uint32_t num_rows() const { return num_rows_; }
    shoal_entity entity(uint32_t row) const { return entities_[row]; }
    Neighbour values(uint32_t row) const { return {x_[row], y_[row], num_near_[row]}; }
    uint64_t num_cells() const { return cells_.size(); }

private:
    uint64_t key(uint32_t row) const { return key_of(cell_of(x_[row]), cell_of(y_[row])); }
    bool are_near(uint32_t a, uint32_t b) const {
        const float dx = x_[a] - x_[b], dy = y_[a] - y_[b];
        return dx * dx + dy * dy < kRadius * kRadius;
    }
    void resize(uint32_t num_rows) {
        num_rows_ = num_rows;
        entities_.resize(num_rows), x_.resize(num_rows), y_.resize(num_rows), num_near_.resize(num_rows);
    }
    void append(shoal_entity entity) {
        resize(num_rows_ + 1);
        entities_[num_rows_ - 1] = entity;
    }
    void move(uint32_t from, uint32_t to) {
        leave_cell(from);
        entities_[to] = entities_[from];
        x_[to] = x_[from], y_[to] = y_[from], num_near_[to] = num_near_[from];
        rows_[entities_[to]] = to;
        cells_[key(to)].push_back(to);
    }
    void leave_cell(uint32_t row) {
        const auto cell = cells_.find(key(row));
        std::vector<uint32_t>& rows = cell->second;
        for (uint32_t& one : rows)
            if (one == row) {
                one = rows.back();
                break;
            }
        rows.pop_back();
        if (rows.empty()) cells_.erase(cell);
    }

    uint32_t num_rows_ = 0;
    Column<shoal_entity> entities_;
    Column<float> x_, y_;
    Column<uint32_t> num_near_;
    void* columns_[3] = {};
    std::unordered_map<shoal_entity, uint32_t> rows_;
    std::unordered_map<uint64_t, std::vector<uint32_t>> cells_;
};

struct State {
    const shoal_host* host;
    shoal_world* world;
    const shoal_component *mote, *neighbour;
    Grid* grid;  // the store's, until that ends
};

Grid& grid_of(void* context) { return *static_cast<Grid*>(context); }

// --- the functions of the store ------------------------------------------------------------------------------------

int create(void* context, const shoal_entity* entities, uint32_t count, const void* images, size_t stride,
           shoal_error*) {
    for (uint32_t i = 0; i < count; ++i) {
        Neighbour values;
        std::memcpy(&values, static_cast<const char*>(images) + i * stride, sizeof values);
        grid_of(context).put(entities[i], values);
    }
    return 1;
}

uint32_t destroy(void* context, const shoal_entity* entities, uint32_t count) {
    uint32_t num_removed = 0;
    for (uint32_t i = 0; i < count; ++i) num_removed += grid_of(context).remove(entities[i]) ? 1 : 0;
    return num_removed;
}

void show(void* context, shoal_rows* rows) { grid_of(context).show(*rows); }
uint32_t first(void* context, shoal_entity entity) { return grid_of(context).find(entity); }

int set(void* context, uint32_t row, uint32_t field, const void* value, shoal_error*) {
    Grid& grid = grid_of(context);
    Neighbour values = grid.values(row);
    std::memcpy(reinterpret_cast<char*>(&values) + field * sizeof(float), value, sizeof(float));
    grid.put(grid.entity(row), values);
    return 1;
}

void use_of_memory(void* context, shoal_memory* memory) {
    memory->index_bytes = grid_of(context).num_rows() * 48 + grid_of(context).num_cells() * 64;  // about
}

struct SavedRow {
    shoal_entity entity;
    Neighbour values;
};

State g_state;  // the library is opened anew for each world

int save(void* context, shoal_writer* writer, shoal_error*) {
    const Grid& grid = grid_of(context);
    for (uint32_t row = 0; row < grid.num_rows(); ++row) {
        SavedRow saved;
        std::memset(static_cast<void*>(&saved), 0, sizeof saved);
        saved.entity = grid.entity(row), saved.values = grid.values(row);
        g_state.host->write_bytes(writer, &saved, sizeof saved);
    }
    return 1;
}

int load_rows(void* context, const void* bytes, size_t num_bytes, uint32_t, shoal_error*) {
    for (size_t at = 0; at + sizeof(SavedRow) <= num_bytes; at += sizeof(SavedRow)) {
        SavedRow saved;
        std::memcpy(&saved, static_cast<const char*>(bytes) + at, sizeof saved);
        grid_of(context).put(saved.entity, saved.values);
    }
    return 1;
}

void end(void* context) {
    delete static_cast<Grid*>(context);
    g_state.grid = nullptr;
}

// --- observers and the pass ----------------------------------------------------------------------------------------

void on_placed(void* context, const shoal_change* change) {
    const State& state = *static_cast<const State*>(context);
    std::vector<Neighbour> values(change->num_entities, Neighbour{0, 0, 0});
    for (uint32_t i = 0; i < change->num_entities; ++i) {
        state.host->get_field(state.world, change->entities[i], "mote.x", &values[i].x, sizeof(float), nullptr);
        state.host->get_field(state.world, change->entities[i], "mote.y", &values[i].y, sizeof(float), nullptr);
    }
    state.host->add_rows(state.world, state.neighbour, change->entities, change->num_entities, values.data(),
                         sizeof(Neighbour), nullptr);
}

void on_removed(void* context, const shoal_change* change) {
    const State& state = *static_cast<const State*>(context);
    state.host->remove_rows(state.world, state.neighbour, change->entities, change->num_entities, nullptr);
}

/// Rows do not move while it runs, so all workers may look into the cells.
void count_near(void* context, const shoal_pass*, const shoal_batch* batch) {
    const Grid& grid = *static_cast<const State*>(context)->grid;
    for (uint32_t i = 0; i < batch->num_rows; ++i)
        *static_cast<uint32_t*>(shoal_write(batch->columns[0], i)) = grid.count_near(batch->entities[i]);
}

// --- what sources say, and the verb --------------------------------------------------------------------------------

bool is_place(const shoal_host& host, shoal_node node) {
    const auto is_number = [&](uint32_t i) {
        const uint32_t kind = host.node_kind(host.node_child(node, i));
        return kind == SHOAL_NODE_INTEGER || kind == SHOAL_NODE_NUMBER;
    };
    return host.node_kind(node) == SHOAL_NODE_LIST && host.node_count(node) == 2 && is_number(0) && is_number(1);
}

int compile_mote(void* context, const shoal_compile* compile) {
    const shoal_host& host = *static_cast<const State*>(context)->host;
    auto* const place = static_cast<Position*>(compile->image);
    for (uint32_t i = 0; i < host.node_count(compile->node); ++i) {
        const shoal_node child = host.node_child(compile->node, i);
        char key[4];
        const bool is_at = host.node_key(child, key, sizeof key) == 2 && std::strcmp(key, "at") == 0;
        if (!is_at) {
            if (host.compile_field(compile->compilation, child) == 0) return 0;
            continue;
        }
        if (!is_place(host, child))
            return host.compile_error(compile->compilation, child, "`at` is a list of two numbers, [x y]");
        place->x = static_cast<float>(host.node_number(host.node_child(child, 0)));
        place->y = static_cast<float>(host.node_number(host.node_child(child, 1)));
    }
    return 1;
}

int say_cell(void*, const shoal_verb_call* call, shoal_error* error) {
    float place[2] = {};
    for (uint32_t i = 0; i < 2; ++i) {
        char* end_of_number = nullptr;
        if (call->num_words == 2) place[i] = std::strtof(call->words[i], &end_of_number);
        if (call->num_words == 2 && *end_of_number == 0) continue;
        std::strcpy(error->text, "give two numbers, X and Y");
        return 0;
    }
    call->print(call, (std::to_string(cell_of(place[0])) + " " + std::to_string(cell_of(place[1])) + "\n").c_str());
    return 1;
}

// --- loading -------------------------------------------------------------------------------------------------------

shoal_field field(uint32_t type, const char* name, const char* unit) {
    return {sizeof(shoal_field), type, name, unit, nullptr, 0, 0, 0, 0, nullptr, 0, 0};
}

bool add_types(State& state, shoal_error* error) {
    const shoal_field fields[] = {field(SHOAL_FLOAT, "x", "m"), field(SHOAL_FLOAT, "y", "m"),
                                  field(SHOAL_UINT32, "num_near", nullptr)};
    const shoal_schema mote = {sizeof mote, 1, "mote", fields, 2, 0};
    const shoal_schema neighbour = {sizeof neighbour, 1, "neighbour", fields, 3, 0};
    state.mote = state.host->declare_component(state.world, &mote, error);
    shoal_component_definition given{};
    given.size = sizeof given;
    given.compile = compile_mote, given.context = &state;
    if (state.mote == nullptr || state.host->define_component(state.world, state.mote, &given, error) == 0)
        return false;
    auto* const grid = new Grid;
    shoal_store store{};
    store.size = sizeof store;
    store.context = grid;
    store.create = create, store.destroy = destroy, store.show = show, store.first = first, store.set = set;
    store.memory = use_of_memory, store.save = save, store.load = load_rows, store.end = end;
    state.neighbour = state.host->add_store(state.world, &neighbour, &store, error);
    if (state.neighbour == nullptr) return delete grid, false;
    state.grid = grid;
    return true;
}

bool add_functions(State& state, shoal_error* error) {
    const shoal_host& host = *state.host;
    static const char* const columns[] = {"neighbour.num_near"};
    shoal_pass_definition pass{};
    pass.size = sizeof pass;
    pass.name = "neighbours", pass.query = "&neighbour", pass.run = count_near, pass.context = &state;
    pass.columns = columns, pass.num_columns = 1, pass.flags = SHOAL_NO_COMMANDS;
    shoal_verb verb{};
    verb.size = sizeof verb;
    verb.name = "cell", verb.summary = "say in which cell of the grid a place is", verb.operands = "X Y";
    verb.run = say_cell;
    const auto observe = [&](uint32_t kind, shoal_observer_function run) {
        return host.add_observer(state.world, kind, state.mote, nullptr, run, &state, error) != 0;
    };
    return observe(SHOAL_ON_ADD, on_placed) && observe(SHOAL_ON_CHANGE, on_placed) &&
           observe(SHOAL_ON_REMOVE, on_removed) && host.add_pass(state.world, &pass, error) != 0 &&
           host.add_verb(state.world, &verb, error) != 0;
}

/// Observers tell of what changes from now on; what is there is placed now.
bool place_all(const State& state, shoal_error* error) {
    const shoal_host& host = *state.host;
    shoal_query* const motes = host.make_query(state.world, "mote", nullptr, 0, error);
    if (motes == nullptr) return false;
    std::vector<shoal_entity> there;
    const auto list = [](void* to, const shoal_pass*, const shoal_batch* batch) {
        auto& all = *static_cast<std::vector<shoal_entity>*>(to);
        for (uint32_t i = 0; i < batch->num_rows; ++i)  // rows of the dead lie there until the world settles
            if (g_state.host->is_alive(g_state.world, batch->entities[i]) != 0) all.push_back(batch->entities[i]);
    };
    const bool is_done = host.for_each_batch(state.world, motes, 0, list, &there, error) != 0;
    const shoal_change all{sizeof all, static_cast<uint32_t>(there.size()), there.data(), nullptr};
    if (is_done) on_placed(const_cast<State*>(&state), &all);
    return host.destroy_query(state.world, motes, error) != 0 && is_done;
}

int load(const shoal_host* host, shoal_world* world, void**, shoal_error* error) {
    g_state = {host, world, nullptr, nullptr, nullptr};
    return add_types(g_state, error) && add_functions(g_state, error) && place_all(g_state, error) ? 1 : 0;
}

}  // namespace

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "grid", "1.0", nullptr, 0, 0, load, nullptr};
    return &plugin;
}
