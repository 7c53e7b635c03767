"""Asks the live inspector of a running program: what its page shows, and what it can change.

    world = Inspector("http://127.0.0.1:8080/")
    print(world.get("/api/world")["frame"])
    for fish in world.entities("fish, sated.left > 0.9"):
        world.set(fish, "sated.left", 0.5)
    world.step(10)

GET /api/openapi.json describes all paths. The file needs only Python's own library, and works alone.
"""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Iterator


class InspectorError(Exception):
    """The inspector refused a request. `status` is that of HTTP; `line` and `column` say where in a text that was sent."""

    def __init__(self, status: int, message: str, line: int | None = None, column: int | None = None):
        super().__init__(message)
        self.status, self.line, self.column = status, line, column


class Inspector:
    """One running world. `url`: as the program prints it; a token that it names is taken from there."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 10):
        parts = urllib.parse.urlsplit(url)
        given = urllib.parse.parse_qs(parts.query).get("token")
        self._base = f"{parts.scheme}://{parts.netloc}"
        self._token = token or (given[0] if given else None)
        self._timeout = timeout

    def get(self, path: str, **parameters: Any) -> Any:
        """Returns what GET gives: JSON as Python has it, bytes of /api/points, or a text."""
        query = urllib.parse.urlencode({key: value for key, value in parameters.items() if value is not None})
        return self._ask(urllib.request.Request(self._base + path + ("?" + query if query else "")))

    def post(self, path: str, **body: Any) -> Any:
        """Returns what POST gives for a JSON object."""
        request = urllib.request.Request(self._base + path, json.dumps(body).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        return self._ask(request)

    def entities(self, query: str | None = None, name: str | None = None) -> Iterator[str]:
        """The ids of entities, such as "12:3": those that a query selects, or whose name has this part, or all."""
        after = None
        while True:
            page = self.get("/api/entities", query=query, name=name, after=after, limit=1000)
            for entity in page["entities"]:
                yield (after := entity["entity"])
            if not page["more"]:
                return

    def entity(self, entity: str) -> dict:
        """All that an entity has."""
        return self.get("/api/entity", id=entity)

    def set(self, entity: str, field: str, value: Any) -> Any:
        """Sets a field, such as "body.mass", and returns its value then."""
        return self.post("/api/set", entity=entity, field=field, value=value)["value"]

    def pause(self) -> None:
        self.post("/api/control", action="pause")

    def resume(self) -> None:
        self.post("/api/control", action="resume")

    def step(self, frames: int = 1) -> None:
        """Runs so many frames, and waits until the world is paused behind them."""
        goal = self.get("/api/world")["frame"] + frames
        self.post("/api/control", action="step", frames=frames)
        while (shown := self.get("/api/world"))["frame"] < goal or not shown["paused"]:
            time.sleep(0.01)

    def _ask(self, request: urllib.request.Request) -> Any:
        if self._token:
            request.add_header("Authorization", "Bearer " + self._token)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                body, kind = response.read(), response.headers.get_content_type()
        except urllib.error.HTTPError as refused:
            raise _error(refused.code, refused.read()) from None
        if kind == "application/json":
            return json.loads(body)
        return body.decode() if kind.startswith("text/") else body


def _error(status: int, body: bytes) -> InspectorError:
    try:
        error = json.loads(body)["error"]
    except (ValueError, KeyError, TypeError):
        return InspectorError(status, body.decode(errors="replace"))
    return InspectorError(status, error["message"], error.get("line"), error.get("column"))
