"""Ray: a pool of workers on this machine or on many."""

from __future__ import annotations

import logging
import os
import re
import socket
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jumok import errors
from jumok.bulk.corpus import Block
from jumok.bulk.output import MOST_TRIES
from jumok.bulk.places import first_line
from jumok.bulk.worker import Job, Worker, run_files
from jumok.errors import FailureError, ResourceError, UsageError
from jumok.storage.run_directory import RunDirectory

_MOST_THREADS = 8  # of one worker: its texts are cut into pieces by one thread, which more would wait for
_SECONDS_BETWEEN_LINES = 10.0


def translate_blocks(
    ray: Any,
    job: Job,
    run: RunDirectory,
    blocks: list[Block],
    workers: int | None,
    threads: int | None,
    say: Callable[[str], None],
) -> int:
    """Let a pool of workers do the blocks; the number of translations that were cut off."""
    cpus = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
    cpus = [count for count in cpus if count > 0] or [1]
    if threads is not None and threads > max(cpus):
        raise UsageError(f"threads = {threads}: the largest machine has {max(cpus)} CPUs for Ray")
    threads = threads or min(_MOST_THREADS, *cpus)
    workers = min(workers or sum(count // threads for count in cpus), len(blocks))
    say(f"{workers} worker{'s' * (workers > 1)} with {threads} thread{'s' * (threads > 1)} each")

    files = run_files(run, with_converted=True)
    packed = ray.put({str(file.relative_to(run.path)): file.read_bytes() for file in files})
    context = ray.data.DataContext.get_current().copy()
    context.enable_progress_bars = context.print_on_execution_start = False
    context.max_consecutive_actor_init_deaths = MOST_TRIES
    try:
        with ray.data.DataContext.current(context), _silence(logging.getLogger("ray.data")):
            results = ray.data.from_items([asdict(block) for block in blocks], override_num_blocks=len(blocks)).map(
                Worker,
                fn_constructor_args=(job, packed, threads),
                compute=ray.data.ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
                num_cpus=threads,
            )
            with redirect_stdout(sys.stderr):  # where Ray tells of workers that died
                return _count(results.iter_rows(), blocks, say)
    except ray.exceptions.RayError as error:
        raise FailureError(
            f"Ray gave up: {type(error).__name__}: {first_line(error)}; what is finished stays, the same command goes "
            "on"
        ) from error


@contextmanager
def _silence(logger: logging.Logger) -> Iterator[None]:
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _count(results: Iterable[dict[str, Any]], blocks: list[Block], say: Callable[[str], None]) -> int:
    """Follow the work and say now and then how far it is."""
    num_rows = sum(block.num_rows for block in blocks)
    rows_done = num_cut_off = 0
    begun = last_line = time.monotonic()
    for num_done, result in enumerate(results, start=1):
        if result["error"]:
            raise getattr(errors, result["error"])(result["reason"])
        rows_done += result["num_rows"]
        num_cut_off += result["num_cut_off"]
        now = time.monotonic()
        if now - last_line > _SECONDS_BETWEEN_LINES:
            last_line, speed = now, rows_done / (now - begun)
            to_go = (num_rows - rows_done) / speed / 60 if speed else 0.0
            say(f"block {num_done:,}/{len(blocks):,}  {speed:,.0f} rows/s  {to_go:.1f} min to go")
    return int(num_cut_off)


@contextmanager
def ray_session(ray: Any, address: str | None, num_bytes: int) -> Iterator[None]:
    """A Ray that the caller has started, a cluster's, or one on this machine for as long as it is needed."""
    if ray.is_initialized():
        yield
        return
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # its processes keep log files; we say what went wrong
    address = address or os.environ.get("RAY_ADDRESS") or "local"
    local = {"include_dashboard": False, "object_store_memory": 2 * num_bytes + 2**28}
    try:
        if found := re.fullmatch(r"(?:ray://)?(.+):(\d+)", address):  # Ray itself would try for minutes
            socket.create_connection((found[1], int(found[2])), timeout=10).close()
        with _quiet_stderr():
            ray.init(address, log_to_driver=False, logging_level="ERROR", **(local if address == "local" else {}))
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise ResourceError(f"Ray at {address} could not be reached: {first_line(error)}") from None
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Ray's compiled part writes there past sys.stderr; what went wrong comes as an exception too."""
    kept = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def import_ray() -> Any:
    """Ray, which is an extra."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing is reported to anybody
    try:
        import ray
        import ray.data
    except ImportError:
        raise UsageError("translating with --ray needs Ray: pip install 'jumok[ray]'") from None
    return ray
