// An overview of the world: time, entities, memory and events over the last minutes, and the largest costs.

import { choice, fill, h, panel, set_text } from "./dom.js";
import { bytes_text, count_text, ms_text, percent_text } from "./format.js";
import { LineChart } from "./line_chart.js";
import { recalled, remember } from "./memo.js";
import { DataTable, draw_bar } from "./data_table.js";

const kSpans = [
    ["30", "30 s"],
    ["120", "2 min"],
    ["600", "10 min"],
];

/// cards: {id, title, lines, series: names, text, value(world), note(world)}
const kCards = [
    {
        id: "time",
        title: "Frame time",
        series: ["passes_ms", "settle_ms"],
        text: ms_text,
        total: "frame_ms",
        lines: [
            { title: "passes", color: "accent", is_filled: true, is_stacked: true },
            { title: "settle", color: "warm", is_filled: true, is_stacked: true },
        ],
        value: (world) => ms_text(world.frame_ms),
        note: (world) => frames_per_second_text(world),
    },
    {
        id: "entities",
        title: "Entities",
        series: ["entities"],
        text: count_text,
        lines: [{ title: "entities", color: "green", is_filled: false }],
        value: (world) => count_text(world.entities),
        note: (world) => settle_text(world),
    },
    {
        id: "memory",
        title: "Memory",
        series: ["used", "committed"],
        text: bytes_text,
        lines: [
            { title: "used", color: "violet", is_filled: true },
            { title: "committed", color: "muted", is_filled: false },
        ],
        value: (world) => bytes_text((world.memory || {}).used),
        note: (world) => memory_text(world),
    },
    {
        id: "events",
        title: "Events a frame",
        series: ["events"],
        text: count_text,
        lines: [{ title: "events", color: "warm", is_filled: true }],
        value: (world) => count_text(world.events),
        note: () => "sent to channels in the last frame",
    },
];

function frames_per_second_text(world) {
    if (!(world.frame_ms > 0)) return "";
    const share =
        world.dt > 0 ? `, ${percent_text(world.frame_ms / (world.dt * 1000))} of ${ms_text(world.dt * 1000)}` : "";
    return `${count_text(1000 / world.frame_ms)} frames/s possible${share}`;
}

function settle_text({ settle = {} }) {
    const words = ["created", "destroyed", "moved"].filter((name) => settle[name] !== undefined);
    return words.map((name) => `${count_text(settle[name])} ${name}`).join(", ");
}

function memory_text({ memory = {} }) {
    return `used of ${bytes_text(memory.committed)}`;
}

function make_card(card) {
    const value = h("output", { class: "big", "data-value": card.id, "aria-label": card.title }, "–");
    const note = h("p", { class: "note" });
    const range = h("p", { class: "note range" });
    const canvas = h("canvas", { role: "img", "aria-label": `${card.title} over time` });
    const names =
        card.lines.length < 2
            ? null
            : h(
                  "p",
                  { class: "line-names" },
                  card.lines.map((line) => {
                      const mark = h("i");
                      mark.style.background = `var(--${line.color})`;
                      return h("span", {}, mark, line.title);
                  }),
              );
    const element = h(
        "section",
        { class: "panel card", "data-card": card.id, "aria-label": card.title },
        h("header", {}, h("h2", {}, card.title), range),
        h("div", { class: "figures" }, value, note, names),
        h("div", { class: "chart" }, canvas),
    );
    return { ...card, element, value_element: value, note_element: note, range_element: range, canvas, chart: null };
}

function show_card(card, context, world, seconds) {
    if (!card.chart) card.chart = new LineChart(card.canvas, card.lines, card.text);
    set_text(card.value_element, card.value(world));
    set_text(card.note_element, card.note(world));
    const now = context.world.now();
    const { series } = context.world;
    card.chart.show(
        card.series.map((name) => series[name]),
        seconds,
        now,
    );
    const summary = series[card.total || card.series[0]].summary(now - seconds);
    const parts = summary ? ["low", "mean", "high"].map((name) => `${name} ${card.text(summary[name])}`) : [];
    set_text(card.range_element, parts.join("  ·  "));
}

function costly_passes() {
    let most = 1;
    const table = new DataTable(
        [
            {
                key: "name",
                title: "Pass",
                draw: (cell, row) => {
                    if (!cell.firstChild) cell.append(h("a", {}));
                    cell.firstChild.href = `#/passes?pass=${encodeURIComponent(row.name)}`;
                    set_text(cell.firstChild, row.name);
                },
            },
            {
                key: "mean_ms",
                title: "Mean time",
                is_number: true,
                draw: (cell, row) => draw_bar(cell, row.mean_ms / most, ms_text(row.mean_ms)),
            },
            { key: "rows", title: "Rows", is_number: true, text: (row) => count_text(row.rows) },
        ],
        {
            name: "costly",
            label: "Passes that take longest",
            key_of: (row) => row.name,
            order: { key: "mean_ms", descending: true },
            empty: "The schedule has no passes yet.",
        },
    );
    const show = (body) => {
        const passes = [...body.passes].sort((a, b) => b.mean_ms - a.mean_ms).slice(0, 8);
        most = Math.max(1e-9, ...passes.map((pass) => pass.mean_ms));
        table.show(passes);
    };
    return { element: table.element, show };
}

function facts_of(world) {
    const kept = world.frames_kept;
    const facts = [
        ["workers", count_text(world.workers)],
        ["frame step", world.dt > 0 ? ms_text(world.dt * 1000) : "–"],
        ["memory bandwidth", world.bandwidth_gb_per_s ? `${world.bandwidth_gb_per_s.toFixed(1)} GB/s` : "–"],
        ["addresses reserved", bytes_text((world.memory || {}).reserved)],
        ["frames kept", kept ? `${count_text(kept.first)} to ${count_text(kept.last)}` : "none"],
        ["editing", world.can_edit ? "on" : "off"],
    ];
    for (const [name, count] of Object.entries(world.settle || {})) {
        facts.push([
            `settle: ${name.replace(/_/g, " ")}`,
            typeof count === "number" ? count_text(count) : String(count),
        ]);
    }
    for (const service of world.services || []) facts.push([service.name, service.text || "on"]);
    return facts;
}

/// A table of a service: what each rank of a cluster has, for example.
function service_panel(service) {
    const cell = (tag, text, index) => h(tag, { class: index > 0 ? "number" : null }, text);
    const row = (tag, texts) => h("tr", {}, texts.map((text, index) => cell(tag, text, index)));
    const table = h(
        "table",
        {},
        h("thead", {}, row("th", service.columns)),
        h("tbody", {}, service.rows.map((texts) => row("td", texts))),
    );
    return panel(service.name, null, h("div", { class: "table-box", "data-table": `service-${service.name}` }, table));
}

export function make_overview(context) {
    let seconds = Number(recalled("overview.seconds", "120"));
    const cards = kCards.map(make_card);
    const costly = costly_passes();
    const facts = h("dl", { class: "facts" });
    const span = choice(
        "Time shown",
        kSpans,
        String(seconds),
        (value) => {
            seconds = Number(value);
            remember("overview.seconds", value);
            if (context.world.last) show(context.world.last);
        },
        { id: "overview-span" },
    );
    const services = h("div", { class: "services" });
    let facts_text = "";
    let services_text = "";
    const show_services = (world) => {
        const with_tables = (world.services || []).filter((service) => service.columns);
        const now = JSON.stringify(with_tables);
        if (now === services_text) return;
        services_text = now;
        fill(services, with_tables.map(service_panel));
    };
    const show = (world) => {
        for (const card of cards) show_card(card, context, world, seconds);
        show_services(world);
        const now = facts_of(world);
        if (JSON.stringify(now) === facts_text) return;
        facts_text = JSON.stringify(now);
        fill(
            facts,
            now.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
        );
    };
    const element = h(
        "div",
        { class: "view overview" },
        h("header", { class: "view-head" }, h("h1", {}, "Overview"), span),
        h(
            "div",
            { class: "cards" },
            cards.map((card) => card.element),
        ),
        h(
            "div",
            { class: "below" },
            panel("Passes that take longest", null, costly.element),
            panel("World", null, facts),
        ),
        services,
    );
    let stops = [];
    return {
        element,
        open() {
            this.close();
            stops = [context.world.on(show), context.live.watch("/api/passes", (body) => body && costly.show(body))];
        },
        close() {
            stops.forEach((stop) => stop());
            stops = [];
        },
    };
}
