// What a blob is made from, and whether it has changed.

#include "support/source_fixture.h"

#include "shoal/base/random.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/migration.h"
#include "shoal/source/inputs.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

namespace shoal_test {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

/// Texts in memory with stamps, on a clock that the test sets. Times of files are in steps of two seconds.
class StampedFiles final : public SourceFiles {
public:
    void add(const std::string& path, const std::string& text) {
        texts_.add(path, text);
        FileStamp& stamp = stamps_[path];
        stamp.num_bytes = text.size();
        stamp.inode = 1 + std::hash<std::string>()(path) % 1000;
        stamp.modified_ns = stamp.changed_ns = now / (2 * kSecond) * 2 * kSecond;
    }
    void remove(const std::string& path) {
        texts_.remove(path);
        stamps_.erase(path);
    }

    bool exists(const std::string& path) const override { return texts_.exists(path); }
    Result<std::string> read(const std::string& path) override {
        if (path == unreadable) return Status::error("cannot read it");
        Result<std::string> text = texts_.read(path);
        if (path == changes_while_read) add(path, "components = { glow = { power = 9 } }");
        return text;
    }
    std::string canonical(const std::string& path) const override {
        const auto link = links.find(path);
        return link == links.end() ? path : link->second;
    }
    FileStamp stamp(const std::string& path) const override {
        const auto found = stamps_.find(path);
        return found == stamps_.end() ? FileStamp() : found->second;
    }
    std::int64_t now_ns() const override { return now; }

    std::int64_t now = 100 * kSecond;
    std::string changes_while_read, unreadable;
    std::map<std::string, std::string> links;

private:
    MemoryFiles texts_;
    std::map<std::string, FileStamp> stamps_;
};

struct Inputs : ::testing::Test {
    Inputs() {
        options.compose.files = &files;
        options.compose.roots = {"mine", "theirs"};
        declare("power = float");
    }
    /// Makes the registry again, with these fields of `glow`.
    void declare(const std::string& fields, const std::string& rest = {}) {
        registry.emplace();
        options.rules = {};
        Diagnostics diagnostics;
        const std::uint32_t file = diagnostics.add_file(
            "test.schema.sjson",
            concat("components = { glow = { fields = { ", fields, " } } other = { fields = { a = bool } } }\n", rest));
        ASSERT_TRUE(read_schema_text(file, *registry, options.rules, diagnostics)) << diagnostics.format();
    }
    /// Compiles as if it were the first time; nothing when there are errors.
    std::vector<std::byte> compile(const std::string& path, SourceInputs* inputs = nullptr) {
        Diagnostics diagnostics;
        options.inputs = inputs;
        Result<CompiledSource> compiled = compile_source(path, *registry, options, diagnostics);
        options.inputs = nullptr;
        messages = diagnostics.format();
        return compiled ? std::move(compiled->blob) : std::vector<std::byte>();
    }
    /// Returns what has changed, one message per line.
    std::string changes(const SourceInputs& inputs) {
        InputFiles looked(files);
        std::string text;
        for (const InputChange& change : find_changes(inputs, *registry, options.rules, options.program, looked))
            append_text(text, concat(change_name(change.kind), ": ", change.message, '\n'));
        return text;
    }

    StampedFiles files;
    std::optional<ComponentRegistry> registry;
    CompileOptions options;
    std::string messages;
};

TEST_F(Inputs, each_kind_of_change_is_told_by_the_name_of_what_changed) {  // req: D31 G12
    files.add("mine/x.sjson", "prefab = \"reef/coral\" components = { other = {} }");
    files.add("theirs/reef/coral.json", R"({"components": {"glow": {"power": 1}}})");
    SourceInputs inputs;
    for (int i = 0; i < 2; ++i) {
        ASSERT_FALSE(compile("mine/x.sjson", &inputs).empty()) << messages;
        EXPECT_EQ(changes(inputs), "");
        EXPECT_EQ(inputs.types.size(), 2u) << "those of the last compilation";
    }

    files.add("theirs/reef/coral.json", R"({"components": {"glow": {"power": 2}}})");
    EXPECT_EQ(changes(inputs), "content: reef/coral.json changed\n");
    files.add("theirs/reef/coral.json", R"({"components": {"glow": {"power": 1}}})");
    EXPECT_EQ(changes(inputs), "") << "content decides";

    files.add("theirs/reef/coral.sjson", "");
    EXPECT_EQ(changes(inputs), "new_file: reef/coral.sjson now exists, and is found before reef/coral.json\n");
    files.remove("theirs/reef/coral.sjson");
    files.add("mine/reef/coral.unit", "");
    EXPECT_EQ(changes(inputs), "new_file: reef/coral.unit now exists in an earlier root\n");
    files.remove("mine/reef/coral.unit");

    files.remove("theirs/reef/coral.json");
    EXPECT_EQ(changes(inputs), "gone: reef/coral.json is gone\n");
    files.add("theirs/reef/coral.json", R"({"components": {"glow": {"power": 1}}})");

    declare("power = { type = float default = 3 }");
    EXPECT_EQ(changes(inputs), "type: the schema of the component type \"glow\" changed\n");
    declare("power = float");
    ASSERT_TRUE(registry->set_blob_order("glow", BlobOrder::kDepthFirst).ok());
    EXPECT_EQ(changes(inputs), "type: the schema of the component type \"glow\" changed\n");
    declare("power = float", "ignored_keys = [editor]");
    EXPECT_EQ(changes(inputs), "rules: the rules of the schema files changed: what is kept, ignored or renamed\n");
    declare("power = float");
    options.program = "reef 2";
    EXPECT_EQ(changes(inputs), "compiler: the compiler is shoal 0.1.0, reef 2 now, and was shoal 0.1.0\n");
    registry.emplace();
    options.program.clear();
    EXPECT_EQ(changes(inputs),
              "type: no schema declares the component type \"glow\" now; give its schema file\n"
              "type: no schema declares the component type \"other\" now; give its schema file\n");
}

TEST_F(Inputs, hashes_are_the_same_on_every_machine) {  // req: D31
    declare("power = { type = float default = 1.5 } claws = { type = uint16 default = 258 }",
            "ignored_keys = [editor]");
    EXPECT_EQ(type_hash(*registry, "glow"), 12938694244749030792u);
    EXPECT_EQ(rules_hash(options.rules), 10057678007214369514u);
    EXPECT_EQ(content_hash("coral"), hash_text("coral"));
    EXPECT_EQ(type_hash(*registry, "none"), 0u);
}

TEST_F(Inputs, each_rule_and_each_mark_of_a_field_makes_another_hash) {
    std::set<std::uint64_t> rules, types;
    const auto add_rules = [&](void (*change)(SourceRules&)) {
        SourceRules changed;
        change(changed);
        rules.insert(rules_hash(changed));
    };
    add_rules([](SourceRules&) {});
    add_rules([](SourceRules& to) { to.keep_unknown_components = true; });
    add_rules([](SourceRules& to) { to.keep_unknown_fields = true; });
    add_rules([](SourceRules& to) { to.ignored_keys = {"a"}; });
    add_rules([](SourceRules& to) { to.renamed_keys = {{"a", "b"}}; });
    add_rules([](SourceRules& to) { to.renamed_keys = {{"a", "c"}}; });
    add_rules([](SourceRules& to) { to.renamed_keys = {{"c", "b"}}; });
    add_rules([](SourceRules& to) { to.components_in_files = {"a"}; });
    add_rules([](SourceRules& to) { to.level_entities = LevelEntities::kUnits; });
    add_rules([](SourceRules& to) { to.level_entities = LevelEntities::kBoth; });
    add_rules([](SourceRules& to) { to.ignored_keys = {"a", "b"}; });
    add_rules([](SourceRules& to) { to.ignored_keys = {"ab"}; });
    add_rules([](SourceRules& to) { to.older_schemas.push_back(*Schema::make({.name = "a"})); });
    add_rules([](SourceRules& to) { to.older_schemas.push_back(*Schema::make({.name = "a", .version = 2})); });
    add_rules([](SourceRules& to) {
        to.older_schemas.push_back(*Schema::make({.name = "a"}));
        to.declarations.push_back({"a", {}, "other migrations"});
    });
    EXPECT_EQ(rules.size(), 15u);
    // Each change of a declaration, of what it is compiled by, and of a field that another one is like otherwise.
    const auto add_type = [&](void (*change)(ComponentDefinition&), void (*more)(ComponentRegistry&) = nullptr) {
        ComponentDefinition definition{.name = "glow"};
        for (const char* name : {"power", "names"}) definition.fields.push_back({.name = name});
        change(definition);
        ComponentRegistry changed;
        Result<Schema> made = Schema::make(std::move(definition));
        ASSERT_TRUE(made) << made.message();
        ASSERT_TRUE(changed.add(*made));
        if (more != nullptr) more(changed);
        types.insert(type_hash(changed, "glow"));
    };
    std::size_t num_types = 0;
    const auto change = [&](void (*of)(ComponentDefinition&), void (*more)(ComponentRegistry&) = nullptr) {
        add_type(of, more);
        EXPECT_EQ(types.size(), ++num_types) << "that is the hash of one before";
    };
    const auto nothing = [](ComponentDefinition&) {};
    change(nothing);
    change([](ComponentDefinition& to) { to.version = 2; });
    change([](ComponentDefinition& to) { to.whole = true; });
    change([](ComponentDefinition& to) { to.enableable = true; });
    change([](ComponentDefinition& to) { to.many = true; });
    change([](ComponentDefinition& to) { to.singleton = true; });
    change([](ComponentDefinition& to) { to.fields[0].name = "force"; });
    change([](ComponentDefinition& to) { to.fields[0].type = FieldType::kInt32; });
    change([](ComponentDefinition& to) { to.fields[0].type = FieldType::kUint32; });
    change([](ComponentDefinition& to) { to.fields[0].array_length = 1; });
    change([](ComponentDefinition& to) { to.fields[0].array_length = 2; });
    change([](ComponentDefinition& to) { to.fields[0].unit = "W"; });
    change([](ComponentDefinition& to) { to.fields[0].shorthand = true; });
    change([](ComponentDefinition& to) { to.fields[0].default_value.resize(4, std::byte(1)); });
    change([](ComponentDefinition& to) { to.fields[1].default_value.resize(4, std::byte(1)); });
    change([](ComponentDefinition& to) { to.fields[0].has_range = true, to.fields[0].maximum = 1; });
    change([](ComponentDefinition& to) { to.fields[0].has_range = true, to.fields[0].maximum = 2; });
    change([](ComponentDefinition& to) {
        to.fields[0].has_range = true, to.fields[0].minimum = -1, to.fields[0].maximum = 1;
    });
    change([](ComponentDefinition& to) { to.fields[0].type = FieldType::kVec3; });
    change([](ComponentDefinition& to) { to.fields[0].type = FieldType::kVec3, to.fields[0].split = true; });
    for (const auto of : {FieldType::kFloat, FieldType::kInt32}) {
        static FieldType element;
        element = of;
        change([](ComponentDefinition& to) {
            to.fields[0].type = FieldType::kBlobArray, to.fields[0].element_type = element;
        });
    }
    change([](ComponentDefinition& to) {
        for (FieldDefinition& field : to.fields)
            field.type = FieldType::kBlobArray, field.element_type = FieldType::kUint32;
    });
    change([](ComponentDefinition& to) {
        for (FieldDefinition& field : to.fields)
            field.type = FieldType::kBlobArray, field.element_type = FieldType::kUint32;
        to.fields[0].keys = "names";
    });
    static std::vector<EnumeratorDefinition> enumerators;
    for (const auto& list : {std::vector<EnumeratorDefinition>{{"a", 0}, {"b", 1}},
                             {{"a", 0}, {"c", 1}},
                             {{"a", 0}, {"b", 2}},
                             {{"a", 0}, {"b", 1}, {"c", 2}}}) {
        enumerators = list;
        change([](ComponentDefinition& to) {
            to.fields[0].type = FieldType::kEnum, to.fields[0].value_bytes = 1;
            to.fields[0].enumerators.assign(enumerators.begin(), enumerators.end());
        });
    }
    change([](ComponentDefinition& to) {
        to.fields[0].type = FieldType::kEnum, to.fields[0].value_bytes = 2;
        to.fields[0].enumerators.assign(enumerators.begin(), enumerators.end());
    });
    for (const Relation relation : {Relation::kNone, Relation::kKept, Relation::kCleared, Relation::kDiesToo}) {
        static Relation chosen;
        chosen = relation;
        change([](ComponentDefinition& to) { to.fields[0].type = FieldType::kEntity, to.fields[0].relation = chosen; });
    }
    change(nothing, [](ComponentRegistry& to) { ASSERT_TRUE(to.set_blob_order("glow", BlobOrder::kDepthFirst)); });
    change(nothing, [](ComponentRegistry& to) { ASSERT_TRUE(to.set_compile_function("glow", nullptr, nullptr, 3)); });
    change(nothing, [](ComponentRegistry& to) {
        ASSERT_TRUE(to.set_compile_function(
            "glow", [](void*, const CompileInput&, CompileOutput&) { return true; }, nullptr, 0));
    });
    change(nothing, [](ComponentRegistry& to) { to.migrations(*to.find("glow")->schema).renamed_from("glare"); });
    change(nothing, [](ComponentRegistry& to) { to.migrations(*to.find("glow")->schema).renamed_from("gleam"); });
}

TEST_F(Inputs, a_blob_says_the_same_as_the_compiler) {  // req: D31
    files.add("mine/x.sjson", "prefab = \"coral\"");
    files.add("theirs/coral.sjson", "components = { glow = {} }");
    SourceInputs inputs;
    const Result<Blob> blob = Blob::load(compile("mine/x.sjson", &inputs));
    ASSERT_TRUE(blob) << messages;
    const Result<SourceInputs> read = inputs_of_blob(*blob, options.compose.roots);
    ASSERT_TRUE(read) << read.message();
    EXPECT_EQ(changes(*read), "");
    ASSERT_EQ(read->files.size(), inputs.files.size());
    for (std::size_t i = 0; i < inputs.files.size(); ++i) {
        EXPECT_EQ(read->files[i].path, inputs.files[i].path);
        EXPECT_EQ(read->files[i].hash, inputs.files[i].hash);
    }
    files.add("theirs/coral.sjson", "components = { glow = { power = 1 } }");
    EXPECT_EQ(changes(*read), "content: coral.sjson changed\n");
    EXPECT_EQ(
        inputs_of_blob(*blob, {"mine"}).message(),
        "the file \"$1/coral.sjson\" was found in root 2, but 1 root is given; give the roots that it was compiled "
        "with, in their order");
    options.compose.roots = {"mine"};
    files.add("mine/y.sjson", "components = { glow = {} }");
    EXPECT_EQ(inputs_of_blob(*Blob::load(compile("mine/y.sjson")), {"mine", "theirs"}).message(),
              "the file \"y.sjson\" was found in the only root, but 2 roots are given; give the roots that it was "
              "compiled with, in their order");
    EXPECT_EQ(inputs_of_blob(*Blob::load(*BlobWriter().write()), {"mine"}).message(),
              "the blob does not say what it was made from; compile it with this version of shoal");
}

TEST_F(Inputs, those_of_a_source_with_errors_are_known_so_that_mending_any_of_them_is_seen) {
    files.add("mine/x.sjson", "prefab = \"coral\"");
    SourceInputs inputs;
    EXPECT_TRUE(compile("mine/x.sjson", &inputs).empty());
    EXPECT_EQ(changes(inputs), "");
    files.add("theirs/coral.sjson", "components = [");
    EXPECT_EQ(changes(inputs), "new_file: coral.sjson now exists\n");
    EXPECT_TRUE(compile("mine/x.sjson", &inputs).empty());
    EXPECT_EQ(changes(inputs), "");
    files.add("theirs/coral.sjson", "components = {}");
    EXPECT_EQ(changes(inputs), "content: coral.sjson changed\n");
    EXPECT_TRUE(compile("mine/none.sjson", &inputs).empty());
    EXPECT_EQ(changes(inputs), "");
    files.add("mine/none.sjson", "");
    EXPECT_EQ(changes(inputs), "content: none.sjson can be read now\n");
}

TEST_F(Inputs, a_file_that_changes_while_it_is_compiled_has_changed) {
    files.add("mine/x.sjson", "prefab = \"coral\"");
    files.add("mine/coral.sjson", "components = { glow = { power = 1 } }");
    files.changes_while_read = "mine/coral.sjson";
    SourceInputs inputs;
    ASSERT_FALSE(compile("mine/x.sjson", &inputs).empty()) << messages;
    files.changes_while_read.clear();
    EXPECT_EQ(changes(inputs), "content: coral.sjson changed\n");
}

TEST_F(Inputs, two_names_of_one_file_are_two_files_when_the_link_comes_to_lead_elsewhere) {
    files.add("mine/x.sjson", "entities = { a = { prefab = \"coral\" } b = { prefab = \"weed\" } }");
    files.add("mine/coral.sjson", "components = { glow = { power = 1 } }");
    files.add("mine/weed.sjson", "components = { glow = { power = 1 } }");
    files.links["mine/weed.sjson"] = "mine/coral.sjson";
    SourceInputs inputs;
    ASSERT_FALSE(compile("mine/x.sjson", &inputs).empty()) << messages;
    EXPECT_EQ(changes(inputs), "");
    files.add("mine/weed.sjson", "components = { glow = { power = 2 } }");
    EXPECT_EQ(changes(inputs), "content: weed.sjson changed\n");
}

TEST_F(Inputs, stamps_spare_reading_but_not_those_of_files_that_were_young) {
    const auto reads = [&](InputFiles& looked) {
        looked.look_again();
        const std::uint64_t before = looked.num_reads();
        EXPECT_EQ(looked.hash("a"), content_hash(*files.read("a")));
        EXPECT_EQ(looked.hash("a"), content_hash(*files.read("a")));
        return looked.num_reads() - before;
    };
    files.add("a", "one");
    files.now += 10 * kSecond;
    InputFiles looked(files);
    EXPECT_EQ(reads(looked), 1u);
    EXPECT_EQ(reads(looked), 0u);
    files.add("a", "two");
    EXPECT_EQ(reads(looked), 1u) << "it has another stamp";
    files.add("a", "six");
    EXPECT_EQ(reads(looked), 1u) << "it has the same stamp and another content";
    files.now += kSecond;
    EXPECT_EQ(reads(looked), 1u) << "a change right now might not be seen";
    files.now += 5 * kSecond;
    EXPECT_EQ(reads(looked), 1u);
    EXPECT_EQ(reads(looked), 0u);

    MemoryFiles plain;
    InputFiles unstamped(plain);
    for (const char* text : {"one", "two"}) {
        plain.add("a", text);
        unstamped.look_again();
        EXPECT_EQ(unstamped.hash("a"), content_hash(text)) << "a file without a stamp is read each time";
    }

    InputFiles told(files);
    EXPECT_FALSE(told.stamp_for("a", content_hash("six"), files.now - 6 * kSecond)) << "it was changed after that";
    told.know("a", told.stamp_for("a", content_hash("six"), files.now), content_hash("six"));
    EXPECT_FALSE(told.stamp_for("a", content_hash("one"), files.now - 6 * kSecond)) << "that was another content";
    EXPECT_EQ(reads(told), 0u);
}

TEST_F(Inputs, a_file_that_could_not_be_read_is_read_when_it_has_its_old_stamp_again) {
    files.add("a", "one");
    files.now += 10 * kSecond;
    InputFiles looked(files);
    EXPECT_EQ(looked.hash("a"), content_hash("one"));
    files.add("a", "three");
    files.unreadable = "a";
    files.now += 10 * kSecond;
    looked.look_again();
    EXPECT_EQ(looked.hash("a"), 0u);
    files.unreadable.clear();
    files.now -= 20 * kSecond;
    files.add("a", "one");  // moved back, with the time of its last change
    files.now += 30 * kSecond;
    looked.look_again();
    EXPECT_EQ(looked.hash("a"), content_hash("one"));
}

/// Edits of any kind, in files that searches find, pass by, and do not find.
struct RandomEdits {
    explicit RandomEdits(std::uint64_t seed) : random(seed) {}

    std::string text() {
        std::string prefab = random.below(2) == 0 ? "" : concat("prefab = \"p", random.below(4), "\" ");
        const char* const broken = random.below(8) == 0 ? "[" : "{";
        return concat(prefab, "components = ", broken, " glow = { power = ", random.below(3), " } }");
    }
    void edit(Inputs& test) {
        const std::string path = concat(random.below(2) == 0 ? "mine/p" : "theirs/p", random.below(4),
                                        random.below(4) == 0 ? ".json" : ".sjson");
        const std::uint32_t what = random.below(10);
        if (what == 0)
            test.declare(concat("power = { type = float default = ", random.below(2), " }"),
                         random.below(4) == 0 ? "unknown_fields = keep" : "");
        else if (what < 4)
            test.files.remove(path);
        else
            test.files.add(path, path.ends_with(".json") ? R"({"components": {"other": {}}})" : text());
        test.files.now += static_cast<std::int64_t>(random.below(4)) * kSecond / 2;
    }

    Random random;
};

TEST_F(Inputs, have_changed_if_and_only_if_a_new_compilation_gives_another_blob) {  // req: D31 G12
    SCOPED_TRACE(seed_text());
    RandomEdits edits(seed());
    InputFiles looked(files);
    SourceInputs inputs;
    std::vector<std::byte> blob;
    std::int64_t num_changed = 0, num_same = 0, num_failed = 0;
    const std::int64_t steps = scaled_operations(20'000);
    files.add("mine/x.sjson", "entities = { a = { prefab = \"p0\" } b = { prefab = \"p1\" } }");
    for (std::int64_t i = 0; i < steps; ++i) {
        edits.edit(*this);
        looked.look_again();
        const bool has_changed = !find_changes(inputs, *registry, options.rules, options.program, looked).empty();
        SourceInputs fresh_inputs;
        const std::vector<std::byte> fresh = compile("mine/x.sjson", &fresh_inputs);
        if (fresh.empty() && blob.empty())
            ++num_failed;  // with other messages, perhaps
        else
            ASSERT_EQ(has_changed, fresh != blob) << i << ": " << changes(inputs);
        has_changed ? ++num_changed : ++num_same;
        blob = fresh;
        inputs = std::move(fresh_inputs);
    }
    EXPECT_GT(num_changed, steps / 20);
    EXPECT_GT(num_same, steps / 20);
    EXPECT_LT(num_failed, steps - steps / 20);
    EXPECT_LT(looked.num_reads(), static_cast<std::uint64_t>(steps) * 4);
}

}  // namespace
}  // namespace shoal_test
