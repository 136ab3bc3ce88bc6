"""`transforms` and `predicates`: reads, checks and builds what users configure, in Connect's words."""
