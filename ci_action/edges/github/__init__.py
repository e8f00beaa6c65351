"""GitHub over HTTP."""
