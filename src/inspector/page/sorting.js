// The order of rows in tables. No DOM.

function kind_of(value) {
    if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return 2;
    return typeof value === "number" || typeof value === "boolean" ? 0 : 1;
}

/// Numbers before texts; numbers in texts by value, so that "9:1" is before "12:3". Missing values are last.
export function compare_values(a, b) {
    const kind = kind_of(a);
    if (kind !== kind_of(b)) return kind - kind_of(b);
    if (kind === 2) return 0;
    if (kind === 0) return Number(a) - Number(b);
    return String(a).localeCompare(String(b), "en", { numeric: true, sensitivity: "base" });
}

/// A sorted copy. Equal rows keep their order, and rows without a value are last, in both directions.
export function sorted_rows(rows, value_of, descending) {
    const sign = descending ? -1 : 1;
    const compare = (a, b) => {
        const is_missing = kind_of(a.value) === 2 || kind_of(b.value) === 2;
        return compare_values(a.value, b.value) * (is_missing ? 1 : sign);
    };
    return rows
        .map((row) => ({ row, value: value_of(row) }))
        .sort(compare)
        .map((entry) => entry.row);
}

/// A click on the head of a column: the first sorts (numbers from the largest), the next reverses the order.
export function next_order(order, key, is_number) {
    if (order && order.key === key) return { key, descending: !order.descending };
    return { key, descending: Boolean(is_number) };
}
