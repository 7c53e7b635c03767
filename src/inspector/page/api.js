// Requests to the inspector, and the stream of updates.

import { request_path } from "./route.js";

/// An error response of the server. `line` and `column` are set for errors in queries and SQL.
export class ApiError extends Error {
    constructor(message, status, { line = null, column = null } = {}) {
        super(message);
        Object.assign(this, { status, line, column });
    }
}

async function failure_of(response) {
    let error = {};
    try {
        error = (await response.json()).error || {};
    } catch {
        // Not JSON: use the status.
    }
    return new ApiError(error.message || `the server answered ${response.status}`, response.status, error);
}

async function request(path, options) {
    let response = null;
    try {
        response = await fetch(path, options);
    } catch (error) {
        if (error.name === "AbortError") throw error;
        throw new ApiError("the program does not answer", 0);
    }
    if (!response.ok) throw await failure_of(response);
    return response;
}

/// GET; empty parameters are left out. Errors: ApiError; status 0 if there is no answer.
export async function get(path, parameters = {}, options = {}) {
    return (await request(request_path(path, parameters), options)).json();
}

export async function get_bytes(path, parameters = {}, options = {}) {
    return (await request(request_path(path, parameters), options)).arrayBuffer();
}

export async function post(path, body) {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
    return (await request(path, options)).json();
}

const kRate = 4; // per second
const kMaxPaths = 16;
const kRetries_ms = [500, 1000, 2000, 4000];

/// The WebSocket of the server: the server sends watched data several times a second while frames run.
/// Reconnects when the connection is lost; `on_state` is called with "live" and "gone".
export class Live {
    constructor(on_state) {
        this.on_state = on_state;
        this.watchers = new Map(); // by path: the functions that receive its bodies
        this.socket = null;
        this.attempts = 0;
        this.is_sending_soon = false;
    }

    connect() {
        const scheme = location.protocol === "https:" ? "wss:" : "ws:";
        const socket = new WebSocket(`${scheme}//${location.host}/api/stream`);
        this.socket = socket;
        socket.onopen = () => {
            this.attempts = 0;
            this.on_state("live");
            this.send_paths();
        };
        socket.onmessage = (event) => this.deliver(JSON.parse(event.data));
        socket.onclose = () => {
            this.on_state("gone");
            const wait = kRetries_ms[Math.min(this.attempts++, kRetries_ms.length - 1)];
            setTimeout(() => this.connect(), wait);
        };
    }

    deliver({ path, status, body }) {
        const error =
            status >= 400
                ? new ApiError((body.error || {}).message || `status ${status}`, status, body.error || {})
                : null;
        for (const hear of [...(this.watchers.get(path) || [])]) hear(error ? null : body, error);
    }

    /// Calls hear(body, null) or hear(null, error) for each answer. Returns a function that stops it.
    watch(path, hear) {
        if (!this.watchers.has(path)) this.watchers.set(path, new Set());
        this.watchers.get(path).add(hear);
        this.send_soon();
        return () => {
            const hearers = this.watchers.get(path);
            if (!hearers) return;
            hearers.delete(hear);
            if (hearers.size === 0) this.watchers.delete(path);
            this.send_soon();
        };
    }

    // Several views may open and close at once; one message tells the server.
    send_soon() {
        if (this.is_sending_soon) return;
        this.is_sending_soon = true;
        queueMicrotask(() => {
            this.is_sending_soon = false;
            this.send_paths();
        });
    }

    send_paths() {
        if (!this.socket || this.socket.readyState !== WebSocket.OPEN) return;
        this.socket.send(JSON.stringify({ watch: [...this.watchers.keys()].slice(0, kMaxPaths), rate: kRate }));
    }
}
