// The world as points: pan, zoom, colours; a click inspects the nearest point, query matches are highlighted, and Shift
// with a drag selects a box.

import { get, get_bytes } from "./api.js";
import { kind_color } from "./colors.js";
import { kind_of_search } from "./completion.js";
import { debounced, entity_link, fill, h, icon_button, notice, set_text } from "./dom.js";
import { count_text, counted_text, number_text } from "./format.js";
import { recalled, remember } from "./memo.js";
import { make_point_painter } from "./point_painter.js";
import {
    PointGrid,
    color_slots,
    decode_points,
    entity_of_point,
    fitting_camera,
    to_pixels,
    to_world,
    zoomed,
} from "./points.js";
import { SearchBox } from "./search_box.js";
import { css_color } from "./theme.js";

const kFrame_ms = 33;
const kClick_pixels = 8;
const kMaxListed = 200;
const kMaxLegend = 16;
const kNumbers = /^(?:u?int|float|double|half|bool)[^[]*$/;
const kParts = { vec2: ["x", "y"], vec3: ["x", "y", "z"], vec4: ["x", "y", "z", "w"] };

function color_options(components) {
    const fields = components.flatMap((component) =>
        component.fields.flatMap((field) => {
            const path = `${component.name}.${field.name}`;
            if (field.type in kParts) return kParts[field.type].map((part) => `${path}.${part}`);
            return kNumbers.test(field.type) ? [path] : [];
        }),
    );
    return ["component", "zone", ...fields];
}

class WorldView {
    constructor(context) {
        Object.assign(this, {
            context,
            points: null,
            grid: null,
            camera: recalled("world.camera", null),
            chosen: null,
            box: null,
            drag: null,
            color: recalled("world.color", "component"),
            query: "",
            is_open: false,
            loaded_frame: -1,
            needs_load: true,
            error: "",
            request: 0,
            fresh: true,
        });
        this.canvas = h("canvas", { class: "points" });
        this.marks = h("canvas", {
            class: "marks",
            tabindex: 0,
            role: "img",
            "aria-label": "Map of entities",
            id: "world-map",
        });
        this.stage = h(
            "div",
            { class: "stage" },
            this.canvas,
            this.marks,
            (this.message = h("div", { class: "stage-message" })),
        );
        this.color_select = h("select", {
            id: "world-color",
            "aria-label": "Colour by",
            onchange: () => this.set_color(this.color_select.value),
        });
        this.search = new SearchBox({
            id: "world-query",
            label: "Highlight by query",
            placeholder: "highlight: fish, sated.left < 5",
            components: () => context.components,
            on_search: debounced((text) => this.set_query(text), 200),
        });
        this.count = h("p", { class: "list-count", id: "world-count", role: "status" });
        this.legend = h("div", { class: "legend", "aria-label": "Legend" });
        this.chosen_box = h("div", { class: "chosen-point" });
        this.selected = h("div", { class: "selected-points", id: "world-selected" });
        this.element = h(
            "div",
            { class: "view world" },
            h(
                "header",
                { class: "view-head" },
                h("h1", {}, "World"),
                this.search.element,
                h("label", { class: "inline" }, "Colour ", this.color_select),
                icon_button("fit", "Show all (0)", () => this.fit(), { id: "world-fit" }),
            ),
            h(
                "div",
                { class: "world-box" },
                this.stage,
                h(
                    "aside",
                    { class: "details", "aria-label": "Points" },
                    this.count,
                    this.legend,
                    this.chosen_box,
                    this.selected,
                ),
            ),
        );
        this.listen();
        this.painter = make_point_painter(this.canvas);
        if (!this.painter)
            fill(
                this.message,
                notice("Points cannot be drawn.", "This browser's WebGL does not compile the shaders.", "error"),
            );
    }

    listen() {
        const { marks } = this;
        marks.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
        marks.addEventListener("pointerdown", (event) => this.pressed(event));
        marks.addEventListener("pointermove", (event) => this.moved(event));
        marks.addEventListener("pointerup", (event) => this.released(event));
        marks.addEventListener("keydown", (event) => this.key_pressed(event));
        addEventListener("keydown", (event) => {
            if (this.is_open && event.key === "0" && !event.target.closest("input, select, textarea")) this.fit();
        });
        new ResizeObserver(() => this.resized()).observe(this.stage);
        document.addEventListener("shoal-components", () => this.show_colors());
    }

    // --- data --------------------------------------------------------------------------------------------------------

    async load() {
        const request = ++this.request;
        const parameters = { color: this.color, query: this.query };
        const frame = this.context.world.last ? this.context.world.last.frame : 0;
        try {
            const points = decode_points(await get_bytes("/api/points", parameters));
            if (request !== this.request) return;
            if (points.error) throw new Error(points.error);
            this.show_points(points);
            this.search.show_error(null);
            this.loaded_frame = frame;
        } catch (error) {
            if (request === this.request) this.show_failure(error);
        }
    }

    show_points(points) {
        this.points = points;
        this.grid = null;
        fill(this.message);
        if (this.painter) this.painter.load(points, color_slots(points));
        if (!this.camera && points.count > 0) this.fit();
        if (points.count === 0)
            fill(
                this.message,
                notice(
                    "No entity has a position.",
                    "Points are entities with a transform, or with a field called position.",
                ),
            );
        this.follow_chosen();
        this.show_count();
        this.show_legend();
        this.draw();
    }

    show_failure(error) {
        if (this.query && error.status === 400 && (error.line || this.color === "component" || this.color === "zone")) {
            this.search.show_error(error);
            this.query = "";
        } else if (error.status === 400 && this.color !== "component") {
            this.context.toast(error.message, "error");
            this.set_color("component");
            this.show_colors();
        } else if (!this.points) {
            fill(this.message, notice("Points cannot be shown.", error.message, "error"));
        }
    }

    // Requests the next answer when the last one is drawn: as fast as program and browser allow, at most 30 a second.
    async run() {
        while (this.is_open) {
            const begin = performance.now();
            const world = this.context.world.last;
            const is_stale = this.needs_load || !world || !world.paused || world.frame !== this.loaded_frame;
            if (is_stale && !document.hidden && document.documentElement.dataset.connection !== "gone") {
                this.needs_load = false;
                await this.load();
                await new Promise(requestAnimationFrame);
            }
            await new Promise((go) => setTimeout(go, Math.max(1, kFrame_ms - (performance.now() - begin))));
        }
        this.is_running = false;
    }

    // --- side panel --------------------------------------------------------------------------------------------------

    show_colors() {
        const options = color_options(this.context.components);
        if (!options.includes(this.color)) options.push(this.color);
        fill(
            this.color_select,
            options.map((name) => h("option", { value: name }, name)),
        );
        this.color_select.value = this.color;
    }

    set_color(color) {
        this.color = color;
        this.needs_load = true;
        remember("world.color", color);
    }

    set_query(text) {
        const search = kind_of_search(text, this.context.components);
        this.query = search.text;
        this.needs_load = true;
        if (search.kind === "all") this.search.show_error(null);
    }

    show_count() {
        const { count, total, selected } = this.points;
        const is_part = total !== undefined && total > count ? ` of ${count_text(total)}` : "";
        let num_selected = 0;
        for (let i = 0; this.query && i < count; ++i) num_selected += selected[i];
        set_text(
            this.count,
            `${counted_text(count, "point", "points")}${is_part}${this.query ? `, ${count_text(num_selected)} match` : ""}`,
        );
    }

    show_legend() {
        const { legend, color } = this.points;
        const key = JSON.stringify(legend);
        if (this.legend.dataset.shown === key) return;
        this.legend.dataset.shown = key;
        if (!Array.isArray(legend)) {
            fill(
                this.legend,
                h("h3", {}, color),
                h(
                    "p",
                    { class: "ramp-legend" },
                    number_text(legend.min),
                    h("i", { class: "ramp" }),
                    number_text(legend.max),
                ),
            );
            return;
        }
        const shown = legend.slice(0, kMaxLegend);
        fill(
            this.legend,
            h("h3", {}, color),
            h(
                "ul",
                {},
                shown.map((entry, i) => {
                    const dot = h("i", { class: "dot" });
                    dot.style.background = kind_color(i);
                    return h("li", {}, dot, entry.name);
                }),
            ),
            legend.length > shown.length ? h("p", { class: "hint" }, `and ${legend.length - shown.length} more`) : null,
        );
    }

    async choose(i) {
        this.chosen = i < 0 ? null : { entity: entity_of_point(this.points, i), i };
        this.draw();
        if (!this.chosen) return fill(this.chosen_box);
        const { entity } = this.chosen;
        fill(this.chosen_box, h("h3", {}, "Chosen"), entity_link(entity));
        try {
            const found = await get("/api/entity", { id: entity });
            if (this.chosen && this.chosen.entity === entity) this.show_chosen(found);
        } catch (error) {
            fill(this.chosen_box, h("h3", {}, "Chosen"), h("p", { class: "field-error" }, error.message));
        }
        return undefined;
    }

    show_chosen(found) {
        fill(
            this.chosen_box,
            h("h3", {}, "Chosen"),
            entity_link(found.entity, found.name),
            h("p", { class: "hint" }, `zone ${found.zone}: ${Object.keys(found.components).join(", ")}`),
            h("a", { class: "plain", href: `#/entities?id=${found.entity}` }, "Inspect"),
        );
    }

    // The chosen entity may have another index in the next answer.
    follow_chosen() {
        if (!this.chosen) return;
        const { points, chosen } = this;
        if (chosen.i >= 0 && chosen.i < points.count && entity_of_point(points, chosen.i) === chosen.entity) return;
        const [index, generation] = chosen.entity.split(":").map(Number);
        chosen.i = points.index.findIndex((one, i) => one === index && points.generation[i] === generation);
    }

    select_box(low, high) {
        if (!this.points) return;
        const found = this.find_grid().inside(low[0], low[1], high[0], high[1]);
        const listed = found.slice(0, kMaxListed).map((i) => entity_link(entity_of_point(this.points, i)));
        fill(
            this.selected,
            h("h3", {}, `${counted_text(found.length, "entity", "entities")} in the box`),
            listed.length > 0 ? h("div", { class: "entity-links" }, listed) : null,
            found.length > kMaxListed ? h("p", { class: "hint" }, `The first ${kMaxListed} are listed.`) : null,
        );
    }

    find_grid() {
        if (!this.grid) this.grid = new PointGrid(this.points.x, this.points.y);
        return this.grid;
    }

    // --- drawing ----------------------------------------------------------------------------------------------------

    get size() {
        return [Math.max(1, this.stage.clientWidth), Math.max(1, this.stage.clientHeight)];
    }

    resized() {
        const [width, height] = this.size;
        const ratio = Math.min(2, devicePixelRatio || 1);
        for (const canvas of [this.canvas, this.marks]) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
        }
        if (this.points && !recalled("world.camera", null)) this.fit();
        this.draw();
    }

    fit() {
        if (!this.points || this.points.count === 0) return;
        const [width, height] = this.size;
        this.camera = fitting_camera(this.points.low, this.points.high, width, height);
        remember("world.camera", null);
        this.draw();
    }

    draw() {
        if (!this.points || !this.camera || !this.painter) return;
        const [width, height] = this.size;
        const all = fitting_camera(this.points.low, this.points.high, width, height);
        const room = Math.sqrt((width * height) / Math.max(1, this.points.count)); // pixels between points
        const size = Math.max(2.2, Math.min(10, 0.28 * room * Math.sqrt(this.camera.scale / all.scale)));
        this.painter.draw(this.camera, width, height, size, this.query !== "");
        this.draw_marks(width, height);
    }

    draw_marks(width, height) {
        const context = this.marks.getContext("2d");
        const ratio = this.marks.width / width;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        this.draw_scale(context, height);
        context.strokeStyle = css_color("accent");
        if (this.box) {
            const [x, y, to_x, to_y] = this.box;
            context.fillStyle = `${css_color("accent")}22`;
            context.fillRect(x, y, to_x - x, to_y - y);
            context.strokeRect(x + 0.5, y + 0.5, to_x - x, to_y - y);
        }
        if (!this.chosen || this.chosen.i < 0) return;
        const [x, y] = to_pixels(
            this.camera,
            width,
            height,
            this.points.x[this.chosen.i],
            this.points.y[this.chosen.i],
        );
        context.lineWidth = 2;
        context.beginPath();
        context.arc(x, y, 9, 0, 2 * Math.PI);
        context.stroke();
        context.lineWidth = 1;
    }

    draw_scale(context, height) {
        const wanted = 120 / this.camera.scale;
        const power = 10 ** Math.floor(Math.log10(wanted));
        const length = power * [5, 2, 1].find((factor) => factor * power <= wanted);
        const pixels = length * this.camera.scale;
        context.strokeStyle = context.fillStyle = css_color("muted");
        context.font = "11px system-ui, sans-serif";
        context.strokeRect(14.5, height - 16.5, pixels, 0);
        context.strokeRect(14.5, height - 20.5, 0, 8);
        context.strokeRect(14.5 + pixels, height - 20.5, 0, 8);
        context.fillText(`${number_text(length)} m`, 20, height - 22);
    }

    // --- mouse and touch ---------------------------------------------------------------------------------------------

    change_camera(camera) {
        this.camera = camera;
        remember("world.camera", camera);
        this.draw();
    }

    wheeled(event) {
        event.preventDefault();
        if (!this.camera) return;
        const factor = Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015));
        this.change_camera(zoomed(this.camera, ...this.size, event.offsetX, event.offsetY, factor));
    }

    pressed(event) {
        if (!this.camera || event.button !== 0) return;
        this.marks.setPointerCapture(event.pointerId);
        this.drag = {
            x: event.offsetX,
            y: event.offsetY,
            camera: this.camera,
            is_box: event.shiftKey,
            has_moved: false,
        };
    }

    moved(event) {
        const { drag } = this;
        if (!drag) return;
        const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
        drag.has_moved = drag.has_moved || Math.hypot(dx, dy) > 3;
        if (!drag.has_moved) return;
        if (drag.is_box) {
            this.box = [
                Math.min(drag.x, event.offsetX),
                Math.min(drag.y, event.offsetY),
                Math.max(drag.x, event.offsetX),
                Math.max(drag.y, event.offsetY),
            ];
            this.draw();
        } else {
            this.change_camera({
                ...drag.camera,
                x: drag.camera.x - dx / drag.camera.scale,
                y: drag.camera.y + dy / drag.camera.scale,
            });
        }
    }

    released(event) {
        const { drag } = this;
        this.drag = null;
        if (!drag || !this.points) return;
        const [width, height] = this.size;
        if (drag.has_moved && drag.is_box) {
            const [x, y, to_x, to_y] = this.box;
            this.select_box(
                to_world(this.camera, width, height, x, to_y),
                to_world(this.camera, width, height, to_x, y),
            );
            this.box = null;
            this.draw();
        } else if (!drag.has_moved) {
            const [x, y] = to_world(this.camera, width, height, event.offsetX, event.offsetY);
            this.choose(this.find_grid().nearest(x, y, kClick_pixels / this.camera.scale));
        }
    }

    key_pressed(event) {
        const [width, height] = this.size;
        const move = { ArrowLeft: [-60, 0], ArrowRight: [60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
        const factor = { "+": 1.25, "=": 1.25, "-": 0.8 }[event.key];
        if (!this.camera || (!move && !factor)) return;
        event.preventDefault();
        if (factor) return this.change_camera(zoomed(this.camera, width, height, width / 2, height / 2, factor));
        return this.change_camera({
            ...this.camera,
            x: this.camera.x + move[0] / this.camera.scale,
            y: this.camera.y + move[1] / this.camera.scale,
        });
    }

    // --- opening and closing -----------------------------------------------------------------------------------------

    open(parameters) {
        if (parameters.color) this.set_color(parameters.color);
        if (parameters.q !== undefined) {
            this.search.text = parameters.q;
            this.set_query(parameters.q);
        }
        if (parameters.id) {
            this.chosen = { entity: parameters.id, i: -1 };
            get("/api/entity", { id: parameters.id }).then(
                (found) => this.show_chosen(found),
                () => {},
            );
        }
        this.show_colors();
        this.needs_load = true;
        this.is_open = true;
        if (!this.is_running) {
            this.is_running = true;
            this.run();
        }
    }

    close() {
        this.is_open = false;
    }
}

export function make_world_view(context) {
    return new WorldView(context);
}
