"""Text models of transformers."""

from __future__ import annotations

import torch
from support.zoo.hf import CAUSAL, TEXT, _ids, hf, masked, seq2seq, tokens
from torch.nn import functional as F

# -- text encoders ----------------------------------------------------------------------------------
hf("bert", "text", "BertForMaskedLM", "BertConfig", masked(), **TEXT)
hf("roberta", "text", "RobertaForSequenceClassification", "RobertaConfig", masked(), **TEXT)
hf(
    "distilbert",
    "text",
    "DistilBertForQuestionAnswering",
    "DistilBertConfig",
    masked(),
    vocab_size=64,
    dim=32,
    hidden_dim=64,
    n_layers=2,
    n_heads=4,
    max_position_embeddings=64,
)
hf("electra", "text", "ElectraForPreTraining", "ElectraConfig", masked(), **TEXT, embedding_size=16)
hf("albert", "text", "AlbertForMaskedLM", "AlbertConfig", masked(), **TEXT, embedding_size=16)
hf(
    "longformer",
    "text",
    "LongformerForMaskedLM",
    "LongformerConfig",
    lambda: {"input_ids": _ids(length=16), "global_attention_mask": F.one_hot(torch.zeros(2, dtype=torch.long), 16)},
    **TEXT,
    attention_window=4,
)
hf(
    "big_bird",
    "text",
    "BigBirdForMaskedLM",
    "BigBirdConfig",
    tokens(length=128, batch=1),
    **{**TEXT, "max_position_embeddings": 128},
    attention_type="block_sparse",
    block_size=8,
    num_random_blocks=2,
)
hf(
    "fnet",
    "text",
    "FNetForMaskedLM",
    "FNetConfig",
    tokens(),
    vocab_size=64,
    hidden_size=32,
    num_hidden_layers=2,
    intermediate_size=64,
    max_position_embeddings=64,
)
hf(
    "funnel",
    "text",
    "FunnelForTokenClassification",
    "FunnelConfig",
    masked(length=16),
    vocab_size=64,
    block_sizes=[1, 1],
    num_decoder_layers=1,
    d_model=32,
    n_head=4,
    d_head=8,
    d_inner=64,
)
hf(
    "nystromformer",
    "text",
    "NystromformerForMaskedLM",
    "NystromformerConfig",
    tokens(length=16),
    **TEXT,
    num_landmarks=4,
    segment_means_seq_len=16,
)

# -- causal language models -------------------------------------------------------------------------
hf(
    "gpt2",
    "causal",
    "GPT2LMHeadModel",
    "GPT2Config",
    tokens(),
    vocab_size=64,
    n_embd=32,
    n_layer=2,
    n_head=4,
    n_positions=64,
    use_cache=False,
)
hf("gpt_neox", "causal", "GPTNeoXForCausalLM", "GPTNeoXConfig", tokens(), **CAUSAL)
hf(
    "gptj",
    "causal",
    "GPTJForCausalLM",
    "GPTJConfig",
    tokens(),
    vocab_size=64,
    n_embd=32,
    n_layer=2,
    n_head=4,
    rotary_dim=4,
    n_positions=64,
    use_cache=False,
    bos_token_id=1,
    eos_token_id=2,
)
hf(
    "opt",
    "causal",
    "OPTForCausalLM",
    "OPTConfig",
    masked(),
    vocab_size=64,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    ffn_dim=64,
    max_position_embeddings=64,
    word_embed_proj_dim=16,
    use_cache=False,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
)
hf(
    "bloom",
    "causal",
    "BloomForCausalLM",
    "BloomConfig",
    masked(),
    vocab_size=64,
    hidden_size=32,
    n_layer=2,
    n_head=4,
    use_cache=False,
    bos_token_id=1,
    eos_token_id=2,
    pad_token_id=0,
)
hf(
    "falcon",
    "causal",
    "FalconForCausalLM",
    "FalconConfig",
    tokens(),
    vocab_size=64,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    alibi=False,
    multi_query=True,
    use_cache=False,
    bos_token_id=1,
    eos_token_id=2,
)
hf("llama_gqa", "causal", "LlamaForCausalLM", "LlamaConfig", tokens(), **CAUSAL, num_key_value_heads=2)
hf(
    "mistral_sliding",
    "causal",
    "MistralForCausalLM",
    "MistralConfig",
    tokens(),
    **CAUSAL,
    num_key_value_heads=2,
    sliding_window=4,
)
hf(
    "mixtral_moe",
    "causal",
    "MixtralForCausalLM",
    "MixtralConfig",
    tokens(),
    **CAUSAL,
    num_key_value_heads=2,
    num_local_experts=4,
    num_experts_per_tok=2,
    output_router_logits=False,
)
hf("qwen2", "causal", "Qwen2ForCausalLM", "Qwen2Config", tokens(), **CAUSAL, num_key_value_heads=2)
hf("qwen3", "causal", "Qwen3ForCausalLM", "Qwen3Config", tokens(), **CAUSAL, num_key_value_heads=2, head_dim=8)
hf(
    "qwen3_next",
    "causal",
    "Qwen3NextForCausalLM",
    "Qwen3NextConfig",
    tokens(),
    **CAUSAL,
    num_key_value_heads=2,
    head_dim=8,
    layer_types=["linear_attention", "full_attention"],
    linear_conv_kernel_dim=2,
    linear_key_head_dim=8,
    linear_value_head_dim=8,
    linear_num_key_heads=2,
    linear_num_value_heads=4,
    num_experts=4,
    num_experts_per_tok=2,
    moe_intermediate_size=16,
    shared_expert_intermediate_size=16,
)
hf(
    "gemma2",
    "causal",
    "Gemma2ForCausalLM",
    "Gemma2Config",
    tokens(),
    **CAUSAL,
    num_key_value_heads=2,
    head_dim=8,
    sliding_window=4,
)
hf("phi3", "causal", "Phi3ForCausalLM", "Phi3Config", tokens(), **CAUSAL, num_key_value_heads=2)
hf(
    "mamba",
    "causal",
    "MambaForCausalLM",
    "MambaConfig",
    tokens(),
    vocab_size=64,
    hidden_size=32,
    state_size=8,
    num_hidden_layers=2,
    time_step_rank=4,
    use_cache=False,
)
hf(
    "rwkv",
    "causal",
    "RwkvForCausalLM",
    "RwkvConfig",
    tokens(),
    vocab_size=64,
    hidden_size=32,
    num_hidden_layers=2,
    intermediate_size=64,
    use_cache=False,
)

# -- encoder-decoder text ---------------------------------------------------------------------------
BARTISH = {
    "vocab_size": 64,
    "d_model": 32,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 2,
    "use_cache": False,
}
hf(
    "t5",
    "seq2seq",
    "T5ForConditionalGeneration",
    "T5Config",
    seq2seq(),
    vocab_size=64,
    d_model=32,
    d_kv=8,
    d_ff=64,
    num_layers=2,
    num_heads=4,
    decoder_start_token_id=0,
)
hf("bart", "seq2seq", "BartForConditionalGeneration", "BartConfig", seq2seq(), **BARTISH, forced_eos_token_id=2)
hf("marian", "seq2seq", "MarianMTModel", "MarianConfig", seq2seq(), **BARTISH)
hf("pegasus", "seq2seq", "PegasusForConditionalGeneration", "PegasusConfig", seq2seq(), **BARTISH)
hf(
    "led",
    "seq2seq",
    "LEDForConditionalGeneration",
    "LEDConfig",
    seq2seq(length=16),
    **{k: v for k, v in BARTISH.items() if k != "max_position_embeddings"},
    max_encoder_position_embeddings=64,
    max_decoder_position_embeddings=64,
    attention_window=4,
)
