// Addresses of views: #/entities?id=12:3. No DOM.

/// "#/entities?id=12:3" -> {view: "entities", parameters: {id: "12:3"}}; an empty or broken address names no view.
export function parse_route(hash) {
    const text = hash.startsWith("#") ? hash.slice(1) : hash;
    const [path, search = ""] = text.split("?", 2);
    const view = path.replace(/^\/+|\/+$/g, "");
    const parameters = {};
    for (const [name, value] of new URLSearchParams(search)) parameters[name] = value;
    return { view, parameters };
}

/// The address of a view. Empty parameters are left out; colons stay readable.
export function route_text(view, parameters = {}) {
    const search = Object.entries(parameters)
        .filter(([, value]) => value !== null && value !== undefined && value !== "")
        .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value).replace(/%3A/g, ":")}`)
        .join("&");
    return `#/${view}${search ? `?${search}` : ""}`;
}

/// The address of a request, without empty parameters.
export function request_path(path, parameters = {}) {
    const search = route_text("", parameters).slice(2);
    return path + search;
}
