// Colours of kinds and of amounts, the same in every view. No DOM.

const kKinds = [
    "#4cb5f5",
    "#f2a65a",
    "#6fcf97",
    "#e57ba5",
    "#a78bfa",
    "#f4d35e",
    "#56cfc1",
    "#ef6f6c",
    "#8fb3ff",
    "#c3d350",
    "#d89cf6",
    "#f79d84",
    "#7fd6ff",
    "#b39c7d",
    "#9fe3a1",
    "#ff9ecb",
];
// From low to high: deep blue through green to yellow, readable with red-green colour blindness.
const kRamp = [
    [68, 1, 84],
    [71, 44, 122],
    [59, 81, 139],
    [44, 113, 142],
    [33, 144, 141],
    [39, 173, 129],
    [92, 200, 99],
    [170, 220, 50],
    [253, 231, 37],
];

/// The colour of kind `number`.
export function kind_color(number) {
    return kKinds[((number % kKinds.length) + kKinds.length) % kKinds.length];
}

/// Assigns colours by name: the first name gets the first colour, and keeps it.
export class ColorsByName {
    constructor() {
        this.numbers = new Map();
    }

    of(name) {
        if (!this.numbers.has(name)) this.numbers.set(name, this.numbers.size);
        return kind_color(this.numbers.get(name));
    }
}

/// [red, green, blue] from 0 to 255 for an amount between 0 and 1.
export function ramp_rgb(amount) {
    const place = Math.max(0, Math.min(1, amount || 0)) * (kRamp.length - 1);
    const first = Math.min(kRamp.length - 2, Math.floor(place));
    return kRamp[first].map((low, i) => Math.round(low + (kRamp[first + 1][i] - low) * (place - first)));
}

export function ramp_color(amount) {
    return `rgb(${ramp_rgb(amount).join(", ")})`;
}

/// Black or white, whichever is readable on the colour of an amount.
export function text_on_ramp(amount) {
    const [red, green, blue] = ramp_rgb(amount);
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#10151f" : "#ffffff";
}

/// [red, green, blue] for "#rrggbb".
export function hex_rgb(color) {
    return [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
}
