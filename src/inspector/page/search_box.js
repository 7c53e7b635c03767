// A box for queries with completion: arrows choose, Tab or Enter accepts, Escape closes.

import { query_completion } from "./completion.js";
import { fill, h, icon } from "./dom.js";

const kMaxOptions = 12;
let num_boxes = 0;

/// options: {label, placeholder, id, components(): the list of /api/components, on_search(text)}
export class SearchBox {
    constructor(options) {
        this.options = options;
        this.offered = [];
        this.chosen = -1;
        const list_id = `completions-${++num_boxes}`;
        this.list = h("ul", {
            class: "completions",
            id: list_id,
            role: "listbox",
            "aria-label": "Completions",
            hidden: true,
        });
        this.input = h("input", {
            type: "text",
            id: options.id,
            role: "combobox",
            "aria-label": options.label,
            "aria-controls": list_id,
            "aria-expanded": "false",
            "aria-autocomplete": "list",
            autocomplete: "off",
            spellcheck: "false",
            placeholder: options.placeholder,
            oninput: () => this.typed(),
            onkeydown: (event) => this.pressed(event),
            onblur: () => setTimeout(() => this.close(), 120),
            onclick: () => this.offer(),
        });
        this.error = h("p", { class: "search-error", role: "alert", hidden: true });
        this.element = h(
            "div",
            { class: "search" },
            h("div", { class: "search-line" }, icon("search"), this.input),
            this.list,
            this.error,
        );
    }

    get text() {
        return this.input.value;
    }

    set text(value) {
        this.input.value = value;
    }

    /// Shows an error below the box; null: none.
    show_error(error) {
        this.error.hidden = !error;
        this.input.setAttribute("aria-invalid", String(Boolean(error)));
        if (error) fill(this.error, error.column ? h("b", {}, `column ${error.column}: `) : null, error.message);
    }

    typed() {
        this.offer();
        this.options.on_search(this.text);
    }

    offer() {
        const cursor = this.input.selectionStart;
        const completion = query_completion(this.text, cursor, this.options.components());
        this.place = completion;
        this.offered = completion.options.slice(0, kMaxOptions);
        this.chosen = -1;
        fill(
            this.list,
            this.offered.map((option, i) =>
                h(
                    "li",
                    {
                        role: "option",
                        id: `${this.list.id}-${i}`,
                        "aria-selected": "false",
                        onmousedown: (event) => {
                            event.preventDefault();
                            this.take(i);
                        },
                    },
                    h("span", {}, option.text),
                    h("small", {}, option.detail),
                ),
            ),
        );
        this.list.hidden = this.offered.length === 0 || document.activeElement !== this.input;
        this.input.setAttribute("aria-expanded", String(!this.list.hidden));
    }

    close() {
        this.list.hidden = true;
        this.input.setAttribute("aria-expanded", "false");
        this.input.removeAttribute("aria-activedescendant");
    }

    choose(i) {
        const count = this.offered.length;
        this.chosen = (i + count) % count;
        [...this.list.children].forEach((line, k) => line.setAttribute("aria-selected", String(k === this.chosen)));
        this.list.children[this.chosen].scrollIntoView({ block: "nearest" });
        this.input.setAttribute("aria-activedescendant", `${this.list.id}-${this.chosen}`);
    }

    take(i) {
        const { from, to } = this.place;
        const taken = this.offered[i].text;
        this.text = this.text.slice(0, from) + taken + this.text.slice(to);
        this.input.focus();
        this.input.setSelectionRange(from + taken.length, from + taken.length);
        this.typed();
    }

    pressed(event) {
        const is_open = !this.list.hidden;
        if (event.key === "Escape") {
            event.stopPropagation();
            if (is_open) return this.close();
            this.input.blur();
        } else if (is_open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
            this.choose(event.key === "ArrowDown" ? this.chosen + 1 : this.chosen < 0 ? -1 : this.chosen - 1);
            event.preventDefault();
        } else if (is_open && (event.key === "Tab" || (event.key === "Enter" && this.chosen >= 0))) {
            this.take(Math.max(0, this.chosen));
            event.preventDefault();
        } else if (event.key === "Enter") {
            this.close();
            this.options.on_search(this.text);
        }
    }
}
