"""Sends the sequence of requests to one worker."""

from __future__ import annotations

import http.client
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from conformance.answer import Answer, read_answer
from conformance.errors import ConformanceError
from conformance.step import Step

_REQUEST_SECONDS = 120
_REACHED_SECONDS = 60
_LOOK_SECONDS = 0.25
#: Messages of a 409 while a worker applies a change; the request is repeated.
_NOT_YET = ("due to stale configuration", "because of a conflicting operation")


class Exchange:
    """Requests to the worker at `url` with these clusters; a state may take `patience` seconds."""

    def __init__(
        self, url: str, clusters: Mapping[str, str], patience: float = _REACHED_SECONDS
    ) -> None:
        address = urlsplit(url)
        assert address.hostname is not None
        self._address = (address.hostname, address.port)
        self._clusters = clusters
        self._patience = patience
        self._names = {
            address.netloc: "<worker>",
            **{server: f"<{name}>" for name, server in clusters.items()},
        }

    def ask_all(self, sequence: Sequence[Step], seen: Callable[[Step, Answer], None]) -> None:
        """Raises ConformanceError."""
        for step in sequence:
            seen(step, self._answer(step))

    def _answer(self, step: Step) -> Answer:
        deadline = time.monotonic() + self._patience
        while not self._counts(step, answer := self.ask(step)):
            if time.monotonic() > deadline:
                if step.until is None or step.quiet:
                    raise ConformanceError(
                        f"{step.name}: {step.method} {step.path}: condition not met within "
                        f"{self._patience:g} s; last answer: {answer.as_json()}"
                    )
                return answer
            time.sleep(_LOOK_SECONDS)
        if step.quiet:
            return Answer(status=answer.status, headers={}, body=None)
        return answer

    @staticmethod
    def _counts(step: Step, answer: Answer) -> bool:
        if answer.status == 409 and any(each in str(answer.body) for each in _NOT_YET):
            return False
        return step.until is None or (answer.status == 200 and step.until(answer.body))

    def ask(self, step: Step) -> Answer:
        connection = http.client.HTTPConnection(*self._address, timeout=_REQUEST_SECONDS)
        try:
            connection.request(
                step.method, step.path, step.payload(self._clusters), dict(step.headers)
            )
            response = connection.getresponse()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return read_answer(response.status, headers, response.read(), self._names)
        except (OSError, http.client.HTTPException) as e:
            raise ConformanceError(f"{step.name}: {step.method} {step.path[:200]}: {e!r}") from e
        finally:
            connection.close()
