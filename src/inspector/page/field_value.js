// The value of a field, edited in place: Enter or a choice sets it, Escape cancels.

import { post } from "./api.js";
import { entity_link, fill, h, set_text } from "./dom.js";
import { reference_of } from "./entity_data.js";
import { value_text } from "./format.js";
import { editable_text, kind_of_field, parsed_value } from "./values.js";

/// field: as in /api/components, or null if unknown; path: "body.mass".
export class FieldValue {
    constructor(context, entity, path, field) {
        Object.assign(this, { context, entity, path, field, value: undefined, editor: null });
        this.error = h("p", { class: "field-error", role: "alert", hidden: true });
        this.place = h("span", { class: "value" });
        this.element = h("div", { class: "field-value" }, this.place, this.error);
    }

    get is_editable() {
        const world = this.context.world.last;
        return Boolean(this.field && this.field.editable && world && world.can_edit);
    }

    /// Shows a value, unless one is being edited.
    show(value) {
        this.value = value;
        if (this.editor) return;
        const kind = kind_of_field(this.field, value);
        if (kind === "entity" && reference_of(value)) return this.show_link(value);
        if (this.is_editable) return this.show_button(value);
        fill_once(this.place, "SPAN", () => h("span", {}));
        set_text(this.place.firstChild, value_text(value));
    }

    show_link(value) {
        if (this.place.dataset.link === value) return;
        this.place.dataset.link = value;
        const edit = this.is_editable
            ? h("button", { type: "button", class: "edit small", onclick: () => this.edit() }, "change")
            : null;
        const { entity, name } = reference_of(value);
        fill(this.place, entity_link(entity, name), edit);
    }

    show_button(value) {
        const kind = kind_of_field(this.field, value);
        delete this.place.dataset.link;
        fill_once(this.place, "BUTTON", () =>
            h("button", {
                type: "button",
                class: `edit ${kind}`,
                "data-edit": this.path,
                "aria-label": `Edit ${this.path}`,
                onclick: () => this.edit(),
            }),
        );
        set_text(this.place.firstChild, value_text(value));
    }

    edit() {
        if (this.editor) return;
        const kind = kind_of_field(this.field, this.value);
        const words = kind === "truth" ? ["false", "true"] : kind === "words" ? this.field.words : null;
        const attributes = {
            "aria-label": this.path,
            "data-editor": this.path,
            onkeydown: (event) => this.pressed(event),
            onblur: () => this.left(),
        };
        this.editor = words
            ? h(
                  "select",
                  { ...attributes, onchange: () => this.set() },
                  words.map((word) => h("option", { value: word }, word)),
              )
            : h("input", {
                  type: "text",
                  inputmode: kind === "number" ? "decimal" : null,
                  autocomplete: "off",
                  spellcheck: "false",
                  ...attributes,
              });
        const reference = kind === "entity" && reference_of(this.value);
        this.editor.value = reference ? reference.entity : editable_text(this.value);
        delete this.place.dataset.link;
        fill(this.place, this.editor);
        this.editor.focus();
        if (!words) this.editor.select();
    }

    pressed(event) {
        event.stopPropagation();
        if (event.key === "Enter") {
            event.preventDefault();
            this.set();
        }
        if (event.key === "Escape") this.close(true);
    }

    // Leaving a box without Enter cancels the edit. A box with an error stays open, so that the error can be read.
    left() {
        if (this.editor && !this.is_setting && this.error.hidden) this.close(false);
    }

    async set() {
        const parsed = parsed_value(this.field, this.editor.value, this.value);
        if (parsed.error) return this.show_error(parsed.error);
        this.is_setting = true;
        try {
            const answer = await post("/api/set", { entity: this.entity, field: this.path, value: parsed.value });
            this.value = answer.value;
            const world = this.context.world.last;
            if (world) this.context.world.hear({ ...world, undo: answer.undo, redo: 0 });
            this.close(true);
        } catch (error) {
            this.show_error(error.message);
        } finally {
            this.is_setting = false;
        }
        return undefined;
    }

    show_error(text) {
        set_text(this.error, text);
        this.error.hidden = false;
        this.editor.setAttribute("aria-invalid", "true");
        this.editor.focus();
    }

    close(keeps_focus) {
        this.editor = null;
        this.error.hidden = true;
        fill(this.place);
        this.show(this.value);
        if (keeps_focus && this.place.firstChild) this.place.firstChild.focus();
    }
}

function fill_once(place, tag, make) {
    if (place.firstChild && place.firstChild.tagName === tag && place.childNodes.length === 1) return;
    fill(place, make());
}
