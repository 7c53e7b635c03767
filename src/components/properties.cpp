// Keeps the named values of entities, which are set by the program or come from blobs.

#include "shoal/components/properties.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/state/snapshot.h"
#include "shoal/store/detail/component_directory.h"
#include "shoal/store/detail/stable_span.h"
#include "shoal/table/detail/value_text.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace shoal {
namespace {

constexpr std::uint32_t kWordsPerRow = 4;

std::uint32_t num_parts(std::uint32_t num_words) { return std::max(1u, (num_words + kWordsPerRow - 1) / kWordsPerRow); }

}  // namespace

// --- values ------------------------------------------------------------------------------------------------------

void PropertyInput::put(PropertyType type, std::uint64_t value) {
    shape = {type, 1, 1};
    words[0] = static_cast<std::uint32_t>(value);
    words[1] = static_cast<std::uint32_t>(value >> 32);
}

void PropertyInput::put_integer(std::int64_t value, bool is_unsigned) {
    SHOAL_ASSERT(value >= 0 || !is_unsigned, "an integer property has 63 bits and a sign; set a larger one as a float");
    put(PropertyType::kInt, static_cast<std::uint64_t>(value));
}

void PropertyInput::put_floats(Vec4 lanes, std::uint32_t count) {
    shape = {PropertyType::kFloat, 1, count};
    const float values[] = {lanes.x, lanes.y, lanes.z, lanes.w};
    for (std::uint32_t i = 0; i < count; ++i) words[i] = std::bit_cast<std::uint32_t>(values[i]);
}

PropertyValue::PropertyValue(const PropertyPath& to, const PropertyInput& value)
    : path(to.id), shape(value.shape.word()) {
    std::copy(std::begin(value.words), std::end(value.words), words);
}

/// Returns the rows of an array, or of a single value. Requires: all elements have the same type.
Array<PropertyValue> PropertyValue::join(const PropertyPath& path, std::span<const PropertyInput> elements) {
    PropertyShape shape = elements.empty() ? PropertyShape{PropertyType::kFloat, 1, 0} : elements[0].shape;
    if (elements.size() > 1) shape = {shape.type, shape.count, static_cast<std::uint32_t>(elements.size())};
    SHOAL_ASSERT(elements.size() <= kMaxWords && shape.num_words() <= kMaxWords,
                 "an own value has at most 1,024 words; write a longer array in a source, or keep it in a component");
    Array<PropertyValue> parts(num_parts(shape.num_words()), PropertyValue(path, shape), "properties");
    std::uint32_t word = 0;
    for (const PropertyInput& element : elements) {
        SHOAL_ASSERT(element.shape == elements[0].shape, "the elements of an array have one type");
        for (std::uint32_t i = 0; i < element.shape.num_words(); ++i, ++word)
            parts[word / kWordsPerRow].words[word % kWordsPerRow] = element.words[i];
    }
    for (std::uint32_t part = 0; part < parts.size(); ++part) parts[part].part = part;
    return parts;
}

Array<std::uint32_t> PropertyView::joined_words() const {
    const std::uint32_t num_words = shape().num_words();
    if (rows_ == nullptr) return Array<std::uint32_t>(words_, words_ + num_words, "properties");
    Array<std::uint32_t> words(num_words, 0, "properties");
    const Table& table = rows_->table();
    const auto* const values = reinterpret_cast<const PropertyValue*>(table.column(0));
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

PropertyManager::PropertyManager(EntityManager& entities, PagePool& pool, const PropertyOptions& options)
    : entities_(entities),
      options_(options),
      templates_(schema_of<Properties>(), entities, pool, {.kind = "the properties"}),
      own_(schema_of<PropertyValue>(), entities, pool, {.kind = "the properties"}),
      schemas_{&templates_.schema(), &own_.schema()},
      tables_{&templates_.table(), &own_.table()} {}

PropertyManager::~PropertyManager() = default;

OwnedRows& PropertyManager::rows_of(const Schema& component) {
    return component.id() == templates_.schema().id() ? templates_ : own_;
}

std::span<const std::uint32_t> PropertyManager::table_of(const BlobArray<std::uint32_t>& array) const {
    if (options_.library == nullptr) return {};
    return options_.library->view(array);
}

Properties PropertyManager::template_of(Entity entity) const {
    const std::uint32_t row = templates_.find(entity);
    return row == kNilRow ? Properties() : reinterpret_cast<const Properties*>(templates_.table().column(0))[row];
}

const PropertyValue& PropertyManager::value_at(std::uint32_t row) const {
    return reinterpret_cast<const PropertyValue*>(own_.table().column(0))[row];
}

std::uint32_t PropertyManager::next_row(std::uint32_t row) const {
    return own_.table().links(LinkColumn::kChainNext)[row];
}

/// Returns the row for a part of an entity's own value, or kNilRow.
std::uint32_t PropertyManager::find_part(Entity entity, StringId path, std::uint32_t part) const {
    std::uint32_t row = own_.find(entity);
    if (row == kNilRow) return row;
    const auto* const values = reinterpret_cast<const PropertyValue*>(own_.table().column(0));
    const std::uint32_t* const next = own_.table().links(LinkColumn::kChainNext).data();
    while (row != kNilRow && (values[row].path != path || values[row].part != part)) row = next[row];
    return row;
}

/// Returns the value whose first part is in `row`; nothing if the value has no elements or too many.
PropertyView PropertyManager::own_view(std::uint32_t row) const {
    const PropertyShape shape = PropertyShape::from_word(value_at(row).shape);
    const std::uint32_t num_words = shape.num_words();
    PropertyView view;
    if (shape.type == PropertyType::kNone || num_words > PropertyValue::kMaxWords) return view;
    view.words_ = value_at(row).words;
    view.rows_ = num_words > kWordsPerRow ? &own_ : nullptr;
    view.row_ = row;
    view.word_ = value_at(row).shape;
    return view;
}

PropertyView PropertyManager::template_view(const PropertyEntry& entry) {
    PropertyView view;
    view.words_ = entry.words.data();
    view.word_ = entry.shape.type == PropertyType::kNone ? 0 : entry.shape.word();
    return view;
}

// --- look-up -----------------------------------------------------------------------------------------------------

PropertyView PropertyManager::find_value(Entity entity, StringId path) const {
    if (!entities_.alive(entity) || !path) return {};
    if (const std::uint32_t row = find_part(entity, path, 0); row != kNilRow)
        if (const PropertyView own = own_view(row)) return own;
    const std::uint32_t row = templates_.find(entity);
    if (row == kNilRow) return {};
    const Properties& properties = reinterpret_cast<const Properties*>(templates_.table().column(0))[row];
    if (properties.overrides.count != 0)
        if (const PropertyEntry found = find_property_entry(table_of(properties.overrides), path); found.path)
            return template_view(found);
    return template_view(find_property_entry(table_of(properties.values), path));
}

std::string_view PropertyManager::text(Entity entity, const PropertyPath& path) const {
    StringId id;
    const bool has_one = find(entity, path).read(std::span(&id, 1)) == 1;
    return has_one && options_.texts != nullptr ? options_.texts->text(id) : std::string_view();
}

void PropertyManager::visit_all(Entity entity, Visit visit, void* context) const {
    if (!entities_.alive(entity)) return;
    for (std::uint32_t row = own_.find(entity); row != kNilRow; row = next_row(row)) {
        const StringId path = value_at(row).path;
        if (find_part(entity, path, 0) != row) continue;
        if (const PropertyView own = own_view(row)) visit(context, path, own);
    }
    const Properties properties = template_of(entity);
    const std::span<const std::uint32_t> tables[] = {table_of(properties.overrides), table_of(properties.values)};
    for (std::size_t t = 0; t < std::size(tables); ++t)
        for (std::uint32_t i = 0; i < num_property_entries(tables[t]); ++i) {
            const StringId path = property_entry(tables[t], i).path;
            const bool is_overridden = t > 0 && find_property_entry(tables[0], path).path;
            const PropertyView seen = is_overridden ? PropertyView() : find(entity, path);
            if (seen && !seen.is_own()) visit(context, path, seen);
        }
}

void PropertyManager::list_texts(Entity entity, Array<StringId>& ids) const {
    const auto add = [&](StringId path, const PropertyShape& shape, std::span<const std::uint32_t> words) {
        ids.push_back(path);
        Array<StringId> strings(shape.type == PropertyType::kString ? shape.count : 0, StringId(), "properties");
        read_property(shape, words, std::span(strings));
        ids.insert(ids.end(), strings.begin(), strings.end());
    };
    for (std::uint32_t row = own_.find(entity); row != kNilRow; row = next_row(row))
        if (const PropertyView own = own_view(row); own && value_at(row).part == 0)
            add(value_at(row).path, own.shape(), own.joined_words());
    const Properties properties = template_of(entity);
    for (const auto& array : {properties.overrides, properties.values}) {
        const std::span<const std::uint32_t> table = table_of(array);
        for (std::uint32_t i = 0; i < num_property_entries(table); ++i)
            if (const PropertyEntry entry = property_entry(table, i); entry.path)
                add(entry.path, entry.shape, entry.words);
    }
}

std::string PropertyManager::text_of(const PropertyPath& path) const {
    std::string_view text = path.text;
    if (text.empty() && options_.texts != nullptr) text = options_.texts->text(path.id);
    if (!text.empty()) return quoted(text);
    std::string hash = "the path #";
    append_hex(hash, path.id.hash);
    return hash;
}

Status PropertyManager::refuse(Entity entity, const PropertyPath& path, const ValueType& wanted) const {
    const std::string who = concat("entity ", entity_text(entity));
    if (!entities_.alive(entity)) return Status::error(concat(who, entity ? " is dead" : " is no entity"));
    const PropertyView found = find(entity, path);
    if (found.type() == PropertyType::kInt && wanted.type == FieldType::kInt32 && found.count() == 1)
        return Status::error(concat(text_of(path), " of ", who, " is an integer that does not fit ", wanted.to_text()));
    if (found)
        return Status::error(
            concat(text_of(path), " of ", who, " is ", found.shape().to_text(), ", not ", wanted.to_text()));
    Array<std::string_view> names{Owner("properties")};
    for_each(entity, [&](StringId id, const PropertyView&) {
        if (options_.texts != nullptr && !options_.texts->text(id).empty()) names.push_back(options_.texts->text(id));
    });
    std::sort(names.begin(), names.end());
    const std::string hint = names.empty() ? std::string() : concat("; ", hint_for(path.text, names));
    return Status::error(concat(who, " has no value ", text_of(path), hint));
}

// --- own values --------------------------------------------------------------------------------------------------

/// Removes the rows of an entity's own value from part `first_part` on.
void PropertyManager::remove_parts(Entity entity, StringId path, std::uint32_t first_part) {
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

/// Sets or removes a value, or a part of a value. Returns whether the value was accepted. Requires: memory is reserved.
bool PropertyManager::apply(Entity entity, const PropertyValue& value) {
    const PropertyShape shape = PropertyShape::from_word(value.shape);
    if (shape.word() != value.shape) return false;  // not a valid shape
    if (!entities_.alive(entity) || !value.path || shape.num_words() > PropertyValue::kMaxWords) return false;
    own_.remove_stale(entity);
    if (value.part == 0) {
        remove_parts(entity, value.path, shape.type == PropertyType::kNone ? 0 : 1);
        if (shape.type == PropertyType::kNone) return true;
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

Status PropertyManager::keep_texts(const PropertyPath& path, std::span<const PropertyInput> elements) {
    if (options_.texts == nullptr) return {};
    if (const Result<StringId> kept = options_.texts->intern_until_unused(path.text); !kept) return kept.status();
    for (const PropertyInput& element : elements)
        if (const Result<StringId> kept = options_.texts->intern_until_unused(element.text); !kept)
            return kept.status();
    return {};
}

Status PropertyManager::set_all(std::span<const Entity> given, const PropertyPath& path,
                                std::span<const PropertyInput> elements) {
    const StableSpan entities(given, own_.table().entities());
    if (!path.id) return Status::error("a value needs a path, such as \"armor.front\"");
    for (const Entity entity : entities.get())
        if (!entities_.alive(entity))
            return Status::error(
                concat("cannot set ", text_of(path), " of entity ", entity_text(entity), ", which is not alive"));
    const std::uint64_t num_words =
        elements.empty() ? 0 : std::uint64_t(elements.size()) * elements[0].shape.num_words();
    if (num_words > PropertyValue::kMaxWords)
        return Status::error(concat("the value of ", text_of(path), " takes ", num_words, " words of 32 bits, and an ",
                                    "own value at most ", PropertyValue::kMaxWords,
                                    "; write it in a source, or keep it in a component"));
    const Array<PropertyValue> parts = PropertyValue::join(path, elements);
    if (Status status = own_.reserve(entities.get().size() * parts.size()); !status) return status;
    if (Status status = keep_texts(path, elements); !status) return status;
    for (const Entity entity : entities.get())
        for (const PropertyValue& part : parts) apply(entity, part);
    return {};
}

Status PropertyManager::set(std::span<const Entity> entities, const PropertyPath& path, const PropertyInput& value) {
    return set_all(entities, path, {&value, 1});
}

Status PropertyManager::set_elements(Entity entity, const PropertyPath& path, const Array<PropertyInput>& elements) {
    return set_all({&entity, 1}, path, elements);
}

bool PropertyManager::reset(Entity entity, const PropertyPath& path) {
    own_.require_unlocked("reset()");
    const std::uint32_t num_before = own_.num_rows();
    remove_parts(entity, path.id, 0);
    return own_.num_rows() != num_before;
}

// --- values of any type ------------------------------------------------------------------------------------------

namespace {

/// Makes a property element from an element of a field type; kNone if no property type corresponds to the field type.
PropertyInput input_of(FieldType type, const std::byte* bytes) {
    switch (type) {
        case FieldType::kBool:
            return read_as<bool>(bytes);
        case FieldType::kInt8:
            return read_as<std::int8_t>(bytes);
        case FieldType::kInt16:
            return read_as<std::int16_t>(bytes);
        case FieldType::kInt32:
            return read_as<std::int32_t>(bytes);
        case FieldType::kInt64:
            return read_as<std::int64_t>(bytes);
        case FieldType::kUint8:
            return read_as<std::uint8_t>(bytes);
        case FieldType::kUint16:
            return read_as<std::uint16_t>(bytes);
        case FieldType::kUint32:
            return read_as<std::uint32_t>(bytes);
        case FieldType::kFloat:
            return read_as<float>(bytes);
        case FieldType::kDouble:
            return read_as<double>(bytes);
        case FieldType::kVec2:
            return read_as<Vec2>(bytes);
        case FieldType::kVec3:
            return read_as<Vec3>(bytes);
        case FieldType::kVec4:
            return read_as<Vec4>(bytes);
        case FieldType::kStringId:
            return read_as<StringId>(bytes);
        default:
            break;
    }
    PropertyInput none(false);
    none.shape = {};
    return none;
}

/// Returns the elements of a value as an AnyValue. Requires: the value is not empty.
template <class T>
AnyValue any_value(const PropertyView& view, std::uint32_t count) {
    ValueType type = value_type_of<T>();
    type.array_length = count == 1 ? 0 : count;
    AnyValue value(type);
    view.read(std::span(reinterpret_cast<T*>(value.bytes().data()), count));
    return value;
}

}  // namespace

Result<AnyValue> PropertyManager::read(Entity entity, const PropertyPath& path) const {
    const PropertyView view = find(entity, path);
    if (!view) return refuse(entity, path, value_type_of<float>());
    const auto [type, lanes, count] = view.shape();
    if (count == 0)
        return Status::error(concat(text_of(path), " of entity ", entity_text(entity), " is an empty array, which has ",
                                    "no value; look it up with PropertyManager::find()"));
    if (type == PropertyType::kBool) return any_value<bool>(view, count);
    if (type == PropertyType::kInt) return any_value<std::int64_t>(view, count);
    if (type == PropertyType::kString) return any_value<StringId>(view, count);
    const std::uint32_t vector = lanes > 1 ? lanes : count;
    const std::uint32_t num_vectors = lanes > 1 ? count : 1;
    if (vector == 2) return any_value<Vec2>(view, num_vectors);
    if (vector == 3) return any_value<Vec3>(view, num_vectors);
    if (vector == 4) return any_value<Vec4>(view, num_vectors);
    return any_value<float>(view, count);
}

Status PropertyManager::write(Entity entity, const PropertyPath& path, const AnyValue& value) {
    if (value.is_text()) return set(entity, path, value.text());
    Array<PropertyInput> elements{Owner("properties")};
    const ValueType& type = value.type();
    const bool is_known = input_of(type.type, value.bytes().data()).shape.type != PropertyType::kNone;
    if (!is_known)
        return Status::error(concat("the properties of an entity are bools, integers, floats, strings and vectors; ",
                                    text_of(path), " cannot be ", value.to_text()));
    for (std::uint32_t i = 0; i < type.num_values(); ++i)
        elements.push_back(input_of(type.type, value.bytes().data() + std::size_t(i) * type.value_bytes));
    return set_elements(entity, path, elements);
}

// --- store -------------------------------------------------------------------------------------------------------

OwnedColumns PropertyManager::find_columns(const Schema& component) {
    OwnedColumns columns = templates_.find_columns(component);
    if (!columns) columns = own_.find_columns(component);
    columns.is_read_only = true;
    columns.instead = "set values with Commands::add(entity, PropertyValue(path, value)) or PropertyManager::set()";
    return columns;
}

Status PropertyManager::spawn(const SpawnBatch& batch) {
    ResourceId known;
    for (std::size_t i = 0; batch.component == templates_.schema().id() && i < batch.entity_index.size(); ++i) {
        const auto properties = read_as<Properties>(batch.columns[0] + i * sizeof(Properties));
        const ResourceId resource =
            properties.values.count != 0 ? properties.values.resource : properties.overrides.resource;
        if (!resource || resource == known) continue;
        if (options_.library == nullptr || options_.library->find(resource) == nullptr)
            return Status::error(
                "the values of \"properties\" lie in a resource that is not loaded; give the world a library, "
                "WorldOptions::library, and load the resource through it before it is spawned");
        known = resource;
    }
    return batch.component == templates_.schema().id() ? templates_.spawn(batch) : own_.spawn(batch);
}

void PropertyManager::drop(std::span<const Entity> entities) {
    const StableSpan outside_templates(entities, templates_.table().entities());
    const StableSpan dropped(outside_templates.get(), own_.table().entities());
    templates_.remove(dropped.get());
    own_.remove(dropped.get());
}

Result<std::uint32_t> PropertyManager::add_values(const Schema& component, std::span<const Entity> entities,
                                                  const AddedValues& values) {
    if (component.id() == templates_.schema().id()) return templates_.add_values(component, entities, values);
    if (component.layout_hash() != own_.schema().layout_hash() || values.write != nullptr)
        return Status::error(concat("the rows are of ", own_.schema().to_text(), ", not of ", component.to_text()));
    const StableSpan given(entities, own_.table().entities());
    if (Status status = own_.reserve_for(given.get()); !status) return status;
    std::uint32_t num_set = 0;
    for (std::size_t i = 0; i < given.get().size(); ++i) {
        PropertyValue value;
        if (values.images != nullptr)
            std::memcpy(static_cast<void*>(&value), values.images + i * values.stride, sizeof value);
        num_set += apply(given.get()[i], value);
    }
    return num_set;
}

Result<bool> PropertyManager::prepare_values(const Schema& component, std::span<const Entity> entities, bool removes) {
    return rows_of(component).prepare_values(entities, removes);
}

Result<std::uint32_t> PropertyManager::remove_values(const Schema& component, std::span<const Entity> entities) {
    return rows_of(component).remove(entities);
}

void PropertyManager::hold_rows(bool hold) {
    templates_.hold(hold);
    own_.hold(hold);
}

void PropertyManager::settle(const SettleContext& context) {
    templates_.settle(context);
    own_.settle(context);
}

void PropertyManager::save(SnapshotWriter& to) const {
    {
        const SnapshotPath::Scope scope = to.in("templates");
        templates_.save(to);
    }
    const SnapshotPath::Scope scope = to.in("own");
    own_.save(to);
}

Status PropertyManager::load(SnapshotReader& from) {
    Status status;
    {
        const SnapshotPath::Scope scope = from.in("templates");
        status = templates_.load(from);
    }
    const SnapshotPath::Scope scope = from.in("own");
    if (status) status = own_.load(from);
    if (!status) templates_.clear(), own_.clear();
    return status;
}

std::size_t PropertyManager::statistics(std::span<StoreStatistics> out) const {
    templates_.statistics(out.first(std::min<std::size_t>(out.size(), 1)));
    own_.statistics(out.subspan(std::min<std::size_t>(out.size(), 1)));
    return std::size(tables_);
}

Status PropertyManager::validate() const {
    if (Status status = templates_.validate(); !status) return status;
    return own_.validate();
}

PropertyManager* find_properties(const ComponentDirectory& directory) {
    return directory.find_as<PropertyManager>(schema_of<Properties>().id());
}

bool can_keep_properties(const ComponentDirectory& directory) {
    return directory.find(schema_of<Properties>().id()) == nullptr || find_properties(directory) != nullptr;
}

}  // namespace shoal
