// One entity: its components with names, units and values, its relatives, and its position in the sources.

import { entity_link, fill, h, icon_button, notice, set_text } from "./dom.js";
import { components_of, properties_of } from "./entity_data.js";
import { entity_tree } from "./entity_tree.js";
import { store_text, value_text } from "./format.js";
import { FieldValue } from "./field_value.js";
import { request_path } from "./route.js";

// When these change, the elements are recreated; values alone are set in place.
function shape_of(entity) {
    const components = components_of(entity).map(([name, rows]) => [name, rows.map(Object.keys)]);
    const properties = properties_of(entity).map(([name]) => name);
    const { name, alive, parent, owner, zone, disabled, children, owned, referrers, source } = entity;
    return JSON.stringify([
        name,
        alive,
        parent,
        owner,
        zone,
        disabled,
        children,
        owned,
        referrers,
        source,
        components,
        properties,
    ]);
}

/// Shows the opened entity while it is watched.
export class EntityDetails {
    constructor(context) {
        Object.assign(this, {
            context,
            id: null,
            entity: null,
            stop: null,
            shape: "",
            values: new Map(),
            properties: null,
        });
        this.element = h("section", { class: "entity-details", "aria-label": "Entity" });
        document.addEventListener("shoal-components", () => this.draw_anew());
    }

    /// Watches an entity; null: none.
    open(id) {
        if (this.id === id && this.stop) return;
        this.close();
        Object.assign(this, { id, entity: null, shape: "" });
        if (!id) {
            fill(
                this.element,
                notice("Choose an entity.", "Its components, values and links are shown here, and can be edited."),
            );
            return;
        }
        fill(this.element, notice(`Looking at ${id}…`, "", "loading"));
        this.stop = this.context.live.watch(request_path("/api/entity", { id }), (body, error) =>
            this.hear(body, error),
        );
    }

    close() {
        if (this.stop) this.stop();
        this.stop = null;
    }

    hear(entity, error) {
        if (error) {
            this.shape = "";
            const was = this.entity ? "It has been destroyed, or its zone was unloaded." : "";
            fill(this.element, notice(`There is no entity ${this.id}.`, `${error.message}. ${was}`, "error"));
            return;
        }
        this.entity = entity;
        const shape = shape_of(entity);
        if (shape !== this.shape) this.draw_anew();
        this.shape = shape;
        this.show_values();
    }

    draw_anew() {
        if (!this.entity || [...this.values.values()].some((value) => value.editor)) return;
        this.values.clear();
        const { entity } = this;
        this.properties = h("dl", { class: "facts" });
        const has_properties = properties_of(entity).length > 0;
        const cards = components_of(entity).map(([name, rows]) => this.component_card(name, rows));
        fill(
            this.element,
            this.head(),
            h("div", { class: "components" }, cards),
            has_properties
                ? h(
                      "section",
                      { class: "component", "aria-label": "Properties" },
                      h("h3", {}, "Properties"),
                      this.properties,
                  )
                : null,
            h(
                "section",
                { class: "component", "aria-label": "Joined to" },
                h("h3", {}, "Joined to"),
                entity_tree(this.context, entity),
            ),
            this.source_card(entity.source),
        );
        this.show_values();
    }

    head() {
        const { entity } = this;
        const fact = (title, value) =>
            value === null || value === undefined ? null : h("span", { class: "fact" }, h("small", {}, title), value);
        return h(
            "header",
            { class: "entity-head" },
            h("h2", { id: "entity-title" }, entity.name || "entity", h("span", { class: "id" }, entity.entity)),
            h(
                "div",
                { class: "entity-facts" },
                entity.alive === false ? h("span", { class: "chip bad" }, "destroyed") : null,
                fact(
                    "zone",
                    entity.zone === null || entity.zone === undefined
                        ? null
                        : h("a", { href: `#/zones?zone=${entity.zone}` }, entity.zone),
                ),
                fact("parent", entity.parent ? entity_link(entity.parent) : null),
                fact("owner", entity.owner ? entity_link(entity.owner) : null),
                h("a", { href: `#/world?id=${entity.entity}`, class: "plain" }, "Show in the world"),
            ),
        );
    }

    component_card(name, rows) {
        const component = this.context.component(name);
        const is_disabled = (this.entity.disabled || []).includes(name);
        const lines = rows.flatMap((row, i) =>
            Object.keys(row).map((field) =>
                this.field_line(
                    name,
                    component && component.fields.find((one) => one.name === field),
                    field,
                    rows.length > 1 ? i : null,
                ),
            ),
        );
        return h(
            "section",
            { class: `component ${is_disabled ? "disabled" : ""}`, "data-component": name, "aria-label": name },
            h(
                "h3",
                {},
                h("a", { href: `#/entities?q=${encodeURIComponent(name)}`, title: "All that have it" }, name),
                h("small", {}, component ? store_text(component.store) : ""),
                is_disabled ? h("span", { class: "chip" }, "disabled") : null,
            ),
            lines.length > 0 ? h("div", { class: "fields" }, lines) : h("p", { class: "hint" }, "No fields."),
        );
    }

    // A path names only the first of several components of a type, so the others are read-only.
    field_line(component_name, field, field_name, row) {
        const path = `${component_name}.${field_name}`;
        const value = new FieldValue(
            this.context,
            this.entity.entity,
            path,
            row > 0 && field ? { ...field, editable: false } : field,
        );
        this.values.set(row === null ? path : `${path} ${row}`, value);
        const pin = icon_button(
            "pin",
            `Pin ${path}`,
            () => {
                this.context.pins.toggle(this.id, path);
                pin.setAttribute("aria-pressed", String(this.context.pins.has(this.id, path)));
            },
            { "aria-pressed": String(this.context.pins.has(this.id, path)), "data-pin": path },
        );
        return h(
            "div",
            { class: "field", "data-field": path },
            h("span", { class: "field-name", title: field ? field.type : "" }, field_name),
            value.element,
            h("span", { class: "unit" }, field && field.unit ? field.unit : ""),
            row > 0 ? h("span") : pin,
        );
    }

    source_card(source) {
        if (!source) return null;
        const place = (file, line) => h("code", {}, line ? `${file}:${line}` : file);
        const prefabs = (source.prefabs || []).map((prefab) => h("li", {}, place(prefab.file, prefab.line)));
        const changes = (source.changes || []).map((change) =>
            h("tr", {}, h("td", {}, change.field), h("td", {}, change.by), h("td", { class: "number" }, change.line)),
        );
        return h(
            "section",
            { class: "component source", "aria-label": "Source" },
            h("h3", {}, "Source"),
            h("p", {}, h("b", {}, source.resource), " ", place(source.file, source.line)),
            prefabs.length > 0 ? [h("h4", {}, "Prefabs, from the innermost"), h("ol", {}, prefabs)] : null,
            changes.length > 0
                ? [
                      h("h4", {}, "What each text changed"),
                      h(
                          "table",
                          { class: "small" },
                          h(
                              "thead",
                              {},
                              h(
                                  "tr",
                                  {},
                                  ["Field", "By", "Line"].map((name, i) =>
                                      h("th", { scope: "col", class: i === 2 ? "number" : null }, name),
                                  ),
                              ),
                          ),
                          h("tbody", {}, changes),
                      ),
                  ]
                : null,
        );
    }

    show_values() {
        for (const [name, rows] of components_of(this.entity)) {
            rows.forEach((row, i) => {
                for (const [field, now] of Object.entries(row)) {
                    const value = this.values.get(rows.length > 1 ? `${name}.${field} ${i}` : `${name}.${field}`);
                    if (value) value.show(now);
                }
            });
        }
        this.show_properties();
    }

    show_properties() {
        const properties = properties_of(this.entity);
        if (this.properties.children.length !== properties.length) {
            fill(
                this.properties,
                properties.map(([name, , is_own]) =>
                    h("div", { class: is_own ? null : "inherited" }, h("dt", {}, name), h("dd")),
                ),
            );
        }
        properties.forEach(([, value], i) => set_text(this.properties.children[i].lastChild, value_text(value)));
    }
}
