// What an entity is joined to, as a tree that opens: parent, owner, children, what it owns, links, and who refers to it.

import { get } from "./api.js";
import { entity_link, fill, h } from "./dom.js";

/// The fields of an entity that name entities: [{entity, name, field}].
export function links_of(entity, component_of) {
    const links = [];
    for (const [name, data] of Object.entries(entity.components || {})) {
        const component = component_of(name);
        const fields = component ? component.fields.filter((field) => field.type === "entity") : [];
        for (const row of Array.isArray(data) ? data : [data]) {
            for (const field of fields) if (row[field.name]) links.push({ entity: row[field.name], name: "", field: `${name}.${field.name}` });
        }
    }
    return links;
}

/// The groups of a tree's node: [[title, [{entity, name, field}]]], without empty ones.
export function relatives_of(entity, component_of) {
    const one = (id) => (id ? [{ entity: id, name: "" }] : []);
    return [
        ["parent", one(entity.parent)], ["owner", one(entity.owner)], ["children", entity.children || []],
        ["owns", entity.owned || []], ["links to", links_of(entity, component_of)], ["referred to by", entity.referrers || []],
    ].filter(([, relatives]) => relatives.length > 0);
}

function node(context, relative) {
    const inner = h("div", { class: "branch" });
    const details = h("details", { "data-node": relative.entity, ontoggle: () => {
        if (details.open && !inner.firstChild) load(context, relative.entity, inner);
    } },
    h("summary", {}, entity_link(relative.entity, relative.name), relative.field ? h("small", {}, relative.field) : null), inner);
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
    return found.map(([title, relatives]) => h("div", { class: "relatives", "data-relatives": title },
        h("h4", {}, title, h("small", {}, ` ${relatives.length}`)), relatives.map((relative) => node(context, relative))));
}

/// The tree of an entity, as /api/entity tells it.
export function entity_tree(context, entity) {
    return h("div", { class: "tree" }, groups(context, entity));
}
