"""Makes tests/golden/vectors/*.safetensors: attention by PyTorch, stage by stage, in float64.

    python tests/golden/generate.py [FOLDER]        # needs torch, numpy, transformers

The vectors in the tree were made with Python 3.11, torch 2.13.0, numpy 2.4.6, transformers 5.24.0.
The tests read only the files; nobody needs Python to run them.

Every parameter is drawn at random (standard deviation 0.3 for widths up to 32, else 1/sqrt(width); biases too), from a
seed that is the CRC of the case's name, and rounded to float32 before anything is computed: the float32 weights in the
file and the float64 stages belong together exactly. Each case is computed by plain float64 einsum and must agree to
1e-12 with torch's own scaled_dot_product_attention, and with torch.nn.MultiheadAttention or transformers' BERT module
wherever those can express it.

A file holds the weights under the names of its family, what the loader reads from `__metadata__` (num_heads …), and:
    golden.inputs, golden.context, golden.values   F32, all sequences packed: [sum of lengths, width]
    golden.padding.N                               U8 [S], 1 = ignore this key
    golden.mask.N                                  U8 [1 or H, 1 or L, S], 1 = may be attended
    golden.bias.N                                  F32 [1 or H, 1 or L, S], added to the scaled scores, -inf masks
    golden.q.N golden.k.N golden.v.N               [heads, positions, head width], after the bias, unscaled
    golden.scores.N golden.weights.N               [H, L, S + extra keys], masked scores -inf
    golden.output.N                                [L, d_out]
for every sequence N, stages as F64 (the maps of long sequences as F32), and in `__metadata__` golden.lengths,
golden.context_lengths, golden.causal, golden.window, golden.scale, golden.layer, golden.rows_without_keys.
"""

import json
import math
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, Optional

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

INF = math.inf
AGREE = 1e-12
LARGE_MAP = 10_000  # weights and scores of more numbers are stored as F32


def draw(random: torch.Generator, *shape: int, std: float) -> Tensor:
    """Random numbers that are exact in float32, as float64."""
    return (torch.randn(*shape, generator=random, dtype=torch.float64) * std).float().double()


@dataclass
class Weights:
    """One block as y = x·Wᵀ + b, [out, in]; absent biases and an absent output projection are None."""

    heads: int
    kv_heads: int
    q: Tensor
    k: Tensor
    v: Tensor
    o: Optional[Tensor]
    bq: Optional[Tensor]
    bk: Optional[Tensor]
    bv: Optional[Tensor]
    bo: Optional[Tensor]
    bias_k: Optional[Tensor] = None
    bias_v: Optional[Tensor] = None
    zero_attn: bool = False

    def extra(self, which: str) -> Tensor:
        """[E, Hkv·head width]: bias_k or bias_v, then the row of zeros."""
        width = (self.k if which == "k" else self.v).shape[0]
        rows = []
        bias = self.bias_k if which == "k" else self.bias_v
        if bias is not None:
            rows.append(bias.reshape(1, width))
        if self.zero_attn:
            rows.append(torch.zeros(1, width, dtype=torch.float64))
        return torch.cat(rows) if rows else torch.zeros(0, width, dtype=torch.float64)


@dataclass
class Case:
    name: str
    d: int
    heads: int
    lengths: list
    contexts: Optional[list] = None
    kv_heads: int = 0
    kdim: int = 0
    vdim: int = 0
    dk: int = 0
    dv: int = 0
    d_out: int = 0
    values: bool = False  # values come from vectors of their own
    bias: bool = True
    out_bias: bool = True
    out: bool = True
    bias_kv: bool = False
    zero_attn: bool = False
    parameter_free: bool = False
    causal: str = "off"  # off, square, top_left, bottom_right
    window: int = 0
    scale: Optional[float] = None
    padding: Optional[list] = None  # per sequence, the ignored keys
    mask: str = ""  # axes of the mask beside the keys: "hl", "l", "h", "1"; "" none
    keep: float = 0.6  # how many keys such a mask lets through
    added: str = ""  # axes of the additive bias, likewise; "-" behind them: some entries are -inf
    names: Optional[Callable] = None
    layers: int = 1  # blocks in the file; the last one is asked
    empty_rows: bool = False
    random: torch.Generator = field(init=False)

    def __post_init__(self):
        self.random = torch.Generator().manual_seed(zlib.crc32(self.name.encode()))
        self.kv_heads = self.kv_heads or self.heads
        self.kdim = self.kdim or self.d
        self.vdim = self.vdim or (self.kdim if not self.values else self.d)
        self.dk = self.dk or self.d // self.heads
        self.dv = self.dv or self.dk
        self.d_out = self.d_out or (self.d if self.out else self.heads * self.dv)
        self.names = self.names or packed

    def keys(self, n: int) -> int:
        return (self.contexts or self.lengths)[n]

    def make_weights(self) -> Optional[Weights]:
        if self.parameter_free:
            return None
        std = 0.3 if self.d <= 32 else 1 / math.sqrt(self.d)
        rows_q, rows_k, rows_v = self.heads * self.dk, self.kv_heads * self.dk, self.kv_heads * self.dv
        new = lambda *shape: draw(self.random, *shape, std=std)
        maybe = lambda wanted, *shape: new(*shape) if wanted else None
        return Weights(
            heads=self.heads, kv_heads=self.kv_heads,
            q=new(rows_q, self.d), k=new(rows_k, self.kdim), v=new(rows_v, self.vdim),
            o=maybe(self.out, self.d_out, self.heads * self.dv),
            bq=maybe(self.bias, rows_q), bk=maybe(self.bias, rows_k), bv=maybe(self.bias, rows_v),
            bo=maybe(self.bias and self.out_bias and self.out, self.d_out),
            bias_k=maybe(self.bias_kv, 1, 1, rows_k), bias_v=maybe(self.bias_kv, 1, 1, rows_v),
            zero_attn=self.zero_attn)


# ---- how families name the same weights ----

def present(tensors: dict) -> dict:
    return {name: t for name, t in tensors.items() if t is not None}


def mha_rest(w: Weights, prefix: str) -> dict:
    return {prefix + "in_proj_bias": None if w.bq is None else torch.cat([w.bq, w.bk, w.bv]),
            prefix + "out_proj.weight": w.o, prefix + "out_proj.bias": w.bo,
            prefix + "bias_k": w.bias_k, prefix + "bias_v": w.bias_v}


def packed_under(prefix: str) -> Callable:
    return lambda w, n: present({prefix.format(n) + "in_proj_weight": torch.cat([w.q, w.k, w.v]),
                                 **mha_rest(w, prefix.format(n))})


def separate(w: Weights, n: int) -> dict:
    return present({"q_proj_weight": w.q, "k_proj_weight": w.k, "v_proj_weight": w.v, **mha_rest(w, "")})


def linears(q: str, k: str, v: str, o: str, prefix: str = "") -> Callable:
    """Four nn.Linear modules of these names."""
    def names(w: Weights, n: int) -> dict:
        found = {}
        for name, weight, bias in ((q, w.q, w.bq), (k, w.k, w.bk), (v, w.v, w.bv), (o, w.o, w.bo)):
            found[prefix.format(n) + name + ".weight"] = weight
            found[prefix.format(n) + name + ".bias"] = bias
        return present(found)
    return names


def bare(w: Weights, n: int) -> dict:
    """Tensors as `Q = X @ Wq` uses them: [in, out]."""
    return present({"Wq": w.q.T, "Wk": w.k.T, "Wv": w.v.T, "Wo": None if w.o is None else w.o.T})


packed = packed_under("")
tutorial_w = linears("W_q", "W_k", "W_v", "W_o")
tutorial_linear = linears("linear_q", "linear_k", "linear_v", "final_linear")


def bert_under(prefix: str) -> Callable:
    return linears("self.query", "self.key", "self.value", "output.dense",
                   prefix + "encoder.layer.{}.attention.")


# ---- one sequence, step by step ----

def random_mask(case: Case, n: int, L: int, S: int) -> Optional[Tensor]:
    """[1 or H, 1 or L, S] booleans, true = may be attended; every row lets some key through."""
    if not case.mask:
        return None
    shape = (case.heads if "h" in case.mask else 1, L if "l" in case.mask else 1, S)
    mask = torch.rand(shape, generator=case.random) < case.keep
    for h in range(shape[0]):
        for i in range(shape[1]):
            mask[h, i, (i + h) % S] = True
    return mask


def random_bias(case: Case, L: int, S: int) -> Optional[Tensor]:
    if not case.added:
        return None
    shape = (case.heads if "h" in case.added else 1, L if "l" in case.added else 1, S)
    bias = draw(case.random, *shape, std=1.0)
    if "-" in case.added:
        bias[torch.rand(shape, generator=case.random) < 0.3] = -INF
        bias[..., 0] = 0.5
    return bias


def visible(case: Case, n: int, L: int, S: int, mask: Optional[Tensor]) -> Tensor:
    """[H, L, S] booleans: all rules but the additive bias."""
    ignored = case.padding[n] if case.padding else []
    shift = S - L if case.causal == "bottom_right" else 0
    seen = torch.zeros(case.heads, L, S, dtype=torch.bool)
    for h in range(case.heads):
        for i in range(L):
            for j in range(S):
                p = i + shift
                ok = j not in ignored
                ok = ok and (case.causal == "off" or j <= p)
                ok = ok and (case.window == 0 or p - j < case.window)
                ok = ok and (case.window == 0 or case.causal != "off" or j - p < case.window)
                if mask is not None:
                    ok = ok and bool(mask[h % mask.shape[0], i % mask.shape[1], j])
                seen[h, i, j] = ok
    return seen


def split(x: Tensor, heads: int) -> Tensor:
    """[positions, heads·width] to [heads, positions, width]."""
    return x.reshape(x.shape[0], heads, x.shape[1] // heads).transpose(0, 1)


def project(x: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:
    y = torch.einsum("pi,oi->po", x, weight)
    return y if bias is None else y + bias


@dataclass
class Stages:
    q: Tensor
    k: Tensor
    v: Tensor
    scores: Tensor
    weights: Tensor
    context: Tensor  # [H, L, dv]
    output: Tensor


def compute(case: Case, w: Optional[Weights], x: Tensor, xk: Tensor, xv: Tensor, seen: Tensor,
            bias: Optional[Tensor]) -> Stages:
    if w is None:
        q, k, v = x[None], xk[None], xv[None]
        extra_k, extra_v = k[:, :0], v[:, :0]
    else:
        q = split(project(x, w.q, w.bq), w.heads)
        k = split(project(xk, w.k, w.bk), w.kv_heads)
        v = split(project(xv, w.v, w.bv), w.kv_heads)
        extra_k, extra_v = split(w.extra("k"), w.kv_heads), split(w.extra("v"), w.kv_heads)
    group = q.shape[0] // k.shape[0]
    all_k = torch.cat([k, extra_k], 1).repeat_interleave(group, 0)
    all_v = torch.cat([v, extra_v], 1).repeat_interleave(group, 0)
    extra = extra_k.shape[1]

    scores = torch.einsum("hid,hjd->hij", q, all_k) * (1 / math.sqrt(q.shape[-1]) if case.scale is None else case.scale)
    if bias is not None:
        scores = scores + F.pad(bias, (0, extra))
    scores = scores.masked_fill(~F.pad(seen, (0, extra), value=True), -INF)
    empty = (scores == -INF).all(-1, keepdim=True)
    weights = torch.softmax(scores, -1).masked_fill(empty, 0.0)
    context = torch.einsum("hij,hjd->hid", weights, all_v)
    joined = context.transpose(0, 1).reshape(x.shape[0], -1)
    output = joined if w is None or w.o is None else project(joined, w.o, w.bo)

    mask = torch.where(F.pad(seen, (0, extra), value=True), 0.0, -INF).double()
    if bias is not None:
        mask = mask + F.pad(bias, (0, extra))
    theirs = F.scaled_dot_product_attention(q[None], all_k[None], all_v[None], attn_mask=mask[None],
                                            scale=case.scale)[0]
    agree(case, "sdpa", theirs, context, empty)
    return Stages(q, k, v, scores, weights, context, output)


# ---- torch's and transformers' own modules must say the same ----

def agree(case: Case, who: str, theirs: Tensor, ours: Tensor, empty: Tensor) -> None:
    """Equal to AGREE, rows without keys left out: torch gives NaN there, the contract zeros."""
    difference = (theirs - ours).abs().masked_fill(empty.expand_as(ours), 0.0).max().item()
    assert difference <= AGREE, f"{case.name}: {who} differs by {difference}"


def check_mha(case: Case, w: Optional[Weights], x: Tensor, xk: Tensor, xv: Tensor, seen: Tensor,
              bias: Optional[Tensor], stages: Stages) -> bool:
    """torch.nn.MultiheadAttention with the same weights; false where it cannot express the case."""
    if (w is None or w.o is None or case.kv_heads != case.heads or case.scale is not None or case.d_out != case.d or
            case.dk != case.dv or case.dk * case.heads != case.d):
        return False
    mha = torch.nn.MultiheadAttention(case.d, case.heads, bias=case.bias, add_bias_kv=case.bias_kv,
                                      add_zero_attn=case.zero_attn, kdim=case.kdim, vdim=case.vdim,
                                      batch_first=True, dtype=torch.float64)
    mine = separate(w, 0) if (case.kdim, case.vdim) != (case.d, case.d) else packed(w, 0)
    missing, unexpected = mha.load_state_dict(mine, strict=False)
    assert not unexpected and (not missing or (missing == ["out_proj.bias"] and not case.out_bias)), missing
    if not case.out_bias:
        torch.nn.init.zeros_(mha.out_proj.bias)
    # Its masks: boolean true = forbidden, or floats that are added.
    forbidden = ~seen if bias is None else torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, -INF) + bias
    with torch.no_grad():
        output, weights = mha(x[None], xk[None], xv[None], attn_mask=forbidden, need_weights=True,
                              average_attn_weights=False)
    empty = (stages.scores == -INF).all(-1, keepdim=True)
    agree(case, "nn.MultiheadAttention's weights", weights[0], stages.weights, empty)
    agree(case, "nn.MultiheadAttention's output", output[0], stages.output, empty.any(0))
    return True


def check_bert(case: Case, w: Optional[Weights], x: Tensor, stages: Stages, seen: Tensor) -> None:
    from transformers import BertConfig
    from transformers.models.bert.modeling_bert import BertSelfAttention
    config = BertConfig(hidden_size=case.d, num_attention_heads=case.heads, attention_probs_dropout_prob=0.0)
    config._attn_implementation = "eager"
    bert = BertSelfAttention(config).double().eval()
    for module, weight, bias in ((bert.query, w.q, w.bq), (bert.key, w.k, w.bk), (bert.value, w.v, w.bv)):
        module.weight.data, module.bias.data = weight, bias
    mask = torch.zeros(seen.shape, dtype=torch.float64).masked_fill(~seen, torch.finfo(torch.float64).min)
    with torch.no_grad():
        context, weights = bert(x[None], attention_mask=mask[None])[:2]
        output = F.linear(context[0], w.o, w.bo)
    empty = torch.zeros(1, 1, dtype=torch.bool)
    agree(case, "BertSelfAttention's weights", weights[0], stages.weights, empty)
    agree(case, "BertSelfAttention's output", output, stages.output, empty)


# ---- the file ----

def f32(t: Tensor) -> np.ndarray:
    as_float = t.float()
    assert torch.equal(as_float.double(), t.double()), "a number that float32 cannot hold"
    return np.ascontiguousarray(as_float.numpy())


def f64(t: Tensor) -> np.ndarray:
    return np.ascontiguousarray(t.double().numpy())


def u8(t: Tensor) -> np.ndarray:
    return np.ascontiguousarray(t.to(torch.uint8).numpy())


def save(path: Path, tensors: dict, metadata: dict) -> None:
    """A safetensors file: 8 bytes of header length, JSON padded to 8, data; wide types first, so all lie aligned.
    Unlike the safetensors package it keeps the order of the metadata: the same vectors are the same bytes."""
    dtypes = {"float64": "F64", "float32": "F32", "uint8": "U8"}
    ordered = sorted(tensors.items(), key=lambda item: -item[1].itemsize)
    header, at = {"__metadata__": metadata}, 0
    for name, t in ordered:
        header[name] = {"dtype": dtypes[t.dtype.name], "shape": list(t.shape), "data_offsets": [at, at + t.nbytes]}
        at += t.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(t.tobytes() for _, t in ordered))


def make(case: Case, folder: Path) -> str:
    blocks = [case.make_weights() for _ in range(case.layers)]
    w = blocks[-1]
    tensors, metadata = {}, {}
    for n, block in enumerate(blocks):
        if block is not None:
            tensors |= {name: f32(t) for name, t in case.names(block, n).items()}
    x = [draw(case.random, L, case.d, std=1.0) for L in case.lengths]
    context = [draw(case.random, S, case.kdim, std=1.0) for S in case.contexts] if case.contexts else None
    values = [draw(case.random, S, case.vdim, std=1.0) for S in case.contexts] if case.values else None
    tensors["golden.inputs"] = f32(torch.cat(x))
    if context:
        tensors["golden.context"] = f32(torch.cat(context))
    if values:
        tensors["golden.values"] = f32(torch.cat(values))

    empty_rows, by_mha = 0, False
    for n, L in enumerate(case.lengths):
        S = case.keys(n)
        xk = context[n] if context else x[n]
        xv = values[n] if values else xk
        mask, bias = random_mask(case, n, L, S), random_bias(case, L, S)
        seen = visible(case, n, L, S, mask)
        stages = compute(case, w, x[n], xk, xv, seen, bias)
        by_mha = check_mha(case, w, x[n], xk, xv, seen, bias, stages)
        if "attention.self.query.weight" in " ".join(tensors):
            check_bert(case, w, x[n], stages, seen)
        empty_rows += int((stages.scores == -INF).all(-1).sum())
        if case.padding:
            tensors[f"golden.padding.{n}"] = u8(torch.tensor([j in case.padding[n] for j in range(S)]))
        if mask is not None:
            tensors[f"golden.mask.{n}"] = u8(mask)
        if bias is not None:
            tensors[f"golden.bias.{n}"] = f32(bias)
        for stage in ("q", "k", "v", "scores", "weights", "output"):
            t = getattr(stages, stage)
            large = t.numel() > LARGE_MAP
            tensors[f"golden.{stage}.{n}"] = t.float().numpy() if large else f64(t)
    assert (empty_rows > 0) == case.empty_rows, f"{case.name}: {empty_rows} rows without keys"

    metadata["golden.lengths"] = " ".join(map(str, case.lengths))
    if case.contexts:
        metadata["golden.context_lengths"] = " ".join(map(str, case.contexts))
    metadata["golden.causal"] = case.causal
    metadata["golden.window"] = str(case.window)
    if case.scale is not None:
        metadata["golden.scale"] = repr(case.scale)
    metadata["golden.layer"] = str(case.layers - 1)
    metadata["golden.rows_without_keys"] = str(empty_rows)
    if w is not None:
        metadata["num_heads"] = str(case.heads)
        if case.kv_heads != case.heads:
            metadata["num_kv_heads"] = str(case.kv_heads)
        if case.zero_attn:
            metadata["add_zero_attn"] = "true"
    path = folder / f"{case.name}.safetensors"
    save(path, tensors, metadata)
    return f"{path.stat().st_size:8} {case.name}{' (nn.MultiheadAttention agrees)' if by_mha else ''}"


ENCODER, DECODER = "encoder.layers.{}.self_attn.", "decoder.layers.{}.multihead_attn."

CASES = [
    # widths, lengths and heads
    Case("self", 8, 2, [5]),
    Case("self-one-head", 4, 1, [3]),
    Case("self-one-token", 8, 2, [1]),
    Case("self-head-width-1", 2, 2, [7]),
    Case("self-17", 17, 1, [17]),
    Case("self-129", 16, 2, [129]),
    Case("self-d64", 64, 8, [17]),
    Case("self-d128", 128, 4, [7]),
    Case("self-batch", 12, 3, [4, 4, 4]),
    Case("ragged", 8, 4, [1, 7, 3, 17]),
    # biases
    Case("no-bias", 8, 2, [6], bias=False),
    Case("bias-kv", 8, 2, [5], bias_kv=True),
    Case("zero-attn", 8, 2, [5], zero_attn=True),
    Case("bias-kv-zero-attn", 12, 3, [4, 6], bias_kv=True, zero_attn=True),
    Case("bias-kv-padding", 8, 2, [5, 3], bias_kv=True, padding=[[0, 2], [0, 1, 2]]),
    # cross-attention
    Case("cross", 8, 2, [5], contexts=[7]),
    Case("cross-kdim-vdim", 12, 3, [4], contexts=[9], kdim=5, vdim=7, values=True, names=separate),
    Case("cross-kdim", 8, 4, [7, 2], contexts=[3, 5], kdim=6, names=separate),
    Case("cross-values", 8, 2, [3], contexts=[4], values=True),
    Case("cross-decoder", 16, 4, [6], contexts=[4], names=packed_under(DECODER)),
    # masks
    Case("causal", 8, 2, [7], causal="square"),
    Case("causal-129", 4, 1, [129], causal="square"),
    Case("causal-top-left", 8, 2, [4], contexts=[7], causal="top_left"),
    Case("causal-bottom-right", 8, 2, [3, 5], contexts=[7, 5], causal="bottom_right"),
    Case("causal-bottom-right-long", 8, 2, [6], contexts=[4], causal="bottom_right", empty_rows=True),
    Case("causal-zero-attn", 8, 2, [6], causal="square", zero_attn=True),
    Case("window-causal", 8, 2, [17], causal="square", window=4),
    Case("window-both-sides", 8, 2, [17], window=3),
    Case("window-one", 4, 2, [5], window=1),
    Case("window-bottom-right", 8, 2, [5], contexts=[9], causal="bottom_right", window=3),
    Case("padding", 8, 2, [6, 6, 6], padding=[[], [4, 5], [0, 3]]),
    Case("padding-all", 8, 2, [3, 3], padding=[[0, 1, 2], [2]], empty_rows=True),
    Case("padding-left-causal", 8, 2, [6, 4], padding=[[0, 1], []], causal="square", empty_rows=True),
    Case("mask-queries", 8, 2, [7], mask="l"),
    Case("mask-heads-queries", 8, 2, [5, 5], mask="hl"),
    Case("mask-heads", 8, 4, [6], mask="h"),
    Case("mask-keys", 8, 2, [6], mask="1"),
    Case("mask-padding-window", 8, 2, [9, 7], mask="hl", keep=0.4, padding=[[1], [0]], window=4, empty_rows=True),
    Case("mask-ragged-cross", 8, 2, [2, 7], contexts=[9, 1], mask="l"),
    Case("bias-added", 8, 2, [6], added="l"),
    Case("bias-added-heads", 8, 4, [5, 3], added="hl-"),
    Case("bias-added-keys", 8, 2, [5], added="1"),
    # scale, grouped heads, head widths
    Case("scale", 8, 2, [5], scale=0.1875),
    Case("scale-zero", 8, 2, [4], scale=0.0),
    Case("scale-large", 16, 2, [5], scale=1.5),
    Case("grouped-2", 16, 4, [7], kv_heads=2, names=tutorial_w),
    Case("grouped-1", 8, 4, [5], kv_heads=1, causal="square", names=tutorial_linear),
    Case("grouped-3-of-6", 12, 6, [6], kv_heads=3, mask="hl", names=tutorial_linear),
    Case("head-widths", 8, 2, [5], dk=3, dv=5, names=tutorial_w),
    Case("head-widths-all", 7, 4, [5, 4], contexts=[3, 9], kv_heads=2, kdim=5, vdim=3, dk=6, dv=1, d_out=11,
         values=True, names=tutorial_linear),
    Case("d384", 384, 3, [4], kv_heads=1, dk=8, dv=8, names=tutorial_w),
    # names
    Case("names-encoder-stack", 8, 2, [4], layers=3, names=packed_under(ENCODER)),
    Case("names-tutorial-w", 8, 2, [5], names=tutorial_w),
    Case("names-tutorial-linear", 8, 2, [5], names=tutorial_linear),
    Case("names-no-output", 6, 2, [5], out=False, names=tutorial_w),
    Case("names-bare", 8, 2, [5], bias=False, names=bare),
    Case("names-bare-no-output", 6, 1, [4], bias=False, dk=4, dv=5, out=False, names=bare),
    Case("names-bert", 12, 3, [7], names=bert_under("bert.")),
    Case("names-bert-stack", 16, 4, [5], layers=2, mask="1", names=bert_under("")),
    # without parameters
    Case("plain-d1", 1, 1, [7], parameter_free=True),
    Case("plain-d7", 7, 1, [5, 2], parameter_free=True, causal="square"),
    Case("plain-cross", 6, 1, [3], contexts=[5], parameter_free=True),
    Case("plain-d384", 384, 1, [9], parameter_free=True),
]


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "vectors"
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for case in CASES:
        print(make(case, folder))


if __name__ == "__main__":
    main()
