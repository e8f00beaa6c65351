"""Vision-language and other multimodal models of transformers."""

from __future__ import annotations

import torch
from support.zoo.hf import CAUSAL, TEXT, VIT, T, _ids, _image, hf

# -- vision and language ----------------------------------------------------------------------------
CLIP_TEXT = {
    "vocab_size": 64,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 16,
}


def _pair(size: int = 32) -> dict:
    ids = _ids(length=10)
    ids[:, -1] = 63
    return {"input_ids": ids, "pixel_values": _image(size, batch=2)}


hf(
    "clip",
    "multimodal",
    "CLIPModel",
    "CLIPConfig",
    _pair,
    text_config={**CLIP_TEXT, "eos_token_id": 63},
    vision_config=VIT,
    projection_dim=24,
)
hf(
    "blip",
    "multimodal",
    "BlipForConditionalGeneration",
    "BlipConfig",
    _pair,
    text_config={**CLIP_TEXT, "encoder_hidden_size": 32, "projection_dim": 24},
    vision_config=VIT,
    projection_dim=24,
    image_text_hidden_size=24,
)
hf(
    "vilt",
    "multimodal",
    "ViltModel",
    "ViltConfig",
    lambda: {"input_ids": _ids(length=8, batch=1), "pixel_values": _image(32)},
    **VIT,
    vocab_size=64,
    max_position_embeddings=16,
)
hf(
    "layoutlm",
    "multimodal",
    "LayoutLMForTokenClassification",
    "LayoutLMConfig",
    lambda: {"input_ids": _ids(), "bbox": torch.sort(torch.randint(0, 100, (2, 12, 4)), -1).values[..., [0, 1, 2, 3]]},
    **TEXT,
    max_2d_position_embeddings=128,
    num_labels=3,
)


def _llava_inputs() -> dict:
    ids = _ids(length=24, batch=1)
    ids[ids == 63] = 7
    ids[0, 2:18] = 63
    return {"input_ids": ids, "pixel_values": _image(32), "use_cache": False}


hf(
    "llava",
    "multimodal",
    "LlavaForConditionalGeneration",
    "LlavaConfig",
    _llava_inputs,
    text_config=lambda: T("LlamaConfig")(**CAUSAL, num_key_value_heads=2),
    vision_config=lambda: T("CLIPVisionConfig")(**VIT),
    image_token_index=63,
    image_token_id=63,
    vision_feature_layer=-1,
)
hf(
    "perceiver",
    "multimodal",
    "PerceiverModel",
    "PerceiverConfig",
    lambda: {"inputs": torch.randn(2, 20, 24)},
    num_latents=8,
    d_latents=32,
    d_model=24,
    num_blocks=1,
    num_self_attends_per_block=2,
    num_self_attention_heads=4,
    num_cross_attention_heads=4,
)
