#include "shoal/world/detail/text_uses.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/text.h"
#include "shoal/components/properties.h"
#include "shoal/database/database.h"
#include "shoal/pose/model_pose.h"
#include "shoal/react/service.h"
#include "shoal/table/detail/field_part.h"
#include "shoal/world/detail/state_rows.h"

#include <algorithm>

namespace shoal {
namespace {

bool has_texts(const Schema& schema) { return schema.has(FieldType::kStringId) || schema.has(FieldType::kBlobArray); }

}  // namespace

std::uint64_t TextUses::count_rows() const {
    std::uint64_t num_rows = 0;
    for (const Store* store : world_.directory().stores())
        for (const Table* table : store->tables())
            if (table->schema().has(FieldType::kStringId)) num_rows += table->num_rows();
    return num_rows;
}

const BitSet& TextUses::find() {
    for (Store* store : world_.directory().stores()) mark_store(*store);
    mark_waiting();
    const WorldServices& services = world_.services();
    services.for_each([this](const WorldService& service) { service.mark_texts(*this); });
    return used_;
}

// --- rows --------------------------------------------------------------------------------------------------------

void TextUses::mark_store(Store& store) {
    if (const auto* const models = dynamic_cast<const ModelPoseManager*>(&store))
        models->visit_names([](void* self, StringId name) { static_cast<TextUses*>(self)->mark(name); }, this);
    if (std::ranges::none_of(store.schemas(), [](const Schema* schema) { return has_texts(*schema); })) return;
    for (const Schema* schema : store.schemas()) mark_defaults(*schema);
    Array<StateRows> all{Owner("world")};
    list_rows(store, all);
    for (const StateRows& rows : all)
        if (has_texts(*rows.schema)) mark_rows(rows);
}

void TextUses::mark_defaults(const Schema& schema) {
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kStringId) mark_values(field, schema.default_image().data() + field.struct_offset);
}

void TextUses::mark_rows(const StateRows& rows) {
    for (const Field& field : rows.schema->fields())
        if (field.type == FieldType::kStringId || field.type == FieldType::kBlobArray) mark_field(rows, field);
    if (rows.schema->id() == schema_of<PropertyValue>().id() && !rows.asks_store) mark_properties(rows);
}

void TextUses::mark_field(const StateRows& rows, const Field& field) {
    if (rows.asks_store) {
        Array<std::byte> value(field.size, Owner("world"));
        for (std::uint32_t row = 0; row < rows.num_rows(); ++row) {
            rows.read(field, row, value.data());
            mark_values(field, value.data());
        }
        return;
    }
    const FieldRows values = rows.values_of(field);
    for (std::uint64_t row = 0; row < values.count; ++row) mark_values(field, values.first + row * values.stride);
}

void TextUses::mark_values(const Field& field, const std::byte* value) {
    for (std::uint32_t i = 0; i < field.num_values(); ++i, value += field.value_bytes)
        if (field.type == FieldType::kStringId)
            mark(read_as<StringId>(value));
        else
            mark_array(read_as<BlobArrayBase>(value), field.element_type);
}

// --- arrays and properties -------------------------------------------------------------------------------------------

/// Visits an array of string ids. Also visits an array of words, because it may be a table of properties.
void TextUses::mark_array(const BlobArrayBase& array, FieldType element_type) {
    const bool may_have_texts = element_type == FieldType::kStringId || element_type == FieldType::kUint32;
    if (array.count == 0 || !may_have_texts || world_.library() == nullptr) return;
    const std::uint64_t key[] = {array.resource.hash, array.offset, array.count, std::uint64_t(element_type)};
    if (!arrays_.insert(hash_bytes(key, sizeof key), true).is_new) return;
    const std::span<const std::byte> bytes = world_.library()->view_bytes(array, element_type);
    if (element_type == FieldType::kStringId) return mark_words(bytes);
    const std::span table(reinterpret_cast<const std::uint32_t*>(bytes.data()), bytes.size() / sizeof(std::uint32_t));
    for (std::uint32_t i = 0; i < num_property_entries(table); ++i) {
        const PropertyEntry entry = property_entry(table, i);
        mark(entry.path);
        if (entry.shape.type == PropertyType::kString) mark_words(std::as_bytes(entry.words));
    }
}

/// Marks the strings that string values refer to. No id spans two rows.
void TextUses::mark_properties(const StateRows& rows) {
    const std::byte* const first = rows.table->column(rows.first_column);
    for (std::uint32_t row = 0; row < rows.num_rows(); ++row) {
        const auto value = read_as<PropertyValue>(first + std::size_t(row) * sizeof(PropertyValue));
        if (PropertyShape::from_word(value.shape).type == PropertyType::kString)
            mark_words(std::as_bytes(std::span(value.words)));
    }
}

// --- commands and events -----------------------------------------------------------------------------------------

/// Marks each string whose id is in an aligned group of eight bytes.
void TextUses::mark_words(std::span<const std::byte> bytes) {
    for (std::size_t i = 0; i + sizeof(StringId) <= bytes.size(); i += sizeof(StringId))
        mark(read_as<StringId>(bytes.data() + i));
}

/// The fields in commands and events are unknown, so all bytes are searched; an id may begin at any 32-bit word.
void TextUses::mark_waiting() {
    const auto mark_value = [](void* self, std::span<const std::byte> bytes) {
        auto* const uses = static_cast<TextUses*>(self);
        uses->mark_words(bytes);
        if (bytes.size() > sizeof(std::uint32_t)) uses->mark_words(bytes.subspan(sizeof(std::uint32_t)));
    };
    WaitingCommands::of_directory(world_.directory()).visit_values(mark_value, this);
    world_.events().for_each([&](const detail::EventLog& events) {
        mark_value(this, events.read());
        mark_value(this, events.read_last());
    });
}

// --- collecting --------------------------------------------------------------------------------------------------

std::string TextCollection::describe() const { return concat(world_.strings().size(), " are kept"); }

void TextCollection::after_settle(const SettleContext& context) {
    constexpr std::size_t kFewTexts = 1024, kRowsPerText = 8, kSettlesUntilCount = 64;
    const StringTable& strings = world_.strings();
    const std::size_t allowance = kFewTexts + static_cast<std::size_t>(num_rows_ / kRowsPerText);
    if (strings.is_due(allowance)) return collect();
    if (context.stamp % kSettlesUntilCount != 0 || strings.size() <= kFewTexts) return;
    const std::uint64_t num_rows = TextUses(world_).count_rows();
    if (num_rows < num_rows_ / 2) return collect();
    num_rows_ = std::max(num_rows, num_rows_);
}

SHOAL_NOINLINE void TextCollection::collect() {
    TextUses uses(world_);
    world_.strings().collect(uses.find());
    num_rows_ = uses.count_rows();
}

}  // namespace shoal
