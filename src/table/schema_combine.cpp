#include "shoal/base/detail/page_memory.h"
#include "shoal/base/text.h"
#include "shoal/table/detail/schema.h"

#include <algorithm>

namespace shoal {

Schema Schema::combine(std::span<const Schema* const> components) {
    Schema result;
    result.combined_ = true;
    for (const Schema* part : components) {
        append_text(result.name_, concat(result.name_.empty() ? "" : "+", part->name_));
        result.has_opaque_ |= part->has_opaque_;
        result.type_mask_ |= part->type_mask_;
        result.row_bytes_ += part->row_bytes_;
        result.layout_hash_ = hash_bytes(&part->layout_hash_, sizeof part->layout_hash_, result.layout_hash_);
        const auto image_begin = static_cast<std::uint32_t>(round_up(result.struct_bytes_, part->struct_alignment_));
        const auto first_field = static_cast<std::uint32_t>(result.fields_.size());
        const auto first_column = static_cast<std::uint32_t>(result.columns_.size());
        result.struct_alignment_ = std::max(result.struct_alignment_, part->struct_alignment_);
        result.struct_bytes_ = image_begin + part->struct_bytes_;
        result.default_image_.resize(image_begin, std::byte(0));
        result.default_image_.insert(result.default_image_.end(), part->default_image_.begin(),
                                     part->default_image_.end());
        for (Field field : part->fields_) {
            field.name = concat(part->name_, '.', field.name);
            field.struct_offset += image_begin;
            field.first_column += first_column;
            result.fields_.push_back(std::move(field));
        }
        for (ColumnDefinition column : part->columns_) {
            if (column.field_index != ColumnDefinition::kWholeComponent) column.field_index += first_field;
            column.struct_offset += image_begin;
            result.columns_.push_back(column);
        }
    }
    result.id_ = ComponentId(std::string_view(result.name_));
    result.struct_bytes_ = static_cast<std::uint32_t>(round_up(result.struct_bytes_, result.struct_alignment_));
    result.default_image_.resize(result.struct_bytes_, std::byte(0));
    return result;
}

}  // namespace shoal
