// The named values of entities: what the program has set, and what their blobs say.

#include "shoal/components/data.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/saved_state.h"
#include "shoal/store/component_directory.h"
#include "shoal/store/stable_span.h"
#include "shoal/table/value_text.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kWordsPerRow = 4;

std::uint32_t num_parts(std::uint32_t num_words) { return std::max(1u, (num_words + kWordsPerRow - 1) / kWordsPerRow); }

}  // namespace

// --- values ------------------------------------------------------------------------------------------------------

void DataInput::put(DataType type, std::uint64_t value) {
    shape = {type, 1, 1};
    words[0] = static_cast<std::uint32_t>(value);
    words[1] = static_cast<std::uint32_t>(value >> 32);
}

void DataInput::put_integer(std::int64_t value, bool is_unsigned) {
    SHOAL_ASSERT(value >= 0 || !is_unsigned, "an integer of data has 63 bits and a sign; set a larger one as a float");
    put(DataType::kInt, static_cast<std::uint64_t>(value));
}

void DataInput::put_floats(Vec4 lanes, std::uint32_t count) {
    shape = {DataType::kFloat, 1, count};
    const float values[] = {lanes.x, lanes.y, lanes.z, lanes.w};
    for (std::uint32_t i = 0; i < count; ++i) words[i] = std::bit_cast<std::uint32_t>(values[i]);
}

DataValue::DataValue(const DataPath& to, const DataInput& value) : path(to.id), shape(value.shape.word()) {
    std::copy(std::begin(value.words), std::end(value.words), words);
}

/// Returns the rows of an array, or of a single value. Requires: the elements have one type.
Array<DataValue> DataValue::join(const DataPath& path, std::span<const DataInput> elements) {
    DataShape shape = elements.empty() ? DataShape{DataType::kFloat, 1, 0} : elements[0].shape;
    if (elements.size() > 1) shape = {shape.type, shape.count, static_cast<std::uint32_t>(elements.size())};
    SHOAL_ASSERT(elements.size() <= kMaxWords && shape.num_words() <= kMaxWords,
                 "an own value has at most 1,024 words; write a longer array in a source, or keep it in a component");
    Array<DataValue> parts(num_parts(shape.num_words()), DataValue(path, shape), "data");
    std::uint32_t word = 0;
    for (const DataInput& element : elements) {
        SHOAL_ASSERT(element.shape == elements[0].shape, "the elements of an array have one type");
        for (std::uint32_t i = 0; i < element.shape.num_words(); ++i, ++word)
            parts[word / kWordsPerRow].words[word % kWordsPerRow] = element.words[i];
    }
    for (std::uint32_t part = 0; part < parts.size(); ++part) parts[part].part = part;
    return parts;
}

Array<std::uint32_t> DataView::joined_words() const {
    const std::uint32_t num_words = shape().num_words();
    if (rows_ == nullptr) return Array<std::uint32_t>(words_, words_ + num_words, "data");
    Array<std::uint32_t> words(num_words, 0, "data");
    const Table& table = rows_->table();
    const auto* const values = reinterpret_cast<const DataValue*>(table.column(0));
    const std::span<const std::uint32_t> next = table.links(LinkColumn::kChainNext);
    for (std::uint32_t row = rows_->find(table.entities()[row_]); row != kNilRow; row = next[row]) {
        const std::size_t first = std::size_t(values[row].part) * kWordsPerRow;
        if (values[row].path != values[row_].path || first >= words.size()) continue;
        std::copy_n(values[row].words, std::min<std::size_t>(kWordsPerRow, words.size() - first),
                    words.begin() + static_cast<std::ptrdiff_t>(first));
    }
    return words;
}

// --- rows --------------------------------------------------------------------------------------------------------

DataManager::DataManager(EntityManager& entities, PagePool& pool, const DataOptions& options)
    : entities_(entities),
      options_(options),
      templates_(schema_of<Data>(), entities, pool, {.kind = "the data"}),
      own_(schema_of<DataValue>(), entities, pool, {.kind = "the data"}),
      schemas_{&templates_.schema(), &own_.schema()},
      tables_{&templates_.table(), &own_.table()} {}

DataManager::~DataManager() = default;

OwnedRows& DataManager::rows_of(const Schema& component) {
    return component.id() == templates_.schema().id() ? templates_ : own_;
}

std::span<const std::uint32_t> DataManager::table_of(const BlobArray<std::uint32_t>& array) const {
    if (options_.library == nullptr) return {};
    return options_.library->view(array);
}

Data DataManager::template_of(Entity entity) const {
    const std::uint32_t row = templates_.find(entity);
    return row == kNilRow ? Data() : reinterpret_cast<const Data*>(templates_.table().column(0))[row];
}

const DataValue& DataManager::value_at(std::uint32_t row) const {
    return reinterpret_cast<const DataValue*>(own_.table().column(0))[row];
}

std::uint32_t DataManager::next_row(std::uint32_t row) const { return own_.table().links(LinkColumn::kChainNext)[row]; }

/// Returns the row of a part of an own value, or kNilRow.
std::uint32_t DataManager::find_part(Entity entity, StringId path, std::uint32_t part) const {
    std::uint32_t row = own_.find(entity);
    if (row == kNilRow) return row;
    const auto* const values = reinterpret_cast<const DataValue*>(own_.table().column(0));
    const std::uint32_t* const next = own_.table().links(LinkColumn::kChainNext).data();
    while (row != kNilRow && (values[row].path != path || values[row].part != part)) row = next[row];
    return row;
}

/// Returns the value whose first part is in `row`; none if the row says nothing.
DataView DataManager::own_view(std::uint32_t row) const {
    const DataShape shape = DataShape::from_word(value_at(row).shape);
    const std::uint32_t num_words = shape.num_words();
    DataView view;
    if (shape.type == DataType::kNone || num_words > DataValue::kMaxWords) return view;
    view.words_ = value_at(row).words;
    view.rows_ = num_words > kWordsPerRow ? &own_ : nullptr;
    view.row_ = row;
    view.word_ = value_at(row).shape;
    return view;
}

DataView DataManager::template_view(const DataEntry& entry) {
    DataView view;
    view.words_ = entry.words.data();
    view.word_ = entry.shape.type == DataType::kNone ? 0 : entry.shape.word();
    return view;
}

// --- look-up -----------------------------------------------------------------------------------------------------

DataView DataManager::find_value(Entity entity, StringId path) const {
    if (!entities_.alive(entity) || !path) return {};
    if (const std::uint32_t row = find_part(entity, path, 0); row != kNilRow)
        if (const DataView own = own_view(row)) return own;
    const std::uint32_t row = templates_.find(entity);
    if (row == kNilRow) return {};
    const Data& data = reinterpret_cast<const Data*>(templates_.table().column(0))[row];
    if (data.overrides.count != 0)
        if (const DataEntry found = find_data_entry(table_of(data.overrides), path); found.path)
            return template_view(found);
    return template_view(find_data_entry(table_of(data.values), path));
}

std::string_view DataManager::text(Entity entity, const DataPath& path) const {
    StringId id;
    const bool has_one = find(entity, path).read(std::span(&id, 1)) == 1;
    return has_one && options_.texts != nullptr ? options_.texts->text(id) : std::string_view();
}

void DataManager::visit_all(Entity entity, Visit visit, void* context) const {
    if (!entities_.alive(entity)) return;
    for (std::uint32_t row = own_.find(entity); row != kNilRow; row = next_row(row)) {
        const StringId path = value_at(row).path;
        if (find_part(entity, path, 0) != row) continue;
        if (const DataView own = own_view(row)) visit(context, path, own);
    }
    const Data data = template_of(entity);
    const std::span<const std::uint32_t> tables[] = {table_of(data.overrides), table_of(data.values)};
    for (std::size_t t = 0; t < std::size(tables); ++t)
        for (std::uint32_t i = 0; i < num_data_entries(tables[t]); ++i) {
            const StringId path = data_entry(tables[t], i).path;
            const bool is_overridden = t > 0 && find_data_entry(tables[0], path).path;
            const DataView seen = is_overridden ? DataView() : find(entity, path);
            if (seen && !seen.is_own()) visit(context, path, seen);
        }
}

void DataManager::list_texts(Entity entity, Array<StringId>& ids) const {
    const auto add = [&](StringId path, const DataShape& shape, std::span<const std::uint32_t> words) {
        ids.push_back(path);
        Array<StringId> strings(shape.type == DataType::kString ? shape.count : 0, StringId(), "data");
        read_data(shape, words, std::span(strings));
        ids.insert(ids.end(), strings.begin(), strings.end());
    };
    for (std::uint32_t row = own_.find(entity); row != kNilRow; row = next_row(row))
        if (const DataView own = own_view(row); own && value_at(row).part == 0)
            add(value_at(row).path, own.shape(), own.joined_words());
    const Data data = template_of(entity);
    for (const auto& array : {data.overrides, data.values}) {
        const std::span<const std::uint32_t> table = table_of(array);
        for (std::uint32_t i = 0; i < num_data_entries(table); ++i)
            if (const DataEntry entry = data_entry(table, i); entry.path) add(entry.path, entry.shape, entry.words);
    }
}

std::string DataManager::text_of(const DataPath& path) const {
    std::string_view text = path.text;
    if (text.empty() && options_.texts != nullptr) text = options_.texts->text(path.id);
    if (!text.empty()) return quoted(text);
    std::string hash = "the path #";
    append_hex(hash, path.id.hash);
    return hash;
}

Status DataManager::refuse(Entity entity, const DataPath& path, const ValueType& wanted) const {
    const std::string who = concat("entity ", entity_text(entity));
    if (!entities_.alive(entity)) return Status::error(concat(who, entity ? " is dead" : " is no entity"));
    const DataView found = find(entity, path);
    if (found.type() == DataType::kInt && wanted.type == FieldType::kInt32 && found.count() == 1)
        return Status::error(concat(text_of(path), " of ", who, " is an integer that does not fit ", wanted.to_text()));
    if (found)
        return Status::error(
            concat(text_of(path), " of ", who, " is ", found.shape().to_text(), ", not ", wanted.to_text()));
    Array<std::string_view> names{Owner("data")};
    for_each(entity, [&](StringId id, const DataView&) {
        if (options_.texts != nullptr && !options_.texts->text(id).empty()) names.push_back(options_.texts->text(id));
    });
    std::sort(names.begin(), names.end());
    const std::string hint = names.empty() ? std::string() : concat("; ", hint_for(path.text, names));
    return Status::error(concat(who, " has no value ", text_of(path), hint));
}

// --- own values --------------------------------------------------------------------------------------------------

/// Removes the rows of an own value, those of its parts from `first_part` on.
void DataManager::remove_parts(Entity entity, StringId path, std::uint32_t first_part) {
    for (std::uint32_t row = own_.find(entity); row != kNilRow;) {
        const bool leaves = value_at(row).path == path && value_at(row).part >= first_part;
        const std::uint32_t next = next_row(row);
        if (!leaves) {
            row = next;
            continue;
        }
        own_.remove_row(row);
        row = own_.find(entity);  // rows have moved
    }
}

/// Sets a value or a part of one, or takes a value away. Returns whether the entity can have it. Requires: reserved.
bool DataManager::apply(Entity entity, const DataValue& value) {
    const DataShape shape = DataShape::from_word(value.shape);
    if (shape.word() != value.shape) return false;  // it makes no sense
    if (!entities_.alive(entity) || !value.path || shape.num_words() > DataValue::kMaxWords) return false;
    own_.remove_stale(entity);
    if (value.part == 0) {
        remove_parts(entity, value.path, shape.type == DataType::kNone ? 0 : 1);
        if (shape.type == DataType::kNone) return true;
    } else {
        const std::uint32_t first = find_part(entity, value.path, 0);
        if (first == kNilRow || value_at(first).shape != value.shape || value.part >= num_parts(shape.num_words()))
            return false;
    }
    std::uint32_t row = find_part(entity, value.path, value.part);
    if (row == kNilRow) row = own_.append(entity);
    std::memcpy(own_.table().write_element(0, row), &value, sizeof value);
    return true;
}

Status DataManager::keep_texts(const DataPath& path, std::span<const DataInput> elements) {
    if (options_.texts == nullptr) return {};
    if (const Result<StringId> kept = options_.texts->intern_until_unused(path.text); !kept) return kept.status();
    for (const DataInput& element : elements)
        if (const Result<StringId> kept = options_.texts->intern_until_unused(element.text); !kept)
            return kept.status();
    return {};
}

Status DataManager::set_all(std::span<const Entity> given, const DataPath& path, std::span<const DataInput> elements) {
    const StableSpan entities(given, own_.table().entities());
    if (!path.id) return Status::error("a value needs a path, such as \"armor.front\"");
    for (const Entity entity : entities.get())
        if (!entities_.alive(entity))
            return Status::error(
                concat("cannot set ", text_of(path), " of entity ", entity_text(entity), ", which is not alive"));
    const std::uint64_t num_words =
        elements.empty() ? 0 : std::uint64_t(elements.size()) * elements[0].shape.num_words();
    if (num_words > DataValue::kMaxWords)
        return Status::error(concat("the value of ", text_of(path), " takes ", num_words, " words of 32 bits, and an ",
                                    "own value at most ", DataValue::kMaxWords,
                                    "; write it in a source, or keep it in a component"));
    const Array<DataValue> parts = DataValue::join(path, elements);
    if (Status status = own_.reserve(entities.get().size() * parts.size()); !status) return status;
    if (Status status = keep_texts(path, elements); !status) return status;
    for (const Entity entity : entities.get())
        for (const DataValue& part : parts) apply(entity, part);
    return {};
}

Status DataManager::set(std::span<const Entity> entities, const DataPath& path, const DataInput& value) {
    return set_all(entities, path, {&value, 1});
}

Status DataManager::set_elements(Entity entity, const DataPath& path, const Array<DataInput>& elements) {
    return set_all({&entity, 1}, path, elements);
}

bool DataManager::reset(Entity entity, const DataPath& path) {
    own_.require_unlocked("reset()");
    const std::uint32_t num_before = own_.num_rows();
    remove_parts(entity, path.id, 0);
    return own_.num_rows() != num_before;
}

// --- values of any type ------------------------------------------------------------------------------------------

namespace {

template <class T>
DataInput input_of(const std::byte* bytes) {
    T value;
    std::memcpy(static_cast<void*>(&value), bytes, sizeof value);
    return value;
}

/// Makes an element of the data from one of a field type; of type kNone: there is none.
DataInput input_of(FieldType type, const std::byte* bytes) {
    switch (type) {
        case FieldType::kBool:
            return input_of<bool>(bytes);
        case FieldType::kInt8:
            return input_of<std::int8_t>(bytes);
        case FieldType::kInt16:
            return input_of<std::int16_t>(bytes);
        case FieldType::kInt32:
            return input_of<std::int32_t>(bytes);
        case FieldType::kInt64:
            return input_of<std::int64_t>(bytes);
        case FieldType::kUint8:
            return input_of<std::uint8_t>(bytes);
        case FieldType::kUint16:
            return input_of<std::uint16_t>(bytes);
        case FieldType::kUint32:
            return input_of<std::uint32_t>(bytes);
        case FieldType::kFloat:
            return input_of<float>(bytes);
        case FieldType::kDouble:
            return input_of<double>(bytes);
        case FieldType::kVec2:
            return input_of<Vec2>(bytes);
        case FieldType::kVec3:
            return input_of<Vec3>(bytes);
        case FieldType::kVec4:
            return input_of<Vec4>(bytes);
        case FieldType::kStringId:
            return input_of<StringId>(bytes);
        default:
            break;
    }
    DataInput none(false);
    none.shape = {};
    return none;
}

/// Returns the elements of a value, of which there is at least one, as an AnyValue.
template <class T>
AnyValue any_value(const DataView& view, std::uint32_t count) {
    ValueType type = value_type_of<T>();
    type.array_length = count == 1 ? 0 : count;
    AnyValue value(type);
    view.read(std::span(reinterpret_cast<T*>(value.bytes().data()), count));
    return value;
}

}  // namespace

Result<AnyValue> DataManager::read(Entity entity, const DataPath& path) const {
    const DataView view = find(entity, path);
    if (!view) return refuse(entity, path, value_type_of<float>());
    const auto [type, lanes, count] = view.shape();
    if (count == 0)
        return Status::error(concat(text_of(path), " of entity ", entity_text(entity), " is an empty array, which has ",
                                    "no value; look it up with DataManager::find()"));
    if (type == DataType::kBool) return any_value<bool>(view, count);
    if (type == DataType::kInt) return any_value<std::int64_t>(view, count);
    if (type == DataType::kString) return any_value<StringId>(view, count);
    const std::uint32_t vector = lanes > 1 ? lanes : count;
    const std::uint32_t num_vectors = lanes > 1 ? count : 1;
    if (vector == 2) return any_value<Vec2>(view, num_vectors);
    if (vector == 3) return any_value<Vec3>(view, num_vectors);
    if (vector == 4) return any_value<Vec4>(view, num_vectors);
    return any_value<float>(view, count);
}

Status DataManager::write(Entity entity, const DataPath& path, const AnyValue& value) {
    if (value.is_text()) return set(entity, path, value.text());
    Array<DataInput> elements{Owner("data")};
    const ValueType& type = value.type();
    const bool is_known = input_of(type.type, value.bytes().data()).shape.type != DataType::kNone;
    if (!is_known)
        return Status::error(concat("the data of an entity has bools, integers, floats, strings and vectors; ",
                                    text_of(path), " cannot be ", value.to_text()));
    for (std::uint32_t i = 0; i < type.num_values(); ++i)
        elements.push_back(input_of(type.type, value.bytes().data() + std::size_t(i) * type.value_bytes));
    return set_elements(entity, path, elements);
}

// --- store -------------------------------------------------------------------------------------------------------

OwnedColumns DataManager::find_columns(const Schema& component) {
    OwnedColumns columns = templates_.find_columns(component);
    if (!columns) columns = own_.find_columns(component);
    columns.is_read_only = true;
    columns.instead = "set values with Commands::add(entity, DataValue(path, value)) or DataManager::set()";
    return columns;
}

Status DataManager::spawn(const SpawnBatch& batch) {
    ResourceId known;
    for (std::size_t i = 0; batch.component == templates_.schema().id() && i < batch.entity_index.size(); ++i) {
        Data data;
        std::memcpy(static_cast<void*>(&data), batch.columns[0] + i * sizeof data, sizeof data);
        const ResourceId resource = data.values.count != 0 ? data.values.resource : data.overrides.resource;
        if (!resource || resource == known) continue;
        if (options_.library == nullptr || options_.library->find(resource) == nullptr)
            return Status::error(
                "the values of \"data\" lie in a resource that is not loaded; give the world a library, "
                "WorldOptions::library, and load the resource through it before it is spawned");
        known = resource;
    }
    return batch.component == templates_.schema().id() ? templates_.spawn(batch) : own_.spawn(batch);
}

void DataManager::drop(std::span<const Entity> entities) {
    const StableSpan outside_templates(entities, templates_.table().entities());
    const StableSpan dropped(outside_templates.get(), own_.table().entities());
    templates_.remove(dropped.get());
    own_.remove(dropped.get());
}

Result<std::uint32_t> DataManager::add_values(const Schema& component, std::span<const Entity> entities,
                                              const AddedValues& values) {
    if (component.id() == templates_.schema().id()) return templates_.add_values(component, entities, values);
    if (component.layout_hash() != own_.schema().layout_hash() || values.write != nullptr)
        return Status::error(concat("the rows are of ", own_.schema().to_text(), ", not of ", component.to_text()));
    const StableSpan given(entities, own_.table().entities());
    if (Status status = own_.reserve_for(given.get()); !status) return status;
    std::uint32_t num_set = 0;
    for (std::size_t i = 0; i < given.get().size(); ++i) {
        DataValue value;
        if (values.images != nullptr)
            std::memcpy(static_cast<void*>(&value), values.images + i * values.stride, sizeof value);
        num_set += apply(given.get()[i], value);
    }
    return num_set;
}

Result<bool> DataManager::prepare_values(const Schema& component, std::span<const Entity> entities, bool removes) {
    return rows_of(component).prepare_values(entities, removes);
}

Result<std::uint32_t> DataManager::remove_values(const Schema& component, std::span<const Entity> entities) {
    return rows_of(component).remove(entities);
}

void DataManager::hold_rows(bool hold) {
    templates_.hold(hold);
    own_.hold(hold);
}

void DataManager::settle(const SettleContext& context) {
    templates_.settle(context);
    own_.settle(context);
}

void DataManager::save(StateWriter& to) const {
    {
        const StatePath::Scope scope = to.in("templates");
        templates_.save(to);
    }
    const StatePath::Scope scope = to.in("own");
    own_.save(to);
}

Status DataManager::load(StateReader& from) {
    Status status;
    {
        const StatePath::Scope scope = from.in("templates");
        status = templates_.load(from);
    }
    const StatePath::Scope scope = from.in("own");
    if (status) status = own_.load(from);
    if (!status) templates_.clear(), own_.clear();
    return status;
}

std::size_t DataManager::statistics(std::span<StoreStatistics> out) const {
    templates_.statistics(out.first(std::min<std::size_t>(out.size(), 1)));
    own_.statistics(out.subspan(std::min<std::size_t>(out.size(), 1)));
    return std::size(tables_);
}

Status DataManager::validate() const {
    if (Status status = templates_.validate(); !status) return status;
    return own_.validate();
}

DataManager* find_data(const ComponentDirectory& directory) {
    return directory.find_as<DataManager>(schema_of<Data>().id());
}

bool can_keep_data(const ComponentDirectory& directory) {
    return directory.find(schema_of<Data>().id()) == nullptr || find_data(directory) != nullptr;
}

std::string_view path_in_data(std::string_view name) {
    constexpr std::string_view kPrefix = "data.";
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : std::string_view();
}

}  // namespace shoal
