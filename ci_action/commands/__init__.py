"""One file per command of ``torchscan-ci``. Each returns its exit code; errors are mapped in ``main``."""
