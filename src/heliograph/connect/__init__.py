"""The herders: connectors, their statuses and offsets, as a Connect worker keeps them."""
