"""``python -P -m ci_action`` and the console script ``torchscan-ci``."""

from __future__ import annotations

import sys

from ci_action.main import main as run_cli


def main() -> None:
    sys.exit(run_cli())


if __name__ == "__main__":
    main()
