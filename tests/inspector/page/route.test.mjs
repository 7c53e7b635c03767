import assert from "node:assert/strict";
import { test } from "node:test";
import { parse_route, request_path, route_text } from "../../../src/inspector/page/route.js";

test("an address names a view and its parameters", () => {
    assert.deepEqual(parse_route("#/entities?id=12:3&q=fish%2C%20!sated"), {
        view: "entities",
        parameters: { id: "12:3", q: "fish, !sated" },
    });
    assert.deepEqual(parse_route("#/sql/"), { view: "sql", parameters: {} });
    assert.deepEqual(parse_route(""), { view: "", parameters: {} });
});

test("an address that is written is read back as it was", () => {
    const parameters = { id: "12:3", q: 'body.mass > 2 & "a"=1?#' };
    assert.deepEqual(parse_route(route_text("entities", parameters)).parameters, parameters);
});

test("entities stay readable in an address, and empty parameters are left out", () => {
    assert.equal(route_text("entities", { id: "12:3", q: "", view: null }), "#/entities?id=12:3");
    assert.equal(route_text("memory"), "#/memory");
});

test("a request has its parameters behind the path, zero included", () => {
    assert.equal(
        request_path("/api/entities", { query: "a, b", after: undefined, limit: 0 }),
        "/api/entities?query=a%2C%20b&limit=0",
    );
    assert.equal(request_path("/api/world"), "/api/world");
});
