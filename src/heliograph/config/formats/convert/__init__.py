"""From one form of a configuration into another, by way of an outline: workers and their connectors.

Nothing is filled in: a placeholder stays a placeholder. What a form cannot say is named, one note for each.
"""
