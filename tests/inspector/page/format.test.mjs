import assert from "node:assert/strict";
import { test } from "node:test";
import {
    bytes_text,
    count_text,
    counted_text,
    ms_text,
    number_text,
    percent_text,
    store_text,
    value_text,
} from "../../../src/inspector/page/format.js";

test("counts have a comma after three digits", () => {
    assert.equal(count_text(0), "0");
    assert.equal(count_text(999), "999");
    assert.equal(count_text(1000), "1,000");
    assert.equal(count_text(1234567), "1,234,567");
});

test("a number that is missing is a dash", () => {
    for (const text of [count_text, bytes_text, ms_text, percent_text]) {
        assert.equal(text(undefined), "–");
        assert.equal(text(NaN), "–");
        assert.equal(text(null), "–");
    }
});

test("bytes are shown in the largest unit that they fill", () => {
    assert.equal(bytes_text(1023), "1023 B");
    assert.equal(bytes_text(1024), "1.0 KiB");
    assert.equal(bytes_text(1536), "1.5 KiB");
    assert.equal(bytes_text(300 * 1024), "300 KiB");
    assert.equal(bytes_text(-2 * 1024 * 1024), "-2.0 MiB");
    assert.equal(bytes_text(1024 ** 6), "1048576 TiB");
});

test("milliseconds have fewer decimals the larger they are", () => {
    assert.deepEqual([0, 0.0213, 1.2345, 12.345, 123.45].map(ms_text), [
        "0 ms",
        "0.021 ms",
        "1.23 ms",
        "12.3 ms",
        "123 ms",
    ]);
});

test("a share under one percent keeps a decimal", () => {
    assert.equal(percent_text(0.456), "46 %");
    assert.equal(percent_text(0.004), "0.4 %");
    assert.equal(percent_text(0), "0 %");
});

test("numbers have six digits at most", () => {
    assert.equal(number_text(0.1 + 0.2), "0.3");
    assert.equal(number_text(-3), "-3");
    assert.equal(number_text(123456.789), "123457");
    assert.equal(number_text(1e-7), "1.0000e-7");
    assert.equal(number_text(Infinity), "Infinity");
});

test("a value of any kind is one line", () => {
    assert.equal(value_text([0, 1.5, -2]), "[0, 1.5, -2]");
    assert.equal(value_text(null), "none");
    assert.equal(value_text(true), "true");
    assert.equal(value_text({ a: 1, b: [2] }), "{a: 1, b: [2]}");
    assert.equal(value_text("<b>"), "<b>");
});

test("a noun agrees with its count", () => {
    assert.equal(counted_text(1, "entity", "entities"), "1 entity");
    assert.equal(counted_text(1200, "entity", "entities"), "1,200 entities");
});

test("a store is named without its article", () => {
    assert.deepEqual(["a manager", "the transforms", "database", undefined].map(store_text), [
        "manager",
        "transforms",
        "database",
        "",
    ]);
});
