#pragma once
// What schema files say of older versions: `migrations` and `renamed_from`. docs/formats/source.md has the grammar.

#include "shoal/resource/value_change.h"
#include "source/schema_nodes.h"

#include <string>
#include <utility>
#include <vector>

namespace shoal {

/// What has changed from one version to the next; carried out in the order of the members.
struct DeclaredStep {
    std::uint32_t from = 0;
    std::vector<std::string> removed;
    std::vector<std::pair<std::string, std::string>> renamed;  ///< old and new name
    std::vector<std::pair<std::string, ValueConversion>> converted;
    std::vector<std::pair<std::string, std::vector<std::string>>> split;
    std::vector<std::pair<std::string, std::vector<std::string>>> joined;  ///< the new name, then the old ones
    std::vector<std::pair<std::string, AnyValue>> set;

    void add_to(Migrations& migrations) const;
};

/// Reads the steps of one component type.
class MigrationReader {
public:
    /// `schema`: the newest version.
    MigrationReader(const Schema& schema, Diagnostics& diagnostics)
        : schema_(schema), diagnostics_(diagnostics), nodes_(diagnostics) {}

    /// Returns the steps by version. Errors: reported.
    std::vector<DeclaredStep> read(Node list);

private:
    /// What a new name of a field is in the newest version.
    struct Fate {
        std::string name;
        bool is_gone = false;       ///< a later change takes the field away
        bool is_converted = false;  ///< a later change gives it another type
    };

    void read_step(Node node);
    void read_removed(Node list, DeclaredStep& step);
    void read_renamed(Node mapping, DeclaredStep& step);
    void read_converted(Node mapping, DeclaredStep& step);
    void read_conversion(Node node, ValueConversion& conversion);
    void read_values(Node mapping, ValueConversion& conversion);
    void read_lists(Node mapping, std::string_view key, std::size_t most,
                    std::vector<std::pair<std::string, std::vector<std::string>>>& lists);
    bool read_number(Node node, double& number);
    void read_set(Node mapping, DeclaredStep& step);
    bool read_set_value(Node node, const Fate& fate, AnyValue& value);
    bool read_value(const Field& field, Node node, AnyValue& value);
    bool read_typed_value(Node node, AnyValue& value);
    void check_names(Node node, const DeclaredStep& step);
    void check_name(SourcePosition position, std::string_view name, const DeclaredStep& step, bool is_early);
    Fate fate_of(std::string_view name, const DeclaredStep& step, bool is_early) const;

    const Schema& schema_;
    Diagnostics& diagnostics_;
    SchemaNodes nodes_;
    std::vector<DeclaredStep> steps_;
    std::vector<Node> nodes_of_steps_;
};

/// Reads the old names of a component type: a text or a list of texts. Errors: reported.
std::vector<std::string> read_old_names(Node node, std::string_view component, Diagnostics& diagnostics);

}  // namespace shoal
