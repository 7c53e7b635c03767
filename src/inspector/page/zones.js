// Zones: a map coloured by their content, the unloaded zones, and a table.

import { ramp_color, text_on_ramp } from "./colors.js";
import { DataTable, draw_bar } from "./data_table.js";
import { choice, fill, h, is_pressed, notice, panel, set_text, svg } from "./dom.js";
import { bytes_text, count_text, counted_text, ms_text } from "./format.js";
import { zone_boxes } from "./memory_tree.js";
import { recalled, remember } from "./memo.js";

const kMeasures = [
    ["entities", "Entities"],
    ["used", "Used"],
    ["committed", "Committed"],
];
const kTime = ["ms", "Time, by rows"];
const kRest_ms = 450; // between two drawings
const kHeight = 420;
const kPadding = 12; // as in the style sheet

function measure_text(measure, value) {
    if (measure === "ms") return ms_text(value);
    return measure === "entities" ? count_text(value) : bytes_text(value);
}

function box_element(box, place, state, most) {
    const { zone } = box;
    const amount = (zone[state.measure] || 0) / most;
    const { x, y, width, height } = place(box);
    const choose = () => state.choose(zone.zone);
    return svg(
        "g",
        {
            class: `zone ${zone.zone === state.chosen ? "chosen" : ""}`,
            "data-zone": zone.zone,
            tabindex: 0,
            role: "button",
            "aria-label": `Zone ${zone.zone}, ${counted_text(zone.entities, "entity", "entities")}`,
            onclick: choose,
            onkeydown: (event) => {
                if (event.key === "Enter") choose();
            },
        },
        svg(
            "title",
            {},
            `zone ${zone.zone}\n${counted_text(zone.entities, "entity", "entities")}\n${bytes_text(zone.used)} used of ${bytes_text(zone.committed)}`,
        ),
        svg("rect", { x, y, width, height, rx: 3, fill: ramp_color(amount) }),
        width > 26 && height > 16
            ? svg("text", { x: x + width / 2, y: y + height / 2 + 4, fill: text_on_ramp(amount) }, String(zone.zone))
            : null,
    );
}

function draw_map(box, zones, state) {
    const { boxes, low, high, is_grid } = zone_boxes(zones.filter((zone) => zone.state !== "unloaded"));
    if (boxes.length === 0) {
        return fill(
            box,
            notice(
                "No zone is loaded.",
                "Zones appear here when entities are created in them, or when they are streamed in.",
            ),
        );
    }
    const width = Math.max(300, box.clientWidth - 2 * kPadding);
    const scale = Math.min(
        (width - 8) / Math.max(1e-6, high[0] - low[0]),
        (kHeight - 8) / Math.max(1e-6, high[1] - low[1]),
    );
    const left = (width - (high[0] - low[0]) * scale) / 2;
    const place = (one) => ({
        x: left + (one.x - low[0]) * scale,
        y: 4 + (high[1] - one.y - one.height) * scale,
        width: Math.max(3, one.width * scale),
        height: Math.max(3, one.height * scale),
    });
    const most = Math.max(1e-9, ...boxes.map(({ zone }) => zone[state.measure] || 0));
    const picture = svg(
        "svg",
        { class: "zone-map", width, height: kHeight, role: "group", "aria-label": "Map of zones" },
        boxes.map((one) => box_element(one, place, state, most)),
    );
    const legend = h(
        "p",
        { class: "ramp-legend" },
        measure_text(state.measure, 0),
        h("i", { class: "ramp" }),
        measure_text(state.measure, most),
        is_grid
            ? h("span", { class: "muted" }, "These zones have no places: they stand in the order of their numbers.")
            : null,
    );
    return fill(box, picture, legend);
}

function draw_chosen(box, zones, state, context) {
    const zone = zones.find((one) => one.zone === state.chosen);
    if (!zone) {
        const loaded = zones.filter((one) => one.state !== "unloaded");
        if (loaded.length === 0)
            return fill(
                box,
                h("p", { class: "hint" }, "A zone is a part of the world whose entities lie together in memory."),
            );
        const entities = loaded.reduce((sum, one) => sum + one.entities, 0);
        return fill(
            box,
            h("h3", {}, counted_text(loaded.length, "zone is loaded", "zones are loaded")),
            h(
                "p",
                { class: "hint" },
                `They have ${counted_text(entities, "entity", "entities")}. Choose a zone to see what it has.`,
            ),
        );
    }
    const rows = [...(zone.components || [])].sort((a, b) => b.committed - a.committed);
    return fill(
        box,
        h("h3", {}, `Zone ${zone.zone}`),
        h(
            "p",
            {},
            `${counted_text(zone.entities, "entity", "entities")}, ${bytes_text(zone.used)} used of ${bytes_text(zone.committed)}`,
        ),
        h(
            "table",
            { class: "small" },
            h(
                "thead",
                {},
                h(
                    "tr",
                    {},
                    ["Component", "Rows", "Committed"].map((name, i) =>
                        h("th", { scope: "col", class: i > 0 ? "number" : null }, name),
                    ),
                ),
            ),
            h(
                "tbody",
                {},
                rows.map((row) =>
                    h(
                        "tr",
                        {},
                        h("td", {}, row.name),
                        h("td", { class: "number" }, count_text(row.rows)),
                        h("td", { class: "number" }, bytes_text(row.committed)),
                    ),
                ),
            ),
        ),
        h(
            "button",
            { type: "button", class: "plain", onclick: () => context.go("world", { color: "zone" }) },
            "World coloured by zone",
        ),
    );
}

function draw_unloaded(box, zones) {
    const unloaded = zones.filter((zone) => zone.state === "unloaded");
    box.hidden = unloaded.length === 0;
    fill(
        box,
        h("span", { class: "muted" }, `${counted_text(unloaded.length, "zone is", "zones are")} on the disk: `),
        unloaded.slice(0, 200).map((zone) => h("span", { class: "chip unloaded", "data-zone": zone.zone }, zone.zone)),
    );
}

function zone_table(state, largest) {
    return new DataTable(
        [
            { key: "zone", title: "Zone", is_number: true },
            {
                key: "state",
                title: "State",
                draw: (cell, row) => {
                    cell.className = `zone-state ${row.state}`;
                    set_text(cell, row.state);
                },
            },
            {
                key: "entities",
                title: "Entities",
                is_number: true,
                draw: (cell, row) => draw_bar(cell, row.entities / largest.entities, count_text(row.entities)),
            },
            { key: "used", title: "Used", is_number: true, text: (row) => bytes_text(row.used) },
            {
                key: "committed",
                title: "Committed",
                is_number: true,
                draw: (cell, row) => draw_bar(cell, row.committed / largest.committed, bytes_text(row.committed)),
            },
            { key: "reserved", title: "Reserved", is_number: true, text: (row) => bytes_text(row.reserved) },
            { key: "box", title: "From – to", value: (row) => (row.low ? row.low[0] : null), text: box_text },
        ],
        {
            name: "zones",
            label: "Zones",
            key_of: (row) => row.zone,
            on_row: (row) => state.choose(row.zone),
            empty: "The world has no zones with entities.",
        },
    );
}

function box_text(zone) {
    if (!zone.low) return "";
    const corner = (point) =>
        point
            .slice(0, 2)
            .map((value) => value.toFixed(0))
            .join(", ");
    return `${corner(zone.low)} – ${corner(zone.high)}`;
}

class ZonesView {
    constructor(context) {
        Object.assign(this, {
            context,
            measure: recalled("zones.measure", "entities"),
            chosen: null,
            zones: null,
            stop: null,
            drawn_at: 0,
        });
        this.largest = { entities: 1, committed: 1 };
        this.map = h("div", { class: "map-box" }, notice("Waiting for the zones…", "", "loading"));
        this.unloaded = h("p", { class: "unloaded-list", hidden: true });
        this.details = h("aside", { class: "details", "aria-label": "Chosen zone" });
        this.measures = h("span");
        this.table = zone_table(this, this.largest);
        this.element = h(
            "div",
            { class: "view zones" },
            h("header", { class: "view-head" }, h("h1", {}, "Zones"), this.measures),
            h(
                "div",
                { class: "schedule" },
                h("section", { class: "panel", "aria-label": "Map" }, this.map, this.unloaded),
                this.details,
            ),
            panel("Table", null, this.table.element),
        );
        this.show_measures();
        addEventListener("resize", () => this.stop && this.draw());
    }

    show_measures() {
        const has_time = this.zones && this.zones.some((zone) => zone.ms !== undefined);
        fill(
            this.measures,
            choice(
                "Coloured by",
                has_time ? [...kMeasures, kTime] : kMeasures,
                this.measure,
                (value) => {
                    this.measure = value;
                    remember("zones.measure", value);
                    this.draw();
                },
                { id: "zones-measure" },
            ),
        );
    }

    choose(zone) {
        this.chosen = this.chosen === zone ? null : zone;
        this.context.note_address("zones", { zone: this.chosen });
        this.draw();
    }

    draw() {
        const { zones } = this;
        if (!zones) return;
        for (const name of Object.keys(this.largest))
            this.largest[name] = Math.max(1, ...zones.map((zone) => zone[name] || 0));
        const focused = document.activeElement && document.activeElement.closest(".zone-map [data-zone]");
        draw_map(this.map, zones, this);
        if (focused) {
            const again = this.map.querySelector(`[data-zone="${focused.dataset.zone}"]`);
            if (again) again.focus();
        }
        draw_unloaded(this.unloaded, zones);
        draw_chosen(this.details, zones, this, this.context);
        this.table.show(zones);
        this.table.choose(this.chosen);
    }

    hear(body, error) {
        if (error) {
            fill(this.map, notice("Zones cannot be shown.", error.message, "error"));
            return;
        }
        const is_first = this.zones === null;
        this.zones = body.zones;
        if (is_first) this.show_measures();
        if (is_pressed() || performance.now() - this.drawn_at < kRest_ms) return;
        this.drawn_at = performance.now();
        this.draw();
    }

    open(parameters) {
        this.close();
        this.drawn_at = -kRest_ms;
        if (parameters.zone !== undefined) this.chosen = Number(parameters.zone);
        this.stop = this.context.live.watch("/api/zones", (body, error) => this.hear(body, error));
    }

    close() {
        if (this.stop) this.stop();
        this.stop = null;
    }
}

export function make_zones_view(context) {
    return new ZonesView(context);
}
