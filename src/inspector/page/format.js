// Texts of numbers, the same in every view. No DOM.

const kByteUnits = ["B", "KiB", "MiB", "GiB", "TiB"];
const kNone = "–";

function is_number(value) {
    return typeof value === "number" && Number.isFinite(value);
}

/// 10137 -> "10,137"; not a number -> "–".
export function count_text(value) {
    if (!is_number(value)) return kNone;
    return Math.round(value)
        .toString()
        .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/// 1536 -> "1.5 KiB"
export function bytes_text(value) {
    if (!is_number(value)) return kNone;
    let unit = 0;
    let size = Math.abs(value);
    while (size >= 1024 && unit + 1 < kByteUnits.length) {
        size /= 1024;
        ++unit;
    }
    const digits = unit === 0 || size >= 100 ? 0 : 1;
    return `${value < 0 ? "-" : ""}${size.toFixed(digits)} ${kByteUnits[unit]}`;
}

/// Milliseconds with a useful number of digits: 0.0213 -> "0.021 ms", 12.345 -> "12.3 ms".
export function ms_text(value) {
    if (!is_number(value)) return kNone;
    return `${ms_digits(value)} ms`;
}

/// Like ms_text, without the unit.
export function ms_digits(value) {
    if (!is_number(value)) return kNone;
    const size = Math.abs(value);
    if (size === 0) return "0";
    return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/// 0.4567 -> "46 %"
export function percent_text(share) {
    if (!is_number(share)) return kNone;
    const percent = share * 100;
    return `${percent !== 0 && Math.abs(percent) < 1 ? percent.toFixed(1) : percent.toFixed(0)} %`;
}

/// At most six significant digits, without an exponent where that is readable: 0.1 + 0.2 -> "0.3".
export function number_text(value) {
    if (typeof value !== "number") return kNone;
    if (!Number.isFinite(value)) return String(value);
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value);
    const size = Math.abs(value);
    return size >= 1e-4 && size < 1e15 ? String(Number(value.toPrecision(6))) : value.toExponential(4);
}

/// A value of a field on one line: short numbers, lists in brackets, mappings in braces.
export function value_text(value) {
    if (value === null || value === undefined) return "none";
    if (typeof value === "number") return number_text(value);
    if (typeof value === "boolean") return value ? "true" : "false";
    if (Array.isArray(value)) return `[${value.map(value_text).join(", ")}]`;
    if (typeof value === "object") {
        return `{${Object.entries(value)
            .map(([name, part]) => `${name}: ${value_text(part)}`)
            .join(", ")}}`;
    }
    return String(value);
}

/// The kind of a store without its article: "a manager" -> "manager".
export function store_text(kind) {
    return (kind || "").replace(/^(?:an?|the) /, "");
}

/// A count with its noun: (1, "entity", "entities") -> "1 entity".
export function counted_text(value, one, many) {
    return `${count_text(value)} ${value === 1 ? one : many}`;
}
