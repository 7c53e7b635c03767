// The schedule: as a graph, as the last frame by worker, as a matrix of accesses; and a table of passes.

import { get, post } from "./api.js";
import { ColorsByName } from "./colors.js";
import { DataTable, draw_bar } from "./data_table.js";
import { choice, fill, h, is_pressed, notice, panel, set_text } from "./dom.js";
import { bytes_text, count_text, ms_digits, ms_text } from "./format.js";
import { access_matrix, reachable, side_by_side } from "./graph_layout.js";
import { recalled, remember } from "./memo.js";
import { draw_schedule } from "./schedule_graph.js";
import { draw_timeline } from "./timeline.js";

const kTabs = [
    ["graph", "Schedule"],
    ["timeline", "Last frame"],
    ["access", "Access"],
];
const kTimelineEvery_ms = 500;

function when_text(pass) {
    if (pass.every_frames > 1) return `every ${pass.every_frames} frames`;
    return pass.every_seconds > 0 ? `every ${pass.every_seconds} s` : "each frame";
}

function pass_table(state) {
    let most = 1;
    const enabled = {
        key: "enabled",
        title: "On",
        hint: "Passes that are off are not run",
        draw: (cell, row) => {
            if (!cell.firstChild) {
                cell.append(
                    h("input", {
                        type: "checkbox",
                        class: "switch",
                        role: "switch",
                        onchange: (event) => state.enable(event.target.dataset.pass, event.target.checked),
                    }),
                );
            }
            const box = cell.firstChild;
            box.dataset.pass = row.name;
            box.setAttribute("aria-label", `Run ${row.name}`);
            if (document.activeElement !== box || box.checked !== row.enabled) box.checked = row.enabled;
            box.disabled = state.context.world.last ? !state.context.world.last.can_edit : false;
        },
    };
    const name = {
        key: "name",
        title: "Pass",
        draw: (cell, row) => {
            if (!cell.firstChild) cell.append(h("i", { class: "dot" }), h("span", {}));
            cell.firstChild.style.background = state.colors.of(row.name);
            set_text(cell.lastChild, row.group ? `${row.group} / ${row.name}` : row.name);
        },
    };
    const columns = [
        enabled,
        name,
        { key: "last_ms", title: "Last", is_number: true, text: (row) => ms_text(row.last_ms) },
        {
            key: "mean_ms",
            title: "Mean",
            is_number: true,
            draw: (cell, row) => draw_bar(cell, row.mean_ms / most, ms_text(row.mean_ms)),
        },
        {
            key: "worker_ms",
            title: "By worker",
            hint: "Milliseconds of each worker in all runs",
            is_number: true,
            value: (row) => Math.max(0, ...(row.worker_ms || [])),
            draw: (cell, row) => draw_workers(cell, row.worker_ms || []),
        },
        { key: "rows", title: "Rows", is_number: true, text: (row) => count_text(row.rows) },
        { key: "bytes", title: "Bytes", is_number: true, text: (row) => bytes_text(row.bytes) },
        {
            key: "gb_per_s",
            title: "Rate",
            hint: "Bytes a second, beside what the memory of this machine gives",
            is_number: true,
            draw: (cell, row) =>
                draw_bar(cell, row.gb_per_s / state.bandwidth(), `${(row.gb_per_s || 0).toFixed(2)} GB/s`),
        },
        { key: "runs", title: "Runs", is_number: true, text: (row) => count_text(row.runs) },
        { key: "when", title: "When", text: when_text, value: when_text },
    ];
    const table = new DataTable(columns, {
        name: "passes",
        label: "Passes",
        key_of: (row) => row.name,
        on_row: (row) => state.choose(row.name),
        empty: "The schedule has no passes yet.",
    });
    const show = (passes) => {
        most = Math.max(1e-9, ...passes.map((pass) => pass.mean_ms));
        table.show(passes);
    };
    return { table, show };
}

// A bar per worker, relative to the busiest one of the pass.
function draw_workers(cell, times) {
    const most = Math.max(1e-9, ...times);
    if (!cell.firstChild) cell.append(h("span", { class: "workers" }));
    const box = cell.firstChild;
    while (box.children.length < times.length) box.append(h("i"));
    times.forEach((time, i) => {
        box.children[i].style.height = `${Math.max(6, (time / most) * 100)}%`;
    });
    cell.title = times.map((time, i) => `worker ${i}: ${ms_text(time)}`).join("\n");
}

function draw_access(box, passes, state) {
    const { fields, passes: names, cells } = access_matrix(passes);
    if (fields.length === 0) return fill(box, notice("No pass declares what it reads and writes."));
    const words = { R: "reads", W: "writes", RW: "reads and writes" };
    const head = h(
        "tr",
        {},
        h("th", { scope: "col" }, "Field"),
        names.map((name) =>
            h(
                "th",
                { scope: "col", class: "slanted" },
                h(
                    "button",
                    {
                        type: "button",
                        onclick: () => state.choose(name),
                        "aria-pressed": String(name === state.chosen),
                    },
                    name,
                ),
            ),
        ),
    );
    const lines = fields.map((field) =>
        h(
            "tr",
            {},
            h("th", { scope: "row" }, field === "*" ? "everything" : field),
            names.map((name) => {
                const letters = cells.get(`${field} ${name}`) || "";
                return h(
                    "td",
                    {
                        class: `access ${letters} ${name === state.chosen ? "chosen" : ""}`,
                        title: letters ? `${name} ${words[letters]} ${field}` : null,
                    },
                    letters,
                );
            }),
        ),
    );
    return fill(
        box,
        h(
            "div",
            { class: "matrix" },
            h("table", { "aria-label": "Access" }, h("thead", {}, head), h("tbody", {}, lines)),
        ),
    );
}

function list_of(title, names) {
    if (names.length === 0) return null;
    return h(
        "div",
        {},
        h("dt", {}, title),
        h(
            "dd",
            {},
            names.map((name) => h("span", { class: "chip" }, name)),
        ),
    );
}

// Details of the chosen pass, beside the graph.
function draw_details(box, { passes, edges }, state) {
    const pass = passes.find((one) => one.name === state.chosen);
    if (!pass) {
        return fill(
            box,
            h(
                "p",
                { class: "hint" },
                "Choose a pass to see what it waits for, what waits for it, and what may run beside it.",
            ),
        );
    }
    const reach = reachable(
        passes.map((one) => one.name),
        edges,
    );
    const reasons = (list, other) =>
        list.map((edge) => `${edge[other]}${edge.why === "conflict" ? `: ${edge.on.join(", ")}` : " (order)"}`);
    return fill(
        box,
        h("h3", {}, pass.name),
        h(
            "dl",
            { class: "pass-facts" },
            list_of("Reads", pass.reads || []),
            list_of("Writes", pass.writes || []),
            list_of(
                "Waits for",
                reasons(
                    edges.filter((edge) => edge.to === pass.name),
                    "from",
                ),
            ),
            list_of(
                "Before",
                reasons(
                    edges.filter((edge) => edge.from === pass.name),
                    "to",
                ),
            ),
            list_of("May run beside", side_by_side(pass.name, reach)),
            list_of(
                "Time of each worker",
                (pass.worker_ms || []).map((time) => `${ms_digits(time)} ms`),
            ),
        ),
    );
}

// Everything that the drawings depend on, except times.
function shape_of({ passes, edges }) {
    return JSON.stringify([
        passes.map((pass) => [pass.name, pass.level, pass.enabled, pass.reads, pass.writes]),
        edges,
    ]);
}

/// The state of the drawings and the table: `body`, the answer; `timeline`; `chosen`, a pass or null; `colors`.
class PassesView {
    constructor(context) {
        Object.assign(this, {
            context,
            chosen: null,
            body: null,
            timeline: null,
            colors: new ColorsByName(),
            stop: null,
            timer: 0,
        });
        this.tab = recalled("passes.tab", "graph");
        this.drawing = h("div", { class: "drawing" }, notice("Waiting for the schedule…", "", "loading"));
        this.details = h("aside", { class: "pass-details", "aria-label": "Chosen pass" });
        this.passes = pass_table(this);
        const tabs = choice("Drawing", kTabs, this.tab, (tab) => this.show_tab(tab), { id: "passes-tabs" });
        this.element = h(
            "div",
            { class: "view passes" },
            h("header", { class: "view-head" }, h("h1", {}, "Passes"), tabs),
            h("section", { class: "panel", "aria-label": "Drawing of the schedule" }, this.drawing, this.details),
            panel("Passes", null, this.passes.table.element),
        );
    }

    bandwidth() {
        return (this.context.world.last && this.context.world.last.bandwidth_gb_per_s) || 10;
    }

    show_tab(tab) {
        this.tab = tab;
        remember("passes.tab", tab);
        fill(this.drawing);
        this.draw();
        this.load_timeline();
    }

    choose(name) {
        this.chosen = this.chosen === name ? null : name;
        this.context.note_address("passes", { pass: this.chosen });
        this.draw_all();
    }

    async enable(pass, enabled) {
        await this.context.attempt(() => post("/api/enable", { pass, enabled }));
        const body = await this.context.attempt(() => get("/api/passes"));
        if (!body) return;
        this.body = body;
        this.draw_all();
    }

    draw() {
        if (!this.body) return;
        if (this.tab === "graph") draw_schedule(this.drawing, this);
        else if (this.tab === "timeline") draw_timeline(this.drawing, this);
        else draw_access(this.drawing, this.body.passes, this);
    }

    draw_all() {
        if (!this.body) return;
        this.draw();
        draw_details(this.details, this.body, this);
        this.passes.show(this.body.passes);
        this.passes.table.choose(this.chosen);
    }

    hear(body, error) {
        if (error) {
            this.body = null; // so that the next answer draws everything
            fill(this.drawing, notice("The schedule cannot be shown.", error.message, "error"));
            return;
        }
        for (const pass of body.passes) this.colors.of(pass.name);
        const is_same = this.body && shape_of(this.body) === shape_of(body);
        this.body = body;
        if (!is_same) {
            this.draw_all();
            return;
        }
        this.passes.show(body.passes);
        if (this.tab === "graph") this.draw();
    }

    async load_timeline() {
        if (this.tab !== "timeline" || document.hidden || is_pressed()) return;
        try {
            this.timeline = await get("/api/timeline");
            this.draw();
        } catch (error) {
            if (!this.timeline) fill(this.drawing, notice("The last frame cannot be shown.", error.message, "error"));
        }
    }

    open(parameters) {
        this.close();
        if (parameters.pass) this.chosen = parameters.pass;
        this.draw_all();
        this.stop = this.context.live.watch("/api/passes", (body, error) => this.hear(body, error));
        this.timer = setInterval(() => this.load_timeline(), kTimelineEvery_ms);
        this.load_timeline();
    }

    close() {
        if (this.stop) this.stop();
        this.stop = null;
        clearInterval(this.timer);
    }
}

export function make_passes_view(context) {
    return new PassesView(context);
}
