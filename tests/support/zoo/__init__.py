"""92 small models that build offline: ``ZOO[name]() -> (module, args, kwargs)``."""

from __future__ import annotations

from support.zoo import (
    hf_audio,
    hf_multimodal,
    hf_text,
    hf_vision,
    plain_convolutional,
    plain_mixed,
    plain_sequence,
    plain_unusual,
)
from support.zoo.registry import FAMILY, ZOO, tensors

__all__ = ["FAMILY", "ZOO", "tensors"]
BUILDERS = (
    plain_convolutional,
    plain_sequence,
    plain_mixed,
    plain_unusual,
    hf_vision,
    hf_multimodal,
    hf_text,
    hf_audio,
)
