import assert from "node:assert/strict";
import { test } from "node:test";
import { csv_text } from "../../../src/inspector/page/csv.js";

test("each row is a line that ends with CR LF", () => {
    assert.equal(
        csv_text(
            ["a", "b"],
            [
                [1, 2.5],
                ["x", null],
            ],
        ),
        "a,b\r\n1,2.5\r\nx,\r\n",
    );
});

test("cells with commas, quotes and line ends are quoted", () => {
    assert.equal(csv_text(["a,b"], [['say "hi"'], ["two\nlines"]]), '"a,b"\r\n"say ""hi"""\r\n"two\nlines"\r\n');
});

test("lists are written as JSON", () => {
    assert.equal(csv_text(["v"], [[[1, 2]]]), 'v\r\n"[1,2]"\r\n');
});
