"""The results as Markdown, as they stand in docs/scaling.md."""

from __future__ import annotations

from typing import Any


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def calibration_table(found: dict[str, Any]) -> str:
    """What was measured here, then predicted against measured."""
    rows = []
    for title, key in (("one process alone", "alone"), ("two side by side, nothing exchanged", "side_by_side")):
        parts = found[key].values()
        a_token, fixed = (sum(part[name] for part in parts) for name in ("a_token", "fixed"))
        rows.append(
            [title, *(milliseconds(part["whole"]) for part in parts), milliseconds(a_token), milliseconds(fixed)]
        )
    text = f"MEASURED: a step of {found['tokens']:,} tokens, one thread, "
    text += f"{found['flops_a_second'] / 1e9:.1f} GFLOP/s alone; "
    text += f"other programs took {found['taken_by_others']:.0%} of the machine\n\n"
    text += table(["", "forward", "backward", "update", "each token", "each step"], rows) + "\n"
    sizes = [f"{size:g} MB: {milliseconds(seconds)}" for size, seconds in found["all_reduce_seconds"].items()]
    text += f"MEASURED: all-reduce between two processes (gloo): {', '.join(sizes)}; "
    text += f"fitted α = {1e6 * found['latency']:.0f} µs, β = {found['bandwidth'] / 1e9:.2f} GB/s\n\n"
    rows = [
        [
            f"{check['processes']}",
            f"{check['tokens']:,}",
            milliseconds(check["measured"]),
            *(
                f"{milliseconds(check[way])} ({check[f'error_{way}']:+.0%})"
                for way in ("if_overlapping", "if_taking_turns")
            ),
        ]
        for check in found["checks"]
    ]
    head = ["processes", "tokens each", "MEASURED", "predicted, exchange overlaps", "predicted, takes turns"]
    return text + table(head, rows)


def recipe_tables(recipes: list[dict[str, Any]], device: str, share: float) -> str:
    """Three tables a recipe: time, batch, memory."""
    text = ""
    for recipe in recipes:
        text += f"\n{recipe['name']}: {recipe['parameters'] / 1e6:.1f} M parameters, {recipe['steps']:,} steps of "
        text += f"{recipe['batch_tokens']:,} tokens, {recipe['flops_a_step'] / 1e12:.1f} TFLOP a step, "
        text += (
            f"{recipe['flops_a_step'] * recipe['steps']:.1e} FLOP in all, {recipe['operations']:,} operations a step; "
        )
        text += f"ASSUMED: {device} at {share:.0%}\n\n"
        head = ["devices", "", "tokens each", "arithmetic", "exchange", "exposed", "step", "limited by", "tokens/s"]
        head += ["efficiency", "hours"]
        text += table(head, [time_row(row) for row in recipe["rows"]])
        head = ["devices", "", "sent a step", "batch that hides", "batch at 90 %", "minutes there, same tokens"]
        head += ["weights", "gradients", "moments", "activations", "memory"]
        text += "\n" + table(head, [size_row(row) for row in recipe["rows"]])
    return text


def time_row(row: dict[str, Any]) -> list[str]:
    times = [row[f"{name}_seconds"] for name in ("compute", "communication", "exposed", "step")]
    return [
        f"{row['devices']}",
        row["sharding"],
        f"{row['tokens_a_device']:,.0f}",
        *(milliseconds(seconds) for seconds in times),
        row["limited_by"],
        f"{thousands(row['tokens_a_second'])}",
        f"{row['efficiency']:.0%}",
        f"{row['hours']:.2f}",
    ]


def size_row(row: dict[str, Any]) -> list[str]:
    return [
        f"{row['devices']}",
        row["sharding"],
        f"{row['bytes_sent'] / 1e6:,.0f} MB",
        thousands(row["hiding_batch"]),
        thousands(row["efficient_batch"]),
        f"{60 * row['hours_at_efficient_batch']:.1f}",
        *(gigabytes(row["memory"][part]) for part in ("weights", "gradients", "moments", "activations", "all")),
    ]


def paper_table(checks: list[dict[str, Any]]) -> str:
    """The paper's hours beside the simulated ones."""
    rows = []
    for check in checks:
        predicted = check["predicted"]
        rows.append(
            [
                check["recipe"],
                f"{check['hours']:.0f} h",
                f"{predicted['hours']:.1f} h",
                f"{check['hours'] / predicted['hours']:.1f}",
                milliseconds(predicted["exposed_seconds"]),
                f"{check['share']:.0%}",
            ]
        )
    head = [
        "recipe",
        "the paper's 8 P100",
        "predicted at 9.5 TFLOP/s",
        "ratio",
        "exposed a step",
        "share of 9.5 really used",
    ]
    return "\nThe paper's own machine, ASSUMED to reach the 9.5 TFLOP/s of its footnote\n\n" + table(head, rows)


def speed_up_table(checks: list[dict[str, Any]]) -> str:
    """Published speed-ups beside the simulated ones."""
    rows = [
        [
            f"{check['devices']}",
            f"{check['tokens']:,}",
            f"{check['share']:.0%}",
            f"{check['published']:.2f}",
            f"{check['predicted']:.2f}",
            f"{check['predicted'] / check['published'] - 1:+.0%}",
        ]
        for check in checks
    ]
    head = ["V100", "tokens each", "share of 125 TFLOP/s on one", "published speed-up", "predicted", "error"]
    return "\nThe big model on V100, from the published speed of one\n\n" + table(head, rows)


def milliseconds(seconds: float) -> str:
    value = 1e3 * seconds
    return f"{value:.2f} ms" if value < 10 else f"{value:.0f} ms"


def gigabytes(num_bytes: float) -> str:
    return f"{num_bytes / 1e9:.2f} GB"


def thousands(number: float) -> str:
    if number >= 1e6:
        return f"{number / 1e6:.2f} M"
    return f"{number / 1e3:.0f} k" if number >= 1e4 else f"{number / 1e3:.1f} k"
