"""What a training costs on many devices, on paper, and how far the paper is from two processes on this machine.

    python benchmarks/scaling_model.py                       # measure here (minutes), then the tables
    python benchmarks/scaling_model.py --only-paper          # the tables alone (seconds)
    python benchmarks/scaling_model.py --devices 8,64,512 --share 0.4 --json

The simulator is `scaling_model_parts/step.py`. What a device and a link can do is either MEASURED here
(`scaling_model_parts/two_processes.py`) or ASSUMED from published figures (`CLUSTERS`).
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from scaling_model_parts.step import (
    Cluster,
    Link,
    Workload,
    efficient_batch,
    hiding_batch,
    replicated_step,
    simulate,
)
from scaling_model_parts.tables import calibration_table, paper_table, recipe_tables, speed_up_table
from scaling_model_parts.two_processes import BUCKET, measure
from train_speed import cpu_seconds

from jumok.config import load_config

ROOT = Path(__file__).resolve().parent.parent

# ASSUMED, nothing of this was measured here. docs/scaling.md says where each figure comes from.
CLUSTERS = {
    "A100": Cluster("A100, bf16", 312e12, 0.3, 8, Link(3e-6, 200e9), Link(10e-6, 21e9), launch=10e-6),
    "V100": Cluster("V100, fp16", 125e12, 1.0, 16, Link(3e-6, 120e9), Link(10e-6, 10e9)),
    "P100": Cluster("P100, float32", 9.5e12, 1.0, 8, Link(5e-6, 20e9), Link(10e-6, 5e9)),
}
PAPER_HOURS = {"wmt14-en-de-base": 12.0, "wmt14-en-de-big": 84.0}  # Vaswani et al. 2017, section 5.2
# Published by NVIDIA for its Transformer-big (DeepLearningExamples, PyTorch/Translation/Transformer), mixed precision:
# devices, tokens each, tokens a second on one device, on all.
PUBLISHED_BIG = [(4, 2560, 23821, 92514), (8, 2560, 23821, 186442), (8, 5120, 32153, 235077)]


def main() -> None:
    options = parse_arguments()
    cluster = replace(CLUSTERS["A100"], share=options.share)
    result: dict[str, Any] = {"assumed": asdict(cluster)}
    if not options.only_paper:
        result["calibration"] = calibrate(options)
    workloads = [read_recipe(path) for path in options.recipes]
    result["recipes"] = [on_paper(workload, cluster, options.devices) for workload in workloads]
    result["paper"] = [check_paper(workload) for workload in workloads if workload.name in PAPER_HOURS]
    result["published"] = [
        row for workload in workloads if workload.name == "wmt14-en-de-big" for row in check_published(workload)
    ]
    if options.json:
        print(json.dumps(result, indent=2))
        return
    if "calibration" in result:
        print(calibration_table(result["calibration"]))
    print(recipe_tables(result["recipes"], cluster.title, options.share))
    print(paper_table(result["paper"]))
    print(speed_up_table(result["published"]))


def read_recipe(path: Path) -> Workload:
    config = load_config(path)
    training = config.training
    batch_tokens = training.batch_tokens * training.accumulate
    return Workload(config.name, config.model, config.tokenizer.vocab_size, batch_tokens, training.max_steps)


def on_paper(workload: Workload, cluster: Cluster, all_devices: list[int]) -> dict[str, Any]:
    """The recipe on each number of devices, with whole and with sharded weights."""
    rows = []
    for num_devices in all_devices:
        for is_sharded in (False, True):
            row = simulate(workload, cluster, num_devices, workload.batch_tokens, is_sharded)
            row["hiding_batch"] = hiding_batch(workload, cluster, num_devices, is_sharded)
            row["efficient_batch"] = batch = efficient_batch(workload, cluster, num_devices, is_sharded)
            hours = simulate(workload, cluster, num_devices, batch, is_sharded)["hours"]
            row["hours_at_efficient_batch"] = hours * workload.batch_tokens / batch  # so many steps fewer
            rows.append(row)
    return {
        "name": workload.name,
        "parameters": workload.num_parameters,
        "steps": workload.num_steps,
        "batch_tokens": workload.batch_tokens,
        "flops_a_step": workload.flops(workload.batch_tokens),
        "operations": workload.num_operations,
        "rows": rows,
    }


def calibrate(options: argparse.Namespace) -> dict[str, Any]:
    """Measure compute and exchange here, predict the steps of one and of two processes, measure those too."""
    before, started = cpu_seconds(), time.perf_counter()
    measured = measure(options.rounds, options.steps, options.tokens)
    others = (cpu_seconds() - before) / (time.perf_counter() - started) / len(os.sched_getaffinity(0))
    measured["taken_by_others"] = round(max(0.0, others), 3)
    workload = Workload("small", measured.pop("config"), measured["vocab_size"], options.tokens, 1)
    a_token = measured["alone"]["forward"]["a_token"] + measured["alone"]["backward"]["a_token"]
    measured["flops_a_second"] = workload.flops(1) / a_token

    def exchange(num_bytes: float) -> float:
        return num_bytes / measured["bandwidth"] + 2 * measured["latency"]  # a ring of two

    for check in measured["checks"]:
        is_one = check["processes"] == 1
        parts = measured["alone" if is_one else "side_by_side"].values()
        forward, backward, update = (part["fixed"] + part["a_token"] * check["tokens"] for part in parts)
        # On a CPU the loss computes the gradient of the projection in forward: backward starts with the last layer.
        end, communication = replicated_step(workload, forward, backward, exchange, 0.0, BUCKET)
        if is_one:
            end, communication = forward + backward, 0.0
        check["if_overlapping"] = end + update
        check["if_taking_turns"] = forward + backward + communication + update
        for way in ("if_overlapping", "if_taking_turns"):
            check[f"error_{way}"] = check[way] / check["measured"] - 1
    return measured


def check_paper(workload: Workload) -> dict[str, Any]:
    """The paper's own eight P100: the hours it should have taken, and the share of the peak that it really used."""
    cluster, hours = CLUSTERS["P100"], PAPER_HOURS[workload.name]
    flops_a_second = workload.flops(workload.batch_tokens) * workload.num_steps / (hours * 3600 * 8)
    predicted = simulate(workload, cluster, 8, workload.batch_tokens)
    return {"recipe": workload.name, "hours": hours, "predicted": predicted, "share": flops_a_second / cluster.peak}


def check_published(workload: Workload) -> list[dict[str, Any]]:
    """From the published speed of one V100, the speed-up of several."""
    rows = []
    for num_devices, tokens, on_one, on_all in PUBLISHED_BIG:
        share = workload.flops(on_one) / CLUSTERS["V100"].peak
        step = simulate(workload, replace(CLUSTERS["V100"], share=share), num_devices, num_devices * tokens)
        predicted = step["tokens_a_second"] / on_one
        rows.append({"devices": num_devices, "tokens": tokens, "share": share, "predicted": predicted})
        rows[-1]["published"] = on_all / on_one
    return rows


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    recipes = [ROOT / "recipes" / f"{name}.toml" for name in PAPER_HOURS]
    add("recipes", nargs="*", type=Path, default=recipes, help="TOML files; default: WMT14 base and big")
    add("--devices", default="8,64,512", help="how many, separated by commas; default: %(default)s")
    add("--share", type=float, default=CLUSTERS["A100"].share, help="of the peak, sustained (ASSUMED: %(default)s)")
    add("--only-paper", action="store_true", help="measure nothing here")
    add("--rounds", type=int, default=7, help="of the measurement; its parts take turns in each")
    add("--steps", type=int, default=4, help="steps of each part in a round")
    add("--tokens", type=int, default=960, help="target tokens of a process in a step of the measurement")
    add("--json", action="store_true", help="print one JSON object instead of tables")
    options = parser.parse_args()
    options.devices = [int(number) for number in options.devices.split(",")]
    if wrong := [n for n in options.devices if n < 1 or (n > 8 and n % 8)]:
        parser.error(f"--devices {wrong[0]}: a node has 8; give at most 8, or a multiple of 8")
    return options


if __name__ == "__main__":
    main()
