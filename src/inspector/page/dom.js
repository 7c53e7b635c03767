// Makes elements. Texts are set as texts, never parsed as HTML.

const kSvg = "http://www.w3.org/2000/svg";

function set_attributes(element, attributes) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (name === "style") Object.assign(element.style, value);
        else if (name === "value" || name === "checked" || name === "disabled") element[name] = value;
        else element.setAttribute(name, value === true ? "" : String(value));
    }
}

function add_children(element, children) {
    for (const child of children.flat(Infinity)) {
        if (child === null || child === undefined || child === false) continue;
        element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/// Makes an HTML element: h("button", {class: "plain", onclick: go}, "Go"). Null or false attributes are left out.
export function h(tag, attributes, ...children) {
    const element = document.createElement(tag);
    set_attributes(element, attributes);
    add_children(element, children);
    return element;
}

/// The same for SVG.
export function svg(tag, attributes, ...children) {
    const element = document.createElementNS(kSvg, tag);
    set_attributes(element, attributes);
    add_children(element, children);
    return element;
}

/// Replaces the children of an element by `children`.
export function fill(element, ...children) {
    element.replaceChildren();
    add_children(element, children);
    return element;
}

/// Sets the text if it differs, to keep selections and not disturb screen readers.
export function set_text(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

// One path each, in a box of 24 x 24.
const kIcons = {
    overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z",
    passes: "M4 6h5v4H4zM15 4h5v4h-5zM15 16h5v4h-5zM9 8h3v-2h3M9 8h3v10h3",
    memory: "M4 4h9v16H4zM13 4h7v7h-7zM13 11h7v9h-7z",
    zones: "M4 4h16v16H4zM4 9.3h16M4 14.6h16M9.3 4v16M14.6 4v16",
    entities: "M12 3l8 4.5v9L12 21l-8-4.5v-9zM4 7.5l8 4.5 8-4.5M12 12v9",
    world: "M5 8h.01M9 15h.01M12 6h.01M14 12h.01M18 9h.01M17 17h.01M7 19h.01M20 14h.01M4 13h.01",
    journal: "M12 4a8 8 0 1 1-7.4 5M4 4v5h5M12 8v4.5l3 2",
    sql: "M5 6c0-4 14-4 14 0v12c0 4-14 4-14 0zM5 6c0 4 14 4 14 0M5 12c0 4 14 4 14 0",
    play: "M7 5l12 7-12 7z",
    pause: "M8 5v14M16 5v14",
    step: "M6 5l9 7-9 7zM18 5v14",
    theme: "M12 4a8 8 0 1 0 8 8 6 6 0 0 1-8-8z",
    help: "M9 9a3 3 0 1 1 4.2 2.8c-.8.4-1.2 1-1.2 2M12 17.5h.01",
    undo: "M9 7L4 12l5 5M4 12h10a5 5 0 0 1 0 10",
    redo: "M15 7l5 5-5 5M20 12H10a5 5 0 0 0 0 10",
    pin: "M9 4h6l-1 6 4 4H6l4-4zM12 14v6",
    close: "M6 6l12 12M18 6L6 18",
    search: "M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13M15.5 15.5L20 20",
    fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
};

/// A line drawing that screen readers skip.
export function icon(name) {
    return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: kIcons[name] }));
}

/// A button with an icon; `label` is its accessible name and tooltip.
export function icon_button(name, label, onclick, attributes = {}) {
    return h(
        "button",
        { type: "button", class: "icon-button", title: label, "aria-label": label, onclick, ...attributes },
        icon(name),
    );
}

/// A row of buttons of which one is selected. `options`: [[value, title], ...].
export function choice(label, options, chosen, on_choose, attributes = {}) {
    const buttons = options.map(([value, title]) =>
        h(
            "button",
            {
                type: "button",
                "data-value": value,
                "aria-pressed": String(value === chosen),
                onclick: () => {
                    element.choose(value);
                    on_choose(value);
                },
            },
            title,
        ),
    );
    const element = h("div", { class: "choice", role: "group", "aria-label": label, ...attributes }, buttons);
    element.choose = (value) => {
        for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.value === value));
    };
    return element;
}

/// Shown in place of content: a headline and a sentence that says what to do.
export function notice(title, text, kind = "empty") {
    return h(
        "div",
        { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" },
        h("strong", {}, title),
        text ? h("p", {}, text) : null,
    );
}

/// A block with a title; `tools` are to the right of the title.
export function panel(title, tools, ...children) {
    return h(
        "section",
        { class: "panel", "aria-label": title },
        h("header", {}, h("h2", {}, title), h("div", { class: "tools" }, tools)),
        children,
    );
}

/// A link to an entity, with its name if it has one.
export function entity_link(entity, name) {
    return h(
        "a",
        { class: "entity", href: `#/entities?id=${entity}`, "data-entity": entity },
        h("span", { class: "id" }, entity),
        name ? h("span", { class: "name" }, name) : null,
    );
}

/// Offers a text as a file to save.
export function download(name, text, type) {
    const address = URL.createObjectURL(new Blob([text], { type }));
    const link = h("a", { href: address, download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(address), 10000);
}

let presses = false;
addEventListener("pointerdown", () => (presses = true), true);
addEventListener("pointerup", () => (presses = false), true);
addEventListener("pointercancel", () => (presses = false), true);
addEventListener("blur", () => (presses = false)); // of the window: it does not bubble

/// Whether a button is held down. A pressed element must not be redrawn, or the click would miss it.
export function is_pressed() {
    return presses;
}

/// Calls `run` when `wait_ms` have passed without another call.
export function debounced(run, wait_ms) {
    let timer = 0;
    return (...parameters) => {
        clearTimeout(timer);
        timer = setTimeout(() => run(...parameters), wait_ms);
    };
}
