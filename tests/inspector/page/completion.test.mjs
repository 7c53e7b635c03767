import assert from "node:assert/strict";
import { test } from "node:test";
import {
    kind_of_search,
    query_completion,
    search_parameters,
    sql_completion,
} from "../../../src/inspector/page/completion.js";

const field = (name, type, more = {}) => ({ name, type, unit: "", words: [], ...more });
const kComponents = [
    { name: "fish", store: "database", fields: [field("species", "enum", { words: ["sardine", "snapper"] })] },
    { name: "swim", store: "database", fields: [field("velocity", "vec2"), field("speed", "float", { unit: "m/s" })] },
    { name: "flying_fish", store: "manager", fields: [] },
];
const texts = (text, cursor = text.length) =>
    query_completion(text, cursor, kComponents).options.map((option) => option.text);

test("what is typed is an id, a name or a query", () => {
    const kind = (text) => kind_of_search(text, kComponents).kind;
    assert.equal(kind(""), "all");
    assert.equal(kind("12:3"), "id");
    assert.equal(kind("12"), "id");
    assert.equal(kind("boat"), "name");
    assert.equal(kind("fish"), "query");
    assert.equal(kind("swim.speed"), "query");
    assert.equal(kind("boat, fish"), "query");
    assert.equal(kind("#enemy"), "query");
    assert.equal(kind("!boat"), "query");
});

test("a search becomes the parameter that the server knows", () => {
    assert.deepEqual(search_parameters(" fish, !swim ", kComponents), { query: "fish, !swim" });
    assert.deepEqual(search_parameters("boat", kComponents), { name: "boat" });
    assert.deepEqual(search_parameters("12:3", kComponents), { name: "12:3" });
    assert.deepEqual(search_parameters("", kComponents), {});
});

test("component types that begin with what was typed are offered before those that contain it", () => {
    assert.deepEqual(texts("fi"), ["fish", "flying_fish"]);
    assert.deepEqual(texts("swim, !fi"), ["fish", "flying_fish"]);
});

test("an empty box offers all component types", () => {
    assert.deepEqual(texts(""), ["fish", "swim", "flying_fish"]);
});

test("fields are offered after the point, and parts of vectors after the next", () => {
    assert.deepEqual(texts("swim."), ["velocity", "speed"]);
    assert.deepEqual(texts("swim.sp"), ["speed"]);
    assert.deepEqual(texts("swim.velocity."), ["x", "y"]);
    assert.deepEqual(query_completion("swim.sp", 7, kComponents).options[0].detail, "float, m/s");
});

test("operators are offered after a field and a space, a comma after a component", () => {
    assert.ok(texts("swim.speed ").includes(">="));
    assert.ok(texts("fish ").includes("=="));
    assert.deepEqual(texts("swim "), [","]);
});

test("words of an enum are offered after the operator", () => {
    assert.deepEqual(texts("fish.species == "), ["sardine", "snapper"]);
    assert.deepEqual(texts("fish.species == sn"), ["snapper"]);
    assert.deepEqual(texts("fish == s"), ["sardine", "snapper"]);
    assert.deepEqual(texts("swim.speed > "), []);
});

test("only the term at the cursor is replaced", () => {
    const text = "fish, swi, !flying_fish";
    const { from, to, options } = query_completion(text, 9, kComponents);
    assert.equal(text.slice(from, to), "swi");
    assert.deepEqual(
        options.map((option) => option.text),
        ["swim"],
    );
});

test("nothing is offered for tags, unknown components and broken terms", () => {
    assert.deepEqual(texts("#en"), []);
    assert.deepEqual(texts("boat."), []);
    assert.deepEqual(texts("fish ( "), []);
});

const kTables = { body: ["mass", "zone"], fish: ["species"] };
const words = (text) => sql_completion(text, text.length, kTables).options.map((option) => option.text);

test("SQL offers the columns of the table before the point", () => {
    assert.deepEqual(words("SELECT body.m"), ["mass"]);
    assert.deepEqual(words("SELECT ghost."), []);
});

test("SQL offers columns of the tables that the text names", () => {
    assert.ok(words("SELECT mass FROM body WHERE zo").includes("zone"));
    assert.ok(!words("SELECT mass FROM body WHERE spe").includes("species"));
});

test("SQL offers its own words, whatever case they are typed in", () => {
    assert.ok(words("sel").includes("SELECT"));
    assert.ok(words("SELECT 1 FROM fi").includes("fish"));
});
