"""Operators that do no arithmetic, each with its reason. ``moves`` marks those that copy values."""

from __future__ import annotations

from torchscan.operators.formula import Free, Row

FAMILY = "free"

_VIEWS = """
view _unsafe_view reshape view_as expand expand_as t transpose permute movedim swapaxes numpy_T adjoint mT mH
squeeze unsqueeze select slice narrow split split_with_sizes unsafe_split unsafe_split_with_sizes chunk unsafe_chunk
tensor_split unbind diagonal as_strided unfold detach alias view_as_real view_as_complex _conj _neg_view real imag
_reshape_alias _nested_view_from_buffer _test_autograd_multiple_dispatch_view resolve_conj resolve_neg
lift_fresh lift set set_ _make_dual _fw_primal slice_inverse _indices _values _coalesced
_mkldnn_transpose _nested_view_from_jagged _nested_get_values values indices crow_indices col_indices
"""
_COPIES = """
clone copy _to_copy contiguous cat stack hstack vstack repeat repeat_interleave tile index index_select gather take
take_along_dim embedding slice_backward select_backward diagonal_backward slice_scatter select_scatter
diagonal_scatter as_strided_scatter masked_select masked_scatter masked_scatter_backward index_copy index_fill
constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d
replication_pad3d pad flip fliplr flipud roll rot90 tril triu diag diag_embed block_diag pixel_shuffle
pixel_unshuffle channel_shuffle native_channel_shuffle im2col upsample_nearest1d upsample_nearest2d
upsample_nearest3d _upsample_nearest_exact1d _upsample_nearest_exact2d _upsample_nearest_exact3d max_unpool2d
max_unpool3d to_dense _to_dense to_sparse _to_sparse _to_sparse_csr _to_sparse_csc
_to_sparse_bsr _to_sparse_bsc to_mkldnn mkldnn_reorder_conv2d_weight
mkldnn_reorder_conv3d_weight mkldnn_reorder_linear_weight _pack_padded_sequence _pack_padded_sequence_backward
_pad_packed_sequence to_padded_tensor _nested_from_padded _nested_tensor_from_mask _nested_tensor_from_tensor_list
_copy_from _copy_from_and_resize split_with_sizes_copy combinations cartesian_prod
index_select_backward value_selecting_reduction_backward
_foreach_copy _chunk_cat _unsafe_index _unsafe_masked_index
lu_unpack _lazy_clone _reshape_copy _stack sparse_coo_tensor _sparse_coo_tensor_unsafe _sparse_coo_tensor_with_dims
_sparse_coo_tensor_with_dims_and_tensors sparse_compressed_tensor sparse_mask _foreach_clone
_jagged_to_padded_dense_forward _padded_dense_to_jagged_forward _mkldnn_reshape
"""
_FILLS = """
empty empty_like empty_strided empty_permuted new_empty new_empty_strided zeros zeros_like new_zeros ones ones_like
new_ones full full_like new_full fill fill_diagonal zero scalar_tensor eye _efficientzerotensor
_new_zeros_with_same_feature_meta resize resize_as
_foreach_zero tril_indices triu_indices complex _resize_output _empty_affine_quantized
"""
_COUNTERS = (
    "arange range linspace logspace one_hot bucketize searchsorted hann_window hamming_window "
    "blackman_window bartlett_window kaiser_window fft_fftfreq fft_rfftfreq hash_tensor"
)
_BOOLEANS = """
logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift
bitwise_right_shift __and__ __or__ __xor__ __lshift__ __rshift__ all any _is_all_true _is_any_true is_nonzero
isin is_same_size _nested_tensor_from_mask_left_aligned _has_compatible_shallow_copy_type is_set_to gcd lcm
"""
_ORDER = """
sort argsort msort topk kthvalue median nanmedian mode unique_consecutive _unique _unique2 unique_dim nonzero
nonzero_static argwhere histc _histogramdd_bin_edges unique_dim_consecutive
"""
_READS = """
_local_scalar_dense item _linalg_check_errors _assert_async _assert_scalar _functional_assert_async
_assert_tensor_metadata
sym_constrain_range sym_constrain_range_for_size _functional_assert_scalar _functional_sym_constrain_range
_functional_sym_constrain_range_for_size
"""
_METADATA = """
size stride storage_offset numel dim sym_size sym_stride sym_storage_offset sym_numel is_contiguous
sym_is_contiguous is_strides_like_format is_non_overlapping_and_dense is_pinned _pin_memory pin_memory record_stream
_nested_tensor_size _nested_tensor_strides _nested_tensor_storage_offsets _nested_get_offsets _nested_get_lengths
_has_same_storage_numel
_nested_get_ragged_idx _nested_get_min_seqlen _nested_get_max_seqlen _nested_get_jagged_dummy _fused_sdp_choice
_version _local_scalar is_coalesced _nnz sparse_dim dense_dim _dimI _dimV q_scale q_zero_point qscheme
_cudnn_rnn_flatten_weight _use_cudnn_ctc_loss _use_cudnn_rnn_flatten_weight _backward requires_grad retain_grad
"""


def _free(names: str, reason: str, *, moves: bool = False) -> dict[str, Row]:
    return {f"aten.{name}": Free(FAMILY, reason, moves) for name in names.split()}


ROWS: dict[str, Row] = {
    **_free(_VIEWS, "view"),
    **_free(_COPIES, "copy or movement of values", moves=True),
    **_free(_FILLS, "allocation or constant fill"),
    **_free(_COUNTERS, "counter or shape arithmetic"),
    **_free(_BOOLEANS, "boolean control"),
    **_free(_ORDER, "ordering: values are moved, none computed"),
    **_free(_READS, "host read or check of a value"),
    **_free(_METADATA, "metadata"),
    **{
        f"prims.{name}": Free(FAMILY, "view, copy or fill", moves=True)
        for name in (
            "broadcast_in_dim", "convert_element_type", "view_of", "view_of_dtype", "collapse", "collapse_view",
            "split_dim", "slice_in_dim", "copy_to", "copy_strided", "iota", "conj", "device_put", "rev", "resize",
        )
    },
    "prim.device": Free(FAMILY, "metadata"),
    "prim.layout": Free(FAMILY, "metadata"),
    "profiler._record_function_enter_new": Free(FAMILY, "profiling label"),
    "profiler._record_function_enter": Free(FAMILY, "profiling label"),
    "profiler._record_function_exit": Free(FAMILY, "profiling label"),
}  # fmt: skip
