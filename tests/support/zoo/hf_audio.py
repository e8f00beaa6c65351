"""Audio and time-series models of transformers."""

from __future__ import annotations

from collections.abc import Callable

import torch
from support.zoo.hf import T, _ids, hf
from support.zoo.registry import Built, entry
from torch import Tensor, nn

# -- audio ------------------------------------------------------------------------------------------
WAV = {
    "vocab_size": 32,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "conv_dim": [16, 16, 16],
    "conv_stride": [5, 2, 2],
    "conv_kernel": [10, 3, 3],
    "num_conv_pos_embeddings": 8,
    "num_conv_pos_embedding_groups": 4,
    "mask_time_length": 2,
    "mask_time_prob": 0.0,
    "layerdrop": 0.0,
}


def _wave(n: int = 800) -> Callable[[], dict]:
    return lambda: {"input_values": torch.randn(1, n)}


hf("wav2vec2", "audio", "Wav2Vec2ForCTC", "Wav2Vec2Config", _wave(), **WAV)
hf(
    "hubert",
    "audio",
    "HubertForSequenceClassification",
    "HubertConfig",
    _wave(),
    **WAV,
    feat_extract_norm="layer",
    do_stable_layer_norm=True,
    classifier_proj_size=16,
    num_labels=4,
)
hf(
    "ast",
    "audio",
    "ASTForAudioClassification",
    "ASTConfig",
    lambda: {"input_values": torch.randn(1, 48, 16)},
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    patch_size=8,
    frequency_stride=8,
    time_stride=8,
    max_length=48,
    num_mel_bins=16,
    num_labels=4,
)
hf(
    "speecht5",
    "audio",
    "SpeechT5ForTextToSpeech",
    "SpeechT5Config",
    lambda: {
        "input_ids": _ids(length=8, batch=1),
        "decoder_input_values": torch.randn(1, 6, 16),
        "speaker_embeddings": torch.randn(1, 16),
        "use_cache": False,
    },
    vocab_size=64,
    hidden_size=32,
    encoder_layers=1,
    encoder_attention_heads=4,
    encoder_ffn_dim=64,
    decoder_layers=1,
    decoder_attention_heads=4,
    decoder_ffn_dim=64,
    num_mel_bins=16,
    speaker_embedding_dim=16,
    speech_decoder_prenet_units=32,
    speech_decoder_postnet_units=32,
    speech_decoder_postnet_layers=2,
    encoder_max_relative_position=16,
    use_guided_attention_loss=False,
)


class VitsSpeech(nn.Module):
    """VITS, wrapped so that a train-mode run keeps to the synthesis path with fixed noise."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, input_ids: Tensor) -> Tensor:
        return self.inner(input_ids=input_ids).waveform


@entry("vits", "audio")
def _() -> Built:
    cfg = T("VitsConfig")(
        vocab_size=38,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        ffn_dim=64,
        flow_size=32,
        spectrogram_bins=33,
        upsample_initial_channel=32,
        upsample_rates=[4, 4],
        upsample_kernel_sizes=[8, 8],
        resblock_kernel_sizes=[3],
        resblock_dilation_sizes=[[1, 3]],
        depth_separable_num_layers=2,
        duration_predictor_flow_bins=4,
        duration_predictor_filter_channels=32,
        prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=2,
        posterior_encoder_num_wavenet_layers=2,
        duration_predictor_num_flows=2,
        window_size=4,
        use_stochastic_duration_prediction=True,
        noise_scale=0.0,
        noise_scale_duration=0.0,
        layerdrop=0.0,
    )
    return VitsSpeech(T("VitsModel")(cfg)).eval(), (_ids(vocab=38, length=8, batch=1),), {}


hf(
    "dac",
    "audio",
    "DacModel",
    "DacConfig",
    lambda: {"input_values": torch.randn(1, 1, 320)},
    encoder_hidden_size=8,
    downsampling_ratios=[2, 4],
    decoder_hidden_size=32,
    upsampling_ratios=[4, 2],
    n_codebooks=2,
    codebook_size=32,
    codebook_dim=4,
)
hf(
    "musicgen_decoder",
    "audio",
    "MusicgenForCausalLM",
    "MusicgenDecoderConfig",
    lambda: {
        "input_ids": torch.randint(0, 32, (4, 7)),
        "encoder_hidden_states": torch.randn(1, 5, 32),
        "use_cache": False,
    },
    vocab_size=32,
    hidden_size=32,
    num_hidden_layers=1,
    num_attention_heads=4,
    ffn_dim=64,
    num_codebooks=4,
    max_position_embeddings=32,
    pad_token_id=32,
    bos_token_id=32,
    layerdrop=0.0,
)

# -- time series ------------------------------------------------------------------------------------


def _series(extra: int = 0) -> Callable[[], dict]:
    def make() -> dict:
        past, future = 24 + 7, 6
        return {
            "past_values": torch.rand(2, past) + 0.5,
            "past_time_features": torch.rand(2, past, 2),
            "past_observed_mask": torch.ones(2, past),
            "future_values": torch.rand(2, future) + 0.5,
            "future_time_features": torch.rand(2, future, 2),
        }

    return make


SERIES = {
    "prediction_length": 6,
    "context_length": 24,
    "lags_sequence": [1, 2, 7],
    "num_time_features": 2,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "use_cache": False,
}
hf(
    "time_series_transformer",
    "series",
    "TimeSeriesTransformerForPrediction",
    "TimeSeriesTransformerConfig",
    _series(),
    **SERIES,
)
hf("informer", "series", "InformerForPrediction", "InformerConfig", _series(), **SERIES, sampling_factor=2)
hf(
    "patchtst",
    "series",
    "PatchTSTForPrediction",
    "PatchTSTConfig",
    lambda: {"past_values": torch.randn(2, 32, 3)},
    num_input_channels=3,
    context_length=32,
    patch_length=8,
    patch_stride=8,
    num_hidden_layers=2,
    d_model=32,
    num_attention_heads=4,
    ffn_dim=64,
    prediction_length=6,
)
