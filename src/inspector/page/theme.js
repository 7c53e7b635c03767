// Dark and light: follows the system, until the user chooses.

import { recalled, remember } from "./memo.js";

const kDark = matchMedia("(prefers-color-scheme: dark)");
const hearers = new Set();

/// "dark" or "light"
export function theme() {
    return recalled("theme", null) || (kDark.matches ? "dark" : "light");
}

function apply() {
    document.documentElement.dataset.theme = theme();
    for (const hear of hearers) hear();
}

/// Sets the theme of the document, and follows the system.
export function start_theme() {
    apply();
    kDark.addEventListener("change", apply);
}

export function switch_theme() {
    remember("theme", theme() === "dark" ? "light" : "dark");
    apply();
}

/// Calls `hear` when colours have changed: for drawings on a canvas.
export function on_theme(hear) {
    hearers.add(hear);
}

/// The colour with a name of the style sheet: css_color("accent").
export function css_color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
