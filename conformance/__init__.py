"""The same requests to a real Connect worker and to ours, and what their answers differ in."""
