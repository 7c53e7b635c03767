// Draws points: with WebGL in one draw call, or without it on a 2D canvas.

import { slot_colors, to_pixels } from "./points.js";

const kVertexShader = `
attribute float point_x, point_y, slot, selected;
uniform vec2 middle, scale;
uniform float size, dims, growth;
uniform sampler2D colors;
varying vec4 color;
void main() {
    float is_first = max(selected, 1.0 - dims);
    vec4 own = texture2D(colors, vec2((slot * 255.0 + 0.5) / 256.0, 0.5));
    gl_Position = vec4((point_x - middle.x) * scale.x, (point_y - middle.y) * scale.y, own.a * 0.4 - 0.5 * selected, 1.0);
    gl_PointSize = size * (1.0 + growth * selected * dims);
    color = vec4(own.rgb, mix(0.16, 0.92, is_first));
}`;

const kFragmentShader = `
precision mediump float;
varying vec4 color;
void main() {
    float distance_squared = dot(gl_PointCoord - 0.5, gl_PointCoord - 0.5);
    if (distance_squared > 0.25) discard;
    gl_FragColor = vec4(color.rgb * color.a, color.a);
}`;

const kFew = 20;

function compiled(gl, type, text) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    return shader;
}

function linked_program(gl) {
    const program = gl.createProgram();
    gl.attachShader(program, compiled(gl, gl.VERTEX_SHADER, kVertexShader));
    gl.attachShader(program, compiled(gl, gl.FRAGMENT_SHADER, kFragmentShader));
    gl.linkProgram(program);
    return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

/// Layout: a buffer each for x, y (float), slot and selected (byte) of the points.
class WebGlPainter {
    constructor(gl, program) {
        this.gl = gl;
        this.program = program;
        this.count = 0;
        this.names = ["point_x", "point_y", "slot", "selected"];
        this.buffers = this.names.map(() => gl.createBuffer());
        this.places = this.names.map((name) => gl.getAttribLocation(program, name));
        this.uniforms = Object.fromEntries(
            ["middle", "scale", "size", "dims", "growth"].map((name) => [name, gl.getUniformLocation(program, name)]),
        );
        gl.useProgram(program);
        gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
        gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
        gl.enable(gl.DEPTH_TEST);
        gl.depthFunc(gl.LEQUAL);
    }

    load(points, slots) {
        const { gl } = this;
        this.count = points.count;
        let num_selected = 0;
        for (let i = 0; i < points.count; ++i) num_selected += points.selected[i];
        this.growth = num_selected * kFew < points.count ? 0.8 : 0; // enlarges a small selection, so that it is visible
        [points.x, points.y, slots, points.selected].forEach((data, i) => {
            gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[i]);
            gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
            gl.enableVertexAttribArray(this.places[i]);
            if (i < 2) gl.vertexAttribPointer(this.places[i], 1, gl.FLOAT, false, 0, 0);
            else gl.vertexAttribPointer(this.places[i], 1, gl.UNSIGNED_BYTE, i === 2, 0, 0);
        });
        gl.texImage2D(
            gl.TEXTURE_2D,
            0,
            gl.RGBA,
            256,
            1,
            0,
            gl.RGBA,
            gl.UNSIGNED_BYTE,
            slot_colors(points.legend, slots),
        );
    }

    draw(camera, width, height, size, dims) {
        const { gl, uniforms } = this;
        gl.viewport(0, 0, gl.canvas.width, gl.canvas.height);
        gl.clearColor(0, 0, 0, 0);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.uniform2f(uniforms.middle, camera.x, camera.y);
        gl.uniform2f(uniforms.scale, (2 * camera.scale) / width, (2 * camera.scale) / height);
        gl.uniform1f(uniforms.size, size * (gl.canvas.width / width));
        gl.uniform1f(uniforms.dims, dims ? 1 : 0);
        gl.uniform1f(uniforms.growth, this.growth);
        if (this.count > 0) gl.drawArrays(gl.POINTS, 0, this.count);
    }
}

class CanvasPainter {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.points = null;
    }

    load(points, slots) {
        Object.assign(this, { points, slots, colors: slot_colors(points.legend, slots) });
    }

    draw(camera, width, height, size, dims) {
        const { context, points, slots, colors } = this;
        const ratio = this.canvas.width / width;
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        for (let i = 0; points && i < points.count; ++i) {
            const [x, y] = to_pixels(camera, width, height, points.x[i], points.y[i]);
            if (x < 0 || y < 0 || x > width || y > height) continue;
            const c = slots[i] * 4;
            context.fillStyle = `rgba(${colors[c]},${colors[c + 1]},${colors[c + 2]},${dims && !points.selected[i] ? 0.16 : 0.92})`;
            context.fillRect(x - size / 2, y - size / 2, size, size);
        }
    }
}

/// A painter for a canvas: load(points, slots), then draw(camera, width, height, size, dims).
export function make_point_painter(canvas) {
    const gl = canvas.getContext("webgl", { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
    const program = gl && linked_program(gl);
    if (program) return new WebGlPainter(gl, program);
    return gl ? null : new CanvasPainter(canvas);
}
