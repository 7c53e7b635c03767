// Completion of queries, and the meaning of a text in the search box. No DOM.
//
// A query is a list of terms with commas (query/text_query.h): a prefix (& ? ! ^ $ #), a component type, and perhaps
// a field, its part, an operator and a value.

import { store_text } from "./format.js";

const kOperators = ["==", "!=", "<", "<=", ">", ">="];
const kPrefixes = /^[\s!&?^$]*/;
const kParts = { vec2: ["x", "y"], vec3: ["x", "y", "z"], vec4: ["x", "y", "z", "w"], quat: ["x", "y", "z", "w"] };

/// {kind: "all" | "id" | "name" | "query", text}: for the request.
export function kind_of_search(text, components) {
    const trimmed = text.trim();
    if (trimmed === "") return { kind: "all", text: "" };
    if (/^\d+(:\d*)?$/.test(trimmed)) return { kind: "id", text: trimmed };
    if (/[,<>=!&?^$#|]/.test(trimmed)) return { kind: "query", text: trimmed };
    const first = trimmed.split(/[.\s]/)[0];
    const is_component = components.some((component) => component.name === first);
    return { kind: is_component ? "query" : "name", text: trimmed };
}

/// The parameters of GET /api/entities for a search.
export function search_parameters(text, components) {
    const search = kind_of_search(text, components);
    if (search.kind === "all") return {};
    return search.kind === "query" ? { query: search.text } : { name: search.text };
}

function options_of(words, prefix, detail) {
    const lower = prefix.toLowerCase();
    const begins = words.filter((word) => word.toLowerCase().startsWith(lower));
    const contains = words.filter(
        (word) => !word.toLowerCase().startsWith(lower) && word.toLowerCase().includes(lower),
    );
    return [...begins, ...contains]
        .filter((word) => word !== prefix)
        .map((word) => ({ text: word, detail: detail(word) }));
}

function component_options(components, typed) {
    const by_name = new Map(components.map((component) => [component.name, component]));
    return options_of([...by_name.keys()], typed, (name) => store_text(by_name.get(name).store));
}

function field_options(component, typed) {
    const by_name = new Map(component.fields.map((field) => [field.name, field]));
    return options_of([...by_name.keys()], typed, (name) => {
        const { type, unit } = by_name.get(name);
        return unit ? `${type}, ${unit}` : type;
    });
}

function value_options(field, typed) {
    if (field.words && field.words.length > 0) return options_of(field.words, typed, () => "value");
    return field.type === "bool" ? options_of(["true", "false"], typed, () => "value") : [];
}

/// What to offer after a complete name: operators for a field, a comma for a component.
function options_after_name(component, field) {
    const operators = kOperators.map((text) => ({ text, detail: "compare" }));
    return field || component.fields.length === 1 ? operators : [{ text: ",", detail: "and" }];
}

/// {from, to, options: [{text, detail}]}: `options` replace the text between `from` and `to`, offsets into `text`.
export function query_completion(text, cursor, components) {
    const begin = text.lastIndexOf(",", cursor - 1) + 1;
    const term = text.slice(begin, cursor);
    const named = term.slice(term.match(kPrefixes)[0].length);
    const none = { from: cursor, to: cursor, options: [] };
    if (named.startsWith("#")) return none;
    const match = named.match(/^([\w]*)(?:\.([\w]*))?(?:\.([\w]*))?(\s*)(==|!=|<=|>=|<|>)?\s*(.*)$/);
    if (!match) return none;
    const [, component_name, field_name, part, space, operator, value] = match;
    const from = (typed) => ({ from: cursor - typed.length, to: cursor });
    const component = components.find((one) => one.name === component_name);
    if (field_name === undefined && !space && !operator) {
        return { ...from(component_name), options: component_options(components, component_name) };
    }
    if (!component) return none;
    const field = component.fields.find((one) => one.name === field_name);
    if (operator) return { ...from(value), options: value_options(field || component.fields[0] || {}, value) };
    if (space) return value === "" ? { ...none, options: options_after_name(component, field) } : none;
    if (part !== undefined) {
        const parts = kParts[field && field.type] || [];
        return { ...from(part), options: options_of(parts, part, () => "part") };
    }
    return { ...from(field_name), options: field_options(component, field_name) };
}

const kSqlWords = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP BY",
    "ORDER BY",
    "HAVING",
    "LIMIT",
    "OFFSET",
    "JOIN",
    "LEFT JOIN",
    "USING",
    "ON",
    "AS",
    "AND",
    "OR",
    "NOT",
    "IN",
    "IS NULL",
    "LIKE",
    "BETWEEN",
    "DISTINCT",
    "COUNT(*)",
    "avg(",
    "sum(",
    "min(",
    "max(",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "ASC",
    "DESC",
    "EXPLAIN QUERY PLAN",
    "WITH",
];

/// Like query_completion, for SQL. `tables`: {name: [column, ...]}. After `table.`, offers its columns; else tables,
/// columns of the tables that the text names, and keywords of SQL.
export function sql_completion(text, cursor, tables) {
    const match = text.slice(0, cursor).match(/(?:(\w+)\.)?(\w*)$/);
    const [, table, typed] = match;
    const place = { from: cursor - typed.length, to: cursor };
    if (table !== undefined) {
        return { ...place, options: options_of(tables[table] || [], typed, () => `column of ${table}`) };
    }
    const words_in_text = new Set(text.match(/\w+/g) || []);
    const columns = new Set(
        Object.keys(tables)
            .filter((name) => words_in_text.has(name))
            .flatMap((name) => tables[name]),
    );
    const options = [
        ...options_of(Object.keys(tables), typed, () => "table"),
        ...options_of([...columns], typed, () => "column"),
        ...(typed === "" ? [] : options_of(kSqlWords, typed, () => "SQL")),
    ];
    return {
        ...place,
        options: options.filter((one, i) => options.findIndex((other) => other.text === one.text) === i),
    };
}
