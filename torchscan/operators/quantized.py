"""Products of quantized kernels and fake quantization. Every other quantized operator has no count and is named."""

from __future__ import annotations

from torchscan.operators.call import Call, elements, sizes
from torchscan.operators.formula import Cost, Formula, Row

FAMILY = "quantization"


def _linear(call: Call) -> int:
    """Every output is a dot product over the input's last axis; the packed weight needs no opening."""
    return 2 * elements(call.output) * int(sizes(call.args[0])[-1])


def _fake(call: Call) -> int:
    """Divide, round, add the zero point, clamp twice, subtract, multiply: 7; and two comparisons for the mask."""
    return 9 * elements(call.args[0])


def _row(text: str, cost: Cost, *, is_product: bool = False) -> Formula:
    return Formula(FAMILY, text, cost, is_product=is_product)


ROWS: dict[str, Row] = {
    **{
        f"quantized.{name}": _row("2MKN", _linear, is_product=True)
        for name in ("linear_dynamic", "linear_relu_dynamic", "linear_dynamic_fp16", "linear_relu_dynamic_fp16")
    },
    **{
        f"aten.{name}": _row("9N", _fake)
        for name in (
            "fake_quantize_per_tensor_affine_cachemask",
            "fake_quantize_per_channel_affine_cachemask",
            "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
        )
    },
}
