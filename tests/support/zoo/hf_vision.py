"""Vision and vision-language models of transformers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from support.zoo.hf import VIT, T, _image, hf, pixels

# -- vision -----------------------------------------------------------------------------------------
hf(
    "resnet",
    "vision",
    "ResNetForImageClassification",
    "ResNetConfig",
    pixels(batch=2),
    embedding_size=8,
    hidden_sizes=[16, 32],
    depths=[1, 1],
    layer_type="bottleneck",
    num_labels=5,
)
hf(
    "convnext",
    "vision",
    "ConvNextForImageClassification",
    "ConvNextConfig",
    pixels(),
    hidden_sizes=[16, 32],
    depths=[1, 1],
    num_stages=2,
    num_labels=5,
    drop_path_rate=0.1,
)
hf(
    "regnet",
    "vision",
    "RegNetForImageClassification",
    "RegNetConfig",
    pixels(batch=2),
    embedding_size=8,
    hidden_sizes=[16, 32],
    depths=[1, 1],
    groups_width=8,
    layer_type="y",
    num_labels=5,
)
hf(
    "mobilenet_v1",
    "vision",
    "MobileNetV1ForImageClassification",
    "MobileNetV1Config",
    pixels(64, 2),
    depth_multiplier=0.25,
    num_labels=5,
)
hf(
    "mobilenet_v2",
    "vision",
    "MobileNetV2ForImageClassification",
    "MobileNetV2Config",
    pixels(64, 2),
    depth_multiplier=0.25,
    num_labels=5,
)
hf(
    "mobilevit",
    "vision",
    "MobileViTForImageClassification",
    "MobileViTConfig",
    pixels(32, 2),
    image_size=32,
    hidden_sizes=[16, 24, 32],
    neck_hidden_sizes=[8, 8, 8, 16, 16, 24, 32],
    num_attention_heads=4,
    num_labels=5,
)
hf("vit", "vision", "ViTForImageClassification", "ViTConfig", pixels(), **VIT, num_labels=5)
hf("deit", "vision", "DeiTForImageClassificationWithTeacher", "DeiTConfig", pixels(), **VIT, num_labels=5)
hf(
    "swin",
    "vision",
    "SwinForImageClassification",
    "SwinConfig",
    pixels(),
    image_size=32,
    patch_size=2,
    embed_dim=16,
    depths=[2, 2],
    num_heads=[2, 4],
    window_size=4,
    num_labels=5,
)
hf(
    "beit",
    "vision",
    "BeitForImageClassification",
    "BeitConfig",
    pixels(),
    **VIT,
    num_labels=5,
    use_relative_position_bias=True,
    use_mask_token=False,
)
hf(
    "dinov2",
    "vision",
    "Dinov2ForImageClassification",
    "Dinov2Config",
    pixels(40),
    **VIT,
    num_labels=5,
    use_swiglu_ffn=True,
)
hf(
    "segformer",
    "vision",
    "SegformerForSemanticSegmentation",
    "SegformerConfig",
    pixels(),
    num_encoder_blocks=2,
    depths=[1, 1],
    sr_ratios=[4, 2],
    hidden_sizes=[16, 32],
    patch_sizes=[7, 3],
    strides=[4, 2],
    num_attention_heads=[1, 2],
    mlp_ratios=[2, 2],
    decoder_hidden_size=32,
    num_labels=5,
)
hf(
    "poolformer",
    "vision",
    "PoolFormerForImageClassification",
    "PoolFormerConfig",
    pixels(),
    depths=[1, 1],
    hidden_sizes=[16, 32],
    patch_sizes=[7, 3],
    strides=[4, 2],
    padding=[2, 1],
    num_encoder_blocks=2,
    num_labels=5,
)
hf(
    "levit",
    "vision",
    "LevitForImageClassification",
    "LevitConfig",
    pixels(64, 2),
    image_size=64,
    hidden_sizes=[16, 32, 48],
    num_attention_heads=[2, 2, 2],
    depths=[1, 1, 1],
    key_dim=[8, 8, 8],
    num_labels=5,
)
hf(
    "cvt",
    "vision",
    "CvtForImageClassification",
    "CvtConfig",
    pixels(32, 2),
    embed_dim=[16, 32, 48],
    num_heads=[1, 2, 3],
    depth=[1, 2, 3],
    mlp_ratio=[2.0, 2.0, 2.0],
    num_labels=5,
)
hf(
    "focalnet",
    "vision",
    "FocalNetForImageClassification",
    "FocalNetConfig",
    pixels(),
    image_size=32,
    embed_dim=16,
    depths=[1, 1],
    focal_levels=[2, 2],
    focal_windows=[3, 3],
    hidden_sizes=[16, 32],
    num_labels=5,
)


def _backbone(out: list[str] | None = None) -> Any:
    return T("ResNetConfig")(
        embedding_size=8,
        hidden_sizes=[8, 16, 16, 32],
        depths=[1, 1, 1, 1],
        layer_type="basic",
        out_features=out or ["stage2", "stage3", "stage4"],
    )


def _ones_mask(size: int) -> Callable[[], dict]:
    return lambda: {"pixel_values": _image(size), "pixel_mask": torch.ones(1, size, size, dtype=torch.long)}


DETR = {
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "num_queries": 10,
}
hf(
    "detr",
    "vision",
    "DetrForObjectDetection",
    "DetrConfig",
    _ones_mask(64),
    **DETR,
    use_timm_backbone=False,
    backbone_config=_backbone,
    num_labels=5,
)
hf(
    "mask2former",
    "vision",
    "Mask2FormerModel",
    "Mask2FormerConfig",
    pixels(64),
    backbone_config=lambda: T("SwinConfig")(
        image_size=64,
        patch_size=4,
        embed_dim=16,
        depths=[1, 1, 1, 1],
        num_heads=[1, 2, 2, 2],
        window_size=4,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    ),
    feature_size=32,
    mask_feature_size=32,
    hidden_dim=32,
    encoder_feedforward_dim=64,
    encoder_layers=1,
    decoder_layers=3,
    num_attention_heads=4,
    dim_feedforward=64,
    num_queries=8,
    num_labels=5,
)
hf(
    "yolos",
    "vision",
    "YolosForObjectDetection",
    "YolosConfig",
    pixels(),
    **{**VIT, "image_size": [32, 32]},
    num_detection_tokens=8,
    use_mid_position_embeddings=False,
    num_labels=5,
)
hf(
    "depth_anything",
    "vision",
    "DepthAnythingForDepthEstimation",
    "DepthAnythingConfig",
    pixels(),
    backbone_config=lambda: T("Dinov2Config")(
        **{**VIT, "num_hidden_layers": 4},
        reshape_hidden_states=False,
        out_features=["stage1", "stage2", "stage3", "stage4"],
    ),
    reassemble_hidden_size=32,
    patch_size=8,
    neck_hidden_sizes=[8, 8, 16, 16],
    fusion_hidden_size=16,
    head_hidden_size=8,
)
hf(
    "swin2sr",
    "vision",
    "Swin2SRForImageSuperResolution",
    "Swin2SRConfig",
    pixels(16),
    image_size=16,
    embed_dim=16,
    depths=[2],
    num_heads=[2],
    window_size=4,
    upscale=2,
)
hf(
    "vit_mae",
    "vision",
    "ViTMAEForPreTraining",
    "ViTMAEConfig",
    pixels(),
    **VIT,
    decoder_hidden_size=32,
    decoder_num_hidden_layers=1,
    decoder_num_attention_heads=4,
    decoder_intermediate_size=64,
)
hf(
    "superpoint",
    "vision",
    "SuperPointForKeypointDetection",
    "SuperPointConfig",
    pixels(64),
    encoder_hidden_sizes=[8, 8, 16, 16],
    decoder_hidden_size=16,
    keypoint_decoder_dim=65,
    descriptor_decoder_dim=32,
    keypoint_threshold=0.0,
    max_keypoints=20,
)


def _video(frames: int, size: int = 32) -> Callable[[], dict]:
    return lambda: {"pixel_values": torch.rand(1, frames, 3, size, size)}


hf(
    "timesformer",
    "video",
    "TimesformerForVideoClassification",
    "TimesformerConfig",
    _video(3),
    **VIT,
    num_frames=3,
    num_labels=5,
)
