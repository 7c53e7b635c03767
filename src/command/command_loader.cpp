// Reads pending commands from a snapshot, checks them and puts them in place. command_saver.cpp writes them.

#include "command/command_log.h"
#include "command/saved_layout.h"
#include "command/spawn_lists.h"
#include "command/text_call.h"
#include "shoal/base/detail/lines.h"
#include "shoal/base/text.h"
#include "shoal/state/snapshot.h"
#include "shoal/table/detail/saved_rows.h"
#include "shoal/table/detail/value_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shoal {

using detail::CommandBatch;
using detail::CommandKind;
using detail::CommandList;
using detail::CommandPart;
using detail::CommandRecorder;
using detail::ListOrigin;
using detail::MadeList;
using detail::SpawnValue;

namespace {

constexpr std::uint32_t kPendingBlock = CommandRecorder::kPendingBlock;

}  // namespace

/// Reads all commands, then checks them, and changes the log only if all are valid.
class CommandLoader {
public:
    CommandLoader(CommandLog& log, SnapshotReader& from, std::span<const Schema> saved)
        : log_(log), host_(log.host()), from_(from), saved_(saved) {}

    /// Requires: no commands are pending in the log.
    Status run() {
        if (from_.has("epoch"))
            if (Status status = from_.value("epoch", epoch_); !status) return status;
        if (epoch_ > kPendingEpochMask) return error("epoch", concat(epoch_, " is more than there are"));
        if (from_.has("lists")) {
            if (Status status = read(); !status) return status;
            if (Status status = check(); !status) return status;
            build();
        }
        log_.epoch_ = epoch_;
        return {};
    }

private:
    struct Type {
        std::string name;
        const Schema* schema;  // the schema in the store, or else the schema in the state
        bool is_kept, can_disable;
        const Schema* copy = nullptr;  // a copy that outlives the state
        std::uint32_t last_list = 0;   // the 1-based index of the last list that has a part of this type
    };
    struct List {
        SavedCommandList saved{};
        std::span<const SavedCommandPart> parts;
        Array<Schema> set_value{Owner("commands")};  // the schema for the value of the field that is set
        Array<Entity> entities{Owner("commands")};
        Array<std::uint32_t> numbers{Owner("commands")};
        Array<Array<std::byte>> images{Owner("commands")};  // indexed by part
        Array<Entity> originals{Owner("commands")};
        Array<std::uint32_t> blobs{Owner("commands")};
        Array<RootPose> poses{Owner("commands")};
        Array<std::uint8_t> changes{Owner("commands")};
        Array<std::uint32_t> num_overrides{Owner("commands")};
        SpawnOverrides overrides;
        std::size_t override_begin = 0;  // where the overrides of the next row begin
        Array<std::uint32_t> text_bytes{Owner("commands")};
        Array<char> text{Owner("commands")};
        std::uint32_t chunk = kNoChunk;     // the only chunk that may use this list
        std::uint32_t num_taken = 0;        // rows assigned to runs
        std::size_t text_begin = 0;         // where the text of the next row begins
        const CommandList* made = nullptr;  // the list of the loaded commands

        bool has_parts() const {
            return saved.kind == SavedCommandKind::kCreate || saved.kind == SavedCommandKind::kAdd ||
                   saved.kind == SavedCommandKind::kRemove || sets_field();
        }
        bool sets_field() const { return saved.kind == SavedCommandKind::kSet; }
        bool is_spawn() const {
            return saved.kind == SavedCommandKind::kSpawn || saved.kind == SavedCommandKind::kCopy;
        }
        bool creates() const { return is_spawn() || saved.kind == SavedCommandKind::kCreate; }
        bool is_of_chunk() const { return (saved.flags & SavedCommandList::kOfChunk) != 0; }
        bool has_poses() const { return (saved.flags & SavedCommandList::kHasPoses) != 0; }
        bool has_overrides() const { return (saved.flags & SavedCommandList::kHasOverrides) != 0; }
        std::uint32_t spawn_flags() const {
            const bool copies = saved.kind == SavedCommandKind::kCopy;
            return SavedCommandList::kHasPoses | (copies ? 0 : SavedCommandList::kHasOverrides);
        }
        bool is_sound() const {
            const bool may_be_of_chunk = has_parts() && !sets_field();
            const std::uint32_t known_flags = may_be_of_chunk ? SavedCommandList::kOfChunk
                                              : is_spawn()    ? spawn_flags()
                                                              : 0;
            const bool may_lack_parts = saved.kind == SavedCommandKind::kCreate || !has_parts();
            return saved.kind <= SavedCommandKind::kSet && saved.num_rows != 0 && (saved.flags & ~known_flags) == 0 &&
                   (has_parts() || saved.num_parts == 0) && (may_lack_parts || saved.num_parts != 0) &&
                   (!sets_field() || saved.num_parts == 1);
        }
    };

    EntityBits first_pending() const { return kPendingBit | EntityBits(epoch_) << kPendingNumberBits; }
    Status error(std::string_view part, std::string_view what) { return from_.error(part, what); }

    // --- reading ----------------------------------------------------------------------------------------------------

    Status read() {
        if (Status status = read_types(); !status) return status;
        if (Status status = read_blobs(); !status) return status;
        if (Status status = from_.array("lists", saved_lists_); !status) return status;
        if (Status status = from_.array("parts", parts_); !status) return status;
        if (Status status = from_.array("loops", loops_); !status) return status;
        if (Status status = from_.array("chunks", chunks_); !status) return status;
        if (Status status = from_.array("pending_blocks", blocks_); !status) return status;
        if (Status status = from_.array("runs", runs_); !status) return status;
        std::size_t first_part = 0;
        for (std::uint32_t i = 0; i < saved_lists_.size(); ++i) {
            List list;
            list.saved = saved_lists_[i];
            if (!list.is_sound() || list.saved.num_parts > parts_.size() - first_part)
                return error("lists", concat("list ", i, " cannot be as it says"));
            list.parts = std::span(parts_).subspan(first_part, list.saved.num_parts);
            first_part += list.saved.num_parts;
            const SnapshotPath::Scope scope = from_.in(concat("list/", i));
            if (Status status = read_list(list); !status) return status;
            lists_.push_back(std::move(list));
        }
        return first_part == parts_.size() ? Status() : error("parts", "there are more than the lists have");
    }

    /// Finds the component types: types that a store keeps, and copies of types that only the state has.
    Status read_types() {
        const Result<std::string> names = from_.text("types");
        if (!names) return names.status();
        const ComponentDirectory& directory = log_.directory();
        HashMap<std::uint64_t, bool> known{Owner("commands")};  // keyed by id
        for (std::string_view rest = *names; !rest.empty();) {
            Type type{std::string(take_line(rest)), nullptr, false, false};
            const ComponentId id{std::string_view(type.name)};
            if (!known.insert(id.hash, true).is_new)
                return error("types", concat("it lists \"", type.name, "\" twice"));
            const Store* const keeper = directory.find(id);
            type.is_kept = keeper != nullptr;
            type.can_disable = keeper == nullptr || keeper->can_disable();
            const auto saved = std::ranges::find_if(saved_, [&](const Schema& schema) { return schema.id() == id; });
            type.schema = type.is_kept ? directory.find_schema(id) : saved == saved_.end() ? nullptr : &*saved;
            if (type.schema == nullptr)
                return error("types",
                             concat("commands name \"", type.name,
                                    "\", which no store keeps; make its store before loading, as the program did "
                                    "that saved"));
            types_.push_back(std::move(type));
        }
        return {};
    }

    Status read_blobs() {
        const Result<std::string> names = from_.text("blobs");
        if (!names) return names.status();
        for (std::string_view rest = *names; !rest.empty();) {
            const std::string_view name = take_line(rest);
            const Blob* const blob = host_ == nullptr ? nullptr : host_->find_blob(ResourceId(name));
            if (blob == nullptr)
                return error("blobs", concat("commands spawn \"", name,
                                             "\", a resource that is not loaded; load it through the world's library, "
                                             "WorldOptions::library, before the state"));
            blobs_.push_back(blob);
        }
        return {};
    }

    template <class T>
    Status read_rows(std::string_view name, const List& list, Array<T>& to) {
        if (Status status = from_.array(name, to); !status) return status;
        if (to.size() == list.saved.num_rows) return {};
        return error(name, concat("there are ", to.size(), ", and ", list.saved.num_rows, " commands"));
    }

    Status read_list(List& list) {
        if (Status status = read_rows("entity", list, list.entities); !status) return status;
        if (list.saved.kind == SavedCommandKind::kDestroy) return {};
        if (Status status = read_rows("number", list, list.numbers); !status) return status;
        if (list.is_spawn()) return read_spawns(list);
        return list.saved.kind == SavedCommandKind::kText ? read_texts(list) : read_values(list);
    }

    Status check_part(const List& list, const SavedCommandPart& part) {
        const bool brings_value = (part.flags & SavedCommandPart::kBringsValue) != 0;
        const bool is_disabled = (part.flags & SavedCommandPart::kIsDisabled) != 0;
        const bool needs_keeper = (part.flags & SavedCommandPart::kOfDatabase) != 0;
        if (part.type >= types_.size() || part.flags % (1u << SavedCommandPart::kFieldShift) >= 8)
            return error("parts", "a command names an unknown component type");
        Type& type = types_[part.type];
        const auto refuse = [&](std::string_view why) {
            return error("parts", concat("commands about \"", type.name, "\" ", why));
        };
        const auto number = static_cast<std::uint32_t>(lists_.size() + 1);
        if (std::exchange(type.last_list, number) == number) return refuse("name it twice");
        if (brings_value && list.saved.kind == SavedCommandKind::kRemove) return refuse("bring values and remove it");
        if (list.sets_field()) return check_field(part, type);
        if (part.field() != 0) return refuse("name a field, and set none");
        if (brings_value && type.schema->has_opaque()) return refuse("bring values with a field that only C++ knows");
        if (is_disabled && (!brings_value || !type.schema->enableable() || !type.can_disable))
            return refuse("disable it, which its store cannot");
        if (needs_keeper && (!list.is_of_chunk() || !type.is_kept))
            return refuse("name one of a database that lacks it");
        if (list.is_of_chunk() && !type.is_kept) return refuse("need a store that keeps it; make it before loading");
        return {};
    }

    Status check_field(const SavedCommandPart& part, const Type& type) {
        const std::span<const Field> fields = type.schema->fields();
        const bool is_sound = part.field() < fields.size() && fields[part.field()].type != FieldType::kOpaque &&
                              part.flags % (1u << SavedCommandPart::kFieldShift) == SavedCommandPart::kBringsValue;
        if (is_sound) return {};
        return error("parts", concat("commands about \"", type.name, "\" set a field that it does not have"));
    }

    Status read_values(List& list) {
        std::uint64_t row_bytes = 0;
        for (const SavedCommandPart& part : list.parts) {
            if (Status status = check_part(list, part); !status) return status;
            Array<std::byte>& images = list.images.emplace_back(Owner("commands"));
            if ((part.flags & SavedCommandPart::kBringsValue) == 0) continue;
            const Schema& component = *types_[part.type].schema;
            if (list.sets_field()) list.set_value.push_back(detail::make_field_schema(component, part.field()));
            const Schema& schema = list.sets_field() ? list.set_value[0] : component;
            row_bytes += schema.struct_bytes() + schema.struct_alignment();
            if (row_bytes > MadeList::kMaxRowBytes)
                return error("parts",
                             concat("the values of a command take more than ", MadeList::kMaxRowBytes, " bytes"));
            const SnapshotPath::Scope scope = from_.in(schema.name());
            if (Status status = read_images(schema, list.saved.num_rows, images); !status) return status;
            if (from_.is_trusted()) continue;
            if (Status status = check_images(schema, list.saved.num_rows, images); !status) return status;
        }
        return {};
    }

    /// Reads the columns of values of one component type, and makes struct images of them. The images may be much
    /// larger, because the bytes between the fields are not saved.
    Status read_images(const Schema& schema, std::uint32_t num_rows, Array<std::byte>& images) {
        const std::size_t stride = schema.struct_bytes();
        if (Status status = from_.take_memory("field", num_rows * std::uint64_t(stride)); !status) return status;
        images.resize(num_rows * stride);
        Array<std::byte> column{Owner("commands")};
        for (std::uint32_t c = 0; c < schema.columns().size(); ++c) {
            const ColumnDefinition& definition = schema.columns()[c];
            if (Status status = from_.bytes(saved_column_name(schema, c), column, definition.element_bytes, num_rows);
                !status)
                return status;
            for (std::uint32_t row = 0; row < num_rows; ++row)
                std::memcpy(images.data() + row * stride + definition.struct_offset,
                            column.data() + std::size_t(row) * definition.element_bytes, definition.element_bytes);
        }
        return {};
    }

    Status check_images(const Schema& schema, std::uint32_t num_rows, const Array<std::byte>& images) {
        const Status status = check_command_values(host_, schema, num_rows, images);
        return status ? Status() : error("field", status.message());
    }

    Status read_spawns(List& list) {
        if (list.saved.kind == SavedCommandKind::kCopy) {
            if (Status status = read_rows("original", list, list.originals); !status) return status;
        } else {
            if (Status status = read_rows("blob", list, list.blobs); !status) return status;
            if (std::ranges::any_of(list.blobs, [&](std::uint32_t blob) { return blob >= blobs_.size(); }))
                return error("blob", "a command spawns a resource that has no name");
        }
        if (list.has_overrides())
            if (Status status = read_overrides(list); !status) return status;
        if (!list.has_poses()) return {};
        if (Status status = read_rows("pose", list, list.poses); !status) return status;
        if (from_.is_trusted() || host_ == nullptr) return {};
        const Status status = host_->check_poses(list.poses);
        return status ? Status() : error("pose", status.message());
    }

    Status read_overrides(List& list) {
        if (Status status = read_rows("num_overrides", list, list.num_overrides); !status) return status;
        if (Status status = load_overrides(from_, list.overrides); !status) return status;
        std::uint64_t count = 0;
        for (const std::uint32_t some : list.num_overrides) count += some;
        return count == list.overrides.size() ? Status()
                                              : error("num_overrides", "the commands do not take all overrides");
    }

    Status read_texts(List& list) {
        if (Status status = read_rows("change", list, list.changes); !status) return status;
        if (Status status = read_rows("text_bytes", list, list.text_bytes); !status) return status;
        if (Status status = from_.array("text", list.text); !status) return status;
        std::string_view rest(list.text.data(), list.text.size());
        for (std::size_t i = 0; i < list.text_bytes.size(); ++i) {
            if (list.text_bytes[i] > rest.size()) return error("text", "the texts do not fill it");
            if (!is_utf8(rest.substr(0, list.text_bytes[i])))
                return error("text", concat("text ", i, " is not valid UTF-8"));
            rest.remove_prefix(list.text_bytes[i]);
        }
        if (!rest.empty()) return error("text", "the texts do not fill it");
        if (std::ranges::any_of(list.changes,
                                [](std::uint8_t change) { return change > std::uint8_t(TextChange::kUntag); }))
            return error("change", "a command changes a text in an unknown way");
        return {};
    }

    // --- checking ---------------------------------------------------------------------------------------------------

    Status check() {
        if (Status status = check_loops(); !status) return status;
        if (Status status = check_pending(); !status) return status;
        if (Status status = check_chunks(); !status) return status;
        for (const List& list : lists_)
            if (list.num_taken != list.saved.num_rows) return error("runs", "they do not take all commands");
        return {};
    }

    Status check_loops() {
        std::uint64_t num_chunks = 0;
        Array<std::uint32_t> passes{Owner("commands")};  // passes that record commands outside of their loops
        for (const SavedCommandLoop& loop : loops_) {
            num_chunks += loop.num_chunks;
            const bool is_outer = loop.pass == 0 && loop.num_steps != 0;
            const bool has_number = loop.steps[0].loop != 0 && loop.steps[0].loop <= loops_.size();
            const bool fits_pass = loop.is_of_pass == 0 || (loop.num_chunks == 1 && loop.num_steps == 0);
            if (loop.num_chunks == 0 || loop.is_of_pass > 1 || !fits_pass || (is_outer && !has_number))
                return error("loops", "a loop cannot be where it says");
            if (loop.is_of_pass != 0) passes.push_back(loop.pass);
        }
        std::sort(passes.begin(), passes.end());
        if (std::adjacent_find(passes.begin(), passes.end()) != passes.end())
            return error("loops", "the commands of a pass are there twice");
        return num_chunks == chunks_.size() ? Status() : error("chunks", "they are not those of the loops");
    }

    /// Records which pending entities each chunk has. Errors: an entity occurs twice, or is missing.
    Status check_pending() {
        constexpr std::uint32_t kMostBlocks = std::uint32_t((kPendingNumberMask + 1) / kPendingBlock);
        if (blocks_.size() > kMostBlocks) return error("pending_blocks", "there are more entities than there can be");
        owners_.resize(blocks_.size(), kNoChunk);
        given_.resize(blocks_.size(), 0);
        std::size_t next = 0;
        for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk)
            for (std::uint32_t left = chunks_[chunk].num_pending; left != 0;) {
                const std::uint32_t block = next < blocks_.size() ? blocks_[next++] : kNoChunk;
                if (block >= blocks_.size() || owners_[block] != kNoChunk)
                    return error("pending_blocks", "a block of entities is there twice, or missing");
                owners_[block] = chunk;
                given_[block] = std::min(left, kPendingBlock);
                left -= given_[block];
            }
        return next == blocks_.size() ? Status() : error("pending_blocks", "there are more than the chunks have");
    }

    Status check_chunks() {
        std::size_t next = 0;
        for (std::uint32_t chunk = 0; chunk < chunks_.size(); ++chunk) {
            const std::uint32_t num_runs = chunks_[chunk].num_runs;
            if (num_runs > runs_.size() - next || (num_runs == 0 && chunks_[chunk].num_pending == 0))
                return error("chunks", "a chunk has other runs than there are");
            for (const SavedCommandBatch& run : std::span(runs_).subspan(next, num_runs))
                if (Status status = check_run(chunk, run); !status) return status;
            next += num_runs;
        }
        return next == runs_.size() ? Status() : error("runs", "there are more than the chunks have");
    }

    Status check_run(std::uint32_t chunk, const SavedCommandBatch& run) {
        if (run.list >= lists_.size()) return error("runs", "a run has a list that does not exist");
        List& list = lists_[run.list];
        if (run.num_rows == 0 || run.num_rows > list.saved.num_rows - list.num_taken)
            return error("runs", "a run has other commands than its list");
        if (list.is_of_chunk() && list.chunk != kNoChunk && list.chunk != chunk)
            return error("runs", "two chunks have a list that is of one");
        list.chunk = chunk;
        for (std::uint32_t i = 0; i < run.num_rows; ++i)
            if (Status status = check_row(chunk, list, list.num_taken + i); !status) return status;
        list.num_taken += run.num_rows;
        return {};
    }

    /// Whether the chunk has handed out this pending entity, and no earlier command creates it.
    bool is_given(std::uint32_t chunk, Entity pending) {
        if (pending.id >> kPendingNumberBits != first_pending() >> kPendingNumberBits) return false;
        const auto number = static_cast<std::size_t>(pending.id & kPendingNumberMask);
        const std::size_t block = number / kPendingBlock;
        return block < owners_.size() && owners_[block] == chunk && number % kPendingBlock < given_[block] &&
               !used_.test_and_set(number);
    }

    Status check_row(std::uint32_t chunk, const List& list, std::uint32_t row) {
        if (list.creates() && !is_given(chunk, list.entities[row]))
            return error("list", "a command creates an entity that it was not given");
        if (list.saved.kind == SavedCommandKind::kDestroy) return {};
        const std::uint32_t number = list.numbers[row];
        const bool is_zone = list.creates() || list.saved.kind == SavedCommandKind::kMove;
        const bool may_lack_zone = list.creates() && number == kNoZone;
        if (is_zone && number >= kMaxZones && !may_lack_zone) return error("list", concat("there is no zone ", number));
        if (!is_zone && (number == 0 || number > chunks_[chunk].num_ordered))
            return error("list", "a command comes after the last one of its chunk");
        return {};
    }

    // --- putting in place -------------------------------------------------------------------------------------------

    void build() {
        std::uint64_t num_outer = 0;
        for (const SavedCommandLoop& saved : loops_)
            if (saved.pass == 0 && saved.num_steps != 0) num_outer = std::max(num_outer, saved.steps[0].loop);
        const std::uint64_t first_outer = num_outer == 0 ? 0 : WorkScope::number_outer_loops(num_outer);
        std::uint32_t chunk = 0;
        for (const SavedCommandLoop& saved : loops_) {
            WorkPosition place{saved.pass, saved.num_steps, {}};
            for (std::uint32_t i = 0; i < WorkPosition::kMostSteps; ++i)
                place.steps[i] = {saved.steps[i].loop, saved.steps[i].chunk};
            if (saved.pass == 0 && saved.num_steps != 0) place.steps[0].loop += first_outer - 1;
            CommandLoop& loop = log_.open_locked(place, saved.num_chunks);
            for (std::uint32_t i = 0; i < saved.num_chunks; ++i) build_chunk(chunk++, loop.chunks[i]);
            loop.is_of_pass = saved.is_of_pass != 0;
            if (loop.is_of_pass) loop.commands.take_up(loop.chunks.front());
        }
        log_.num_pending_ = EntityBits(blocks_.size()) * kPendingBlock;
    }

    void build_chunk(std::uint32_t number, CommandRecorder& chunk) {
        const SavedCommandChunk& saved = chunks_[number];
        Array<EntityBits> pending{Owner("commands")};
        const std::size_t num_blocks = (saved.num_pending + kPendingBlock - 1) / kPendingBlock;
        for (std::size_t i = 0; i < num_blocks; ++i)
            pending.push_back(first_pending() + EntityBits(blocks_[next_block_++]) * kPendingBlock);
        detail::CommandNumbers numbers;
        numbers.num_ordered = saved.num_ordered;
        if (num_blocks != 0) numbers.next_pending = pending.back() + (saved.num_pending - 1) % kPendingBlock + 1;
        chunk.restore_numbers(pending, numbers);
        for (std::uint32_t i = 0; i < saved.num_runs; ++i) {
            const SavedCommandBatch& run = runs_[next_run_++];
            List& list = lists_[run.list];
            if (list.made == nullptr) list.num_taken = 0;  // from now on, counts the rows that are in place
            list.made = &list_for(list, chunk);
            fill(chunk.begin_run(*list.made, run.num_rows), list);
        }
    }

    /// Returns the list in the log for the commands of a saved list.
    const CommandList& list_for(List& list, CommandRecorder& chunk) {
        if (list.made != nullptr) return *list.made;
        switch (list.saved.kind) {
            case SavedCommandKind::kDestroy:
                return detail::DestroyCommand::kList;
            case SavedCommandKind::kMove:
                return detail::TypedCommand<CommandKind::kMove>::kList;
            case SavedCommandKind::kSpawn:
                if (list.has_overrides())
                    return list.has_poses() ? OverridingSpawn<true>::kList : OverridingSpawn<false>::kList;
                return list.has_poses() ? detail::kSpawnAtList : detail::kSpawnList;
            case SavedCommandKind::kCopy:
                return list.has_poses() ? detail::kCopyAtList : detail::kCopyList;
            case SavedCommandKind::kText:
                return TextCommand::kList;
            default:
                break;
        }
        if (list.is_of_chunk()) return chunk.made_list(make_list(list));
        auto* const made = make_owned<MadeList>("commands", make_list(list));
        made->origin = ListOrigin::kLoaded;
        log_.loaded_lists_.push_back(made);
        return *made;
    }

    /// Returns a copy of a schema. The copy's address is valid as long as loaded commands are pending.
    const Schema& copy_of(Type& type) {
        if (type.copy != nullptr) return *type.copy;
        auto* const copy = make_owned<Schema>("commands", *type.schema);
        log_.loaded_schemas_.push_back(copy);
        type.copy = copy;
        return *copy;
    }

    MadeList make_list(const List& list) {
        MadeList made(static_cast<CommandKind>(list.saved.kind));
        for (const SavedCommandPart& saved : list.parts) {
            Type& type = types_[saved.type];
            CommandPart part;
            part.made = list.is_of_chunk() ? type.schema : &copy_of(type);
            part.is_disabled = (saved.flags & SavedCommandPart::kIsDisabled) != 0;
            const Schema* value = (saved.flags & SavedCommandPart::kBringsValue) != 0 ? type.schema : nullptr;
            if (list.sets_field()) {
                made.own_schemas.push_back(make_owned<Schema>("commands", list.set_value[0]));
                part.field = saved.field();
                part.made_field = value = made.own_schemas.back();
            }
            made.add(part, value);
        }
        return made;
    }

    /// Writes the next rows of a list to a run.
    void fill(const CommandBatch& run, List& list) {
        const std::size_t first = list.num_taken, count = run.num_rows;
        list.num_taken += run.num_rows;
        std::copy_n(list.entities.data() + first, count, run.entities().data());
        if (list.saved.kind == SavedCommandKind::kDestroy) return;
        std::memcpy(run.column(sizeof(Entity)), list.numbers.data() + first, count * sizeof(std::uint32_t));
        for (std::size_t i = 0; i < list.images.size(); ++i)
            if (const CommandPart& part = run.list->parts[i]; part.num_bytes != 0)
                std::memcpy(run.value(part, 0), list.images[i].data() + first * part.num_bytes, count * part.num_bytes);
        for (std::size_t i = 0; list.is_spawn() && i < count; ++i) {
            const bool copies = list.saved.kind == SavedCommandKind::kCopy;
            ::new (static_cast<void*>(run.column(SpawnValue::kOffset) + i * sizeof(SpawnValue))) SpawnValue{
                copies ? nullptr : blobs_[list.blobs[first + i]], copies ? list.originals[first + i] : kNullEntity};
        }
        if (list.has_poses())
            std::memcpy(run.column(detail::kPoseOffset), list.poses.data() + first, count * sizeof(RootPose));
        for (std::size_t i = 0; list.has_overrides() && i < count; ++i) {
            const auto begin = list.overrides.begin() + static_cast<std::ptrdiff_t>(list.override_begin);
            const std::uint32_t num_some = list.num_overrides[first + i];
            list.override_begin += num_some;
            ::new (static_cast<void*>(run.value(run.list->parts.front(), i))) SpawnOverrides(begin, begin + num_some);
        }
        for (std::size_t i = 0; list.saved.kind == SavedCommandKind::kText && i < count; ++i) {
            const std::size_t bytes = list.text_bytes[first + i];
            TextCall call{&log_, static_cast<TextChange>(list.changes[first + i]),
                          std::string(list.text.data() + list.text_begin, bytes)};
            list.text_begin += bytes;
            ::new (static_cast<void*>(run.value(TextCommand::kPart, i)))
                TextCommand::Value(kNullEntity, std::move(call));
        }
    }

    CommandLog& log_;
    const CommandHost* host_;
    SnapshotReader& from_;
    std::span<const Schema> saved_;
    std::uint32_t epoch_ = 0;
    Array<Type> types_{Owner("commands")};
    Array<const Blob*> blobs_{Owner("commands")};
    Array<SavedCommandList> saved_lists_{Owner("commands")};
    Array<SavedCommandPart> parts_{Owner("commands")};
    Array<List> lists_{Owner("commands")};
    Array<SavedCommandLoop> loops_{Owner("commands")};
    Array<SavedCommandChunk> chunks_{Owner("commands")};
    Array<std::uint32_t> blocks_{Owner("commands")};
    Array<SavedCommandBatch> runs_{Owner("commands")};
    Array<std::uint32_t> owners_{Owner("commands")};  // for each block of pending entities: its chunk
    Array<std::uint32_t> given_{Owner("commands")};   // for each block: how many ids its chunk has handed out
    BitSet used_{Owner("commands")};                  // pending entities that commands create
    std::size_t next_run_ = 0, next_block_ = 0;
};

// --- the log -----------------------------------------------------------------------------------------------------

Status CommandLog::load(SnapshotReader& from, std::span<const Schema> saved) {
    discard();
    epoch_ = 0;
    const SnapshotPath::Scope scope = from.in("commands");
    return CommandLoader(*this, from, saved).run();
}

/// Replaces loaded lists in runs with equal lists of the program, so that the commands of both are carried out
/// together.
void CommandLog::unify_lists(std::span<CommandLoop* const> loops) {
    if (loaded_lists_.empty()) return;
    Array<const CommandList*> compiled{Owner("commands")};
    for_each_chunk(loops, [&](CommandRecorder& chunk) {
        for (const CommandBatch& run : chunk.runs())
            if (run.list->origin == ListOrigin::kCompiled && std::ranges::find(compiled, run.list) == compiled.end())
                compiled.push_back(run.list);
    });
    HashMap<std::uint64_t, const CommandList*> same{Owner("commands")};  // keyed by the address of the loaded list
    for (const MadeList* loaded : loaded_lists_) {
        const auto found =
            std::ranges::find_if(compiled, [&](const CommandList* list) { return loaded->is_like(*list); });
        if (found != compiled.end()) same.set(reinterpret_cast<std::uintptr_t>(loaded), *found);
    }
    if (same.empty()) return;
    for_each_chunk(loops, [&](CommandRecorder& chunk) { chunk.replace_lists(same); });
}

void CommandLog::forget_loaded() {
    for (const MadeList* list : loaded_lists_) destroy_owned("commands", list);
    for (const Schema* schema : loaded_schemas_) destroy_owned("commands", schema);
    loaded_lists_.clear(), loaded_schemas_.clear();
}

Status check_command_values(const CommandHost* host, const Schema& schema, std::uint32_t num_rows,
                            std::span<const std::byte> images) {
    for (const Field& field : schema.fields())
        if (const BadValue bad =
                find_bad_value(field, {images.data() + field.struct_offset, schema.struct_bytes(), num_rows}))
            return Status::error(concat("\"", field.name, "\" of \"", schema.name(), "\" holds ", bad.problem));
    return host == nullptr ? Status() : host->check_images(schema, images);
}

}  // namespace shoal
