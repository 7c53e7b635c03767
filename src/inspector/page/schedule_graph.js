// Draws the schedule: a column per level, a box per pass with its time, an arrow per dependency.

import { fill, h, notice, set_text, svg } from "./dom.js";
import { ms_text } from "./format.js";
import { graph_layout, reachable, side_by_side } from "./graph_layout.js";

const kSizes = { node_width: 124, node_height: 46, gap_x: 32, gap_y: 16, margin: 16 };

function path_of([begin, one, other, end]) {
    return `M${begin}C${one} ${other} ${end}`;
}

function edge_element(edge, state) {
    const touches = state.chosen === null || edge.from === state.chosen || edge.to === state.chosen;
    const reason = edge.why === "conflict" ? `both use ${edge.on.join(", ")}` : "by the order that was asked for";
    return svg(
        "path",
        {
            class: `edge ${edge.why} ${touches ? "" : "dim"}`,
            d: path_of(edge.points),
            "marker-end": `url(#arrow-${edge.why})`,
        },
        svg("title", {}, `${edge.to} waits for ${edge.from}: ${reason}`),
    );
}

function node_element(node, pass, state, beside) {
    const is_dim = state.chosen !== null && state.chosen !== node.name && !beside.has(node.name);
    const classes = [
        "node",
        node.name === state.chosen ? "chosen" : "",
        beside.has(node.name) ? "beside" : "",
        is_dim ? "dim" : "",
        pass.enabled ? "" : "off",
    ].join(" ");
    const choose = () => state.choose(node.name);
    return svg(
        "g",
        {
            class: classes,
            transform: `translate(${node.x} ${node.y})`,
            tabindex: 0,
            role: "button",
            "data-pass": node.name,
            "aria-label": `${node.name}, ${pass.enabled ? "on" : "off"}`,
            "aria-pressed": String(node.name === state.chosen),
            onclick: choose,
            onkeydown: (event) => {
                if (event.key === "Enter" || event.key === " ") {
                    event.preventDefault();
                    choose();
                }
            },
        },
        svg("rect", { class: "box", width: kSizes.node_width, height: kSizes.node_height, rx: 7 }),
        svg("rect", {
            class: "mark",
            width: 4,
            height: kSizes.node_height - 12,
            x: 6,
            y: 6,
            rx: 2,
            fill: state.colors.of(node.name),
        }),
        svg("text", { class: "title", x: 17, y: 19 }, short_name(node.name)),
        svg("text", { class: "time", x: 17, y: 35 }),
        svg("rect", { class: "share-back", x: 76, y: 30, width: 40, height: 4, rx: 2 }),
        svg("rect", { class: "share", x: 76, y: 30, width: 0, height: 4, rx: 2 }),
    );
}

function short_name(name) {
    return name.length > 15 ? `${name.slice(0, 14)}…` : name;
}

function marker(why) {
    return svg(
        "marker",
        {
            id: `arrow-${why}`,
            class: `arrow ${why}`,
            viewBox: "0 0 8 8",
            refX: 7,
            refY: 4,
            markerWidth: 7,
            markerHeight: 7,
            orient: "auto",
        },
        svg("path", { d: "M0 0.5L8 4L0 7.5z" }),
    );
}

function legend() {
    return h(
        "p",
        { class: "graph-legend" },
        h("span", {}, h("i", { class: "line conflict" }), "waits: both use a field"),
        h("span", {}, h("i", { class: "line order" }), "waits: order asked for"),
        h("span", {}, h("i", { class: "square beside" }), "may run beside the chosen pass"),
    );
}

function draw_anew(box, state) {
    const { passes, edges } = state.body;
    const layout = graph_layout(passes, edges, kSizes);
    const by_name = new Map(passes.map((pass) => [pass.name, pass]));
    const reach = reachable(
        passes.map((pass) => pass.name),
        edges,
    );
    const beside = new Set(by_name.has(state.chosen) ? side_by_side(state.chosen, reach) : []);
    const picture = svg(
        "svg",
        {
            class: "graph",
            viewBox: `0 0 ${layout.width} ${layout.height}`,
            style: { width: `${layout.width}px`, minWidth: `${layout.width * 0.68}px` },
            role: "group",
            "aria-label": "Passes, and what waits for what",
        },
        svg("defs", {}, marker("conflict"), marker("order")),
        layout.edges.map((edge) => edge_element(edge, state)),
        layout.nodes.map((node) => node_element(node, by_name.get(node.name), state, beside)),
    );
    fill(box, h("div", { class: "graph-box" }, picture), legend());
}

function show_times(box, passes) {
    const most = Math.max(1e-9, ...passes.map((pass) => pass.mean_ms));
    for (const pass of passes) {
        const node = box.querySelector(`[data-pass="${CSS.escape(pass.name)}"]`);
        if (!node) continue;
        set_text(node.querySelector(".time"), pass.enabled ? ms_text(pass.mean_ms) : "off");
        node.querySelector(".share").setAttribute("width", String(40 * Math.min(1, pass.mean_ms / most)));
    }
}

/// Draws the graph, or only its times if nothing else has changed.
export function draw_schedule(box, state) {
    const { passes, edges } = state.body;
    if (passes.length === 0) {
        fill(box, notice("No passes yet.", "Passes that the program adds to its schedule appear here."));
        return;
    }
    const key = JSON.stringify([state.chosen, edges, passes.map((pass) => [pass.name, pass.level, pass.enabled])]);
    if (box.dataset.drawn !== key || !box.querySelector(".graph")) {
        const left = box.querySelector(".graph-box") ? box.querySelector(".graph-box").scrollLeft : 0;
        draw_anew(box, state);
        box.querySelector(".graph-box").scrollLeft = left;
        box.dataset.drawn = key;
    }
    show_times(box, passes);
}
