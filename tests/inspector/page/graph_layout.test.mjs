import assert from "node:assert/strict";
import { test } from "node:test";
import {
    access_matrix,
    graph_layout,
    reachable,
    side_by_side,
    waiting_chain,
} from "../../../src/inspector/page/graph_layout.js";

const kSizes = { node_width: 100, node_height: 40, gap_x: 20, gap_y: 10, margin: 5 };
const pass = (name, level) => ({ name, level, reads: [], writes: [] });
const edge = (from, to) => ({ from, to, why: "order", on: [] });
const kPasses = [pass("a", 0), pass("b", 1), pass("c", 1), pass("d", 2)];
const kEdges = [edge("a", "b"), edge("a", "c"), edge("b", "d")];

test("a pass stands in the column of its level", () => {
    const { nodes, width } = graph_layout(kPasses, kEdges, kSizes);
    const x = Object.fromEntries(nodes.map((node) => [node.name, node.x]));
    assert.deepEqual(x, { a: 5, b: 125, c: 125, d: 245 });
    assert.equal(width, 350);
});

test("no two passes overlap, and all are inside of the picture", () => {
    const passes = Array.from({ length: 40 }, (_, i) => pass(`p${i}`, i % 7));
    const edges = passes.slice(7).map((one, i) => edge(passes[i].name, one.name));
    const { nodes, width, height } = graph_layout(passes, edges, kSizes);
    for (const a of nodes) {
        assert.ok(a.x >= 0 && a.y >= 0 && a.x + 100 <= width && a.y + 40 <= height);
        for (const b of nodes) assert.ok(a === b || a.x !== b.x || Math.abs(a.y - b.y) >= 50);
    }
});

test("columns are ordered so that edges do not cross without need", () => {
    const passes = [pass("a", 0), pass("b", 0), pass("x", 1), pass("y", 1)];
    const { nodes } = graph_layout(passes, [edge("a", "y"), edge("b", "x")], kSizes);
    const y = Object.fromEntries(nodes.map((node) => [node.name, node.y]));
    assert.equal(y.a < y.b, y.y < y.x);
});

test("an edge goes from the right of one box to the left of the other", () => {
    const { edges } = graph_layout(kPasses, kEdges, kSizes);
    assert.equal(edges[0].points[0][0], 105);
    assert.equal(edges[0].points[3][0], 125);
});

test("edges of passes that are not there are left out", () => {
    assert.equal(graph_layout(kPasses, [...kEdges, edge("a", "ghost")], kSizes).edges.length, 3);
});

test("a schedule without passes has a picture without boxes", () => {
    const { nodes, width, height } = graph_layout([], [], kSizes);
    assert.equal(nodes.length, 0);
    assert.ok(width > 0 && height > 0);
});

test("passes run side by side if no path leads from one to the other", () => {
    const reach = reachable(
        kPasses.map((one) => one.name),
        kEdges,
    );
    assert.deepEqual(side_by_side("c", reach), ["b", "d"]);
    assert.deepEqual(side_by_side("a", reach), []);
});

test("the chain of waits leads from the first pass to the one that ended last", () => {
    const timeline = {
        workers: [
            [
                { pass: "a", begin_ms: 0, end_ms: 1 },
                { pass: "d", begin_ms: 2, end_ms: 5 },
            ],
            [{ pass: "b", begin_ms: 1, end_ms: 2 }],
        ],
        waits: [
            { pass: "b", for: "a", ms: 0.1 },
            { pass: "d", for: "b", ms: 0.1 },
        ],
    };
    assert.deepEqual(waiting_chain(timeline), ["a", "b", "d"]);
    assert.deepEqual(waiting_chain({ workers: [[], []], waits: [] }), []);
});

test("waits that go in a circle end", () => {
    const timeline = {
        workers: [[{ pass: "a", begin_ms: 0, end_ms: 1 }]],
        waits: [
            { pass: "a", for: "b" },
            { pass: "b", for: "a" },
        ],
    };
    assert.deepEqual(waiting_chain(timeline), ["b", "a"]);
});

test("the matrix tells reading, writing and both, with everything first", () => {
    const passes = [
        { name: "a", reads: ["x.y", "b.c"], writes: ["x.y"] },
        { name: "b", reads: [], writes: ["*"] },
    ];
    const { fields, cells } = access_matrix(passes);
    assert.deepEqual(fields, ["*", "b.c", "x.y"]);
    assert.equal(cells.get("x.y a"), "RW");
    assert.equal(cells.get("b.c a"), "R");
    assert.equal(cells.get("* b"), "W");
    assert.equal(cells.get("x.y b"), undefined);
});
