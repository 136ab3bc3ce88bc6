"""All stories, in the order of the documents."""

from __future__ import annotations

from examples.compose_tutorial.story import STORY as COMPOSE_TUTORIAL
from examples.config_map_and_pod.story import STORY as CONFIG_MAP_AND_POD
from examples.event_hubs.story import STORY as EVENT_HUBS
from examples.event_streams_to_local.story import STORY as EVENT_STREAMS_TO_LOCAL
from examples.event_streams_to_strimzi.story import STORY as EVENT_STREAMS_TO_STRIMZI
from examples.local_to_event_streams.story import STORY as LOCAL_TO_EVENT_STREAMS
from examples.msk_workshop.story import STORY as MSK_WORKSHOP
from examples.on_premises_to_cloud.story import STORY as ON_PREMISES_TO_CLOUD
from examples.strimzi_to_event_streams.story import STORY as STRIMZI_TO_EVENT_STREAMS
from examples.strimzi_to_local.story import STORY as STRIMZI_TO_LOCAL
from examples.support.story import Story

STORIES: tuple[Story, ...] = (
    LOCAL_TO_EVENT_STREAMS,
    EVENT_STREAMS_TO_LOCAL,
    STRIMZI_TO_EVENT_STREAMS,
    EVENT_STREAMS_TO_STRIMZI,
    ON_PREMISES_TO_CLOUD,
    CONFIG_MAP_AND_POD,
    COMPOSE_TUTORIAL,
    MSK_WORKSHOP,
    EVENT_HUBS,
    STRIMZI_TO_LOCAL,
)
