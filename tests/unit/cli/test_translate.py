"""`jumok translate` and `jumok evaluate`: a line in, a line out, and nothing else on standard output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Jumok = Callable[..., Any]

WEIRD = "나는\n\na\u2028b\n\x85\n😀😀\n<s>\n \t \n▁\n너는 집에 산다.\n\n\n"


CUT_OFF = (
    r"jumok: \d+ of the translations reached the length limit and were cut off; raise decoding.max_extra_length in .*"
)


def without_cut_off(err: str) -> str:
    """What else was said: random weights seldom end a sentence."""
    return re.sub(CUT_OFF, "", err).strip()


@pytest.mark.parametrize(
    "text",
    [
        "나는 집에 간다.\n",
        "나는 집에 간다.",
        "\n",
        "\n\n\n",
        "나는\n\n\n산다\n\n",
        WEIRD,
        WEIRD.rstrip("\n") + " no end",
        "\ufeff나는\r\n산다\r\n",
        "a\rb\vc\fd\x1ce\n",
    ],
)
def test_as_many_lines_out_as_in(jumok: Jumok, run: Path, tmp_path: Path, text: str) -> None:
    expected = text.count("\n") + (not text.endswith("\n"))
    piped = jumok("translate", run, stdin=text.encode())
    assert (piped.code, without_cut_off(piped.err)) == (0, "")
    assert piped.out.count("\n") == expected and piped.out.endswith("\n")
    assert len(piped.out.splitlines()) == expected
    file = tmp_path / "in.txt"
    file.write_bytes(text.encode())
    assert jumok("translate", run, file).out == piped.out


def test_blank_lines_stay_in_their_places(jumok: Jumok, run: Path) -> None:
    lines = jumok("translate", run, stdin="\n나는 집에 간다.\n  \n".encode()).out.split("\n")
    assert [bool(line) for line in lines] == [False, True, False, False]


def test_nothing_in_nothing_out(jumok: Jumok, run: Path) -> None:
    assert jumok("translate", run) == type(jumok("translate", run))(0, "", "")


def test_text_option(jumok: Jumok, run: Path) -> None:
    by_option = jumok("translate", run, "--text", "나는 집에 간다.")
    assert by_option.out == jumok("translate", run, stdin="나는 집에 간다.\n".encode()).out
    assert jumok("translate", run, "-t", "").out == "\n"


def test_json_is_one_object_a_line(jumok: Jumok, run: Path) -> None:
    ended = jumok("translate", run, "--json", "--n-best", 2, stdin='나는 "집"\n\n산다\n'.encode())
    objects = [json.loads(line) for line in ended.out.splitlines()]
    assert [o["source"] for o in objects] == ['나는 "집"', "", "산다"]
    assert [len(o["hypotheses"]) for o in objects] == [2, 2, 2]
    assert set(objects[0]["hypotheses"][0]) == {"text", "score", "is_complete"}


def test_n_best_prints_so_many_lines_for_every_line(jumok: Jumok, run: Path) -> None:
    ended = jumok("translate", run, "--n-best", 3, "--scores", stdin="나는\n\n산다\n".encode())
    lines = ended.out.split("\n")[:-1]
    assert len(lines) == 9
    assert [float(line.split("\t")[0]) for line in lines[3:6]] == [0, 0, 0]


def test_output_file(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    ended = jumok("translate", run, "-o", out, stdin="나는\n\n".encode())
    assert (ended.code, ended.out, without_cut_off(ended.err)) == (0, "", "")
    assert out.read_text().count("\n") == 2
    assert list(tmp_path.iterdir()) == [out]


def test_output_file_is_whole_or_as_it_was(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    out.write_text("before")
    ended = jumok("translate", run, "-o", out, stdin="나는\n".encode() * 600 + b"\xff\n")
    assert ended.code == 2
    assert ended.err == (
        "jumok: standard input: line 601: not UTF-8 (byte 0xff at column 1); convert the file, for example with iconv\n"
    )
    assert out.read_text() == "before"
    assert list(tmp_path.iterdir()) == [out]


def test_device_as_output_is_written_to_not_replaced(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    import os
    import stat
    import threading

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert jumok("translate", run, "-o", pipe, stdin="나는\n산다\n".encode()).code == 0
    reader.join(timeout=30)
    assert read[0].count("\n") == 2
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@pytest.mark.parametrize(
    ("output", "reason"), [("folder", "is a directory"), ("nope/out.txt", "its directory does not exist")]
)
def test_output_that_cannot_be_written_is_refused_before_the_work(
    jumok: Jumok, tmp_path: Path, output: str, reason: str
) -> None:
    (tmp_path / "folder").mkdir()
    ended = jumok("translate", "never-loaded", "-o", tmp_path / output)
    assert (ended.code, ended.err) == (2, f"jumok: {tmp_path / output}: {reason}\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["나는 집에"], 'jumok: 나는 집에: no such run or file; to translate words, use --text "나는 집에"'),
        (["."], "jumok: .: is not a run directory (no config.toml in it)"),
        ([__file__, "--text", "y"], "jumok: give either --text or FILE, not both"),
        (["--seed", "1"], "jumok: --temperature, --top-k, --top-p and --seed go with --sample or --mbr"),
        (["--temperature", "0.5"], "jumok: --temperature, --top-k, --top-p and --seed go with --sample or --mbr"),
        (["--sample", "--beam", "2"], "jumok: --beam searches, --sample and --mbr draw: give one of them"),
        (["--sample", "--top-p", "1.5"], "jumok: top_p = 1.5 must be above 0 and at most 1"),
        (["--sample", "--top-k", "-1"], "jumok: top_k = -1 must not be negative; 0 means no limit"),
        (
            ["--sample", "--temperature", "0"],
            "jumok: temperature = 0.0 must be above 0 and finite; use beam 1 for the likeliest pieces",
        ),
        (["--token-scores"], "jumok: --token-scores goes with --json"),
        (["--address", "x"], "jumok: --address, --column, --block-rows, --workers and --threads go with --ray"),
        (["--engine", "fast"], "jumok: engine fast: expected auto, ctranslate2, torch"),
        (["-t", "a", "--mbr", "2", "--n-best", "3"], "jumok: n_best = 3 needs as many draws, but bayes_risk = 2"),
        (
            ["-t", "a", "--engine", "ctranslate2", "--prefix", "I"],
            "jumok: the ctranslate2 engine knows no prefix; use --engine torch",
        ),
        (["-t", "a", "--n-best", "5", "--beam", "2"], "jumok: n_best = 5 needs a beam of at least 5, but beam = 2"),
    ],
)
def test_mistake_of_a_newcomer_is_explained(jumok: Jumok, run: Path, arguments: list[str], line: str) -> None:
    ended = jumok("translate", run, *arguments)
    assert (ended.code, ended.out, ended.err) == (2, "", line + "\n")


def test_run_without_a_model(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes((run / "config.toml").read_bytes())
    ended = jumok("translate", tmp_path, "-t", "a")
    assert (ended.code, ended.err) == (
        2,
        f"jumok: {tmp_path}: holds no trained model (no model.safetensors); "
        "`jumok train` has not saved anything here yet\n",
    )


def test_input_file_that_is_not_utf8(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    file = tmp_path / "in.txt"
    file.write_bytes("나는\n".encode("cp949"))
    ended = jumok("translate", run, file)
    assert ended.code == 2
    assert ended.err.startswith(f"jumok: {file}: line 1: not UTF-8 (byte 0xb3 at column 1); ")


def test_sampling_is_repeated_by_its_seed(jumok: Jumok, run: Path) -> None:
    first, again, other = (
        jumok("translate", run, "--sample", "--seed", seed, stdin="나는 집에 간다.\n".encode() * 3).out
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_text_that_is_not_utf8_on_the_command_line_is_refused(jumok: Jumok, run: Path) -> None:
    ended = jumok("translate", run, "-t", "caf\udce9")
    assert (ended.code, ended.err) == (2, "jumok: --text: not UTF-8; is the terminal set to another encoding?\n")


@pytest.mark.parametrize("num_lines", [3, 2000])
def test_reader_that_has_read_enough_is_no_error(run: Path, num_lines: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "jumok", "translate", str(run), "--beam", "1"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdout.close()
        process.stdin.write("산다\n".encode() * num_lines)
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait() in (0, 1)


def test_translations_are_utf8_whatever_the_terminal_says(run: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jumok", "translate", str(run), "--json", "-t", "나는"],
        capture_output=True,
        check=False,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"},
    )
    assert (ended.returncode, without_cut_off(ended.stderr.decode())) == (0, "")
    assert json.loads(ended.stdout)["source"] == "나는"


# --- evaluate ---


def test_evaluate_prints_scores_with_signature_and_interval(jumok: Jumok, run: Path) -> None:
    ended = jumok("evaluate", run)
    assert (ended.code, ended.err) == (0, "")
    sentences, bleu, chrf = ended.out.splitlines()
    assert sentences == "18 sentences"
    assert bleu.startswith("BLEU ") and " ± " in bleu and "tok:13a" in bleu
    assert chrf.startswith("chrF ") and " ± " in chrf


def test_evaluate_json(jumok: Jumok, run: Path) -> None:
    figures = json.loads(jumok("evaluate", run, "--json").out)
    assert figures["sentences"] == 18 and figures["comparison"] == []
    assert set(figures["bleu"]) == {"metric", "value", "signature", "interval"}


def test_evaluate_against_a_file_of_translations(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    perfect = tmp_path / "perfect.txt"
    lines = (run.parent / "test.tsv").read_text().splitlines()
    perfect.write_text("".join(line.split("\t")[1] + "\n" for line in lines))
    ended = jumok("evaluate", run, "--against", perfect)
    assert ended.code == 0
    [bleu, chrf] = ended.out.splitlines()[3:]
    assert bleu.startswith("BLEU ") and f"against 100.0 of {perfect}: p = 0.0" in bleu
    assert bleu.endswith(", a real difference at 95 %") and chrf.startswith("chrF ")


def test_evaluate_against_itself_is_chance(jumok: Jumok, run: Path) -> None:
    figures = json.loads(jumok("evaluate", run, "--against", run, "--json").out)
    assert [c["metric"] for c in figures["comparison"]] == ["BLEU", "chrF"]
    assert all(c["value"] == c["baseline"] and c["p_value"] > 0.9 for c in figures["comparison"])


def test_evaluate_against_the_wrong_things(jumok: Jumok, run: Path, tmp_path: Path) -> None:
    ended = jumok("evaluate", run, "--against", tmp_path / "nope")
    assert (ended.code, ended.err) == (2, f"jumok: {tmp_path}/nope: no such run directory or file of translations\n")
    short = tmp_path / "short.txt"
    short.write_text("one\n")
    ended = jumok("evaluate", run, "--against", short)
    assert (ended.code, ended.err) == (
        2,
        "jumok: 1 translations cannot be scored against 18 references\n",
    )


def test_evaluate_on_files_of_ones_own(
    jumok: Jumok, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.ko").write_text("나는\n산다\n")
    Path("a.en").write_text("I\nlive\n")
    assert jumok("evaluate", run, "a.ko", "a.en").out.startswith("2 sentences\n")
    Path("a.tsv").write_text("나는\tI\n")
    assert jumok("evaluate", run, "a.tsv").out.startswith("1 sentences\n")
    ended = jumok("evaluate", run, "a.ko", "a.en", "a.tsv")
    assert ended.code == 2 and "expected one TSV file or two aligned text files, found 3 names" in ended.err


def test_evaluate_on_a_set_that_the_run_does_not_have(jumok: Jumok, run: Path) -> None:
    ended = jumok("evaluate", run, "--split", "composition")
    assert (ended.code, ended.err) == (
        2,
        "jumok: the run's configuration names no data.composition; give files to evaluate on\n",
    )
