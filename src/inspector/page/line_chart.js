// Lines over the last minutes, drawn by Chart.js (/lib/chart.js), and sparklines without it.

import { svg } from "./dom.js";
import { css_color, on_theme } from "./theme.js";

function axis_seconds_text(seconds) {
    if (seconds === 0) return "now";
    return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`;
}

/// lines: [{title, color: a name of the style sheet, is_filled, is_stacked}]; text: of a value on the axis and in tooltips.
export class LineChart {
    constructor(canvas, lines, text) {
        this.lines = lines;
        const datasets = lines.map((line) => ({
            label: line.title, data: [], borderWidth: 1.6, pointRadius: 0, pointHitRadius: 8, tension: 0.25,
            fill: line.is_filled ? (line.is_stacked ? "stack" : "origin") : false }));
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
                animation: false, parsing: false, normalized: true, responsive: true, maintainAspectRatio: false,
                interaction: { mode: "index", intersect: false, axis: "x" },
                plugins: { legend: { display: lines.length > 1, align: "end", labels: { boxWidth: 10, boxHeight: 2, padding: 8 } }, tooltip },
                scales: {
                    x: { type: "linear", min: -120, max: 0, ticks: { callback: axis_seconds_text, maxRotation: 0, maxTicksLimit: 5 },
                         grid: { display: false } },
                    y: { stacked: lines.some((line) => line.is_stacked), ticks: { callback: (value) => text(value), maxTicksLimit: 5 },
                         grid: {}, grace: "10%" },
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
        this.chart.options.scales.x.min = -seconds;
        series.forEach((one, i) => { this.chart.data.datasets[i].data = one.points(now - seconds, now); });
        this.chart.update("none");
    }
}

/// A small line without axes, of the samples of a series.
export function draw_sparkline(element, series, { width = 160, height = 36 } = {}) {
    const summary = series.summary();
    const first = series.times[0];
    const span = Math.max(1e-6, series.times[series.length - 1] - first);
    const size = summary && summary.high > summary.low ? summary.high - summary.low : 1;
    const place = (i) => {
        const x = ((series.times[i] - first) / span) * (width - 4) + 2;
        const y = summary.high > summary.low ? height - 3 - ((series.values[i] - summary.low) / size) * (height - 6) : height / 2;
        return `${x.toFixed(1)},${y.toFixed(1)}`;
    };
    const points = summary ? series.times.map((_, i) => place(i)).join(" ") : "";
    if (!element.firstChild) element.append(svg("polyline", { class: "sparkline" }));
    element.setAttribute("viewBox", `0 0 ${width} ${height}`);
    element.firstChild.setAttribute("points", points);
}
