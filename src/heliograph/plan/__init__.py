"""Decisions: functions from what is observed and what is wanted to a list of actions. Pure."""
