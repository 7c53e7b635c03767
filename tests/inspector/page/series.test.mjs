import assert from "node:assert/strict";
import { test } from "node:test";
import { Series } from "../../../src/inspector/page/series.js";

function series_of(seconds, times, limit) {
    const series = new Series(seconds, limit);
    for (const time of times) series.add(time, time * 10);
    return series;
}

test("samples older than the series is long are dropped", () => {
    assert.deepEqual(series_of(10, [0, 5, 10, 12]).times, [5, 10, 12]);
});

test("no more samples are kept than the limit", () => {
    assert.deepEqual(series_of(100, [0, 1, 2, 3], 2).values, [20, 30]);
});

test("a clock that is set back starts the series anew", () => {
    assert.deepEqual(series_of(100, [50, 51, 3]).times, [3]);
});

test("points are relative to now, from the first sample that is young enough", () => {
    assert.deepEqual(series_of(100, [1, 2, 3, 4]).points(2.5, 4), [
        { x: -1, y: 30 },
        { x: 0, y: 40 },
    ]);
});

test("a summary has the lowest, the mean and the highest value", () => {
    assert.deepEqual(series_of(100, [1, 2, 3]).summary(), { low: 10, mean: 20, high: 30 });
    assert.deepEqual(series_of(100, [1, 2, 3]).summary(2.5), { low: 30, mean: 30, high: 30 });
    assert.equal(series_of(100, []).summary(), null);
});
