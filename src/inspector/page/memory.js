// Memory as a treemap and a table: by component type, archetype, owner or zone.

import { get } from "./api.js";
import { ColorsByName } from "./colors.js";
import { DataTable, draw_bar } from "./data_table.js";
import { choice, fill, h, is_pressed, notice, panel, svg } from "./dom.js";
import { bytes_text, count_text, percent_text } from "./format.js";
import { memory_hierarchy, memory_parts, memory_totals } from "./memory_tree.js";
import { recalled, remember } from "./memo.js";

const kDivisions = [
    ["component", "Components"],
    ["archetype", "Archetypes"],
    ["owner", "Owners"],
    ["zone", "Zones"],
];
const kMeasures = [
    ["committed", "Committed"],
    ["used", "Used"],
    ["wasted", "Wasted"],
    ["reserved", "Reserved"],
];
const kRest_ms = 900; // between two drawings: boxes that jump four times a second are unreadable
const kHeight = 320;
const kPadding = 12; // as in the style sheet

function tile(leaf, measure, colors, choose) {
    const { part } = leaf.data;
    const [width, height] = [leaf.x1 - leaf.x0, leaf.y1 - leaf.y0];
    const share = measure === "committed" && part.committed > 0 ? Math.min(1, part.used / part.committed) : 1;
    const fits = width > 46 && height > 22;
    const name =
        part.name.length * 7.4 > width - 12
            ? `${part.name.slice(0, Math.max(1, Math.floor((width - 18) / 7.4)))}…`
            : part.name;
    return svg(
        "g",
        {
            class: "tile",
            transform: `translate(${leaf.x0} ${leaf.y0})`,
            "data-part": part.name,
            onclick: () => choose(part),
        },
        svg(
            "title",
            {},
            `${part.name} (${part.group})\n${bytes_text(part.used)} used of ${bytes_text(part.committed)} committed, ` +
                `${bytes_text(part.wasted)} wasted, ${bytes_text(part.reserved)} reserved`,
        ),
        svg("rect", { class: "back", width, height, rx: 3, fill: colors.of(part.group) }),
        svg("rect", {
            class: "used",
            y: height * (1 - share),
            width,
            height: height * share,
            rx: 3,
            fill: colors.of(part.group),
        }),
        fits ? svg("text", { class: "name", x: 7, y: 16 }, name) : null,
        fits && height > 38 ? svg("text", { class: "size", x: 7, y: 31 }, bytes_text(leaf.value)) : null,
    );
}

function draw_treemap(box, parts, measure, colors, choose) {
    const hierarchy = memory_hierarchy(parts, measure);
    if (hierarchy.children.length === 0)
        return fill(box, notice(`Nothing is ${measure}.`, "The world has no rows of this kind yet."));
    const width = Math.max(300, box.clientWidth - 2 * kPadding);
    const { d3 } = globalThis;
    const root = d3
        .hierarchy(hierarchy)
        .sum((node) => node.value || 0)
        .sort((a, b) => b.value - a.value);
    d3.treemap().size([width, kHeight]).paddingInner(2).paddingOuter(1).round(true)(root);
    return fill(
        box,
        svg(
            "svg",
            { class: "treemap", width, height: kHeight, role: "img", "aria-label": `Memory, ${measure}` },
            root.leaves().map((leaf) => tile(leaf, measure, colors, choose)),
        ),
    );
}

function table_columns(colors, most) {
    const bytes = (key, title, hint) => ({ key, title, hint, is_number: true, text: (row) => bytes_text(row[key]) });
    return [
        {
            key: "name",
            title: "Name",
            draw: (cell, row) => {
                if (!cell.firstChild) cell.append(h("i", { class: "dot" }), h("span", {}));
                cell.firstChild.style.background = colors.of(row.group);
                cell.lastChild.textContent = row.name;
            },
        },
        { key: "group", title: "Store" },
        {
            key: "rows",
            title: "Rows",
            is_number: true,
            text: (row) => (row.rows === undefined ? "" : count_text(row.rows)),
        },
        {
            key: "dead",
            title: "Dead",
            hint: "Rows that are removed at the next settle",
            is_number: true,
            text: (row) => (row.dead === undefined ? "" : count_text(row.dead)),
        },
        {
            key: "row_bytes",
            title: "Bytes/row",
            is_number: true,
            text: (row) => (row.row_bytes === undefined ? "" : number_of_bytes(row)),
        },
        bytes("used", "Used"),
        {
            key: "committed",
            title: "Committed",
            is_number: true,
            draw: (cell, row) => draw_bar(cell, row.committed / most(), bytes_text(row.committed)),
        },
        bytes("wasted", "Wasted", "Committed and not used"),
        {
            key: "full",
            title: "Full",
            hint: "Used of committed",
            is_number: true,
            value: (row) => (row.committed > 0 ? row.used / row.committed : null),
            text: (row) => (row.committed > 0 ? percent_text(row.used / row.committed) : ""),
        },
        bytes("reserved", "Reserved", "Addresses, not memory"),
    ];
}

function number_of_bytes(row) {
    return Number(row.row_bytes.toFixed(1)).toString();
}

function totals_line(totals) {
    const part = (name, value) => h("span", { "data-total": name }, h("b", {}, bytes_text(value)), ` ${name}`);
    return Object.entries(totals).map(([name, value]) => part(name, value));
}

class MemoryView {
    constructor(context) {
        Object.assign(this, {
            context,
            by: recalled("memory.by", "component"),
            measure: recalled("memory.measure", "committed"),
            memory: null,
            zones: null,
            largest: 1,
            colors: new ColorsByName(),
            stop: null,
            drawn_at: 0,
        });
        this.treemap = h("div", { class: "treemap-box" }, notice("Counting…", "", "loading"));
        this.totals = h("p", { class: "totals" });
        this.table = new DataTable(
            table_columns(this.colors, () => this.largest),
            {
                name: "memory",
                label: "Memory",
                key_of: (row) => row.name,
                order: { key: "committed", descending: true },
                on_row: (row) => this.table.choose(row.name),
            },
        );
        const division = choice("Divided by", kDivisions, this.by, (value) => this.divide(value), { id: "memory-by" });
        const measures = choice("Size of a box", kMeasures, this.measure, (value) => this.measure_by(value), {
            id: "memory-measure",
        });
        this.element = h(
            "div",
            { class: "view memory" },
            h("header", { class: "view-head" }, h("h1", {}, "Memory"), division, measures),
            h(
                "section",
                { class: "panel", "aria-label": "Treemap" },
                this.totals,
                this.treemap,
                h(
                    "p",
                    { class: "hint" },
                    "A box is as large as its memory; filled up to what is used of what is committed.",
                ),
            ),
            panel("Table", null, this.table.element),
        );
        addEventListener("resize", () => this.stop && this.draw());
    }

    divide(by) {
        this.by = by;
        remember("memory.by", by);
        this.draw();
        this.load_zones();
    }

    measure_by(measure) {
        this.measure = measure;
        remember("memory.measure", measure);
        this.draw();
    }

    choose(part) {
        this.table.choose(part.name);
        const line = this.table.lines.get(part.name);
        if (line) line.element.scrollIntoView({ block: "nearest" });
    }

    draw() {
        if (!this.memory) return;
        const parts = memory_parts(this.memory, this.zones, this.by);
        this.largest = Math.max(1, ...parts.map((part) => part.committed || 0));
        draw_treemap(this.treemap, parts, this.measure, this.colors, (part) => this.choose(part));
        fill(this.totals, totals_line(memory_totals(parts)));
        this.table.show(parts);
    }

    async load_zones() {
        if (this.by !== "zone") return;
        const answer = await this.context.attempt(() => get("/api/zones"));
        if (answer) this.zones = answer.zones;
        this.draw();
    }

    hear(body, error) {
        if (error) {
            fill(this.treemap, notice("Memory cannot be shown.", error.message, "error"));
            return;
        }
        this.memory = body;
        if (is_pressed() || performance.now() - this.drawn_at < kRest_ms) return;
        this.drawn_at = performance.now();
        if (this.by === "zone") this.load_zones();
        else this.draw();
    }

    open() {
        this.close();
        this.drawn_at = -kRest_ms;
        this.stop = this.context.live.watch("/api/memory", (body, error) => this.hear(body, error));
        this.load_zones();
    }

    close() {
        if (this.stop) this.stop();
        this.stop = null;
    }
}

export function make_memory_view(context) {
    return new MemoryView(context);
}
