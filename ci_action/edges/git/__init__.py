"""The repository, by hardened git calls."""
