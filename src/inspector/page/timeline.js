// Draws the last frame: a lane per worker, a bar per part of a pass, and the waits that determine the frame's time.

import { fill, h, notice, svg } from "./dom.js";
import { count_text, ms_digits, ms_text } from "./format.js";
import { waiting_chain } from "./graph_layout.js";

const kLane = 34;
const kTop = 26;
const kLeft = 78;

function axis(scale, width, height, end_ms) {
    const step = nice_step(end_ms / 8);
    const marks = [];
    for (let time = 0; time <= end_ms; time += step) {
        marks.push(
            svg("line", { class: "grid", x1: scale(time), x2: scale(time), y1: kTop - 4, y2: height }),
            svg(
                "text",
                { class: "tick", x: scale(time), y: 13, "text-anchor": time === 0 ? "start" : "middle" },
                `${Number(time.toPrecision(3))} ms`,
            ),
        );
    }
    return marks;
}

/// Returns 1, 2 or 5 times a power of ten, at least `least`.
function nice_step(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1e-6)));
    return power * [1, 2, 5, 10].find((factor) => factor * power >= least);
}

function span_element(span, lane, scale, state, chain) {
    const x = scale(span.begin_ms);
    const width = Math.max(1, scale(span.end_ms) - x - 0.5);
    const is_dim = state.chosen !== null && state.chosen !== span.pass;
    const y = kTop + lane * kLane + 4;
    const label = width > span.pass.length * 6.6 + 8 ? span.pass : "";
    return svg(
        "g",
        {
            class: `span ${is_dim ? "dim" : ""} ${chain.includes(span.pass) ? "in-chain" : ""}`,
            "data-pass": span.pass,
            onclick: () => state.choose(span.pass),
        },
        svg(
            "title",
            {},
            `${span.pass} on worker ${lane}: ${ms_text(span.end_ms - span.begin_ms)}, from ${ms_digits(span.begin_ms)} to ${ms_text(span.end_ms)}`,
        ),
        svg("rect", { x, y, width, height: kLane - 8, rx: 3, fill: state.colors.of(span.pass) }),
        label ? svg("text", { x: x + 5, y: y + 17 }, label) : null,
    );
}

/// An arrow from the end of the awaited pass to the start of the waiting one.
function wait_element(wait, workers, scale, chosen) {
    const parts = workers.flatMap((spans, lane) => spans.map((span) => ({ ...span, lane })));
    const before = parts.filter((span) => span.pass === wait.for).sort((a, b) => b.end_ms - a.end_ms)[0];
    const after = parts.filter((span) => span.pass === wait.pass).sort((a, b) => a.begin_ms - b.begin_ms)[0];
    if (!before || !after) return null;
    const middle = (lane) => kTop + lane * kLane + kLane / 2;
    const [x, y, to_x, to_y] = [scale(before.end_ms), middle(before.lane), scale(after.begin_ms), middle(after.lane)];
    const is_dim = chosen !== null && chosen !== wait.pass && chosen !== wait.for;
    return svg(
        "path",
        { class: `wait ${is_dim ? "dim" : ""}`, d: `M${x} ${y}C${x + 8} ${y} ${to_x - 8} ${to_y} ${to_x} ${to_y}` },
        svg("title", {}, `${wait.pass} waited ${ms_text(wait.ms)} for ${wait.for}`),
    );
}

function lane_label(lane, spans, frame_ms) {
    const busy = spans.reduce((sum, span) => sum + span.end_ms - span.begin_ms, 0);
    const y = kTop + lane * kLane;
    return [
        svg("text", { class: "lane", x: 0, y: y + 16 }, `worker ${lane}`),
        svg(
            "text",
            { class: "lane-note", x: 0, y: y + 29 },
            frame_ms > 0 ? `${Math.round(Math.min(1, busy / frame_ms) * 100)} % busy` : "",
        ),
    ];
}

/// Draws the timeline of state.timeline into `box`, in its width.
export function draw_timeline(box, state) {
    const { timeline } = state;
    const workers = timeline ? timeline.workers || [] : [];
    if (!workers.some((spans) => spans.length > 0)) {
        fill(
            box,
            notice(
                "No frame has been recorded yet.",
                "Recording begins with the first look at this page; let the world go on for a frame.",
            ),
        );
        return;
    }
    const width = Math.max(500, box.clientWidth - 4);
    const height = kTop + workers.length * kLane + 6;
    const begin = timeline.begin_ms || 0;
    const end = Math.max(timeline.end_ms, ...workers.flat().map((span) => span.end_ms));
    const scale = (time) => kLeft + ((time - begin) / Math.max(1e-9, end - begin)) * (width - kLeft - 12);
    const chain = waiting_chain(timeline);
    const picture = svg(
        "svg",
        { class: "timeline", width, height, role: "img", "aria-label": `Frame ${timeline.frame} by worker` },
        axis(scale, width, height, end - begin),
        workers.map((spans, lane) => lane_label(lane, spans, end - begin)),
        workers.map((spans, lane) => spans.map((span) => span_element(span, lane, scale, state, chain))),
        (timeline.waits || []).map((wait) => wait_element(wait, workers, scale, state.chosen)),
    );
    fill(
        box,
        h(
            "p",
            { class: "timeline-head" },
            h("b", {}, `Frame ${count_text(timeline.frame)}`),
            `  ${ms_text(end - begin)}`,
            h("span", { class: "muted" }, "  The frame took as long as this chain: "),
            chain.map((name) => h("span", { class: "chip" }, name)),
        ),
        picture,
    );
}
