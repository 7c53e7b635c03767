// The answers of /api/world: the last one, and the last minutes of its numbers, in every view.

import { Series } from "./series.js";

const kSeconds = 600;

export class WorldState {
    constructor(live) {
        this.last = null;
        this.hearers = new Set();
        const names = ["frame_ms", "passes_ms", "settle_ms", "entities", "used", "committed", "events"];
        this.series = Object.fromEntries(names.map((name) => [name, new Series(kSeconds)]));
        live.watch("/api/world", (body, error) => (error ? null : this.hear(body)));
    }

    now() {
        return performance.now() / 1000;
    }

    /// Handles an answer from the stream or from a request.
    hear(world) {
        const is_new_frame = !this.last || this.last.frame !== world.frame;
        this.last = world;
        if (is_new_frame) this.sample(world);
        for (const hear of [...this.hearers]) hear(world);
    }

    sample(world) {
        const memory = world.memory || {};
        const values = { ...world, used: memory.used, committed: memory.committed };
        for (const [name, series] of Object.entries(this.series)) series.add(this.now(), values[name] || 0);
    }

    /// Calls hear(world) now, if there is an answer, and for each answer. Returns a function that stops it.
    on(hear) {
        this.hearers.add(hear);
        if (this.last) hear(this.last);
        return () => this.hearers.delete(hear);
    }
}
