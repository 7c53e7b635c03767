// The bar at the top: the name of the world, its frame, and the controls to continue, pause, step and change the speed.

import { fill, h, icon, icon_button, set_text } from "./dom.js";
import { count_text, ms_text } from "./format.js";

const kSpeeds = [0.01, 0.05, 0.1, 0.25, 0.5, 1];

function speed_select(context) {
    const options = kSpeeds.map((speed) => h("option", { value: String(speed) }, `${speed}×`));
    return h(
        "select",
        {
            id: "speed",
            "aria-label": "Speed",
            title: "Speed: 1× is as the program runs",
            onchange: (event) => context.control("speed", { speed: Number(event.target.value) }),
        },
        options,
    );
}

function show_speed(select, speed) {
    const text = String(speed);
    if (document.activeElement === select || select.value === text) return;
    if (![...select.options].some((option) => option.value === text))
        select.append(h("option", { value: text }, `${text}×`));
    select.value = text;
}

function run_to_form(context) {
    const input = h("input", {
        id: "run-to",
        type: "number",
        min: 0,
        step: 1,
        placeholder: "frame",
        "aria-label": "Run to frame",
    });
    const go = (event) => {
        event.preventDefault();
        const frame = Number(input.value);
        const now = context.world.last ? context.world.last.frame : 0;
        if (input.value === "" || !(frame > now)) return context.toast(`Run to a frame after ${now}.`, "error");
        input.blur();
        return context.control("run_to", { frame });
    };
    return h(
        "form",
        { class: "run-to", onsubmit: go },
        h("label", { for: "run-to" }, "to"),
        input,
        h("button", { class: "plain", type: "submit", id: "run-to-button" }, "Run"),
    );
}

/// The elements of the bar.
export function control_bar(context) {
    const name = h("b", { id: "world-name" }, "…");
    const state = h("span", { class: "state", id: "world-state" });
    const frame = h("output", { id: "frame", "aria-label": "Frame" }, "–");
    const time = h("output", { id: "frame-time", "aria-label": "Frame time" }, "–");
    const pause = icon_button(
        "pause",
        "Pause (space)",
        () => context.control(context.world.last && context.world.last.paused ? "resume" : "pause"),
        { id: "pause" },
    );
    const step = icon_button("step", "One frame (.)", () => context.control("step", { frames: 1 }), { id: "step" });
    const undo = icon_button("undo", "Undo (Ctrl+Z)", context.undo, { id: "undo" });
    const redo = icon_button("redo", "Redo (Ctrl+Shift+Z)", context.redo, { id: "redo" });
    const speed = speed_select(context);
    let was_paused = null;
    context.world.on((world) => {
        set_text(name, world.name || "world");
        set_text(frame, count_text(world.frame));
        set_text(time, ms_text(world.frame_ms));
        const running = world.run_to ? `running to ${count_text(world.run_to)}` : "running";
        set_text(state, world.paused ? "paused" : running);
        state.dataset.state = world.paused ? "paused" : "running";
        if (world.paused !== was_paused) {
            const label = world.paused ? "Go on (space)" : "Pause (space)";
            fill(pause, icon(world.paused ? "play" : "pause"));
            pause.title = label;
            pause.setAttribute("aria-label", label);
            was_paused = world.paused;
        }
        show_speed(speed, world.speed);
        undo.disabled = !world.undo;
        redo.disabled = !world.redo;
        undo.hidden = redo.hidden = !world.can_edit;
    });
    return [
        h("div", { class: "who" }, name, state),
        h("div", { class: "meter" }, h("small", {}, "frame"), frame),
        h("div", { class: "meter" }, h("small", {}, "frame time"), time),
        h("div", { class: "controls" }, pause, step, speed, run_to_form(context)),
        h("div", { class: "controls" }, undo, redo),
    ];
}
