import assert from "node:assert/strict";
import { test } from "node:test";
import { ColorsByName, hex_rgb, kind_color, ramp_rgb, text_on_ramp } from "../../../src/inspector/page/colors.js";

test("a name keeps its colour, and the first names have colours of their own", () => {
    const colors = new ColorsByName();
    const first = colors.of("a");
    assert.notEqual(colors.of("b"), first);
    assert.equal(colors.of("a"), first);
    assert.equal(new Set(Array.from({ length: 16 }, (_, i) => kind_color(i))).size, 16);
});

test("the ramp goes from dark to light, and holds amounts that are out of range", () => {
    const light = (amount) => ramp_rgb(amount).reduce((a, b) => a + b);
    assert.ok(light(0) < light(0.5) && light(0.5) < light(1));
    assert.deepEqual(ramp_rgb(-3), ramp_rgb(0));
    assert.deepEqual(ramp_rgb(7), ramp_rgb(1));
    assert.deepEqual(ramp_rgb(NaN), ramp_rgb(0));
});

test("texts on the ramp are white on dark and dark on light", () => {
    assert.equal(text_on_ramp(0), "#ffffff");
    assert.notEqual(text_on_ramp(1), "#ffffff");
});

test("a colour is taken apart", () => {
    assert.deepEqual(hex_rgb("#0a10ff"), [10, 16, 255]);
});
