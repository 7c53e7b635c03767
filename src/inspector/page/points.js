// The points of the world view: decoding GET /api/points, colours, and search for the nearest. No DOM.

import { hex_rgb, kind_color, ramp_rgb } from "./colors.js";

/// Decodes an answer without copying: the arrays are views of `buffer`.
/// Layout: header_bytes, header (JSON), then x, y, index, generation and color of each point, and a byte `selected`.
/// Returns {error} if the buffer is shorter than its header says.
export function decode_points(buffer) {
    if (buffer.byteLength < 4) return { error: "the answer has no header" };
    const header_bytes = new DataView(buffer).getUint32(0, true);
    if (header_bytes % 4 !== 0) return { error: "the header is not padded to a multiple of 4" };
    if (4 + header_bytes > buffer.byteLength) return { error: "the header is longer than the answer" };
    let header = null;
    try {
        header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, header_bytes)));
    } catch (error) {
        return { error: `the header is not JSON: ${error.message}` };
    }
    const { count } = header;
    const begin = 4 + header_bytes;
    if (!Number.isInteger(count) || count < 0 || begin + count * 21 > buffer.byteLength) {
        return { error: `the answer has ${buffer.byteLength} bytes, too few for ${count} points` };
    }
    return {
        ...header,
        x: new Float32Array(buffer, begin, count),
        y: new Float32Array(buffer, begin + 4 * count, count),
        index: new Uint32Array(buffer, begin + 8 * count, count),
        generation: new Uint32Array(buffer, begin + 12 * count, count),
        value: new Float32Array(buffer, begin + 16 * count, count),
        selected: new Uint8Array(buffer, begin + 20 * count, count),
    };
}

/// The text of the entity of point `i`.
export function entity_of_point(points, i) {
    return `${points.index[i]}:${points.generation[i]}`;
}

export const kNoColor = 255; // the slot of points without a value

/// The slot of each point in a table of 256 colours: its index in the legend, or between the ends of the legend.
export function color_slots(points) {
    const { value, legend, count } = points;
    const slots = new Uint8Array(count);
    if (Array.isArray(legend)) {
        const slot_of = new Map(legend.map((entry, i) => [entry.value, i % kNoColor]));
        for (let i = 0; i < count; ++i) {
            const slot = slot_of.get(value[i]);
            slots[i] = slot === undefined ? kNoColor : slot;
        }
        return slots;
    }
    const { min = 0, max = 1 } = legend || {};
    const scale = max > min ? (kNoColor - 1) / (max - min) : 0;
    for (let i = 0; i < count; ++i) {
        const v = value[i];
        slots[i] = v === v ? Math.max(0, Math.min(kNoColor - 1, Math.round((v - min) * scale))) : kNoColor;
    }
    return slots;
}

/// The 256 colours of a legend: kinds by index, or a ramp; the last is for points without a value.
/// Layout: red, green, blue and depth of each. Rare kinds are drawn above common ones, so that they are visible.
export function slot_colors(legend, slots) {
    const colors = new Uint8Array(256 * 4);
    const counts = new Uint32Array(256);
    for (let i = 0; i < slots.length; ++i) ++counts[slots[i]];
    const by_count = [...counts.keys()].sort((a, b) => counts[a] - counts[b]);
    for (let i = 0; i < kNoColor; ++i) {
        colors.set(Array.isArray(legend) ? hex_rgb(kind_color(i)) : ramp_rgb(i / (kNoColor - 1)), i * 4);
    }
    colors.set([128, 138, 155], kNoColor * 4);
    by_count.forEach((slot, depth) => {
        colors[slot * 4 + 3] = depth;
    });
    return colors;
}

/// A grid over points, for searches. Layout: the points of cell c are order[starts[c]] to order[starts[c + 1] - 1].
export class PointGrid {
    constructor(x, y) {
        this.x = x;
        this.y = y;
        const size = Math.max(1, Math.min(512, Math.ceil(Math.sqrt(x.length / 4))));
        let [low_x, low_y, high_x, high_y] = [Infinity, Infinity, -Infinity, -Infinity];
        for (let i = 0; i < x.length; ++i) {
            if (x[i] < low_x) low_x = x[i];
            if (x[i] > high_x) high_x = x[i];
            if (y[i] < low_y) low_y = y[i];
            if (y[i] > high_y) high_y = y[i];
        }
        Object.assign(this, { size, low_x, low_y });
        this.step_x = high_x > low_x ? (high_x - low_x) / size : 1;
        this.step_y = high_y > low_y ? (high_y - low_y) / size : 1;
        this.starts = new Uint32Array(size * size + 1);
        this.order = new Uint32Array(x.length);
        this.sort_points();
    }

    sort_points() {
        const cells = new Uint32Array(this.x.length);
        for (let i = 0; i < cells.length; ++i) {
            cells[i] = this.column(this.x[i]) + this.size * this.line(this.y[i]);
            ++this.starts[cells[i] + 1];
        }
        for (let c = 1; c < this.starts.length; ++c) this.starts[c] += this.starts[c - 1];
        const next = this.starts.slice();
        for (let i = 0; i < cells.length; ++i) this.order[next[cells[i]]++] = i;
    }

    column(x) {
        return Math.max(0, Math.min(this.size - 1, Math.floor((x - this.low_x) / this.step_x))) || 0;
    }

    line(y) {
        return Math.max(0, Math.min(this.size - 1, Math.floor((y - this.low_y) / this.step_y))) || 0;
    }

    /// The points with low <= (x, y) <= high, in any order.
    inside(low_x, low_y, high_x, high_y) {
        const found = [];
        for (let line = this.line(low_y); line <= this.line(high_y); ++line) {
            for (let column = this.column(low_x); column <= this.column(high_x); ++column) {
                const cell = column + this.size * line;
                for (let k = this.starts[cell]; k < this.starts[cell + 1]; ++k) {
                    const i = this.order[k];
                    const is_inside_x = this.x[i] >= low_x && this.x[i] <= high_x;
                    if (is_inside_x && this.y[i] >= low_y && this.y[i] <= high_y) found.push(i);
                }
            }
        }
        return found;
    }

    /// The nearest point within `radius`; -1 if there is none.
    nearest(x, y, radius) {
        let best = -1;
        let best_square = radius * radius;
        for (const i of this.inside(x - radius, y - radius, x + radius, y + radius)) {
            const square = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
            if (square <= best_square) [best, best_square] = [i, square];
        }
        return best;
    }
}

/// A view of the world: the point in the middle, and pixels per metre. y points up.
/// The view that shows everything from low to high, with a margin.
export function fitting_camera(low, high, width, height) {
    const size_x = Math.max(1e-6, high[0] - low[0]);
    const size_y = Math.max(1e-6, high[1] - low[1]);
    const scale = 0.94 * Math.min(width / size_x, height / size_y);
    return { x: (low[0] + high[0]) / 2, y: (low[1] + high[1]) / 2, scale };
}

export function to_world(camera, width, height, pixel_x, pixel_y) {
    return [camera.x + (pixel_x - width / 2) / camera.scale, camera.y - (pixel_y - height / 2) / camera.scale];
}

export function to_pixels(camera, width, height, x, y) {
    return [width / 2 + (x - camera.x) * camera.scale, height / 2 - (y - camera.y) * camera.scale];
}

/// Zooms by `factor`; the position under the pixel stays there.
export function zoomed(camera, width, height, pixel_x, pixel_y, factor) {
    const [x, y] = to_world(camera, width, height, pixel_x, pixel_y);
    const scale = camera.scale * factor;
    return { x: x - (pixel_x - width / 2) / scale, y: y + (pixel_y - height / 2) / scale, scale };
}
