"""`jumok serve`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jumok.cli.options import RunArgument
from jumok.errors import UsageError

if TYPE_CHECKING:
    import socket

_PORT, _NUM_TRIED = 8000, 50
_EVERYWHERE = ("0.0.0.0", "::")


def serve(
    run: RunArgument,
    host: Annotated[str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines in.")] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help=f"The port; from {_PORT} on the first free one if not given.")
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    export: Annotated[
        Path | None, typer.Option(metavar="PAGE.html", help="Write the page for one sentence into a file and end.")
    ] = None,
    text: Annotated[
        str | None, typer.Option(help="The sentence of --export; one of the validation set if not given.")
    ] = None,
) -> None:
    """Look inside a run in the browser, and translate for programs that speak to LibreTranslate.

    Example: jumok serve runs/demo

    Example: jumok serve runs/demo --export page.html --text "어제 카페에 갔어요."
    """
    from jumok.nn.device import choose_device
    from jumok.storage.run_directory import RunDirectory

    RunDirectory(run).require_model()
    choose_device(device)
    if text is not None and export is None:
        raise UsageError("--text is the sentence of --export; the served page has a place to type it")
    if export is not None:
        from jumok.serving.export import write_page

        write_page(run, export, text, device)
        print(f"{export}: {export.stat().st_size / 1e6:.1f} MB; open it in a browser, it needs no server")
        return
    _serve(run, _listen(host, port), host, no_open, device)


def _listen(host: str, port: int | None) -> socket.socket:
    """A socket at the port, or at the first free one."""
    import errno
    import socket

    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    numbers = range(_PORT, _PORT + _NUM_TRIED) if port is None else [port]
    for number in numbers:
        try:
            return socket.create_server((host, number), family=family)
        except (OSError, UnicodeError) as error:
            if getattr(error, "errno", None) != errno.EADDRINUSE:
                reason = getattr(error, "strerror", None) or error
                raise UsageError(f"{host}:{number}: cannot be listened at: {reason}") from None
    taken = f"port {numbers[0]} is" if len(numbers) == 1 else f"ports {numbers[0]} to {numbers[-1]} are"
    raise UsageError(f"{host}: {taken} taken; choose another with --port")


def _serve(run: Path, listener: socket.socket, host: str, no_open: bool, device: str) -> None:
    """Answer until Ctrl-C."""
    import uvicorn

    from jumok.serving.app import create_app
    from jumok.serving.guard import ANY_HOST, LOCAL_HOSTS

    name = f"[{host}]" if ":" in host else host
    hosts = [ANY_HOST] if host in _EVERYWHERE else [*LOCAL_HOSTS, name]
    shown = "127.0.0.1" if host in _EVERYWHERE else name
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    config = uvicorn.Config(
        create_app(run, device, hosts), log_level="warning", lifespan="off", timeout_graceful_shutdown=1
    )
    print(f"{address} shows {run}; Ctrl-C ends it", flush=True)
    if not no_open and _is_desktop():
        import webbrowser

        webbrowser.open(address)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    except KeyboardInterrupt:  # which uvicorn raises again after it has closed everything
        print()


def _is_desktop() -> bool:
    """Whether somebody sits before a screen of this machine."""
    if not sys.stdout.isatty() or "SSH_CONNECTION" in os.environ:
        return False
    return os.name == "nt" or sys.platform == "darwin" or bool({"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys())
