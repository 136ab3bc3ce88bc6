"""All requests in order; each part needs the state that the one before leaves."""

from __future__ import annotations

from conformance.sequence.bodies import BODIES
from conformance.sequence.creating import CREATING
from conformance.sequence.deleting import DELETING
from conformance.sequence.empty_worker import EMPTY_WORKER
from conformance.sequence.loggers import LOGGERS
from conformance.sequence.offsets import OFFSETS
from conformance.sequence.plugins import PLUGINS
from conformance.sequence.reading import READING
from conformance.sequence.states import STATES
from conformance.sequence.updating import UPDATING
from conformance.sequence.validating import VALIDATING

PARTS = {
    "empty worker": EMPTY_WORKER,
    "plugins": PLUGINS,
    "validating": VALIDATING,
    "bodies": BODIES,
    "creating": CREATING,
    "reading": READING,
    "updating": UPDATING,
    "states": STATES,
    "offsets": OFFSETS,
    "loggers": LOGGERS,
    "deleting": DELETING,
}
SEQUENCE = tuple(step for part in PARTS.values() for step in part)
