// Entities: a search, the list of results, one entity in detail, and pinned fields.

import { get } from "./api.js";
import { kind_of_search, search_parameters } from "./completion.js";
import { debounced, fill, h, notice, panel, set_text } from "./dom.js";
import { EntityDetails } from "./entity_details.js";
import { count_text, counted_text } from "./format.js";
import { recalled, remember } from "./memo.js";
import { PinList } from "./pins.js";
import { SearchBox } from "./search_box.js";

const kPage = 100;
const kKindTexts = { all: "all entities", id: "by id", name: "by name or tag", query: "by query" };

/// The list of found entities: scrolling loads more.
class EntityList {
    constructor(context, on_open) {
        Object.assign(this, {
            context,
            on_open,
            parameters: {},
            last: null,
            has_more: false,
            is_loading: false,
            request: null,
            chosen: null,
        });
        this.count = h("p", { class: "list-count", id: "entities-count", role: "status" });
        this.list = h("div", {
            class: "entity-list",
            id: "entity-list",
            role: "listbox",
            "aria-label": "Found entities",
            tabindex: 0,
            onscroll: () => this.scrolled(),
            onkeydown: (event) => this.pressed(event),
        });
    }

    /// Searches again. Throws ApiError, which the search box shows.
    async search(parameters) {
        if (this.request) this.request.abort();
        this.request = new AbortController();
        this.parameters = parameters;
        const answer = await get("/api/entities", { ...parameters, limit: kPage }, { signal: this.request.signal });
        this.list.scrollTop = 0;
        fill(this.list);
        this.add(answer);
        if (answer.entities.length === 0) {
            fill(this.list, notice("Nothing was found.", "A query names components: fish, hunter.rest > 2, !sated"));
        }
        return answer;
    }

    add(answer) {
        this.has_more = answer.more;
        this.list.append(...answer.entities.map((entity) => this.line(entity)));
        if (answer.entities.length > 0) this.last = answer.entities[answer.entities.length - 1].entity;
        const shown = this.list.querySelectorAll("[data-entity]").length;
        set_text(
            this.count,
            counted_text(answer.total, "entity", "entities") +
                (shown < answer.total ? `, ${count_text(shown)} listed` : ""),
        );
    }

    line(entity) {
        return h(
            "div",
            {
                class: "entity-line",
                role: "option",
                "data-entity": entity.entity,
                "aria-selected": String(entity.entity === this.chosen),
                onclick: () => this.on_open(entity.entity),
            },
            h("span", { class: "id" }, entity.entity),
            h("span", { class: "name" }, entity.name || ""),
            h("span", { class: "with" }, entity.components.join(", ")),
        );
    }

    choose(id) {
        this.chosen = id;
        for (const line of this.list.querySelectorAll("[data-entity]"))
            line.setAttribute("aria-selected", String(line.dataset.entity === id));
    }

    async scrolled() {
        const { list } = this;
        if (!this.has_more || this.is_loading || list.scrollTop + list.clientHeight < list.scrollHeight - 400) return;
        this.is_loading = true;
        const { parameters } = this;
        const answer = await this.context.attempt(() =>
            get("/api/entities", { ...parameters, after: this.last, limit: kPage }),
        );
        this.is_loading = false;
        if (answer && parameters === this.parameters) this.add(answer);
    }

    pressed(event) {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (!step) return;
        event.preventDefault();
        const lines = [...this.list.querySelectorAll("[data-entity]")];
        const now = lines.findIndex((line) => line.dataset.entity === this.chosen);
        const next = lines[Math.max(0, Math.min(lines.length - 1, now + step))];
        if (!next) return;
        next.scrollIntoView({ block: "nearest" });
        this.on_open(next.dataset.entity);
    }
}

class EntitiesView {
    constructor(context) {
        Object.assign(this, { context, id: null, stop_pins: null, has_searched: false });
        this.box = new SearchBox({
            id: "entity-search",
            label: "Search entities",
            placeholder: "12:3, a name or tag, or a query: fish, hunter.rest > 2, !sated",
            components: () => context.components,
            on_search: debounced((text) => this.search(text), 150),
        });
        this.kind = h("span", { class: "chip", id: "search-kind" });
        this.list = new EntityList(context, (id) => this.show(id));
        this.details = new EntityDetails(context);
        this.pins = new PinList(context.pins);
        this.element = h(
            "div",
            { class: "view entities" },
            h("header", { class: "view-head" }, h("h1", {}, "Entities"), this.box.element, this.kind),
            h(
                "div",
                { class: "three" },
                h("section", { class: "panel list-panel", "aria-label": "Found" }, this.list.count, this.list.list),
                h("section", { class: "panel details-panel", "aria-label": "Details" }, this.details.element),
                panel("Pinned", null, this.pins.element),
            ),
        );
        document.addEventListener("shoal-components", () => this.components_came());
    }

    // A text that was taken for the name of an entity may be the name of a component.
    components_came() {
        const { kind } = kind_of_search(this.box.text, this.context.components);
        if (this.has_searched && kind === "query" && this.kind.textContent !== kKindTexts.query)
            this.search(this.box.text);
        this.show_kind();
    }

    show_kind() {
        set_text(this.kind, kKindTexts[kind_of_search(this.box.text, this.context.components).kind]);
    }

    async search(text) {
        this.show_kind();
        remember("entities.search", text);
        this.note_address();
        this.has_searched = true;
        try {
            const answer = await this.list.search(search_parameters(text, this.context.components));
            this.box.show_error(null);
            const is_named = answer.entities.some(({ entity }) => entity === text.trim());
            if (is_named) this.show(text.trim());
            else if (answer.total === 1) this.show(answer.entities[0].entity);
        } catch (error) {
            if (error.name !== "AbortError") this.box.show_error(error);
        }
    }

    note_address() {
        if (location.hash.startsWith("#/entities"))
            this.context.note_address("entities", { id: this.id, q: this.box.text });
    }

    show(id) {
        this.id = id;
        this.list.choose(id);
        this.details.open(id);
        this.note_address();
    }

    open(parameters) {
        const text =
            parameters.q !== undefined
                ? parameters.q
                : this.has_searched
                  ? this.box.text
                  : recalled("entities.search", "");
        const is_other = text !== this.box.text || !this.has_searched;
        this.box.text = text;
        this.show(parameters.id || this.id);
        if (is_other) this.search(text);
        if (!this.stop_pins) this.stop_pins = this.context.pins.on(() => this.pins.show());
        this.pins.show();
        this.details.draw_anew();
    }

    close() {
        this.details.close();
        if (this.stop_pins) this.stop_pins();
        this.stop_pins = null;
    }
}

export function make_entities_view(context) {
    return new EntitiesView(context);
}
