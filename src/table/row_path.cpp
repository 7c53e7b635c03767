#include "shoal/table/detail/row_path.h"

namespace shoal {

bool RowPath::look_up(Table& from, Table& to) {
    placements_ = 0;
    if (!from.is_packed() || !to.is_packed()) return false;
    columns_.clear();
    for (const TakePlan::Column& column : plan_->kept())
        columns_.push_back({from.unmarked_column(column.from), to.unmarked_column(column.to)});
    for (const TakePlan::Column& column : plan_->dropped())
        columns_.push_back({from.unmarked_column(column.from), nullptr});
    kept_ends_ = plan_->kept().ends_in(columns_.data());
    dropped_ends_ = plan_->dropped().ends_in(kept_ends_.all);
    placements_ = from.placement() + to.placement();
    return true;
}

}  // namespace shoal
