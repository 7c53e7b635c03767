#include "shoal/table/detail/field_part.h"

#include "shoal/base/text.h"
#include "shoal/document/diagnostics.h"
#include "shoal/table/detail/saved_rows.h"

#include <charconv>

namespace shoal {
namespace {

constexpr std::uint32_t kMatrixRows = 3;
constexpr std::string_view kPosition = "position";

/// Resolves a name part by part.
class PartFinder {
public:
    PartFinder(const Schema& schema, std::string_view name) : schema_(schema), name_(name) {}

    Result<FieldPart> find() {
        const bool leaves_field_out = is_position_of_only_matrix();
        std::string_view rest = leaves_field_out ? std::string_view(schema_.fields()[0].name) : field_name();
        if (Status status = enter_field(rest); !status) return status;
        rest = leaves_field_out ? name_ : name_.substr(rest.size());
        if (leaves_field_out) enter_position(rest, kPosition.size());
        while (!rest.empty()) {
            if (Status status = rest[0] == '[' ? enter_element(rest) : enter_lane(rest); !status) return status;
        }
        return part_;
    }

private:
    /// Returns the part of `name` that is the name of a field: "aabbox.min" in "aabbox.min.x". No field is inside
    /// another field.
    std::string_view field_name() const {
        const std::size_t end = std::min(name_.find('['), name_.size());
        for (std::size_t at = name_.find('.'); at < end; at = name_.find('.', at + 1))
            if (schema_.find_field(name_.substr(0, at)) >= 0) return name_.substr(0, at);
        if (schema_.find_field(name_.substr(0, end)) >= 0) return name_.substr(0, end);
        return name_.substr(0, name_.find_first_of(".["));
    }
    /// Whether the name begins with "position" and the only field is a matrix, whose name may be omitted.
    bool is_position_of_only_matrix() const {
        return has_only_matrix() && name_.substr(0, name_.find_first_of(".[")) == kPosition &&
               schema_.find_field(kPosition) < 0;
    }
    bool has_only_matrix() const {
        return schema_.fields().size() == 1 && is_matrix(value_type_of(schema_.fields()[0]));
    }
    static bool is_matrix(const ValueType& type) {
        return type.array_length == 0 && type.type == FieldType::kMatrix3x4;
    }

    /// The part of the name that has been understood so far, as in "body.position".
    std::string so_far(std::string_view rest) const {
        return quoted(concat(schema_.name(), '.', name_.substr(0, name_.size() - rest.size())));
    }

    Status enter_field(std::string_view field_name) {
        const int found = schema_.find_field(field_name);
        if (found < 0) {
            const std::string hint = has_only_matrix()  // otherwise, the hint for "rotation" would be "position"
                                         ? concat("it has ", schema_.fields()[0].name, ", and its position")
                                         : hint_for(field_name, field_names(schema_));
            return Status::error(concat(quoted(schema_.name()), " has no field ", quoted(field_name), "; ", hint));
        }
        const Field& field = schema_.fields()[static_cast<std::size_t>(found)];
        if (field.type == FieldType::kOpaque)
            return Status::error(concat(quoted(concat(schema_.name(), '.', field.name)),
                                        " is opaque: only code that knows its C++ type can read or write it"));
        part_ = field_part(schema_, field);
        return {};
    }

    Status enter_element(std::string_view& rest) {
        const bool has_rows = is_matrix(part_.type);
        const std::uint32_t length = has_rows ? kMatrixRows : part_.type.array_length;
        std::uint32_t index = 0;
        const char* const digits_end = rest.data() + rest.size();
        const auto [end, error] = std::from_chars(rest.data() + 1, digits_end, index);
        if (error != std::errc() || end == digits_end || *end != ']')
            return Status::error(concat("after ", so_far(rest), ", a number in brackets is expected, such as [0]"));
        if (length == 0)
            return Status::error(concat(so_far(rest), " is ", part_.type.to_text(), ", which has no elements"));
        if (index >= length)
            return Status::error(concat(so_far(rest), " has ", length, " elements, [0] to [", length - 1, ']'));
        ValueType type = part_.type;
        type.array_length = 0;
        if (has_rows) type = {FieldType::kVec4, FieldType(0), 0, sizeof(Vec4), {}};
        narrow(type, index * type.value_bytes);
        rest.remove_prefix(static_cast<std::size_t>(end + 1 - rest.data()));
        return {};
    }

    Status enter_lane(std::string_view& rest) {
        const std::string_view name = rest.substr(1, rest.find_first_of(".[", 1) - 1);
        if (is_matrix(part_.type) && name == kPosition) return enter_position(rest, 1 + name.size()), Status();
        const std::uint32_t num_lanes = part_.type.array_length != 0 ? 1 : field_type_lanes(part_.type.type);
        std::uint32_t lane = 0;
        while (lane < num_lanes && name != lane_name(lane)) ++lane;
        if (is_matrix(part_.type))
            return Status::error(concat(so_far(rest), " is a matrix, which has no ", quoted(name), "; it has rows, ",
                                        "[0] to [", kMatrixRows - 1, "], and a position"));
        if (num_lanes == 1)
            return Status::error(concat(so_far(rest), " is ", part_.type.to_text(), ", which has no ", quoted(name)));
        if (lane >= num_lanes)
            return Status::error(concat(so_far(rest), " is ", part_.type.to_text(), ", which has no ", quoted(name),
                                        "; it has ",
                                        num_lanes == 2   ? "x, y"
                                        : num_lanes == 3 ? "x, y, z"
                                                         : "x, y, z, w"));
        const std::uint32_t stride = part_.lane_stride != 0 ? part_.lane_stride : std::uint32_t(sizeof(float));
        narrow({FieldType::kFloat, FieldType(0), 0, sizeof(float), {}}, lane * stride);
        part_.lane_stride = 0;
        rest.remove_prefix(1 + name.size());
        return {};
    }

    /// Narrows a matrix to its last column, the w of each row. `length` is the length of the name used for that column.
    void enter_position(std::string_view& rest, std::size_t length) {
        narrow({FieldType::kVec3, FieldType(0), 0, sizeof(Vec3), {}}, offsetof(Vec4, w));
        part_.lane_stride = sizeof(Vec4);
        rest.remove_prefix(length);
    }

    /// Narrows the part to a value of `type` at `offset`.
    void narrow(ValueType type, std::uint32_t offset) {
        part_.type = type;
        part_.offset_in_field += offset;
        if (part_.num_columns > 1) {
            part_.first_column += offset / static_cast<std::uint32_t>(sizeof(float));
            part_.num_columns = 1;
        } else {
            part_.offset_in_column += offset;
        }
    }

    const Schema& schema_;
    std::string_view name_;
    FieldPart part_;
};

/// Calls copy(offset from the start of the part, offset in the value, bytes) for each contiguous piece of a part.
template <class Copy>
void for_each_run(const FieldPart& part, std::size_t bytes, Copy&& copy) {
    if (part.lane_stride == 0) return copy(0, 0, bytes);
    for (std::size_t at = 0, lane = 0; at < bytes; at += sizeof(float), ++lane)
        copy(lane * part.lane_stride, at, sizeof(float));
}

/// Calls copy(column, offset in the column's element, offset in the value, bytes) for each piece of a part.
template <class Copy>
void for_each_piece(std::uint32_t first_column, const FieldPart& part, Copy&& copy) {
    const std::uint32_t bytes = part.type.num_bytes() / part.num_columns;
    for (std::uint32_t c = 0; c < part.num_columns; ++c)
        for_each_run(part, bytes, [&](std::size_t in_field, std::size_t in_value, std::size_t count) {
            copy(first_column + part.first_column + c, part.offset_in_column + in_field, c * bytes + in_value, count);
        });
}

}  // namespace

FieldPart field_part(const Schema& schema, const Field& field) {
    return {&field, value_type_of(field), 0, field.first_column, field.num_columns, schema.offset_in_column(field)};
}

Array<std::string_view> field_names(const Schema& schema) {
    Array<std::string_view> names{Owner("field part")};
    for (const Field& field : schema.fields()) names.push_back(field.name);
    return names;
}

Result<FieldPart> find_field_part(const Schema& schema, std::string_view name) {
    return PartFinder(schema, name).find();
}

void read_part(const std::byte* field, const FieldPart& part, std::byte* value) {
    for_each_run(part, part.type.num_bytes(), [&](std::size_t from, std::size_t to, std::size_t bytes) {
        copy_bytes(value + to, field + part.offset_in_field + from, bytes);
    });
}

void write_part(std::byte* field, const FieldPart& part, const std::byte* value) {
    for_each_run(part, part.type.num_bytes(), [&](std::size_t to, std::size_t from, std::size_t bytes) {
        copy_bytes(field + part.offset_in_field + to, value + from, bytes);
    });
}

void read_part(const Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
               std::byte* value) {
    SHOAL_ASSERT(row < table.num_rows(), "the row does not exist");
    for_each_piece(first_column, part, [&](std::uint32_t column, std::size_t from, std::size_t to, std::size_t bytes) {
        const std::size_t element_bytes = table.schema().column(column).element_bytes;
        copy_bytes(value + to, table.column(column) + row * element_bytes + from, bytes);
    });
}

void write_part(Table& table, std::uint32_t first_column, std::uint32_t row, const FieldPart& part,
                const std::byte* value) {
    for_each_piece(first_column, part, [&](std::uint32_t column, std::size_t to, std::size_t from, std::size_t bytes) {
        copy_bytes(table.write_element(column, row) + to, value + from, bytes);
    });
}

}  // namespace shoal
