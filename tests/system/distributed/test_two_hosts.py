"""Two hosts: two network namespaces with one cable between them, joined by torchrun's c10d rendezvous."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jumok.storage.run_directory import RunDirectory

DRIVER = Path(__file__).with_name("train_only.py")
TINY = ["model.d_model=16", "model.d_ff=16", "training.validate_bleu=0", "training.log_every=1"]
HOSTS = {"jumok-a": "10.77.0.1", "jumok-b": "10.77.0.2"}


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


@pytest.fixture
def hosts() -> Iterator[dict[str, str]]:
    """Names and addresses of two hosts that reach each other and nothing else."""
    names = list(HOSTS)
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", "jumok0", "netns", names[0], "type", "veth", "peer", "name", "jumok1", "netns", names[1])
        for number, (name, address) in enumerate(HOSTS.items()):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", f"jumok{number}")
            for device in ("lo", f"jumok{number}"):
                ip("-n", name, "link", "set", device, "up")
    except (OSError, subprocess.CalledProcessError) as error:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
        if os.environ.get("CI"):
            raise
        pytest.skip(f"network namespaces are not allowed here (they need root and the program ip): {error}")
    yield HOSTS
    for name in names:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


@pytest.mark.slow
def test_two_hosts_train_one_model(hosts: dict[str, str], reverse: Callable[..., Path], tmp_path: Path) -> None:
    config = reverse(max_steps=6, validate_every=3, num_pairs=80, dropout=0.0)
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    alone = [sys.executable, str(DRIVER), str(config), "alone", *TINY]
    subprocess.run(alone, cwd=tmp_path, env=environment, check=True, timeout=300)
    processes = []
    for number, name in enumerate(hosts):
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
        torchrun += ["--rdzv-backend=c10d", f"--rdzv-endpoint={hosts['jumok-a']}:29400", "--rdzv-id=jumok"]
        torchrun += [f"--rdzv-conf=is_host={number == 0}"]  # the namespaces share one host name
        torchrun += [f"--local-addr={hosts[name]}", str(DRIVER), str(config), "both", *TINY]
        command = ["ip", "netns", "exec", name, *torchrun]
        own = {**environment, "GLOO_SOCKET_IFNAME": f"jumok{number}"}
        processes.append(subprocess.Popen(command, cwd=tmp_path, env=own, stderr=subprocess.PIPE, text=True))
    said = [process.communicate(timeout=300)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], "\n".join(text[-2000:] for text in said)
    losses = [
        [event["loss"] for event in RunDirectory(tmp_path / run).metrics() if event["event"] == "train"]
        for run in ("alone", "both")
    ]
    assert len(losses[0]) == 6
    assert losses[1] == pytest.approx(losses[0], abs=1e-5)
