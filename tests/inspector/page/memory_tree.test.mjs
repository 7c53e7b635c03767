import assert from "node:assert/strict";
import { test } from "node:test";
import { memory_hierarchy, memory_parts, memory_totals, zone_boxes } from "../../../src/inspector/page/memory_tree.js";

const kMemory = {
    components: [
        { name: "body", store: "database", used: 10, committed: 30, reserved: 100, wasted: 15 },
        { name: "tag", store: "manager", used: 0, committed: 0, reserved: 50, wasted: 0 },
    ],
    archetypes: [{ name: "body", rows: 3, used: 10, committed: 25, reserved: 90 }],
    owners: [],
};
const zone = (number, low, high, state = "loaded") => ({
    zone: number,
    state,
    entities: 1,
    used: 1,
    committed: 2,
    reserved: 3,
    low,
    high,
});

test("what is wasted is as the server says, or what is committed and not used", () => {
    assert.equal(memory_parts(kMemory, null, "component")[0].wasted, 15);
    assert.equal(memory_parts(kMemory, null, "archetype")[0].wasted, 15);
});

test("parts are grouped by store, zones by state", () => {
    assert.deepEqual(
        memory_parts(kMemory, null, "component").map((part) => part.group),
        ["database", "manager"],
    );
    assert.equal(memory_parts(kMemory, [zone(3, null, null)], "zone")[0].name, "zone 3");
    assert.deepEqual(memory_parts(kMemory, null, "zone"), []);
});

test("totals are the sums of all parts", () => {
    assert.deepEqual(memory_totals(memory_parts(kMemory, null, "component")), {
        used: 10,
        committed: 30,
        reserved: 150,
        wasted: 15,
    });
});

test("boxes without size are left out of the treemap", () => {
    const { children } = memory_hierarchy(memory_parts(kMemory, null, "component"), "committed");
    assert.deepEqual(
        children.map((group) => group.name),
        ["database"],
    );
    assert.equal(children[0].children[0].value, 30);
});

test("zones with positions stand where they are", () => {
    const { boxes, low, high, is_grid } = zone_boxes([
        zone(1, [0, 5, 0], [10, 9, 1]),
        zone(2, [20, -5, 0], [30, 0, 0]),
        zone(3, null, null),
    ]);
    assert.equal(is_grid, false);
    assert.deepEqual(
        boxes.map((box) => [box.x, box.y, box.width, box.height]),
        [
            [0, 5, 10, 4],
            [20, -5, 10, 5],
        ],
    );
    assert.deepEqual(
        [low, high],
        [
            [0, -5],
            [30, 9],
        ],
    );
});

test("zones without positions stand in a grid, the first at the top left, unloaded ones left out", () => {
    const zones = [1, 2, 3, 4, 5].map((number) => zone(number, null, null));
    const { boxes, is_grid } = zone_boxes([...zones, zone(6, null, null, "unloaded")]);
    assert.equal(is_grid, true);
    assert.equal(boxes.length, 5);
    assert.ok(boxes[0].y > boxes[3].y && boxes[0].x < boxes[1].x);
});

test("a world without zones has no boxes", () => {
    assert.deepEqual(zone_boxes([]).boxes, []);
});
