import assert from "node:assert/strict";
import { test } from "node:test";
import {
    PointGrid,
    color_slots,
    decode_points,
    entity_of_point,
    fitting_camera,
    kNoColor,
    slot_colors,
    to_pixels,
    to_world,
    zoomed,
} from "../../../src/inspector/page/points.js";

/// An answer of GET /api/points: points are [x, y, index, generation, color, selected].
function answer_of(header, points) {
    const text = JSON.stringify({ count: points.length, ...header });
    const padded = new TextEncoder().encode(text + " ".repeat((4 - (text.length % 4)) % 4));
    const { length } = points;
    const buffer = new ArrayBuffer(4 + padded.length + length * 20 + Math.ceil(length / 4) * 4);
    const view = new DataView(buffer);
    view.setUint32(0, padded.length, true);
    new Uint8Array(buffer, 4).set(padded);
    const begin = 4 + padded.length;
    points.forEach((point, i) => {
        view.setFloat32(begin + 4 * i, point[0], true);
        view.setFloat32(begin + 4 * (length + i), point[1], true);
        view.setUint32(begin + 4 * (2 * length + i), point[2], true);
        view.setUint32(begin + 4 * (3 * length + i), point[3], true);
        view.setFloat32(begin + 4 * (4 * length + i), point[4], true);
        view.setUint8(begin + 20 * length + i, point[5]);
    });
    return buffer;
}

const kKinds = [
    { value: 0, name: "fish" },
    { value: 7, name: "shark" },
];

test("points are decoded field by field", () => {
    const points = decode_points(
        answer_of({ legend: kKinds }, [
            [1, 2, 12, 3, 0, 0],
            [4, 5, 6, 1, 7, 1],
            [7, 8, 9, 1, 0, 0],
        ]),
    );
    assert.deepEqual([...points.x], [1, 4, 7]);
    assert.deepEqual([...points.y], [2, 5, 8]);
    assert.deepEqual([...points.selected], [0, 1, 0]);
    assert.equal(entity_of_point(points, 0), "12:3");
    assert.equal(points.legend[1].name, "shark");
});

test("a world without points is decoded", () => {
    assert.equal(decode_points(answer_of({}, [])).count, 0);
});

test("an answer that is cut is refused at every length", () => {
    const whole = answer_of({ legend: kKinds }, [[1, 2, 12, 3, 0, 0]]);
    for (let length = 0; length < whole.byteLength - 3; ++length)
        assert.ok(decode_points(whole.slice(0, length)).error, `at ${length}`);
    assert.equal(decode_points(whole).error, undefined);
});

test("an answer with a broken header or count is refused", () => {
    const broken = answer_of({}, []);
    new Uint8Array(broken)[4] = 0x7d;
    assert.match(decode_points(broken).error, /not JSON/);
    assert.ok(decode_points(answer_of({ count: -1 }, [])).error);
    assert.ok(decode_points(answer_of({ count: 1.5 }, [])).error);
    assert.ok(decode_points(answer_of({ count: 1e9 }, [])).error);
});

test("a header that leaves the numbers unaligned is refused", () => {
    const whole = new Uint8Array(answer_of({}, [[1, 2, 3, 4, 5, 0]]));
    const shifted = new Uint8Array(whole.length + 2);
    shifted.set(whole);
    const view = new DataView(shifted.buffer);
    const header_bytes = view.getUint32(0, true);
    shifted.copyWithin(4 + header_bytes + 2, 4 + header_bytes, whole.length);
    shifted.fill(0x20, 4 + header_bytes, 4 + header_bytes + 2);
    view.setUint32(0, header_bytes + 2, true);
    assert.ok(decode_points(shifted.buffer).error);
});

test("kinds have the slot of their place in the legend, and unknown ones none", () => {
    const points = { count: 3, value: [7, 0, 5], legend: kKinds };
    assert.deepEqual([...color_slots(points)], [1, 0, kNoColor]);
});

test("amounts have slots from the least to the most, and missing ones none", () => {
    const points = { count: 5, value: [0, 10, 5, 99, NaN], legend: { min: 0, max: 10 } };
    assert.deepEqual([...color_slots(points)], [0, 254, 127, 254, kNoColor]);
    assert.deepEqual([...color_slots({ count: 1, value: [3], legend: { min: 3, max: 3 } })], [0]);
});

test("each kind has a colour, and kinds with few points are nearer than those with many", () => {
    const colors = slot_colors(kKinds, Uint8Array.of(0, 0, 0, 1));
    const depth = (slot) => colors[slot * 4 + 3];
    assert.ok(depth(1) < depth(0));
    assert.notDeepEqual([...colors.slice(0, 3)], [...colors.slice(4, 7)]);
});

test("amounts have colours from dark to light", () => {
    const colors = slot_colors({ min: 0, max: 1 }, new Uint8Array(0));
    const light = (slot) => colors[slot * 4] + colors[slot * 4 + 1] + colors[slot * 4 + 2];
    assert.ok(light(0) < light(127) && light(127) < light(254));
});

function random_points(count) {
    let seed = 7;
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
    return [
        Float32Array.from({ length: count }, () => random() * 100),
        Float32Array.from({ length: count }, () => random() * 20),
    ];
}

test("the grid finds the points in a box, as looking at all of them does", () => {
    const [x, y] = random_points(500);
    const grid = new PointGrid(x, y);
    for (const [low_x, low_y, high_x, high_y] of [
        [0, 0, 100, 20],
        [10, 5, 30, 6],
        [-50, -50, 5, 50],
        [200, 0, 300, 1],
    ]) {
        const expected = [...x.keys()].filter(
            (i) => x[i] >= low_x && x[i] <= high_x && y[i] >= low_y && y[i] <= high_y,
        );
        assert.deepEqual(
            grid.inside(low_x, low_y, high_x, high_y).sort((a, b) => a - b),
            expected,
        );
    }
});

test("the grid finds the nearest point, as looking at all of them does", () => {
    const [x, y] = random_points(500);
    const grid = new PointGrid(x, y);
    for (const [at_x, at_y] of [
        [50, 10],
        [0, 0],
        [103, 21],
        [77, 3],
    ]) {
        const squares = [...x.keys()].map((i) => (x[i] - at_x) ** 2 + (y[i] - at_y) ** 2);
        const least = Math.min(...squares);
        const found = grid.nearest(at_x, at_y, 4);
        if (least > 16) assert.equal(found, -1);
        else assert.equal(squares[found], least);
    }
});

test("grids of no point, and of points at one place, are searched", () => {
    assert.equal(new PointGrid(new Float32Array(0), new Float32Array(0)).nearest(0, 0, 1), -1);
    const grid = new PointGrid(Float32Array.of(3, 3), Float32Array.of(4, 4));
    assert.equal(grid.inside(3, 4, 3, 4).length, 2);
    assert.ok(grid.nearest(3.5, 4, 1) >= 0);
});

test("what is under the hand stays there when it zooms", () => {
    const camera = { x: 10, y: 20, scale: 2 };
    const before = to_world(camera, 800, 600, 100, 500);
    const after = to_world(zoomed(camera, 800, 600, 100, 500, 1.7), 800, 600, 100, 500);
    assert.ok(Math.hypot(before[0] - after[0], before[1] - after[1]) < 1e-9);
});

test("pixels and places are each other's inverse, with y up", () => {
    const camera = { x: 10, y: 20, scale: 2 };
    assert.deepEqual(to_pixels(camera, 800, 600, ...to_world(camera, 800, 600, 33, 44)), [33, 44]);
    assert.ok(to_world(camera, 800, 600, 0, 0)[1] > to_world(camera, 800, 600, 0, 600)[1]);
});

test("the view of all shows both corners", () => {
    const camera = fitting_camera([0, -10], [1000, 10], 400, 300);
    for (const corner of [
        [0, -10],
        [1000, 10],
    ]) {
        const [x, y] = to_pixels(camera, 400, 300, ...corner);
        assert.ok(x >= 0 && x <= 400 && y >= 0 && y <= 300);
    }
});
