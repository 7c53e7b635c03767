// Lines over the last minutes, drawn by Chart.js (/lib/chart.js), and sparklines without it.

import { svg } from "./dom.js";
import { count_text } from "./format.js";
import { css_color, on_theme } from "./theme.js";

const kLeastSeconds = 20;

function axis_seconds_text(seconds) {
    if (seconds === 0) return "now";
    return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.round(seconds)} s`;
}

// A new chart should not be mostly empty: its range grows with its samples, in round steps.
function shown_seconds(series, seconds, now) {
    const begin = Math.min(...series.map((one) => (one.length > 0 ? one.times[0] : now)));
    const age = now - begin;
    const steps = [kLeastSeconds, 40, 60, 120, 240, 600];
    return Math.min(seconds, steps.find((step) => step >= age) || seconds);
}

/// lines: [{title, color: a name of the style sheet, is_filled, is_stacked}]; text: formats a value.
/// A chart with a filled line starts at zero.
export class LineChart {
    constructor(canvas, lines, text) {
        this.lines = lines;
        const datasets = lines.map((line) => ({
            label: line.title,
            data: [],
            borderWidth: 1.6,
            pointRadius: 0,
            pointHitRadius: 8,
            cubicInterpolationMode: "monotone",
            fill: line.is_filled ? (line.is_stacked ? "stack" : "origin") : false,
        }));
        const is_from_zero = lines.some((line) => line.is_filled);
        const tooltip = {
            displayColors: lines.length > 1,
            callbacks: {
                title: (items) => (items.length > 0 ? `${Math.abs(items[0].parsed.x).toFixed(1)} s ago` : ""),
                label: (item) => `${item.dataset.label}: ${text(item.raw.y)}`,
            },
        };
        this.chart = new globalThis.Chart(canvas, {
            type: "line",
            data: { datasets },
            options: {
                animation: false,
                parsing: false,
                normalized: true,
                responsive: true,
                maintainAspectRatio: false,
                interaction: { mode: "index", intersect: false, axis: "x" },
                plugins: { legend: { display: false }, tooltip },
                scales: {
                    x: {
                        type: "linear",
                        min: -120,
                        max: 0,
                        ticks: { callback: axis_seconds_text, maxRotation: 0 },
                        grid: { display: false },
                    },
                    y: {
                        stacked: lines.some((line) => line.is_stacked),
                        ticks: {
                            callback: (value) => text(value),
                            maxTicksLimit: 5,
                            precision: text === count_text ? 0 : undefined,
                        },
                        grid: {},
                        grace: is_from_zero ? 0 : "20%",
                        min: is_from_zero ? 0 : undefined,
                        suggestedMax: is_from_zero ? 1 : undefined,
                    },
                },
            },
        });
        on_theme(() => this.show_colors());
        this.show_colors();
    }

    show_colors() {
        const { options, data } = this.chart;
        data.datasets.forEach((dataset, i) => {
            const color = css_color(this.lines[i].color);
            dataset.borderColor = color;
            dataset.backgroundColor = `${color}33`;
        });
        options.color = css_color("muted");
        for (const axis of Object.values(options.scales)) {
            axis.ticks.color = css_color("muted");
            axis.ticks.font = { size: 10.5 };
            axis.grid.color = css_color("line");
            axis.grid.drawBorder = false;
        }
        this.chart.update("none");
    }

    /// Shows the samples of the last `seconds` before `now`, a series per line.
    show(series, seconds, now) {
        const shown = shown_seconds(series, seconds, now);
        const { x } = this.chart.options.scales;
        x.min = -shown;
        x.ticks.stepSize = shown / 4;
        series.forEach((one, i) => {
            this.chart.data.datasets[i].data = one.points(now - seconds, now);
        });
        this.chart.update("none");
    }
}

/// A small line of the samples of a series, without axes.
export function draw_sparkline(element, series, { width = 160, height = 36 } = {}) {
    const summary = series.summary() || { low: 0, high: 0 };
    const first = series.times[0];
    const span = Math.max(1e-6, series.times[series.length - 1] - first);
    const size = summary.high > summary.low ? summary.high - summary.low : 1;
    const place = (i) => {
        const x = ((series.times[i] - first) / span) * (width - 4) + 2;
        const y =
            summary.high > summary.low
                ? height - 3 - ((series.values[i] - summary.low) / size) * (height - 6)
                : height / 2;
        return `${x.toFixed(1)},${y.toFixed(1)}`;
    };
    const is_single = series.length === 1; // a level line, because a point would be invisible
    const points = is_single
        ? `2,${height / 2} ${width - 2},${height / 2}`
        : series.times.map((_, i) => place(i)).join(" ");
    if (!element.firstChild) element.append(svg("polyline", { class: "sparkline" }));
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    element.firstChild.setAttribute("points", points);
}
