"""Renders templates, and serves the static files beside them; both are part of the package."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import jinja2

from heliograph import __version__
from heliograph.counted import counted
from heliograph.web.exchange import Refused, RestResponse
from heliograph.web.ui.views import numbers

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_NAME = re.compile(r"[a-z0-9.-]{1,60}")

#: Everything comes from this listener; no script or style in the page itself, no frame around it.
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
#: Referrer-Policy may not be no-referrer: a browser would send `Origin: null` with a form.
HEADERS: Mapping[str, str] = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_FRESH = {**HEADERS, "cache-control": "no-store", "vary": "Accept"}
#: The address of a static file changes with its content.
_KEPT = {**HEADERS, "cache-control": "private, max-age=31536000, immutable"}


def html(text: str, status: int = 200) -> RestResponse:
    return RestResponse(
        status=status,
        content=text.encode("utf-8", "backslashreplace"),
        media_type="text/html; charset=utf-8",
        headers=_FRESH,
    )


def see_other(location: str) -> RestResponse:
    """The browser continues with a GET, so that reloading the page repeats nothing."""
    headers = {**_FRESH, "location": location}
    return RestResponse(status=303, media_type=None, headers=headers)


def static_file(name: str) -> RestResponse:
    """Raises Refused (404)."""
    content = _static().get(name) if _NAME.fullmatch(name) else None
    if content is None:
        raise Refused(404, "HTTP 404 Not Found", routed=False)
    media_type = _TYPES["." + name.rpartition(".")[2]]
    return RestResponse(status=200, content=content, media_type=media_type, headers=_KEPT)


@cache
def _static() -> dict[str, bytes]:
    folder = files("heliograph.web.ui").joinpath("static")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


@cache
def _address(name: str) -> str:
    return f"/ui/static/{name}?v={hashlib.sha256(_static()[name]).hexdigest()[:12]}"


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": numbers.count,
        "short": numbers.short,
        "per_second": numbers.per_second,
        "bytes_per_second": numbers.bytes_per_second,
        "clock_time": numbers.clock_time,
        "iso": numbers.iso,
    }
    environment.globals |= {"static": _address, "version": __version__, "counted": counted}
    return environment


def _template(name: str) -> str:
    return files("heliograph.web.ui").joinpath("templates", name).read_text("utf-8")


def rendered(template: str, **values: object) -> str:
    return _environment().get_template(template).render(**values)
