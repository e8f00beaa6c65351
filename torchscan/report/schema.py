"""Version and integrity of reports that come back from a file or another process."""

from __future__ import annotations

SCHEMA_VERSION = 1
