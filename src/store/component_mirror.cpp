#include "shoal/store/detail/component_mirror.h"

#include "shoal/base/text.h"
#include "shoal/entity/detail/saved_entities.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/copy_elements.h"
#include "shoal/table/detail/table.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {
namespace {

constexpr std::uint32_t kRowsAtOnce = 16;  // rows compared in one step; if they differ, they are compared one by one

/// The entity that currently has the component in a row, or null.
Entity holder(const ComponentTable& at, std::uint32_t row) {
    const bool is_enabled = at.enabled_bits == nullptr || test_bit(at.enabled_bits, row);
    const bool has_parent = !at.needs_parent || at.table->links(LinkColumn::kTreeParent)[row] != kNilRow;
    return is_enabled && has_parent ? at.table->entities()[row] : kNullEntity;
}

/// Whether every owner of a row has the component.
bool owners_tell(const ComponentTable& at) { return at.enabled_bits == nullptr && !at.needs_parent; }

/// The unique number of a table. The allocator may reuse a table's address for a later table, so the order in which
/// observers are called must not depend on addresses.
std::uint64_t number_of(const Table& table) { return table.placement() >> 32; }

const std::byte* element_of(const ComponentTable& at, const Schema& component, std::uint32_t column,
                            std::uint32_t row) {
    return at.table->column(at.first_column + column) + std::size_t(row) * component.columns()[column].element_bytes;
}

/// The positions of entities in a list. Each position is taken once, in ascending order for each entity.
/// Cost: one look-up, even if the entity is in the list many times, as it may be in a corrupt save.
class ListIndices {
public:
    static constexpr std::uint32_t kNone = ~0u;

    explicit ListIndices(std::span<const Entity> list) {
        first_.reserve(list.size());
        next_.resize(list.size(), kNone);
        for (auto place = static_cast<std::uint32_t>(list.size()); place-- > 0;) {
            const auto [first, is_new] = first_.insert(list[place].id, place);
            if (!is_new) next_[place] = std::exchange(*first, place);
        }
    }
    /// Returns the next position of an entity, or kNone.
    std::uint32_t take(Entity entity) {
        std::uint32_t* const first = first_.find(entity.id);
        if (first == nullptr || *first == kNone) return kNone;
        return std::exchange(*first, next_[*first]);
    }

private:
    HashMap<std::uint64_t, std::uint32_t> first_{Owner("component mirror")};  // by entity: the first untaken position
    Array<std::uint32_t> next_{Owner("component mirror")};                    // by position: the entity's next position
};

}  // namespace

ComponentMirror::ComponentMirror(Store& store, const Schema& component, Start start)
    : store_(store), component_(component) {
    if (start == Start::kNoRows) return;
    compare();
    added_ = {};
}

// --- what is remembered ------------------------------------------------------------------------------------------

void ComponentMirror::watch_field(std::uint32_t field) {
    SHOAL_ASSERT(field < component_.fields().size() && component_.fields()[field].opaque == nullptr,
                 "the field does not exist, or is more than bytes");
    SHOAL_ASSERT(!component_.many(), "values are compared of components of which an entity has one");
    watched_fields_ |= std::uint64_t(1) << field;
    const Field& watched = component_.fields()[field];
    for (std::uint32_t c = 0; c < watched.num_columns; ++c) keep_column(watched.first_column + c, true);
}

void ComponentMirror::keep_values() {
    SHOAL_ASSERT(!component_.has_opaque() && !component_.many(),
                 "values are kept of components that are bytes, and of which an entity has one");
    for (std::uint32_t c = 0; c < component_.num_columns(); ++c) keep_column(c, false);
}

void ComponentMirror::take_added_values() {
    SHOAL_ASSERT(!component_.has_opaque() && !component_.many(),
                 "values are taken of components that are bytes, and of which an entity has one");
    added_columns_.clear();
    for (std::uint32_t c = 0; c < component_.num_columns(); ++c) added_columns_.push_back({c, false});
}

void ComponentMirror::keep_column(std::uint32_t number, bool is_compared) {
    for (Column& column : columns_)
        if (column.number == number) return static_cast<void>(column.is_compared |= is_compared);
    columns_.push_back({number, is_compared});
    const std::size_t bytes = component_.column(number).element_bytes;
    const std::byte* const image = component_.default_image().data() + component_.column(number).struct_offset;
    tables_.clear();
    store_.list_tables(component_, tables_);
    for (const ComponentTable& at : tables_)
        SHOAL_ASSERT(at.has_fields, "the store keeps the fields of this component type in another form");
    for (Picture& picture : pictures_) {
        Bytes& kept = picture.columns.emplace_back(Owner("component mirror"));
        kept.resize(picture.owners.size() * bytes);
        const bool is_there = std::any_of(tables_.begin(), tables_.end(),
                                          [&](const ComponentTable& at) { return at.table == picture.table.table; });
        for (std::uint32_t row = 0; row < picture.owners.size(); ++row) {
            const bool stays = is_there && row < picture.table.table->num_rows() &&
                               picture.table.table->entities()[row] == picture.owners[row];
            std::memcpy(kept.data() + row * bytes, stays ? element_of(picture.table, component_, number, row) : image,
                        bytes);
        }
    }
}

std::size_t ComponentMirror::num_bytes() const {
    std::size_t bytes = 0;
    for (const Picture& picture : pictures_) {
        bytes += picture.owners.capacity() * sizeof(Entity);
        for (const Bytes& column : picture.columns) bytes += column.capacity();
    }
    return bytes;
}

void ComponentMirror::visit_texts(void (*visit)(void* context, const Field& field, const std::byte* value),
                                  void* context) const {
    for (const Field& field : component_.fields()) {
        if (field.type != FieldType::kStringId && field.type != FieldType::kBlobArray) continue;
        const std::size_t bytes = component_.column(field.first_column).element_bytes;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            if (columns_[c].number != field.first_column) continue;
            for (const Picture& picture : pictures_)
                for (std::size_t row = 0; row < picture.owners.size(); ++row)
                    if (picture.owners[row])
                        visit(context, field,
                              picture.columns[c].data() + row * bytes + component_.offset_in_column(field));
        }
    }
}

/// Remembers the current contents of `rows`, which are either already remembered or all the rows after the remembered
/// ones.
void ComponentMirror::take_rows(Picture& picture, RowRange rows) {
    const ComponentTable& at = picture.table;
    const Entity* const owners = at.table->entities().data();
    const bool are_new = rows.begin == picture.owners.size();
    if (are_new && owners_tell(at))
        picture.owners.insert(picture.owners.end(), owners + rows.begin, owners + rows.end);
    else if (owners_tell(at))
        std::copy_n(owners + rows.begin, rows.size(), picture.owners.data() + rows.begin);
    else
        for (std::uint32_t row = rows.begin; row < rows.end; ++row)
            are_new ? picture.owners.push_back(holder(at, row))
                    : static_cast<void>(picture.owners[row] = holder(at, row));
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        const std::size_t bytes = component_.column(columns_[c].number).element_bytes;
        const std::byte* const elements = element_of(at, component_, columns_[c].number, rows.begin);
        Bytes& kept = picture.columns[c];
        if (are_new)
            kept.insert(kept.end(), elements, elements + rows.size() * bytes);
        else
            std::memcpy(kept.data() + rows.begin * bytes, elements, rows.size() * bytes);
    }
}

/// Appends the struct images of rows. The elements of columns[i] are at data_of(i); other fields have their
/// defaults.
template <class DataOf>
void ComponentMirror::append_images(std::uint32_t count, std::span<const Column> columns, DataOf&& data_of,
                                    Bytes& images) const {
    if (columns.empty()) return;
    const std::size_t bytes = component_.struct_bytes(), first = images.size();
    if (columns.size() == 1 && component_.column(columns[0].number).element_bytes == bytes) {
        images.insert(images.end(), data_of(0), data_of(0) + count * bytes);
        return;
    }
    images.resize(first + count * bytes);
    fill_elements(images.data() + first, component_.default_image().data(), count, bytes);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const ColumnDefinition& column = component_.column(columns[c].number);
        copy_strided(images.data() + first + column.struct_offset, bytes, {data_of(c), column.element_bytes}, count,
                     column.element_bytes);
    }
}

/// Appends the remembered struct images of rows.
void ComponentMirror::append_images(const Picture& picture, RowRange rows, Bytes& images) const {
    const auto data_of = [&](std::size_t c) {
        return picture.columns[c].data() +
               std::size_t(rows.begin) * component_.column(columns_[c].number).element_bytes;
    };
    append_images(rows.size(), columns_, data_of, images);
}

// --- comparing ---------------------------------------------------------------------------------------------------

void ComponentMirror::compare() {
    came_.clear(), gone_.clear(), came_runs_.clear(), came_values_.clear(), gone_values_.clear();
    added_ = {}, added_list_.clear(), removed_.clear(), changed_.clear();
    added_values_.clear(), removed_values_.clear(), changed_values_.clear();
    find_pictures();
    for (std::uint32_t picture = 0; picture < pictures_.size(); ++picture) compare_picture(picture);
    match_moves();
    drop_pictures();
}

/// Adds a picture for each table that does not have one yet. Tables that no longer exist count as empty.
void ComponentMirror::find_pictures() {
    for (Picture& picture : pictures_) picture.is_listed = false;
    tables_.clear();
    store_.list_tables(component_, tables_);
    for (const ComponentTable& at : tables_) {
        const auto [number, is_new] =
            picture_of_.insert(number_of(*at.table), static_cast<std::uint32_t>(pictures_.size()));
        if (is_new) {
            pictures_.emplace_back();
            pictures_.back().columns.resize(columns_.size(), Bytes(Owner("component mirror")));
        }
        pictures_[*number].table = at;
        pictures_[*number].is_listed = true;
    }
}

void ComponentMirror::drop_pictures() {
    const auto is_gone = [](const Picture& picture) { return !picture.is_listed; };
    if (std::none_of(pictures_.begin(), pictures_.end(), is_gone)) return;
    pictures_.erase(std::remove_if(pictures_.begin(), pictures_.end(), is_gone), pictures_.end());
    picture_of_.clear();
    for (std::uint32_t i = 0; i < pictures_.size(); ++i) picture_of_.insert(number_of(*pictures_[i].table.table), i);
}

void ComponentMirror::compare_picture(std::uint32_t number) {
    Picture& picture = pictures_[number];
    const ComponentTable& at = picture.table;
    const auto num_before = static_cast<std::uint32_t>(picture.owners.size());
    const std::uint32_t num_rows = picture.is_listed ? at.table->num_rows() : 0;
    // First compares the rows that existed before and still exist, block by block. Then handles the rows that were
    // added or removed at the end.
    const std::uint32_t num_common = std::min(num_before, num_rows);
    for (std::uint32_t begin = 0; begin < num_common; begin += kRowsPerStampBlock) {
        const std::uint32_t block = begin / kRowsPerStampBlock;
        const RowRange rows{begin, std::min(begin + kRowsPerStampBlock, num_common)};
        bool is_written = at.needs_parent || at.table->placed_stamp(block) >= picture.stamp;
        for (const Column& column : columns_)
            is_written |= at.table->written_stamp(at.first_column + column.number, block) >= picture.stamp;
        if (!is_written) continue;
        compare_values(picture, rows);
        compare_owners(number, rows);
        take_rows(picture, rows);
    }
    list_gone(picture, {num_common, num_before});
    picture.owners.resize(num_common);
    for (std::size_t c = 0; c < columns_.size(); ++c)
        picture.columns[c].resize(num_common * component_.column(columns_[c].number).element_bytes);
    if (num_common < num_rows) {
        list_came(number, {num_common, num_rows});
        take_rows(picture, {num_common, num_rows});
    }
    if (picture.is_listed) picture.stamp = at.table->stamp();
}

/// Lists the rows that have a new owner. Requires: compare_values() has been called for these rows.
void ComponentMirror::compare_owners(std::uint32_t number, RowRange rows) {
    const Picture& picture = pictures_[number];
    const ComponentTable& at = picture.table;
    const bool are_equal =
        owners_tell(at) && std::equal(picture.owners.data() + rows.begin, picture.owners.data() + rows.end,
                                      at.table->entities().data() + rows.begin);
    if (are_equal) return;
    for (std::uint32_t row = rows.begin; row < rows.end; ++row) {
        const Entity now = holder(at, row);
        if (picture.owners[row] == now) continue;
        list_gone(picture, {row, row + 1});
        if (now) list_came(number, {row, row + 1});
    }
}

/// For each row, adds to `fields` the watched fields that differ in a column. Returns whether any elements differ.
bool ComponentMirror::compare_column(const Column& column, const std::byte* before, const std::byte* now,
                                     std::span<std::uint64_t> fields) const {
    const std::size_t bytes = component_.column(column.number).element_bytes;
    if (std::memcmp(before, now, fields.size() * bytes) == 0) return false;
    for (std::size_t first = 0; first < fields.size(); first += kRowsAtOnce) {
        const std::size_t end = std::min(first + kRowsAtOnce, fields.size());
        if (std::memcmp(before + first * bytes, now + first * bytes, (end - first) * bytes) == 0) continue;
        for (std::size_t i = first; i < end; ++i)
            fields[i] |= differing_fields(column, before + i * bytes, now + i * bytes);
    }
    return true;
}

/// Lists the rows that have the same owner but different values.
void ComponentMirror::compare_values(const Picture& picture, RowRange rows) {
    std::uint64_t fields[kRowsPerStampBlock] = {};
    bool differs = false;
    for (std::size_t c = 0; c < columns_.size(); ++c)
        if (columns_[c].is_compared)
            differs |= compare_column(columns_[c],
                                      picture.columns[c].data() +
                                          std::size_t(rows.begin) * component_.column(columns_[c].number).element_bytes,
                                      element_of(picture.table, component_, columns_[c].number, rows.begin),
                                      {fields, rows.size()});
    Bytes image{Owner("component mirror")};
    for (std::uint32_t i = 0; differs && i < rows.size(); ++i) {
        const Entity owner = picture.owners[rows.begin + i];
        if (fields[i] == 0 || !owner || owner != holder(picture.table, rows.begin + i)) continue;
        image.clear();
        append_images(picture, {rows.begin + i, rows.begin + i + 1}, image);
        list_changed(owner, image.data());
    }
}

/// Compares two elements of a column, and returns the watched fields that differ.
std::uint64_t ComponentMirror::differing_fields(const Column& column, const std::byte* before,
                                                const std::byte* now) const {
    const ColumnDefinition& definition = component_.column(column.number);
    const auto bit = [this](std::uint32_t field) { return std::uint64_t(1) << field & watched_fields_; };
    if (definition.field_index != ColumnDefinition::kWholeComponent)
        return std::memcmp(before, now, definition.element_bytes) == 0 ? 0 : bit(definition.field_index);
    std::uint64_t fields = 0;
    for (std::uint32_t i = 0; i < component_.fields().size(); ++i) {
        const Field& field = component_.fields()[i];
        if (std::memcmp(before + field.struct_offset, now + field.struct_offset, field.size) != 0) fields |= bit(i);
    }
    return fields;
}

/// Returns the watched fields in which a component that has moved differs. `came` is its index in came_.
std::uint64_t ComponentMirror::differing_fields(const std::byte* old_image, std::size_t came) const {
    const auto run = std::upper_bound(came_runs_.begin(), came_runs_.end(), came,
                                      [](std::size_t place, const RowSpan& of) { return place < of.first; }) -
                     1;
    const std::uint32_t row = run->row + static_cast<std::uint32_t>(came - run->first);
    std::uint64_t fields = 0;
    for (const Column& column : columns_)
        if (column.is_compared)
            fields |= differing_fields(column, old_image + component_.column(column.number).struct_offset,
                                       element_of(pictures_[run->picture].table, component_, column.number, row));
    return fields;
}

// --- lists -------------------------------------------------------------------------------------------------------

/// Lists rows that are new or have a new owner. Requires: take_rows() is called for them next.
void ComponentMirror::list_came(std::uint32_t picture, RowRange rows) {
    const ComponentTable& at = pictures_[picture].table;
    const bool are_all = owners_tell(at) && at.table->num_holes() == 0;
    for (std::uint32_t row = rows.begin; row < rows.end;) {
        const std::uint32_t end = are_all ? rows.end : row + 1;
        if (are_all || holder(at, row)) {
            RowSpan* const last = came_runs_.empty() ? nullptr : &came_runs_.back();
            const bool follows = last != nullptr && last->picture == picture && last->row + last->count == row;
            if (!follows) came_runs_.push_back({picture, row, last == nullptr ? 0 : last->first + last->count, 0});
            came_runs_.back().count += end - row;
            append_images(
                end - row, added_columns_,
                [&](std::size_t c) { return element_of(at, component_, added_columns_[c].number, row); }, came_values_);
        }
        row = end;
    }
}

/// Lists the previous owners of rows.
void ComponentMirror::list_gone(const Picture& picture, RowRange rows) {
    const Entity* const owners = picture.owners.data();
    for (std::uint32_t row = rows.begin; row < rows.end;) {
        std::uint32_t end = row;
        while (end < rows.end && owners[end]) ++end;
        gone_.insert(gone_.end(), owners + row, owners + end);
        append_images(picture, {row, end}, gone_values_);
        row = end + 1;  // row `end` had no owner, or is past the last row
    }
}

void ComponentMirror::list_changed(Entity entity, const std::byte* old_image) {
    changed_.push_back(entity);
    changed_values_.insert(changed_values_.end(), old_image, old_image + component_.struct_bytes());
}

std::span<const Entity> ComponentMirror::owners_of(const RowSpan& run) const {
    return std::span<const Entity>(pictures_[run.picture].owners).subspan(run.row, run.count);
}

/// Separates components that moved to another row from components that were added or removed.
void ComponentMirror::match_moves() {
    if (gone_.empty() && came_runs_.size() == 1) {  // the usual case after one large add() needs no copies
        added_ = owners_of(came_runs_[0]);
        added_values_.swap(came_values_);
        return;
    }
    for (const RowSpan& run : came_runs_) came_.insert(came_.end(), owners_of(run).begin(), owners_of(run).end());
    if (came_.empty() || gone_.empty()) {
        added_ = came_;
        added_values_.swap(came_values_);
        removed_.swap(gone_);
        removed_values_.swap(gone_values_);
        return;
    }
    const std::size_t image_bytes = columns_.empty() ? 0 : component_.struct_bytes();
    const std::size_t added_bytes = added_columns_.empty() ? 0 : component_.struct_bytes();
    ListIndices gone(gone_);
    BitSet has_moved{Owner("component mirror")};
    has_moved.clear(gone_.size());
    for (std::size_t i = 0; i < came_.size(); ++i) {
        const std::uint32_t place = gone.take(came_[i]);
        if (place == ListIndices::kNone) {
            added_list_.push_back(came_[i]);
            const std::byte* const image = came_values_.data() + i * added_bytes;
            added_values_.insert(added_values_.end(), image, image + added_bytes);
            continue;
        }
        has_moved.set(place);
        const std::byte* const old_image = gone_values_.data() + place * image_bytes;
        if (watched_fields_ != 0 && differing_fields(old_image, i) != 0) list_changed(came_[i], old_image);
    }
    added_ = added_list_;
    for (std::size_t i = 0; i < gone_.size(); ++i) {
        if (has_moved[i]) continue;
        removed_.push_back(gone_[i]);
        const std::byte* const image = gone_values_.data() + i * image_bytes;
        removed_values_.insert(removed_values_.end(), image, image + image_bytes);
    }
}

// --- saving ------------------------------------------------------------------------------------------------------

namespace {

constexpr std::uint64_t kGone = ~std::uint64_t(0);

struct SavedPicture {
    std::uint64_t stamp;
    std::uint64_t place;  // the table's position in the store's list, or kGone
};

std::string picture_name(std::size_t number) { return concat("picture/", number); }

/// One number for each kept column: twice its column number, plus 1 if it is compared.
template <class Columns>
Array<std::uint32_t> numbers_of(const Columns& columns) {
    Array<std::uint32_t> numbers{Owner("component mirror")};
    for (const auto& column : columns) numbers.push_back(column.number * 2 + column.is_compared);
    return numbers;
}

}  // namespace

void ComponentMirror::save(SnapshotWriter& to) const {
    Array<ComponentTable> tables{Owner("component mirror")};
    store_.list_tables(component_, tables);
    Array<SavedPicture> saved{Owner("component mirror")};
    for (const Picture& picture : pictures_) saved.push_back({picture.stamp, kGone});
    for (std::size_t i = 0; i < tables.size(); ++i)
        if (const std::uint32_t* const number = picture_of_.find(number_of(*tables[i].table))) saved[*number].place = i;
    to.value("layout", component_.layout_hash());
    const Array<std::uint32_t> numbers = numbers_of(columns_);
    to.array("columns", numbers);
    to.array("pictures", saved);
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
        const SnapshotPath::Scope scope = to.in(picture_name(i));
        to.array("owners", std::span<const Entity>(pictures_[i].owners));
        for (std::size_t c = 0; c < columns_.size(); ++c)
            to.elements(concat("column/", c), pictures_[i].columns[c].data(),
                        component_.column(columns_[c].number).element_bytes, pictures_[i].owners.size());
    }
}

void ComponentMirror::forget_all() {
    pictures_.clear();
    picture_of_.clear();
    added_ = {}, added_list_.clear(), removed_.clear(), changed_.clear();
    added_values_.clear(), removed_values_.clear(), changed_values_.clear();
}

Result<bool> ComponentMirror::load(SnapshotReader& from, Start otherwise) {
    forget_all();
    std::uint64_t layout = 0;
    Array<std::uint32_t> numbers{Owner("component mirror")};
    if (from.has("layout")) {
        if (Status status = from.value("layout", layout); !status) return status;
        if (Status status = from.array("columns", numbers); !status) return status;
    }
    if (layout == component_.layout_hash() && numbers == numbers_of(columns_)) {
        Status status = load_pictures(from);
        if (status) return true;
        forget_all();
        return status;
    }
    if (otherwise == Start::kRowsOfNow) compare();
    added_ = {};
    return false;
}

Status ComponentMirror::load_pictures(SnapshotReader& from) {
    Array<SavedPicture> saved{Owner("component mirror")};
    if (Status status = from.array("pictures", saved); !status) return status;
    tables_.clear();
    store_.list_tables(component_, tables_);
    for (std::size_t i = 0; i < saved.size(); ++i) {
        if (saved[i].place != kGone && saved[i].place >= tables_.size())
            return from.error("pictures", concat("there is no table ", saved[i].place));
        const SnapshotPath::Scope scope = from.in(picture_name(i));
        Picture& picture = pictures_.emplace_back();
        picture.stamp = saved[i].stamp;
        if (Status status = read_entities(from, "owners", picture.owners, true); !status) return status;
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::uint32_t bytes = component_.column(columns_[c].number).element_bytes;
            Bytes& kept = picture.columns.emplace_back(Owner("component mirror"));
            if (Status status = from.bytes(concat("column/", c), kept, bytes, picture.owners.size()); !status)
                return status;
        }
        if (saved[i].place == kGone) continue;
        picture.table = tables_[saved[i].place];
        if (!picture_of_.insert(number_of(*picture.table.table), static_cast<std::uint32_t>(i)).is_new)
            return from.error("pictures", concat("table ", saved[i].place, " is there twice"));
    }
    return {};
}

}  // namespace shoal
