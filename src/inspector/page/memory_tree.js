// The content of the treemap of memory, and the boxes of zones. No DOM.

import { store_text } from "./format.js";

/// The parts of each way to divide memory: [{name, group, used, committed, reserved, wasted}].
export function memory_parts(memory, zones, by) {
    const wasted = (part) => (part.wasted === undefined ? Math.max(0, part.committed - part.used) : part.wasted);
    if (by === "zone") {
        return (zones || []).map((zone) => ({
            ...zone,
            name: `zone ${zone.zone}`,
            group: zone.state,
            rows: zone.entities,
            wasted: wasted(zone),
        }));
    }
    const parts = { component: memory.components, archetype: memory.archetypes, owner: memory.owners }[by] || [];
    return parts.map((part) => ({ ...part, group: store_text(part.store) || by, wasted: wasted(part) }));
}

/// The sums of used, committed, reserved and wasted.
export function memory_totals(parts) {
    const total = { used: 0, committed: 0, reserved: 0, wasted: 0 };
    for (const part of parts) for (const name of Object.keys(total)) total[name] += part[name] || 0;
    return total;
}

/// The hierarchy for d3.treemap: a group per store, with the parts that have some of `measure`.
export function memory_hierarchy(parts, measure) {
    const groups = new Map();
    for (const part of parts) {
        if (!(part[measure] > 0)) continue;
        if (!groups.has(part.group)) groups.set(part.group, { name: part.group, children: [] });
        groups.get(part.group).children.push({ name: part.name, value: part[measure], part });
    }
    return { name: "memory", children: [...groups.values()] };
}

/// Boxes of the map, in the world's units with y up: the zones' own boxes; if no zone has one, a square grid by number.
/// {boxes: [{zone, x, y, width, height}], low, high, is_grid}
export function zone_boxes(zones) {
    const placed = zones.filter((zone) => zone.low && zone.high);
    if (placed.length === 0) return grid_boxes(zones);
    const boxes = placed.map((zone) => ({
        zone,
        x: zone.low[0],
        y: zone.low[1],
        width: zone.high[0] - zone.low[0],
        height: zone.high[1] - zone.low[1],
    }));
    const low = [Math.min(...boxes.map((box) => box.x)), Math.min(...boxes.map((box) => box.y))];
    const high = [
        Math.max(...boxes.map((box) => box.x + box.width)),
        Math.max(...boxes.map((box) => box.y + box.height)),
    ];
    return { boxes, low, high, is_grid: false };
}

function grid_boxes(zones) {
    const shown = zones.filter((zone) => zone.state !== "unloaded");
    const columns = Math.max(1, Math.ceil(Math.sqrt(shown.length)));
    const lines = Math.max(1, Math.ceil(shown.length / columns));
    const boxes = shown.map((zone, i) => ({
        zone,
        x: (i % columns) + 0.04,
        y: lines - 1 - Math.floor(i / columns) + 0.04,
        width: 0.92,
        height: 0.92,
    }));
    return { boxes, low: [0, 0], high: [columns, lines], is_grid: true };
}
