import assert from "node:assert/strict";
import { test } from "node:test";
import { editable_text, kind_of_field, numeric_parts, parsed_value } from "../../../src/inspector/page/values.js";

const kMass = { name: "mass", type: "float", min: 0, max: 100, words: [] };
const kSpecies = { name: "species", type: "enum", words: ["idle", "hunting"] };

test("the kind of control follows from the type, the words and the value", () => {
    assert.equal(kind_of_field(kMass, 1), "number");
    assert.equal(kind_of_field(kSpecies, "idle"), "words");
    assert.equal(kind_of_field({ type: "vec3" }, null), "list");
    assert.equal(kind_of_field({ type: "entity" }, "12:3"), "entity");
    assert.equal(kind_of_field({ type: "bool" }, false), "truth");
    assert.equal(kind_of_field({ type: "string" }, "a"), "text");
    assert.equal(kind_of_field(null, [1, 2]), "list");
});

test("numbers are parsed, also with an exponent", () => {
    assert.deepEqual(parsed_value(kMass, " 2.5 ", 1), { value: 2.5 });
    assert.deepEqual(parsed_value(kMass, "1e1", 1), { value: 10 });
});

test("a text that is not a number says so", () => {
    assert.match(parsed_value(kMass, "heavy", 1).error, /"heavy" is not a number/);
    assert.match(parsed_value(kMass, "", 1).error, /not a number/);
});

test("a number out of range names the range", () => {
    assert.equal(parsed_value(kMass, "-1", 1).error, "-1 is out of range; expected at least 0 and at most 100");
    assert.equal(
        parsed_value({ type: "float", min: 2, max: null }, "1", 3).error,
        "1 is out of range; expected at least 2",
    );
    assert.deepEqual(parsed_value(kMass, "100", 1), { value: 100 });
});

test("lists take commas, spaces and brackets, and need their length", () => {
    const field = { type: "vec3" };
    assert.deepEqual(parsed_value(field, "[1, 2.5, -3]", null), { value: [1, 2.5, -3] });
    assert.deepEqual(parsed_value(field, "1 2 3", null), { value: [1, 2, 3] });
    assert.match(parsed_value(field, "1, 2", null).error, /2 numbers; expected 3/);
    assert.match(parsed_value(field, "1, x, 3", null).error, /"x" is not a number/);
});

test("an entity is two numbers, or none", () => {
    const field = { type: "entity" };
    assert.deepEqual(parsed_value(field, "12:3", null), { value: "12:3" });
    assert.deepEqual(parsed_value(field, "none", "1:1"), { value: null });
    assert.match(parsed_value(field, "12", null).error, /not an entity/);
});

test("editing begins with all digits and without brackets", () => {
    assert.equal(editable_text([0.123456789, 2]), "0.123456789, 2");
    assert.equal(editable_text(null), "");
});

test("a value that is written for editing is parsed back as it was", () => {
    for (const [field, value] of [
        [kMass, 0.1 + 0.2],
        [{ type: "vec2" }, [1 / 3, -2e-9]],
        [kSpecies, "idle"],
        [{ type: "bool" }, true],
    ]) {
        assert.deepEqual(parsed_value(field, editable_text(value), value), { value });
    }
});

test("numbers of a value have the names of its parts", () => {
    assert.deepEqual(numeric_parts(3), { "": 3 });
    assert.deepEqual(numeric_parts([1, 2]), { x: 1, y: 2 });
    assert.deepEqual(numeric_parts("a"), {});
    assert.deepEqual(numeric_parts(["a"]), {});
});
