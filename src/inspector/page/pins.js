// Pinned fields: watched over time in every view, kept across reloads, each with a small chart.

import { entity_link, fill, h, icon_button, notice, set_text, svg } from "./dom.js";
import { value_of_field } from "./entity_data.js";
import { number_text, value_text } from "./format.js";
import { draw_sparkline } from "./line_chart.js";
import { recalled, remember } from "./memo.js";
import { request_path } from "./route.js";
import { Series } from "./series.js";
import { numeric_parts } from "./values.js";

const kMaxEntities = 6; // each is a path of the stream, which allows 16
const kSeconds = 60;

export class Pins {
    constructor(context) {
        this.context = context;
        this.pins = new Map(); // by "12:3 body.mass": {entity, field, series by part, last}
        this.stops = new Map(); // by watched entity
        this.hearers = new Set();
        for (const { entity, field } of recalled("pins", [])) this.add(entity, field);
    }

    has(entity, field) {
        return this.pins.has(`${entity} ${field}`);
    }

    toggle(entity, field) {
        if (this.has(entity, field)) this.remove(entity, field);
        else if (!this.add(entity, field))
            this.context.toast(`Fields of ${kMaxEntities} entities can be pinned; unpin one first.`, "error");
        remember(
            "pins",
            [...this.pins.values()].map((pin) => ({ entity: pin.entity, field: pin.field })),
        );
        for (const hear of this.hearers) hear();
    }

    add(entity, field) {
        if (!this.stops.has(entity)) {
            if (this.stops.size >= kMaxEntities) return false;
            const path = request_path("/api/entity", { id: entity });
            this.stops.set(
                entity,
                this.context.live.watch(path, (body, error) => this.sample(entity, body, error)),
            );
        }
        this.pins.set(`${entity} ${field}`, { entity, field, series: new Map(), last: undefined, error: null });
        return true;
    }

    remove(entity, field) {
        this.pins.delete(`${entity} ${field}`);
        if ([...this.pins.values()].some((pin) => pin.entity === entity)) return;
        this.stops.get(entity)();
        this.stops.delete(entity);
    }

    sample(entity, body, error) {
        for (const pin of this.pins.values()) {
            if (pin.entity !== entity) continue;
            pin.error = error ? error.message : null;
            pin.last = body ? value_of_field(body, pin.field) : undefined;
            for (const [part, value] of Object.entries(numeric_parts(pin.last))) {
                if (!pin.series.has(part)) pin.series.set(part, new Series(kSeconds, 600));
                pin.series.get(part).add(performance.now() / 1000, value);
            }
        }
        for (const hear of this.hearers) hear();
    }

    /// Calls `hear` when a value or the list has changed. Returns a function that stops it.
    on(hear) {
        this.hearers.add(hear);
        return () => this.hearers.delete(hear);
    }
}

/// The list of pinned fields.
export class PinList {
    constructor(pins) {
        this.pins = pins;
        this.cards = new Map();
        this.element = h("div", { class: "pins" });
    }

    show() {
        const { pins } = this.pins;
        for (const [key, card] of this.cards) {
            if (pins.has(key)) continue;
            card.element.remove();
            this.cards.delete(key);
        }
        if (pins.size === 0) {
            if (!this.element.querySelector(".notice"))
                fill(this.element, notice("No field is pinned.", "The pin beside a value watches it over time."));
            return;
        }
        const empty = this.element.querySelector(".notice");
        if (empty) empty.remove();
        for (const [key, pin] of pins) {
            if (!this.cards.has(key)) this.cards.set(key, this.make_card(pin));
            this.show_card(this.cards.get(key), pin);
        }
    }

    make_card(pin) {
        const value = h("output", {}, "–");
        const lines = h("div", { class: "sparklines" });
        const element = h(
            "div",
            { class: "pin", "data-pin": `${pin.entity} ${pin.field}` },
            h(
                "div",
                { class: "pin-head" },
                entity_link(pin.entity, pin.field),
                icon_button("close", `Unpin ${pin.field} of ${pin.entity}`, () =>
                    this.pins.toggle(pin.entity, pin.field),
                ),
            ),
            value,
            lines,
        );
        this.element.append(element);
        return { element, value, lines, drawn: new Map() };
    }

    show_card(card, pin) {
        set_text(card.value, pin.error || (pin.last === undefined ? "missing" : value_text(pin.last)));
        for (const [part, series] of pin.series) {
            if (!card.drawn.has(part)) {
                const line = svg("svg", { role: "img", "aria-label": `${pin.field} ${part} over the last minute` });
                const range = h("small");
                card.lines.append(h("div", { class: `spark ${part}` }, h("small", {}, part), line, range));
                card.drawn.set(part, { line, range });
            }
            const { line, range } = card.drawn.get(part);
            draw_sparkline(line, series);
            const { low, high } = series.summary();
            set_text(range, low === high ? number_text(low) : `${number_text(low)} – ${number_text(high)}`);
        }
    }
}
