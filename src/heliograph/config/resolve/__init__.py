"""Which value counts: prefixes and layers, placeholders and providers, and what a user got wrong."""
