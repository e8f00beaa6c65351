"""Quantized, diffusing, graph and einsum models in plain torch."""

from __future__ import annotations

import math

import torch
from support.zoo.registry import Built, entry
from torch import Tensor, nn
from torch.nn import functional as F


@entry("plain_pixelshuffle_sr", "plain")
def _() -> Built:
    net = nn.Sequential(
        nn.ReflectionPad2d(2),
        nn.Conv2d(3, 16, 5),
        nn.Hardswish(),
        nn.Conv2d(16, 16, 3, padding=1, padding_mode="replicate"),
        nn.Mish(),
        nn.Conv2d(16, 12, 3, padding=1),
        nn.PixelShuffle(2),
        nn.Hardtanh(0, 1),
    )
    return net, (torch.rand(1, 3, 20, 20),), {}


class EinsumAttention(nn.Module):
    """Talking-heads attention with ALiBi slopes and a causal mask, all by einsum."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
        self.talk = nn.Parameter(torch.eye(heads) + 0.01 * torch.randn(heads, heads))

    def forward(self, x: Tensor) -> Tensor:
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        score = torch.einsum("bihd,bjhd->bhij", q, k) / math.sqrt(q.shape[-1])
        place = torch.arange(n)
        slope = 2.0 ** -(8 * torch.arange(1, self.heads + 1) / self.heads)
        score = score + slope[:, None, None] * (place[None] - place[:, None])
        score = torch.einsum("bhij,hg->bgij", score, self.talk)
        score = score.masked_fill(place[None] > place[:, None], float("-inf"))
        return self.out(torch.einsum("bhij,bjhd->bihd", score.softmax(-1), v).reshape(b, n, -1))


@entry("plain_einsum_attention", "plain")
def _() -> Built:
    return EinsumAttention(), (torch.randn(2, 12, 32),), {}


class VectorQuantizer(nn.Module):
    """VQ-VAE in bfloat16: nearest codeword, straight-through estimate, fake-quantised decoder weights."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.ReLU(), nn.Conv2d(16, 8, 4, 2, 1))
        self.book = nn.Embedding(32, 8)
        self.decode = nn.Linear(8, 48)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        z = self.encode(x).permute(0, 2, 3, 1)
        flat = z.reshape(-1, 8)
        book = self.book.weight
        apart = flat.pow(2).sum(1, keepdim=True) - 2 * flat @ book.t() + book.pow(2).sum(1)
        pick = apart.argmin(1)
        code = self.book(pick).view_as(z)
        code = z + (code - z).detach()
        weight = self.decode.weight.float()
        scale = (weight.abs().max() / 127).clamp(min=1e-8)
        weight = torch.fake_quantize_per_tensor_affine(
            weight, scale.detach(), torch.zeros(1, dtype=torch.int32), -127, 127
        )
        patch = F.linear(code, weight.to(code.dtype), self.decode.bias)
        b, h, w, _ = patch.shape
        image = F.fold(patch.reshape(b, h * w, 48).transpose(1, 2), (4 * h, 4 * w), 4, stride=4)
        usage = torch.bincount(pick, minlength=32).to(image.dtype)
        return image, usage


@entry("plain_vqvae_bfloat16", "plain")
def _() -> Built:
    return VectorQuantizer().bfloat16(), (torch.rand(1, 3, 16, 16, dtype=torch.bfloat16),), {}


class TinyDiffusion(nn.Module):
    """3-D denoiser: timestep sinusoids, FiLM, softplus, trilinear resize, stochastic depth."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 16))
        self.a, self.b = nn.Conv3d(1, 8, 3, padding=1), nn.Conv3d(8, 8, 3, padding=1, groups=4)
        self.norm, self.out = nn.BatchNorm3d(8), nn.Conv3d(8, 1, 1)

    def forward(self, x: Tensor, t: Tensor) -> Tensor:
        rate = torch.exp(-math.log(1e4) * torch.arange(8) / 8)
        angle = t[:, None].float() * rate
        scale, shift = self.time(torch.cat([angle.sin(), angle.cos()], 1)).chunk(2, 1)
        h = self.norm(self.a(x)) * (1 + scale[..., None, None, None]) + shift[..., None, None, None]
        h = F.avg_pool3d(F.silu(h), 2)
        h = F.interpolate(F.softplus(self.b(h)), scale_factor=2, mode="trilinear")
        if self.training:
            h = h * torch.bernoulli(torch.full((h.shape[0], 1, 1, 1, 1), 0.9)) / 0.9
        return self.out(h) + 0.01 * torch.randn_like(x)


@entry("plain_diffusion3d", "plain")
def _() -> Built:
    return TinyDiffusion(), (torch.randn(2, 1, 8, 8, 8), torch.tensor([3, 70])), {}


@entry("plain_quantized_dynamic", "plain")
def _() -> Built:
    from torch.ao.quantization import quantize_dynamic

    net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.LayerNorm(32), nn.Linear(32, 4), nn.Softmax(-1)).eval()
    return quantize_dynamic(net, {nn.Linear}, dtype=torch.qint8), (torch.randn(2, 16),), {}


class GraphFormer(nn.Module):
    """Graphormer-like: degree embeddings, attention biased by clipped shortest-path distance, virtual node."""

    def __init__(self, width: int = 32, heads: int = 4, far: int = 5) -> None:
        super().__init__()
        self.far, self.heads = far, heads
        self.atom, self.degree = nn.Embedding(20, width), nn.Embedding(16, width)
        self.apart = nn.Embedding(far + 2, heads)
        self.virtual = nn.Parameter(torch.zeros(1, 1, width))
        self.n1, self.n2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.ff = nn.Sequential(nn.Linear(width, 64), nn.GELU(), nn.Linear(64, width))
        self.head = nn.Linear(width, 1)

    def distances(self, adjacency: Tensor) -> Tensor:
        n = adjacency.shape[-1]
        seen = torch.eye(n, dtype=torch.bool).expand_as(adjacency)
        apart = torch.where(seen, 0, self.far)
        for hop in range(1, self.far):
            reach = (seen.float() @ adjacency.float() > 0) | seen
            apart = torch.where(reach & ~seen, hop, apart)
            seen = reach
        return apart

    def forward(self, atoms: Tensor, adjacency: Tensor) -> Tensor:
        b, n = atoms.shape
        x = self.atom(atoms) + self.degree(adjacency.sum(-1).clamp(max=15))
        x = torch.cat([self.virtual.expand(b, -1, -1), x], 1)
        apart = F.pad(self.distances(adjacency), (1, 0, 1, 0), value=self.far + 1)
        bias = self.apart(apart).permute(0, 3, 1, 2)
        q, k, v = self.qkv(self.n1(x)).view(b, n + 1, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = x + self.out(mixed.transpose(1, 2).reshape(b, n + 1, -1))
        x = x + self.ff(self.n2(x))
        return self.head(x[:, 0])


@entry("plain_graphormer", "plain")
def _() -> Built:
    adjacency = (torch.rand(2, 9, 9) > 0.7).long()
    adjacency = ((adjacency + adjacency.transpose(1, 2)) > 0).long()
    return GraphFormer(), (torch.randint(0, 20, (2, 9)), adjacency), {}
