import assert from "node:assert/strict";
import { test } from "node:test";
import {
    components_of,
    links_of,
    properties_of,
    reference_of,
    relatives_of,
    value_of_field,
} from "../../../src/inspector/page/entity_data.js";

const kEntity = {
    entity: "12:3",
    parent: "4:1 harbour",
    owner: null,
    components: {
        limpet: { whale: "7:1 Moby Dick", since: 2 },
        tag: [{ tag: "wooden" }, { tag: "old" }],
        mast: [{ of: "8:1" }, { of: null }],
        asleep: {},
        properties: { values: { mood: "calm", level: 1 }, overrides: { level: 3 } },
    },
    children: [],
    owned: [],
    referrers: [{ entity: "9:2", name: "", field: "limpet.whale" }],
};
const kFields = {
    limpet: [
        { name: "whale", type: "entity" },
        { name: "since", type: "float" },
    ],
    mast: [{ name: "of", type: "entity" }],
};
const component_of = (name) => (name in kFields ? { name, fields: kFields[name] } : undefined);

test("a reference is an entity and perhaps its name", () => {
    assert.deepEqual(reference_of("7:1 Moby Dick"), { entity: "7:1", name: "Moby Dick" });
    assert.deepEqual(reference_of("7:1"), { entity: "7:1", name: "" });
    for (const value of [null, undefined, 7, "boat", "7:1x", ""]) assert.equal(reference_of(value), null);
});

test("links are the fields that name entities, in all components of a type", () => {
    assert.deepEqual(links_of(kEntity, component_of), [
        { entity: "7:1", name: "Moby Dick", field: "limpet.whale" },
        { entity: "8:1", name: "", field: "mast.of" },
    ]);
});

test("relatives are in groups, without empty ones", () => {
    const groups = relatives_of(kEntity, component_of);
    assert.deepEqual(
        groups.map(([title]) => title),
        ["parent", "links to", "referred to by"],
    );
    assert.deepEqual(groups[0][1], [{ entity: "4:1", name: "harbour" }]);
});

test("properties of the entity replace those of its template, and are not shown as a component", () => {
    assert.deepEqual(properties_of(kEntity), [
        ["mood", "calm", false],
        ["level", 3, true],
    ]);
    assert.deepEqual(properties_of({ properties: { a: 1 } }), [["a", 1, true]]);
    assert.deepEqual(properties_of({ components: {} }), []);
    assert.ok(!components_of(kEntity).some(([name]) => name === "properties"));
});

test("each component has rows, one or several", () => {
    assert.deepEqual(
        components_of(kEntity).map(([name, rows]) => [name, rows.length]),
        [
            ["limpet", 1],
            ["tag", 2],
            ["mast", 2],
            ["asleep", 1],
        ],
    );
    assert.deepEqual(components_of({ entity: "1:1" }), []);
});

test("the value of a field is that of the first of its components", () => {
    assert.equal(value_of_field(kEntity, "tag.tag"), "wooden");
    assert.equal(value_of_field(kEntity, "limpet.since"), 2);
    assert.equal(value_of_field(kEntity, "ghost.since"), undefined);
    assert.equal(value_of_field({ alive: false }, "limpet.since"), undefined);
});
