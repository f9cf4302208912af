"""Makes tests/golden/statistics/*.safetensors: the statistics of random maps by NumPy, in float64.

    python tests/golden/head_statistics.py [FOLDER]        # needs numpy, safetensors

Each statistic is computed on its own, straight from its definition (engine/attention/statistics.h), from whole maps:
keys that a per-key mask removes, and the queries of such keys, are first cut out of the map. The tests read only the
files, which were made with Python 3.11 and numpy 2.4.6.

A file holds, for one sequence of queries and keys that all score 0 before the bias:
    bias      F32 [H, L, S]       the scores; -inf masks
    padding   U8 [S]              1 = ignore this key (may be absent)
    mask      U8 [L, S]           1 = may be attended (may be absent)
    tokens    U8 [S]              (may be absent)
    numbers   F64 [H, names]      NaN where not defined
    received, total  F64 [H, S + E]
and in `__metadata__`: causal, window, cross, extra_keys and names, separated by spaces.
"""

import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

NAMES = """entropy normalized_entropy effective_keys participation_ratio confidence mean_distance local_mass_1
local_mass_4 local_mass_16 local_mass_64 sink_mass previous_token current_token next_token positional_previous
positional_next duplicate_token induction coverage_90 gini score_min score_max score_std row_sum_residual""".split()


def mean(values):
    return float(np.mean(values)) if len(values) else np.nan


def gini(weights):
    """Mean absolute difference of all pairs, over twice the mean."""
    return np.abs(weights[:, None] - weights[None, :]).mean() / (2 * weights.mean())


def coverage(row):
    falling = np.cumsum(np.sort(row)[::-1])
    return int(np.argmax(falling >= 0.9 * (1 - 1e-6) * row.sum())) + 1


def entropy(row):
    row = row[row > 0]
    return float(-(row * np.log(row)).sum())


def head_statistics(weights, scores, seen, own, tokens, causal, cross):
    """weights, scores, seen: [queries that are no pad queries, columns]; own: how many columns are no extra keys."""
    n = seen.sum(axis=1)
    q = np.flatnonzero(n > 0)
    h = np.array([entropy(weights[i]) for i in q])
    out = dict.fromkeys(NAMES, np.nan)
    out["entropy"] = mean(h)
    out["normalized_entropy"] = mean([h[r] / np.log(n[i]) for r, i in enumerate(q) if n[i] > 1])
    out["effective_keys"] = mean(np.exp(h))
    out["participation_ratio"] = mean([1 / (weights[i] ** 2).sum() for i in q])
    out["confidence"] = mean([weights[i].max() for i in q])
    out["coverage_90"] = mean([coverage(weights[i][seen[i]]) for i in q])
    out["gini"] = mean([gini(weights[i][seen[i]]) for i in q])
    entering = scores[q][seen[q]]
    if entering.size:
        out["score_min"], out["score_max"], out["score_std"] = entering.min(), entering.max(), entering.std()
    out["row_sum_residual"] = mean(1 - weights.sum(axis=1))
    if cross or len(q) == 0:
        return out
    size = len(weights)
    assert size == own
    a = weights[:, :own]
    apart = np.abs(np.arange(size)[:, None] - np.arange(size)[None, :])
    out["mean_distance"] = (a[q] * apart[q]).sum() / a[q].sum()
    for w in 1, 4, 16, 64:
        out[f"local_mass_{w}"] = mean([(a[i] * (apart[i] <= w)).sum() for i in q])
    sees_first = [i for i in q if seen[i, 0]]
    out["sink_mass"] = mean([a[i, 0] for i in sees_first])
    out["previous_token"] = mean([a[i, i - 1] for i in q if i >= 1])
    out["current_token"] = mean([a[i, i] for i in q])
    if not causal:
        out["next_token"] = mean([a[i, i + 1] for i in q if i + 1 < size])
    largest = weights.argmax(axis=1)
    out["positional_previous"] = mean([largest[i] == i - 1 for i in q])
    out["positional_next"] = mean([largest[i] == i + 1 and i + 1 < size for i in q])
    if tokens is not None:
        same = np.array([[tokens[i] == tokens[j] and j < i for j in range(size)] for i in range(size)])
        behind = np.array([[1 <= j <= i and tokens[j - 1] == tokens[i] for j in range(size)] for i in range(size)])
        out["duplicate_token"] = (a[q] * same[q]).sum() / weights[q].sum()
        out["induction"] = (a[q] * behind[q]).sum() / weights[q].sum()
    return out


def statistics(bias, padding, mask, tokens, causal, window, cross, extra):
    heads, queries, keys = bias.shape
    i, j = np.arange(queries)[:, None], np.arange(keys)[None, :]
    seen = np.ones((queries, keys), bool)
    if causal:
        seen &= j <= i
    if window:
        seen &= (i - j < window) & ((j - i < window) | causal)
    kept = np.ones(keys, bool) if padding is None else padding == 0
    seen &= kept[None, :]
    if mask is not None:
        seen &= mask != 0
    numbers, received, total = [], np.full((heads, keys + extra), np.nan), np.zeros((heads, keys + extra))
    for head in range(heads):
        visible = np.concatenate([seen & (bias[head] > -np.inf), np.ones((queries, extra), bool)], axis=1)
        scores = np.concatenate([bias[head].astype(float), np.zeros((queries, extra))], axis=1)
        scores[~visible] = -np.inf
        weights = np.zeros_like(scores)
        for row in range(queries):
            if visible[row].any():
                e = np.exp(scores[row] - scores[row].max())
                weights[row] = e / e.sum()
        rows = np.arange(queries) if cross else np.flatnonzero(kept)
        columns = np.concatenate([np.flatnonzero(kept), np.arange(keys, keys + extra)])
        cut = np.ix_(rows, columns)
        own_tokens = None if tokens is None else tokens[kept]
        out = head_statistics(weights[cut], scores[cut], visible[cut], int(kept.sum()), own_tokens, causal, cross)
        numbers.append([out[name] for name in NAMES])
        for column in range(keys + extra):
            total[head, column] = weights[rows, column].sum()
            if visible[rows, column].any():
                received[head, column] = total[head, column] / visible[rows, column].sum()
    return np.array(numbers, dtype=np.float64), received, total


def case(folder, name, heads, queries, keys, causal=False, window=0, cross=False, extra=0, pads=(), masked=0.0,
         vocabulary=5, spread=1.5):
    random = np.random.default_rng(sum(name.encode()))
    bias = (random.standard_normal((heads, queries, keys)) * spread).astype(np.float32)
    bias[random.random(bias.shape) < masked / 2] = -np.inf
    padding = None
    if pads:
        padding = np.zeros(keys, np.uint8)
        padding[list(pads)] = 1
    mask = (random.random((queries, keys)) >= masked).astype(np.uint8) if masked else None
    if masked:
        mask[queries // 2] = 0  # a row without keys
    tokens = random.integers(0, vocabulary, keys).astype(np.uint8) if vocabulary else None
    numbers, received, total = statistics(bias, padding, mask, tokens, causal, window, cross, extra)
    tensors = {"bias": bias, "numbers": numbers, "received": received, "total": total}
    for key, value in ("padding", padding), ("mask", mask), ("tokens", tokens):
        if value is not None:
            tensors[key] = value
    options = dict(causal=str(int(causal)), window=str(window), cross=str(int(cross)), extra_keys=str(extra),
                   names=" ".join(NAMES))
    save_file(tensors, folder / f"{name}.safetensors", options)


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "statistics")
    folder.mkdir(exist_ok=True)
    case(folder, "bidirectional", 2, 9, 9)
    case(folder, "causal", 3, 12, 12, causal=True)
    case(folder, "causal-long", 1, 131, 131, causal=True, vocabulary=40, spread=3)
    case(folder, "cross", 2, 5, 11, cross=True, pads=(0, 9, 10))
    case(folder, "extra-keys", 2, 8, 8, causal=True, extra=2)
    case(folder, "left-padded", 2, 10, 10, causal=True, pads=(0, 1, 2))
    case(folder, "holes", 2, 14, 14, pads=(4, 5, 9, 13))
    case(folder, "masked", 3, 16, 16, masked=0.3)
    case(folder, "one", 1, 1, 1)
    case(folder, "all-padded", 1, 3, 3, pads=(0, 1, 2))
    case(folder, "no-tokens", 1, 6, 6, vocabulary=0)
    case(folder, "window", 2, 20, 20, window=4)
    case(folder, "window-causal", 2, 20, 20, window=5, causal=True, pads=(18, 19))


if __name__ == "__main__":
    main()
