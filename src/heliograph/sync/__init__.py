"""Carries out what `plan` decides."""
