// The relatives of an entity, as an expandable tree: parent, owner, children, owned entities, links, and referrers.

import { get } from "./api.js";
import { entity_link, fill, h } from "./dom.js";
import { relatives_of } from "./entity_data.js";

function node(context, relative) {
    const inner = h("div", { class: "branch" });
    const details = h(
        "details",
        {
            "data-node": relative.entity,
            ontoggle: () => {
                if (details.open && !inner.firstChild) load(context, relative.entity, inner);
            },
        },
        h(
            "summary",
            {},
            entity_link(relative.entity, relative.name),
            relative.field ? h("small", {}, relative.field) : null,
        ),
        inner,
    );
    return details;
}

async function load(context, id, inner) {
    fill(inner, h("p", { class: "hint" }, "Loading…"));
    try {
        fill(inner, groups(context, await get("/api/entity", { id })));
    } catch (error) {
        fill(inner, h("p", { class: "field-error" }, error.message));
    }
}

function groups(context, entity) {
    const found = relatives_of(entity, context.component);
    if (found.length === 0) return h("p", { class: "hint" }, "Nothing is joined to it.");
    return found.map(([title, relatives]) =>
        h(
            "div",
            { class: "relatives", "data-relatives": title },
            h("h4", {}, title, h("small", {}, ` ${relatives.length}`)),
            relatives.map((relative) => node(context, relative)),
        ),
    );
}

/// The tree of an entity, from /api/entity.
export function entity_tree(context, entity) {
    return h("div", { class: "tree" }, groups(context, entity));
}
