"""A process that has imported everything once and forks a `jumok` for each request, with a fault built in.

Requests come as JSON, one a line, and so do the answers:

    {"start": ["train", …], "folder": …, "log": …, "faults": […]}   ->  the process number
    {"wait": number}                                                ->  its exit code, or null where it stands still

A fault is an object with a key "fault" that names a function of this file, and its arguments. One thread computes, so
that forking is safe; each fork ends after two minutes at the latest.
"""

from __future__ import annotations

import functools
import importlib
import itertools
import json
import os
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import sentencepiece  # noqa: F401  (what the program imports late is imported here, once)
import torch
import torch._dynamo
import torch.utils.tensorboard

from jumok import pipeline
from jumok.cli import main, progress  # noqa: F401
from jumok.training.objective import TranslationObjective
from jumok.training.trainer import Trainer

SECONDS = 120


def serve() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            answer = start(request)
        else:
            _, status = os.waitpid(request["wait"], os.WUNTRACED)
            answer = None if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)
        print(json.dumps(answer), flush=True)


def start(request: dict[str, Any]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell is started deaf to it
    number = os.fork()
    if number:
        return number
    code = 1
    try:
        signal.alarm(SECONDS)
        os.chdir(request["folder"])
        with Path(os.devnull).open() as nothing, Path(request["log"]).open("a") as log:
            for old, new in ((nothing, 0), (log, 1), (log, 2)):
                os.dup2(old.fileno(), new)
        pipeline._score_and_report = finish
        for fault in request["faults"]:
            arguments = dict(fault)
            FAULTS[arguments.pop("fault")](**arguments)
        sys.argv = ["jumok", *request["start"]]
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def finish(directory: Any, result: dict[str, Any], say: Any) -> None:
    """Instead of translating the test set, which is not what is tested here."""
    directory.write_result(result)
    directory.report_file.write_text("a report")


# --- faults -----------------------------------------------------------------------------------------------------


def at_write(number: int = 0, is_torn: bool = False, log: str | None = None) -> None:
    """SIGKILL before the n-th operation on a file, or, torn, in the midst of the n-th write. A log counts them."""
    seen = itertools.count(1)
    main_thread, here, prepared = threading.get_ident(), Path.cwd(), Path.cwd() / "prepared"

    def pass_boundary(what: str, path: Path, tear: Callable[[], None] | None) -> None:
        if is_torn and tear is None:
            return
        now = next(seen)
        if log is not None:
            descriptor = os.open(log, os.O_WRONLY | os.O_APPEND)
            os.write(descriptor, f"{json.dumps([what, str(path)])}\n".encode())
            os.close(descriptor)
        if now == number:
            if is_torn and tear is not None:
                tear()
            os.kill(os.getpid(), signal.SIGKILL)

    def hear(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in OPERATIONS or threading.get_ident() != main_thread or not isinstance(arguments[0], str):
            return
        path = here / arguments[0]
        if not path.is_relative_to(here) or path.is_relative_to(prepared) or str(path) == log:
            return
        tear = None
        if event == "open":
            if not arguments[2] & (os.O_WRONLY | os.O_RDWR):
                return
            if arguments[2] & os.O_TRUNC:
                tear = functools.partial(empty, path)
            elif path.suffix == ".jsonl":
                tear = functools.partial(append_half_a_line, path)
        pass_boundary(event, path, tear)

    def sync(descriptor: int) -> None:
        path = Path(f"/proc/self/fd/{descriptor}").readlink()
        size = os.fstat(descriptor).st_size
        pass_boundary("fsync", path, None if path.is_dir() else lambda: os.truncate(path, size // 2))
        real_sync(descriptor)

    real_sync = os.fsync
    os.fsync = sync
    sys.addaudithook(hear)


OPERATIONS = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "shutil.copyfile", "shutil.rmtree")


def empty(path: Path) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))


def append_half_a_line(path: Path) -> None:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    os.lseek(descriptor, 0, os.SEEK_END)
    os.write(descriptor, '{"event": "validate", "example": ["어'.encode()[:-1])
    os.close(descriptor)


def at_call(function: str, call: int, send: str) -> None:
    """A signal to ourselves right before the n-th call of a method of the program, `module:Class.method`."""
    module, _, name = function.partition(":")
    *owners, attribute = name.split(".")
    owner = functools.reduce(getattr, owners, importlib.import_module(module))
    real, seen = getattr(owner, attribute), itertools.count(1)

    @functools.wraps(real)
    def replacement(*arguments: Any, **named: Any) -> Any:
        if next(seen) == call:
            os.kill(os.getpid(), signal.Signals[send])
        return real(*arguments, **named)

    setattr(owner, attribute, replacement)


def full_disk(step: int, free: int) -> None:
    """When a step has been saved, somebody else takes all of the disk but some bytes."""
    real = Trainer._save

    def save(self: Trainer) -> None:
        real(self)
        if self.progress.step == step:
            fill(self.run.path.parent / "ballast", free)

    Trainer._save = save


def fill(path: Path, free: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    block = 1 << 16
    while block:
        try:
            os.write(descriptor, bytes(block))
        except OSError:
            block //= 2
    os.ftruncate(descriptor, max(0, os.fstat(descriptor).st_size - free))
    os.close(descriptor)


def full_metrics(step: int) -> None:
    """When a step has been saved, what is written to metrics.jsonl meets a full disk."""
    real = Trainer._save

    def save(self: Trainer) -> None:
        path = self.run.metrics_file
        if self.progress.step == step:
            path.rename(path.with_suffix(".before"))
            path.symlink_to("/dev/full")
        real(self)

    Trainer._save = save


def small_files(size: int) -> None:
    """No file may become larger, as a quota would have it."""
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def not_a_number(calls: list[int]) -> None:
    """The loss of some batches is not a number."""
    real, seen = TranslationObjective.forward, itertools.count(1)

    def forward(self: TranslationObjective, batch: Any) -> Any:
        loss, num_tokens = real(self, batch)
        is_spoilt = torch.is_grad_enabled() and next(seen) in calls
        return loss * float("nan") if is_spoilt else loss, num_tokens

    TranslationObjective.forward = forward


def jumping_clock() -> None:
    """The time of day jumps a day back and forth at every look."""
    real, day = time.time, itertools.cycle((0.0, -86_400.0, 86_400.0))
    time.time = lambda: real() + next(day)


FAULTS: dict[str, Any] = {
    function.__name__: function
    for function in (at_write, at_call, full_disk, full_metrics, small_files, not_a_number, jumping_clock)
    if isinstance(function, types.FunctionType)
}

if __name__ == "__main__":
    torch.set_num_threads(1)
    serve()
