// The schedule as a graph: the positions of its passes, and which of them may run in parallel. No DOM.
//
// A column per level; the passes of a level are stacked in the order that keeps edges short.

const kSweeps = 6;

/// The passes that each one reaches over edges. Map of name to Set of names.
export function reachable(names, edges) {
    const next = new Map(names.map((name) => [name, []]));
    for (const { from, to } of edges) if (next.has(from) && next.has(to)) next.get(from).push(to);
    const found = new Map();
    for (const name of names) {
        const seen = new Set();
        const stack = [...next.get(name)];
        while (stack.length > 0) {
            const one = stack.pop();
            if (seen.has(one)) continue;
            seen.add(one);
            stack.push(...next.get(one));
        }
        found.set(name, seen);
    }
    return found;
}

/// The passes that may run at the same time as `name`: no path leads from one to the other.
export function side_by_side(name, reach) {
    return [...reach.keys()].filter(
        (other) => other !== name && !reach.get(name).has(other) && !reach.get(other).has(name),
    );
}

function mean_place(name, neighbours, place) {
    const places = (neighbours.get(name) || []).map((other) => place.get(other)).filter((one) => one !== undefined);
    return places.length === 0 ? place.get(name) : places.reduce((a, b) => a + b, 0) / places.length;
}

/// Orders each column by the mean position of the neighbours of its passes, back and forth.
function order_columns(columns, before, after) {
    const place = new Map();
    const number = (column) => column.forEach((name, i) => place.set(name, i - (column.length - 1) / 2));
    columns.forEach(number);
    for (let sweep = 0; sweep < kSweeps; ++sweep) {
        const is_forward = sweep % 2 === 0;
        for (const column of is_forward ? columns : [...columns].reverse()) {
            const keys = new Map(column.map((name) => [name, mean_place(name, is_forward ? before : after, place)]));
            column.sort((a, b) => keys.get(a) - keys.get(b));
            number(column);
        }
    }
}

function neighbours_of(edges, of, other) {
    const found = new Map();
    for (const edge of edges) {
        if (!found.has(edge[of])) found.set(edge[of], []);
        found.get(edge[of]).push(edge[other]);
    }
    return found;
}

/// {nodes: [{name, x, y, level}], edges: [{from, to, why, on, points}], width, height}: boxes of node_width times
/// node_height with their top left corner at x, y. An edge has four points: the curve's ends and control points.
export function graph_layout(passes, edges, { node_width, node_height, gap_x, gap_y, margin }) {
    const levels = [...new Set(passes.map((pass) => pass.level))].sort((a, b) => a - b);
    const columns = levels.map((level) => passes.filter((pass) => pass.level === level).map((pass) => pass.name));
    order_columns(columns, neighbours_of(edges, "to", "from"), neighbours_of(edges, "from", "to"));
    const tallest = Math.max(1, ...columns.map((column) => column.length));
    const height = tallest * (node_height + gap_y) - gap_y + 2 * margin;
    const nodes = [];
    columns.forEach((column, c) => {
        const top = (height - (column.length * (node_height + gap_y) - gap_y)) / 2;
        column.forEach((name, i) => {
            nodes.push({
                name,
                level: levels[c],
                x: margin + c * (node_width + gap_x),
                y: top + i * (node_height + gap_y),
            });
        });
    });
    const by_name = new Map(nodes.map((node) => [node.name, node]));
    const drawn = edges
        .filter((edge) => by_name.has(edge.from) && by_name.has(edge.to))
        .map((edge) => {
            const a = by_name.get(edge.from);
            const b = by_name.get(edge.to);
            const begin = [a.x + node_width, a.y + node_height / 2];
            const end = [b.x, b.y + node_height / 2];
            const bend = Math.max(gap_x / 2, (end[0] - begin[0]) / 2);
            return { ...edge, points: [begin, [begin[0] + bend, begin[1]], [end[0] - bend, end[1]], end] };
        });
    const width = Math.max(1, columns.length) * (node_width + gap_x) - gap_x + 2 * margin;
    return { nodes, edges: drawn, width, height };
}

/// The chain of waits that ends with the last pass, which determines the frame's time. Names, first to last.
export function waiting_chain(timeline) {
    let last = null;
    for (const span of (timeline.workers || []).flat()) if (!last || span.end_ms > last.end_ms) last = span;
    const waited_for = new Map((timeline.waits || []).map((wait) => [wait.pass, wait.for]));
    const chain = [];
    for (let name = last && last.pass; name && !chain.includes(name); name = waited_for.get(name)) chain.unshift(name);
    return chain;
}

/// The accesses of each field: {fields, passes, cells}; cells is a Map of "field pass" to "R", "W" or "RW".
/// "*" means everything, and is first.
export function access_matrix(passes) {
    const cells = new Map();
    const fields = new Set();
    const note = (pass, field, letter) => {
        fields.add(field);
        const key = `${field} ${pass.name}`;
        const found = cells.get(key) || "";
        if (!found.includes(letter)) cells.set(key, letter === "R" ? `R${found}` : `${found}W`);
    };
    for (const pass of passes) {
        for (const field of pass.reads || []) note(pass, field, "R");
        for (const field of pass.writes || []) note(pass, field, "W");
    }
    const sorted = [...fields].sort((a, b) => (a === "*" ? -1 : b === "*" ? 1 : a < b ? -1 : 1));
    return { fields: sorted, passes: passes.map((pass) => pass.name), cells };
}
