// A table that can be sorted by clicking on a head, and keeps its rows when its values change.

import { fill, h, set_text } from "./dom.js";
import { recalled, remember } from "./memo.js";
import { next_order, sorted_rows } from "./sorting.js";

/// columns: [{key, title, hint, is_number, value(row), text(row), draw(cell, row)}]
///   value: for sorting; default: row[key]. text: to show. draw: makes the content, if it is not only text.
/// options: {name: for remembering the order, label, key_of(row), on_row(row), order, empty}
export class DataTable {
    constructor(columns, options) {
        this.columns = columns;
        this.options = options;
        this.rows = [];
        this.lines = new Map();
        this.order = options.name ? recalled(`order.${options.name}`, options.order || null) : options.order || null;
        this.chosen = null;
        this.heads = columns.map((column) => this.make_head(column));
        this.body = h("tbody");
        this.empty = h("p", { class: "table-empty" }, "Loading…"); // until the first rows are shown
        const table = h(
            "table",
            { "aria-label": options.label || "" },
            h("thead", {}, h("tr", {}, this.heads)),
            this.body,
        );
        this.element = h("div", { class: "table-box", "data-table": options.name || "" }, table, this.empty);
        this.show_order();
    }

    make_head(column) {
        const sort = h(
            "button",
            { type: "button", title: column.hint || `Sort by ${column.title}`, onclick: () => this.sort_by(column) },
            column.title,
        );
        return h("th", { scope: "col", class: column.is_number ? "number" : null, "data-column": column.key }, sort);
    }

    sort_by(column) {
        this.order = next_order(this.order, column.key, column.is_number);
        if (this.options.name) remember(`order.${this.options.name}`, this.order);
        this.show_order();
        this.show(this.rows);
    }

    show_order() {
        this.heads.forEach((head, i) => {
            const is_sorted = this.order && this.order.key === this.columns[i].key;
            head.setAttribute("aria-sort", !is_sorted ? "none" : this.order.descending ? "descending" : "ascending");
        });
    }

    /// Shows rows, in the chosen order or in the given one.
    show(rows) {
        this.rows = rows;
        const column = this.order && this.columns.find((one) => one.key === this.order.key);
        const value_of = column && (column.value || ((row) => row[column.key]));
        const sorted = column ? sorted_rows(rows, value_of, this.order.descending) : rows;
        const lines = new Map();
        sorted.forEach((row, i) => {
            const key = this.options.key_of ? this.options.key_of(row) : i;
            const line = this.lines.get(key) || this.make_line(key);
            line.row = row;
            this.columns.forEach((one, c) => this.show_cell(line.cells[c], one, row));
            lines.set(key, line);
        });
        for (const [key, line] of this.lines) if (!lines.has(key)) line.element.remove();
        this.lines = lines;
        let place = this.body.firstChild;
        for (const { element } of lines.values()) {
            if (element === place) place = place.nextSibling;
            else this.body.insertBefore(element, place);
        }
        set_text(this.empty, this.options.empty || "Nothing to show.");
        this.empty.hidden = rows.length > 0;
        this.choose(this.chosen);
    }

    make_line(key) {
        const cells = this.columns.map((column) => h("td", { class: column.is_number ? "number" : null }));
        const line = { cells, element: h("tr", { "data-key": key }, cells), row: null };
        if (this.options.on_row) {
            line.element.tabIndex = 0;
            line.element.classList.add("can-choose");
            const choose = () => this.options.on_row(line.row);
            line.element.addEventListener("click", (event) => event.target.closest("a, button, input") || choose());
            line.element.addEventListener("keydown", (event) => {
                if (event.key === "Enter" && event.target === line.element) choose();
                if (event.key === "ArrowDown" && line.element.nextSibling) line.element.nextSibling.focus();
                if (event.key === "ArrowUp" && line.element.previousSibling) line.element.previousSibling.focus();
                if (event.key.startsWith("Arrow")) event.preventDefault();
            });
        }
        return line;
    }

    show_cell(cell, column, row) {
        if (column.draw) return column.draw(cell, row);
        const value = column.text ? column.text(row) : row[column.key];
        set_text(cell, value === null || value === undefined ? "" : String(value));
    }

    /// Marks the row with a key.
    choose(key) {
        this.chosen = key;
        for (const [one, line] of this.lines) line.element.classList.toggle("chosen", one === key);
    }
}

/// Draws a cell's bar: a share of the largest, with its text.
export function draw_bar(cell, share, text) {
    if (!cell.firstChild) fill(cell, h("span", { class: "bar" }, h("i"), h("b")));
    const bar = cell.firstChild;
    bar.firstChild.style.width = `${Math.max(0, Math.min(1, share || 0)) * 100}%`;
    set_text(bar.lastChild, text);
}
