"""A receiver of OTLP over HTTP that reads with OpenTelemetry's official protobufs, as a collector does."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)


class Collector:
    """`status`: what it answers."""

    def __init__(self) -> None:
        self.status = 200
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.url = ""

    def newest(self) -> dict[str, Any]:
        """The metrics of the last request, by name."""
        if not self.requests:
            return {}
        _, _, request = self.requests[-1]
        return {
            metric.name: metric
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        }

    def resource(self) -> dict[str, str]:
        _, _, request = self.requests[-1]
        (found,) = request.resource_metrics
        return attributes(found.resource)


def attributes(point: Any) -> dict[str, str]:
    return {each.key: each.value.string_value for each in point.attributes}


@contextmanager
def collector() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            if self.headers.get("content-encoding") == "gzip":
                body = gzip.decompress(body)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = ExportMetricsServiceRequest.FromString(body)
            found.requests.append((self.path, headers, request))
            answer = ExportMetricsServiceResponse().SerializeToString()
            self.send_response(found.status)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, name="collector")
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
