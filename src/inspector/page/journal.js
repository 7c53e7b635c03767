// The past: creations, moves and destructions of the last frames, going back in time, and the differences between
// two frames.

import { get, post } from "./api.js";
import { DataTable } from "./data_table.js";
import { debounced, entity_link, fill, h, is_pressed, notice, panel, set_text, svg } from "./dom.js";
import { bytes_text, count_text, counted_text, value_text } from "./format.js";

const kFrames = 60;
const kEvery_ms = 1000;
const kUsualKeep = 64;
const kMaxLinks = 12;
const kBars = [
    ["created", "green"],
    ["destroyed", "bad"],
    ["moved", "accent"],
];

function bar_chart(frames, name, color, choose) {
    const highest = Math.max(0, ...frames.map((frame) => frame[name] || 0));
    const most = Math.max(1, highest);
    const width = 6;
    const height = 44;
    const bars = frames.map((frame, i) => {
        const size = ((frame[name] || 0) / most) * height;
        return svg(
            "g",
            { class: "frame-bar", onclick: () => choose(frame.frame) },
            svg("title", {}, `frame ${frame.frame}: ${count_text(frame[name])} ${name}`),
            svg("rect", { class: "hit", x: i * width, y: 0, width, height }),
            svg("rect", { class: color, x: i * width + 0.5, y: height - size, width: width - 1, height: size }),
        );
    });
    return h(
        "div",
        { class: "bar-chart", "data-bars": name },
        h(
            "span",
            { class: "bar-title" },
            h("b", {}, name),
            h("small", {}, highest === 0 ? "none" : `up to ${count_text(highest)}`),
        ),
        svg(
            "svg",
            {
                viewBox: `0 0 ${Math.max(1, frames.length) * width} ${height}`,
                preserveAspectRatio: "none",
                role: "img",
                "aria-label": `${name} in each frame`,
            },
            bars,
        ),
    );
}

function entry_line(entry) {
    const links = (entry.entities || []).slice(0, kMaxLinks).map((entity) => entity_link(entity));
    const rest = entry.count - links.length;
    return h(
        "tr",
        { "data-kind": entry.kind },
        h("td", { class: "number" }, count_text(entry.frame)),
        h("td", {}, h("span", { class: `chip ${entry.kind}` }, entry.kind)),
        h("td", {}, entry.component),
        h("td", { class: "number" }, count_text(entry.count)),
        h(
            "td",
            { class: "entity-links" },
            links,
            rest > 0 ? h("small", { class: "muted" }, `and ${count_text(rest)} more`) : null,
        ),
    );
}

function frame_line(frame, compare) {
    const passes = (frame.passes || []).map((pass) => {
        if (pass.kind) return h("span", { class: "chip" }, `${pass.pass}: ${count_text(pass.count)} ${pass.kind}`);
        const parts = ["created", "destroyed", "added", "removed", "moved"]
            .filter((name) => pass[name] > 0)
            .map((name) => `${count_text(pass[name])} ${name}`);
        return parts.length > 0 ? h("span", { class: "chip" }, `${pass.pass}: ${parts.join(", ")}`) : null;
    });
    const events = (frame.events || [])
        .filter((event) => event.count > 0)
        .map((event) => h("span", { class: "chip event" }, `${event.channel} ×${count_text(event.count)}`));
    return h(
        "tr",
        {},
        h("td", { class: "number" }, count_text(frame.frame)),
        kBars.map(([name]) => h("td", { class: "number" }, count_text(frame[name]))),
        h("td", { class: "wraps" }, events, passes),
        h("td", {}, h("button", { type: "button", class: "small", onclick: () => compare(frame.frame) }, "compare")),
    );
}

/// The slider over the kept frames: it takes the world to one of them.
class TimeSlider {
    constructor(context) {
        Object.assign(this, { context, frames: null });
        const rewind = debounced((frame) => this.rewind(frame), 120);
        this.slider = h("input", {
            type: "range",
            id: "time-slider",
            "aria-label": "Frame of the world",
            step: 1,
            oninput: () => {
                set_text(this.at, count_text(Number(this.slider.value)));
                rewind(Number(this.slider.value));
            },
        });
        this.at = h("output", { id: "time-at" }, "–");
        this.low = h("small");
        this.high = h("small");
        this.keep = h("input", {
            type: "number",
            id: "frames-keep",
            min: 0,
            max: 10000,
            step: 1,
            "aria-label": "Frames to keep",
        });
        this.note = h("p", { class: "hint" });
        this.line = h("div", { class: "time-line", hidden: true }, this.low, this.slider, this.high);
        const form = h(
            "form",
            {
                class: "inline",
                onsubmit: (event) => {
                    event.preventDefault();
                    this.set_keep();
                },
            },
            h("label", { for: "frames-keep" }, "Keep the last "),
            this.keep,
            " frames ",
            h("button", { class: "plain", id: "frames-keep-button" }, "Set"),
        );
        this.element = panel(
            "Time",
            form,
            h(
                "div",
                { class: "time" },
                h("span", { class: "meter" }, h("small", {}, "world at frame"), this.at),
                this.line,
            ),
            this.note,
        );
    }

    async rewind(frame) {
        const answer = await this.context.attempt(() => post("/api/rewind", { frame }));
        if (!answer) return;
        if (answer.frame !== undefined && answer.entities !== undefined) this.context.world.hear(answer);
        document.dispatchEvent(new CustomEvent("shoal-edit"));
    }

    async set_keep() {
        const answer = await this.context.attempt(() => post("/api/frames", { keep: Number(this.keep.value) }));
        if (answer) this.show(answer);
    }

    show(frames) {
        this.frames = frames;
        const has_some = frames.last !== null && frames.last !== undefined && frames.first !== null;
        this.line.hidden = !has_some;
        if (document.activeElement !== this.keep) this.keep.value = String(frames.max || frames.kept || kUsualKeep);
        set_text(
            this.note,
            has_some
                ? `${counted_text(frames.last - frames.first + 1, "frame is", "frames are")} kept, in ${bytes_text(frames.bytes)}. Going back pauses the world.`
                : "No frame is kept. Set how many to keep, and let the world go on.",
        );
        if (!has_some) return;
        this.show_bounds(frames.first, frames.last);
    }

    show_bounds(first, last) {
        this.slider.min = String(first);
        this.slider.max = String(last);
        set_text(this.low, count_text(first));
        set_text(this.high, count_text(last));
    }

    show_world(world) {
        if (world.frames_kept) this.show_bounds(world.frames_kept.first, world.frames_kept.last);
        if (document.activeElement === this.slider && !world.paused) this.slider.blur();
        if (document.activeElement !== this.slider) this.slider.value = String(world.frame);
        if (document.activeElement !== this.slider || world.paused) set_text(this.at, count_text(world.frame));
    }
}

/// The differences between two kept frames, field by field.
class Comparison {
    constructor(context) {
        Object.assign(this, { context, offered: ["", ""] });
        const number = (id, label) =>
            h("input", {
                type: "number",
                id,
                min: 0,
                step: 1,
                "aria-label": label,
                placeholder: "frame",
            });
        this.from = number("compare-from", "Compare from frame");
        this.to = number("compare-to", "Compare to frame");
        this.note = h("p", { class: "hint" }, "Two frames of those that are kept. Comparing pauses the world.");
        this.table = new DataTable(
            [
                { key: "entity", title: "Entity", draw: (cell, row) => fill(cell, entity_link(row.entity, row.name)) },
                { key: "field", title: "Field", value: difference_name, text: difference_name },
                {
                    key: "kind",
                    title: "What",
                    draw: (cell, row) => fill(cell, h("span", { class: `chip ${row.kind}` }, row.kind)),
                },
                { key: "from", title: "From", text: (row) => (row.from === undefined ? "" : value_text(row.from)) },
                { key: "to", title: "To", text: (row) => (row.to === undefined ? "" : value_text(row.to)) },
            ],
            { name: "compare", label: "Differences", empty: "No differences to show." },
        );
        const form = h(
            "form",
            {
                class: "inline",
                onsubmit: (event) => {
                    event.preventDefault();
                    this.run();
                },
            },
            this.from,
            " to ",
            this.to,
            h("button", { class: "plain", id: "compare-button" }, "Compare"),
        );
        this.table.show([]);
        this.element = panel("Compare two frames", form, this.note, this.table.element);
    }

    /// The first and the last kept frame, until the boxes have other values than those that were offered.
    offer(first, last) {
        if (this.from.value !== this.offered[0] || this.to.value !== this.offered[1]) return;
        this.offered = [String(first), String(last)];
        [this.from.value, this.to.value] = this.offered;
    }

    set(from, to) {
        this.offered = [];
        this.from.value = String(from);
        this.to.value = String(to);
        this.run();
        this.element.scrollIntoView({ block: "nearest" });
    }

    async run() {
        const [from, to] = [this.from.value, this.to.value];
        this.offered = [];
        if (from === "" || to === "") return set_text(this.note, "Name two frames.");
        // Frames are compared by going to them, which pauses the world.
        if (this.context.world.last && !this.context.world.last.paused) await this.context.control("pause");
        try {
            const answer = await get("/api/compare", { from, to });
            this.table.show(answer.differences);
            const listed = answer.more ? ` The first ${count_text(answer.differences.length)} are listed.` : "";
            set_text(
                this.note,
                `${counted_text(answer.total, "difference", "differences")} from frame ${count_text(Number(from))} to ${count_text(Number(to))}.${listed}`,
            );
        } catch (error) {
            this.table.show([]);
            set_text(this.note, error.message);
        }
        return undefined;
    }
}

function difference_name(row) {
    return row.field ? `${row.component}.${row.field}` : row.component;
}

class JournalView {
    constructor(context) {
        Object.assign(this, {
            context,
            journal: null,
            kind: "",
            component: "",
            stop: null,
            timer: 0,
        });
        this.time = new TimeSlider(context);
        this.comparison = new Comparison(context);
        this.bars = h("div", { class: "bar-charts" }, notice("Waiting for the journal…", "", "loading"));
        this.note = h(
            "p",
            { class: "hint", hidden: true },
            "The journal is not complete: some frames came before it was kept.",
        );
        this.entries = h("tbody", { id: "journal-entries" });
        this.frames = h("tbody", { id: "journal-frames" });
        this.filter = h("input", {
            type: "text",
            id: "journal-filter",
            "aria-label": "Only this component",
            placeholder: "component",
            oninput: () => this.draw_entries(),
        });
        this.kind_select = h(
            "select",
            { id: "journal-kind", "aria-label": "Only this kind", onchange: () => this.draw_entries() },
            [
                ["", "added and removed"],
                ["added", "added"],
                ["removed", "removed"],
            ].map(([value, text]) => h("option", { value }, text)),
        );
        const head = (...names) =>
            h(
                "thead",
                {},
                h(
                    "tr",
                    {},
                    names.map(([name, is_number]) =>
                        h("th", { scope: "col", class: is_number ? "number" : null }, name),
                    ),
                ),
            );
        this.element = h(
            "div",
            { class: "view journal" },
            h("header", { class: "view-head" }, h("h1", {}, "Journal and time")),
            this.time.element,
            panel(`The last ${kFrames} frames`, null, this.note, this.bars),
            h(
                "div",
                { class: "two" },
                panel(
                    "What happened",
                    [this.kind_select, this.filter],
                    h(
                        "div",
                        { class: "table-box tall" },
                        h(
                            "table",
                            {},
                            head(["Frame", true], ["What"], ["Component"], ["Count", true], ["Entities"]),
                            this.entries,
                        ),
                    ),
                ),
                panel(
                    "Frames",
                    null,
                    h(
                        "div",
                        { class: "table-box tall" },
                        h(
                            "table",
                            {},
                            head(
                                ["Frame", true],
                                ["Created", true],
                                ["Destroyed", true],
                                ["Moved", true],
                                ["Events and passes"],
                                [""],
                            ),
                            this.frames,
                        ),
                    ),
                ),
            ),
            this.comparison.element,
        );
    }

    async load() {
        const [journal, frames] = await Promise.all([
            get("/api/journal", { frames: kFrames }).catch((error) => ({ error })),
            get("/api/frames").catch((error) => ({ error })),
        ]);
        if (journal.error) {
            if (!this.journal) fill(this.bars, notice("The journal cannot be shown.", journal.error.message, "error"));
        } else if (JSON.stringify(journal) !== JSON.stringify(this.journal)) {
            this.journal = journal;
            this.draw();
        }
        if (frames.error) return set_text(this.time.note, frames.error.message);
        this.time.show(frames);
        if (this.context.world.last) this.time.show_world(this.context.world.last);
        if (frames.last) this.comparison.offer(frames.first, frames.last);
        return undefined;
    }

    draw() {
        const { frames, complete } = this.journal;
        this.note.hidden = complete !== false;
        if (frames.length === 0)
            fill(
                this.bars,
                notice(
                    "Nothing has happened yet.",
                    "The journal is kept from the first look at this page; let the world go on.",
                ),
            );
        else
            fill(
                this.bars,
                kBars.map(([name, color]) => bar_chart(frames, name, color, (frame) => this.compare_with(frame))),
            );
        fill(
            this.frames,
            [...frames].reverse().map((frame) => frame_line(frame, (one) => this.compare_with(one))),
        );
        this.draw_entries();
    }

    draw_entries() {
        if (!this.journal) return;
        const part = this.filter.value.trim();
        const kind = this.kind_select.value;
        const shown = this.journal.entries
            .filter((entry) => (!kind || entry.kind === kind) && entry.component.includes(part))
            .reverse();
        fill(this.entries, shown.slice(0, 300).map(entry_line));
        if (shown.length === 0)
            fill(
                this.entries,
                h("tr", {}, h("td", { colspan: 5, class: "muted" }, "Nothing was added or removed in these frames.")),
            );
    }

    compare_with(frame) {
        const last = this.time.frames && this.time.frames.last;
        this.comparison.set(frame, last === null || last === undefined ? frame : last);
    }

    open() {
        this.close();
        this.stop = this.context.world.on((world) => this.time.show_world(world));
        this.timer = setInterval(() => document.hidden || is_pressed() || this.load(), kEvery_ms);
        this.load();
    }

    close() {
        if (this.stop) this.stop();
        this.stop = null;
        clearInterval(this.timer);
    }
}

export function make_journal_view(context) {
    return new JournalView(context);
}
