// The frame around the views: sidebar, bar, keys, addresses, and the state shared by all views.

import { ApiError, Live, get, post } from "./api.js";
import { control_bar } from "./control_bar.js";
import { fill, h, icon, notice } from "./dom.js";
import { recalled, remember } from "./memo.js";
import { Pins } from "./pins.js";
import { parse_route, route_text } from "./route.js";
import { start_theme, switch_theme } from "./theme.js";
import { WorldState } from "./world_state.js";
import { make_entities_view } from "./entities.js";
import { make_journal_view } from "./journal.js";
import { make_memory_view } from "./memory.js";
import { make_overview } from "./overview.js";
import { make_passes_view } from "./passes.js";
import { make_sql_view } from "./sql.js";
import { make_world_view } from "./world_view.js";
import { make_zones_view } from "./zones.js";

// Each `make` returns {element, open(parameters), close()}: open starts watching, close stops it.
const kViews = [
    { id: "overview", title: "Overview", make: make_overview },
    { id: "passes", title: "Passes", make: make_passes_view },
    { id: "memory", title: "Memory", make: make_memory_view },
    { id: "zones", title: "Zones", make: make_zones_view },
    { id: "entities", title: "Entities", make: make_entities_view },
    { id: "world", title: "World", make: make_world_view },
    { id: "journal", title: "Journal", make: make_journal_view },
    { id: "sql", title: "SQL", make: make_sql_view },
];

const kKeys = [
    ["1 – 8", "open a view"],
    ["Space", "pause and go on"],
    [".", "one frame"],
    ["/", "search, or write SQL"],
    ["Ctrl+Z", "undo the last edit"],
    ["Ctrl+Shift+Z", "redo it"],
    ["Enter, Escape", "set a value that is being edited, leave it as it was"],
    ["Shift+drag", "select a box of the world view"],
    ["0", "show the whole world in the world view"],
    ["Ctrl+Enter", "run the SQL"],
    ["t", "dark or light"],
    ["?", "this list"],
];

const made = new Map(); // of each view opened so far
let opened = null;

function toast(text, kind = "info") {
    const element = h("div", { class: `toast ${kind}`, role: kind === "error" ? "alert" : "status" }, text);
    document.getElementById("toasts").append(element);
    setTimeout(() => element.remove(), kind === "error" ? 7000 : 3000);
}

const live = new Live((state) => show_connection(state));
const world = new WorldState(live);
const context = {
    live,
    world,
    toast,
    components: [],
    component: (name) => context.components.find((one) => one.name === name),
    go: (view, parameters) => {
        location.hash = route_text(view, parameters);
    },
    note_address: (view, parameters) => history.replaceState(null, "", route_text(view, parameters)),
    attempt,
    control,
    undo: () => travel("undo"),
    redo: () => travel("redo"),
};
context.pins = new Pins(context);

/// Runs a function. If it fails, shows the error and returns undefined.
async function attempt(action) {
    try {
        return await action();
    } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        toast(error.message, "error");
        return undefined;
    }
}

/// POST /api/control; the answer is the new state of the world.
async function control(action, more = {}) {
    const answer = await attempt(() => post("/api/control", { action, ...more }));
    if (answer) world.hear(answer);
}

async function travel(direction) {
    const answer = await attempt(() => post(`/api/${direction}`, {}));
    if (!answer) return;
    toast(`${direction === "undo" ? "Undid" : "Redid"} ${answer.field} of ${answer.entity}`);
    document.dispatchEvent(new CustomEvent("shoal-edit"));
    if (world.last) world.hear({ ...world.last, undo: answer.undo, redo: answer.redo });
}

// --- connection -----------------------------------------------------------------------------------------------------

let is_connected = null;

function show_connection(state) {
    document.documentElement.dataset.connection = state;
    const banner = document.getElementById("banner");
    banner.hidden = state === "live";
    if (state === "gone") {
        fill(
            banner,
            h("span", { class: "spinner", "aria-hidden": "true" }),
            "The program does not answer. It may have ended, or stand in a debugger. Trying again…",
        );
    }
    if (state === "live" && is_connected === false) toast("Connected again.");
    if (state === "live") load_components();
    is_connected = state === "live";
}

async function load_components() {
    const answer = await attempt(() => get("/api/components"));
    if (!answer) return;
    context.components = answer.components;
    document.dispatchEvent(new CustomEvent("shoal-components"));
}

// --- views ----------------------------------------------------------------------------------------------------------

function make_sidebar() {
    const links = kViews.map((view, i) =>
        h(
            "a",
            { href: `#/${view.id}`, "data-view": view.id, title: `${view.title} (${i + 1})` },
            icon(view.id),
            h("span", {}, view.title),
            h("kbd", { "aria-hidden": "true" }, i + 1),
        ),
    );
    const logo = h(
        "a",
        { class: "logo", href: "#/overview", "aria-label": "shoal" },
        h("img", { src: "/icon.svg", alt: "", width: 26, height: 26 }),
        h("b", {}, "shoal"),
    );
    const footer = h(
        "div",
        { class: "footer" },
        h(
            "button",
            { type: "button", id: "help-button", onclick: show_help },
            icon("help"),
            h("span", {}, "Keys"),
            h("kbd", {}, "?"),
        ),
        h(
            "button",
            { type: "button", id: "theme-button", onclick: switch_theme },
            icon("theme"),
            h("span", {}, "Theme"),
            h("kbd", {}, "t"),
        ),
    );
    fill(document.getElementById("sidebar"), logo, links, footer);
}

function view_of(id) {
    if (!made.has(id)) {
        const view = kViews.find((one) => one.id === id);
        const instance = view.make(context);
        instance.element.id = `view-${id}`;
        made.set(id, instance);
    }
    return made.get(id);
}

function show_route() {
    const { view, parameters } = parse_route(location.hash);
    const known = kViews.find((one) => one.id === view);
    if (!known) {
        const last = recalled("view", "overview");
        history.replaceState(null, "", `#/${kViews.some((one) => one.id === last) ? last : "overview"}`);
        return show_route();
    }
    remember("view", view);
    const next = view_of(view);
    if (opened && opened !== next) opened.close();
    const main = document.getElementById("view");
    if (main.firstElementChild !== next.element) fill(main, next.element);
    for (const link of document.querySelectorAll("#sidebar a[data-view]")) {
        if (link.dataset.view === view) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    }
    document.title = `${known.title} – ${world.last ? world.last.name : "shoal"}`;
    opened = next;
    next.open(parameters);
    return undefined;
}

// --- keys -----------------------------------------------------------------------------------------------------------

function show_help() {
    const dialog = document.getElementById("help");
    const rows = kKeys.map(([keys, what]) =>
        h("tr", {}, h("th", { scope: "row" }, h("kbd", {}, keys)), h("td", {}, what)),
    );
    fill(
        dialog,
        h("h2", {}, "Keys"),
        h("table", {}, h("tbody", {}, rows)),
        h("form", { method: "dialog" }, h("button", { class: "plain" }, "Close")),
    );
    if (!dialog.open) dialog.showModal();
}

function is_typing(target) {
    return Boolean(target.closest("input, textarea, select, [contenteditable], .CodeMirror"));
}

function search() {
    const input = document.querySelector("#view input[role=combobox]");
    if (input) return input.select();
    if (document.querySelector("#view .CodeMirror"))
        return document.querySelector("#view .CodeMirror").CodeMirror.focus();
    return context.go("entities");
}

function key_pressed(event) {
    const is_undo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
    if (is_typing(event.target) || document.getElementById("help").open) return;
    if (is_undo) {
        event.preventDefault();
        if (event.shiftKey) context.redo();
        else context.undo();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions = {
        " ": () => control(world.last && world.last.paused ? "resume" : "pause"),
        ".": () => control("step", { frames: 1 }),
        "/": search,
        "?": show_help,
        t: switch_theme,
    };
    const view = kViews[Number(event.key) - 1];
    const action = view ? () => context.go(view.id) : actions[event.key];
    if (!action || (event.key === " " && event.target.closest("button, a, summary, tr"))) return;
    event.preventDefault();
    action();
}

// --- start ----------------------------------------------------------------------------------------------------------

// Sends a token in the first address to the server, which sets a cookie, and removes the token from the address.
async function give_token() {
    const token = new URLSearchParams(location.search).get("token");
    if (!token) return;
    await attempt(() => get("/api/world", { token }));
    history.replaceState(null, "", location.pathname + location.hash);
}

async function start() {
    start_theme();
    make_sidebar();
    fill(document.getElementById("bar"), control_bar(context));
    fill(document.getElementById("view"), notice("Connecting…", "", "loading"));
    await give_token();
    live.connect();
    addEventListener("hashchange", show_route);
    addEventListener("keydown", key_pressed);
    world.on((now) => {
        const title = document.title.replace(/ – .*/, "");
        document.title = `${title} – ${now.name}`;
    });
    show_route();
}

start();
