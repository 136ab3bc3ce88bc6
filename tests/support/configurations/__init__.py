"""Configuration files of all forms."""
