// Values of fields as typed by a user. No DOM.

import { number_text, value_text } from "./format.js";

const kNumbers = /^(?:u?int(?:8|16|32|64)?|float|double|half|number)/;
const kListLengths = { vec2: 2, vec3: 3, vec4: 4, quat: 4, quaternion: 4 };

/// The kind of control that edits a field: "number", "truth", "words", "list", "entity" or "text".
export function kind_of_field(field, value) {
    const type = (field && field.type) || "";
    if (field && field.words && field.words.length > 0) return "words";
    if (type === "bool" || typeof value === "boolean") return "truth";
    if (type === "entity") return "entity";
    if (type in kListLengths || Array.isArray(value)) return "list";
    if (kNumbers.test(type) || typeof value === "number") return "number";
    return "text";
}

/// The initial text of the control: all digits, without brackets.
export function editable_text(value) {
    if (value === null || value === undefined) return "";
    if (Array.isArray(value))
        return value.map((part) => (typeof part === "number" ? String(part) : value_text(part))).join(", ");
    return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function parsed_number(text) {
    const trimmed = text.trim();
    const value = Number(trimmed);
    return trimmed === "" || Number.isNaN(value) ? null : value;
}

function parsed_list(text, length) {
    const parts = text
        .replace(/^\s*\[|\]\s*$/g, " ")
        .split(/[\s,;]+/)
        .filter((part) => part !== "");
    if (length && parts.length !== length)
        return { error: `${parts.length} numbers; expected ${length}, as in 1, 2, 3` };
    const numbers = parts.map(parsed_number);
    const wrong = numbers.indexOf(null);
    return wrong < 0 ? { value: numbers } : { error: `"${parts[wrong]}" is not a number` };
}

function out_of_range(field, value) {
    const is_below = typeof field.min === "number" && value < field.min;
    const is_above = typeof field.max === "number" && value > field.max;
    if (!is_below && !is_above) return null;
    const low = typeof field.min === "number" ? `at least ${number_text(field.min)}` : "";
    const high = typeof field.max === "number" ? `at most ${number_text(field.max)}` : "";
    return `${number_text(value)} is out of range; expected ${[low, high].filter(Boolean).join(" and ")}`;
}

/// {value} for a typed text, or {error} that says what was expected. `old_value` gives the length of a list.
export function parsed_value(field, text, old_value) {
    const kind = kind_of_field(field, old_value);
    if (kind === "truth") {
        if (text !== "true" && text !== "false")
            return { error: `"${text}" is not a truth value; expected true or false` };
        return { value: text === "true" };
    }
    if (kind === "list") {
        const length = kListLengths[field && field.type] || (Array.isArray(old_value) ? old_value.length : 0);
        return parsed_list(text, length);
    }
    if (kind === "entity") {
        const trimmed = text.trim();
        if (trimmed === "" || trimmed === "null" || trimmed === "none") return { value: null };
        return /^\d+:\d+$/.test(trimmed)
            ? { value: trimmed }
            : { error: `"${trimmed}" is not an entity; expected one as 12:3` };
    }
    if (kind !== "number") return { value: text };
    const value = parsed_number(text);
    if (value === null) return { error: `"${text}" is not a number` };
    const error = out_of_range(field || {}, value);
    return error ? { error } : { value };
}

/// The numbers of a value by the name of the part: 3 -> {"": 3}, [1, 2] -> {x: 1, y: 2}. Empty if it has none.
export function numeric_parts(value) {
    if (typeof value === "number") return { "": value };
    if (typeof value === "boolean") return { "": Number(value) };
    if (!Array.isArray(value) || value.length > 4 || !value.every((part) => typeof part === "number")) return {};
    return Object.fromEntries(value.map((part, i) => ["xyzw"[i], part]));
}
