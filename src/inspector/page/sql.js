// SQL over the world: an editor with completion, a table of results that can be sorted and saved as CSV, and EXPLAIN.

import { get, post } from "./api.js";
import { sql_completion } from "./completion.js";
import { csv_text } from "./csv.js";
import { DataTable } from "./data_table.js";
import { download, entity_link, fill, h, notice, set_text } from "./dom.js";
import { counted_text, ms_text, value_text } from "./format.js";
import { recalled, remember } from "./memo.js";

const kMaxHistory = 30;
const kMaxShown = 2000;
const kFirst = "SELECT zone, count(*) AS entities\nFROM entities\nGROUP BY zone\nORDER BY entities DESC\nLIMIT 20";

function result_columns(names, rows) {
    return names.map((name, i) => {
        const is_number = rows.length > 0 && rows.every((row) => row[i] === null || typeof row[i] === "number");
        const draw =
            name === "entity" || name.endsWith("_entity")
                ? (cell, row) => fill(cell, /^\d+:\d+$/.test(row[i]) ? entity_link(row[i]) : value_text(row[i]))
                : null;
        return {
            key: String(i),
            title: name,
            is_number,
            value: (row) => row[i],
            text: (row) => (row[i] === null ? "NULL" : value_text(row[i])),
            draw,
        };
    });
}

class SqlView {
    constructor(context) {
        Object.assign(this, { context, editor: null, marks: [], answer: null, tables: {} });
        this.box = h("div", { class: "editor", id: "sql-editor" });
        this.status = h("p", { class: "list-count", id: "sql-status", role: "status" });
        this.error = h("p", { class: "sql-error", id: "sql-error", role: "alert", hidden: true });
        this.result = h(
            "div",
            { class: "sql-result", id: "sql-result" },
            notice("No result yet.", "Write a SELECT and press Ctrl+Enter."),
        );
        this.csv = h(
            "button",
            { type: "button", class: "plain", id: "sql-csv", disabled: true, onclick: () => this.save_csv() },
            "CSV",
        );
        this.history = h("select", {
            id: "sql-history",
            "aria-label": "Queries run before",
            onchange: () => this.take_history(),
        });
        this.element = h(
            "div",
            { class: "view sql" },
            h(
                "header",
                { class: "view-head" },
                h("h1", {}, "SQL"),
                h(
                    "button",
                    { type: "button", class: "primary", id: "sql-run", title: "Ctrl+Enter", onclick: () => this.run() },
                    "Run",
                ),
                h(
                    "button",
                    {
                        type: "button",
                        class: "plain",
                        id: "sql-explain",
                        onclick: () => this.run("EXPLAIN QUERY PLAN "),
                    },
                    "Explain",
                ),
                this.csv,
                this.history,
            ),
            h("section", { class: "panel", "aria-label": "Query" }, this.box, this.error),
            h("section", { class: "panel grow", "aria-label": "Result" }, this.status, this.result),
        );
        this.show_history();
    }

    make_editor() {
        const { CodeMirror } = globalThis;
        this.editor = CodeMirror(this.box, {
            value: recalled("sql.text", kFirst),
            mode: "text/x-sqlite",
            theme: "shoal",
            lineNumbers: true,
            viewportMargin: Infinity,
            screenReaderLabel: "SQL",
            extraKeys: {
                "Ctrl-Enter": () => this.run(),
                "Cmd-Enter": () => this.run(),
                "Ctrl-Space": () => this.offer(),
                Tab: (editor) => editor.execCommand("insertSoftTab"),
                Esc: (editor) => editor.getInputField().blur(),
            },
        });
        this.editor.on("change", () => {
            remember("sql.text", this.editor.getValue());
            this.clear_error();
        });
        this.editor.on("inputRead", (_, change) => {
            if (/^[\w.]$/.test(change.text[0])) this.offer();
        });
    }

    offer() {
        const hint = (editor) => {
            const cursor = editor.indexFromPos(editor.getCursor());
            const { from, to, options } = sql_completion(editor.getValue(), cursor, this.tables);
            const list = options
                .slice(0, 30)
                .map((option) => ({ text: option.text, displayText: `${option.text}   ${option.detail}` }));
            return { list, from: editor.posFromIndex(from), to: editor.posFromIndex(to) };
        };
        this.editor.showHint({ hint, completeSingle: false });
    }

    async run(prefix = "") {
        const text = this.editor.getValue().replace(/[;\s]+$/, "");
        if (text.trim() === "")
            return this.show_error({ message: "there is no query; write one, such as SELECT count(*) FROM entities" });
        this.clear_error();
        set_text(this.status, "Running…");
        try {
            this.prefix_length = prefix.length;
            this.show_answer(await post("/api/sql", { text: prefix + text }));
            if (!prefix) this.note_history(text);
        } catch (error) {
            this.show_error(error);
        }
        return undefined;
    }

    show_answer(answer) {
        this.answer = answer;
        this.csv.disabled = answer.rows.length === 0;
        const more = answer.more ? ", and there are more" : "";
        const updated = answer.updated ? `${counted_text(answer.updated, "row", "rows")} changed, ` : "";
        set_text(
            this.status,
            `${updated}${counted_text(answer.rows.length, "row", "rows")}${more}, ${ms_text(answer.ms)}`,
        );
        if (answer.rows.length === 0)
            return fill(this.result, notice("No rows.", "The query ran, and nothing matched."));
        const shown = answer.rows.slice(0, kMaxShown);
        const numbers = new Map(shown.map((row, i) => [row, i]));
        const table = new DataTable(result_columns(answer.columns, shown), {
            label: "Result",
            key_of: (row) => numbers.get(row),
        });
        table.show(shown);
        return fill(
            this.result,
            table.element,
            shown.length < answer.rows.length
                ? h("p", { class: "hint" }, `The first ${kMaxShown} are shown; CSV has all.`)
                : null,
        );
    }

    show_error(error) {
        set_text(this.status, this.answer ? "What the query before has answered:" : "");
        this.error.hidden = false;
        const has_place = error.line && error.column;
        const column = has_place ? error.column - (error.line === 1 ? this.prefix_length || 0 : 0) : 0;
        set_text(this.error, has_place ? `${error.line}:${Math.max(1, column)}: ${error.message}` : error.message);
        if (!has_place) return;
        const from = { line: error.line - 1, ch: Math.max(0, column - 1) };
        const word = this.editor.findWordAt(from);
        this.marks.push(
            this.editor.markText(from, word.head.ch > from.ch ? word.head : { ...from, ch: from.ch + 1 }, {
                className: "sql-mark",
            }),
        );
    }

    clear_error() {
        this.error.hidden = true;
        this.marks.forEach((mark) => mark.clear());
        this.marks = [];
    }

    save_csv() {
        download("shoal.csv", csv_text(this.answer.columns, this.answer.rows), "text/csv");
    }

    note_history(text) {
        const before = recalled("sql.history", []).filter((one) => one !== text);
        remember("sql.history", [text, ...before].slice(0, kMaxHistory));
        this.show_history();
    }

    show_history() {
        const texts = recalled("sql.history", []);
        this.history.hidden = texts.length === 0;
        fill(
            this.history,
            h("option", { value: "" }, "History"),
            texts.map((text, i) => h("option", { value: String(i) }, text.replace(/\s+/g, " ").slice(0, 80))),
        );
    }

    take_history() {
        const text = recalled("sql.history", [])[Number(this.history.value)];
        if (this.history.value !== "" && text) this.editor.setValue(text);
        this.history.value = "";
        this.editor.focus();
    }

    /// The tables for completion: {name: [column, ...]}.
    async load_tables() {
        try {
            const { tables } = await get("/api/tables");
            this.tables = Object.fromEntries(tables.map((table) => [table.name, table.columns]));
        } catch {
            this.tables = {}; // editing continues without completion
        }
    }

    open(parameters) {
        if (!this.editor) this.make_editor();
        if (!this.context.world.last || this.context.world.last.sql !== false) this.load_tables();
        if (parameters.text) this.editor.setValue(parameters.text);
        this.editor.refresh();
        const world = this.context.world.last;
        if (world && world.sql === false) this.show_error({ message: "this program was built without SQL" });
    }

    close() {
        this.clear_error();
    }
}

export function make_sql_view(context) {
    return new SqlView(context);
}
