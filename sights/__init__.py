"""How faults look: real faults in a real mirror, and the metric, the line of `heliograph status` and the page
that show each."""
