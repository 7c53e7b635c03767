// Reads an answer of GET /api/entity. No DOM.

/// {entity: "12:3", name: "boat"} for a written reference, "12:3 boat"; null if it is not a reference.
export function reference_of(value) {
    const match = typeof value === "string" ? value.match(/^(\d+:\d+)(?: (.*))?$/s) : null;
    return match ? { entity: match[1], name: match[2] || "" } : null;
}

/// The rows of a component: a type with `many` gives a list.
export function rows_of(data) {
    return (Array.isArray(data) ? data : [data]).map((row) => (row && typeof row === "object" ? row : {}));
}

/// The components that are shown with fields: [name, rows]. Properties are left out: see properties_of().
export function components_of(entity) {
    return Object.entries(entity.components || {})
        .filter(([name]) => name !== "properties")
        .map(([name, data]) => [name, rows_of(data)]);
}

/// [name, value, is_own] of each property: those of the template, and the entity's own.
export function properties_of(entity) {
    const written = entity.properties || (entity.components || {}).properties || {};
    const { values, overrides } = written;
    if (!values && !overrides) return Object.entries(written).map(([name, value]) => [name, value, true]);
    const own = overrides || {};
    const all = { ...values, ...own };
    return Object.keys(all).map((name) => [name, all[name], name in own]);
}

/// The fields of an entity that refer to entities: [{entity, name, field}].
export function links_of(entity, component_of) {
    return components_of(entity).flatMap(([name, rows]) => {
        const component = component_of(name);
        const fields = component ? component.fields.filter((field) => field.type === "entity") : [];
        return rows
            .flatMap((row) =>
                fields.map((field) => ({ reference: reference_of(row[field.name]), field: `${name}.${field.name}` })),
            )
            .filter(({ reference }) => reference)
            .map(({ reference, field }) => ({ ...reference, field }));
    });
}

/// The groups of a node of the tree: [[title, [{entity, name, field}]]], without empty ones.
export function relatives_of(entity, component_of) {
    const one = (id) => (reference_of(id) ? [reference_of(id)] : []);
    return [
        ["parent", one(entity.parent)],
        ["owner", one(entity.owner)],
        ["children", entity.children || []],
        ["owns", entity.owned || []],
        ["links to", links_of(entity, component_of)],
        ["referred to by", entity.referrers || []],
    ].filter(([, relatives]) => relatives.length > 0);
}

/// The value of a field, "body.mass", of its first component; undefined if there is none.
export function value_of_field(entity, path) {
    const place = path.indexOf(".");
    const data = (entity.components || {})[path.slice(0, place)];
    return data === undefined ? undefined : rows_of(data)[0] && rows_of(data)[0][path.slice(place + 1)];
}
