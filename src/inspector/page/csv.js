// Tables as comma-separated values, RFC 4180. No DOM.

function cell_text(value) {
    if (value === null || value === undefined) return "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/// A line of names, then a line per row; each ends with CR LF.
export function csv_text(columns, rows) {
    return [columns, ...rows].map((row) => `${row.map(cell_text).join(",")}\r\n`).join("");
}
