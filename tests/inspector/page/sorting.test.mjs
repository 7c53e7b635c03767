import assert from "node:assert/strict";
import { test } from "node:test";
import { compare_values, next_order, sorted_rows } from "../../../src/inspector/page/sorting.js";

const by_value = (row) => row.value;
const rows_of = (...values) => values.map((value, place) => ({ value, place }));

test("entities are ordered by the numbers in their texts", () => {
    const rows = rows_of("12:3", "9:1", "100:1", "12:1");
    assert.deepEqual(sorted_rows(rows, by_value, false).map(by_value), ["9:1", "12:1", "12:3", "100:1"]);
});

test("rows without a value are last in both directions", () => {
    const rows = rows_of(3, null, 1, undefined, NaN, 2);
    assert.deepEqual(sorted_rows(rows, by_value, false).map(by_value), [1, 2, 3, null, undefined, NaN]);
    assert.deepEqual(sorted_rows(rows, by_value, true).map(by_value), [3, 2, 1, null, undefined, NaN]);
});

test("equal rows stay in their order in both directions", () => {
    const rows = rows_of(1, 1, 0, 1);
    assert.deepEqual(
        sorted_rows(rows, by_value, false).map((row) => row.place),
        [2, 0, 1, 3],
    );
    assert.deepEqual(
        sorted_rows(rows, by_value, true).map((row) => row.place),
        [0, 1, 3, 2],
    );
});

test("sorting leaves the list that it was given", () => {
    const rows = rows_of(2, 1);
    sorted_rows(rows, by_value, false);
    assert.deepEqual(rows.map(by_value), [2, 1]);
});

test("numbers are before texts", () => {
    assert.ok(compare_values(1e9, "a") < 0);
    assert.ok(compare_values("a", 1e9) > 0);
    assert.equal(compare_values(undefined, null), 0);
});

test("the first click on numbers shows the largest first, the second turns the order around", () => {
    const first = next_order(null, "bytes", true);
    assert.deepEqual(first, { key: "bytes", descending: true });
    assert.deepEqual(next_order(first, "bytes", true), { key: "bytes", descending: false });
    assert.deepEqual(next_order(first, "name", false), { key: "name", descending: false });
});
