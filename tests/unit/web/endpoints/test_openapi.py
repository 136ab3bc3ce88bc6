"""The document describes the API, and no request that it allows or forbids breaks the worker."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
import yaml
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance
from schemathesis.specs.openapi.schemas import OpenApiSchema

from heliograph.web.app import new_app
from heliograph.web.endpoints.openapi import document
from support.repository import ROOT
from support.rest.asking import HEARTBEAT, Asking

FILE = ROOT / "docs" / "openapi.yaml"


def api() -> Any:
    """A worker with a connector or two."""
    asking = Asking()
    for name in ("c", "A->B.MirrorHeartbeatConnector"):
        asking.ask("POST", "/connectors", {"name": name, "config": HEARTBEAT})
    return new_app(asking.api, asking.config)


def config() -> SchemathesisConfig:
    generation = GenerationConfig(modes=[GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    return SchemathesisConfig(projects=ProjectsConfig(default=ProjectConfig(generation=generation)))


@pytest.fixture
def described() -> OpenApiSchema:
    return schemathesis.openapi.from_asgi("/openapi.json", api(), config=config())


#: Its cases are made in the test: made while tests are collected, they would cost each lane seconds.
schema = schemathesis.pytest.from_fixture("described")


#: The document itself, and requests between workers.
UNDESCRIBED = {
    ("GET", "/openapi.json"),
    ("POST", "/connectors/{connector}/tasks"),
    ("PUT", "/connectors/{connector}/fence"),
}


@schema.parametrize()
@settings(max_examples=6, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_no_request_breaks_the_worker(case: schemathesis.Case) -> None:
    case.call_and_validate(
        checks=[not_a_server_error, response_schema_conformance, status_code_conformance]
    )


def test_the_file_is_the_document() -> None:
    assert yaml.safe_load(FILE.read_text()) == document()


def test_every_route_is_described() -> None:
    described = {
        (method.upper(), path)
        for path, methods in document()["paths"].items()
        for method in methods
    }
    served = {(route.method, route.template) for route in Asking().api.router.routes}

    assert described == served - UNDESCRIBED
    assert served >= UNDESCRIBED


@pytest.mark.parametrize("name", ["Connector", "Status", "Validation", "Error"])
def test_schemas_are_closed(name: str) -> None:
    assert document()["components"]["schemas"][name]["additionalProperties"] is False
