"""Programs end together with all their child processes, however they or hvr end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hvr.base.processes import OUT_OF_MEMORY, ProcessTree
from tests.command_line import environment
from tests.survivors import wait_for, working_in

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, and orphans are adopted"),
]

# Starts a daemon that tries to survive: a separate session, orphaned, deaf to SIGTERM. The program
# itself runs for the given time.
DETACHES = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        open(f"started-{os.getpid()}", "w").close()
        time.sleep(600)
while sum(name.startswith("started") for name in os.listdir()) < 3:
    time.sleep(0.01)
open("ready", "w").close()
time.sleep(float(sys.argv[1]))
sys.exit(7)
"""
KILLED = """
import os, pathlib, signal, sys, time
from hvr.base.files import temporary_folder
from hvr.base.processes import ProcessTree
with temporary_folder("hvr-test-") as name:
    folder = pathlib.Path(name)
    print(name, flush=True)
    tree = ProcessTree([sys.executable, "-c", sys.argv[1], "600"], folder, sys.stderr.buffer)
    while not (folder / "ready").exists():
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def started(folder: Path, *words: str, memory: int = 0) -> ProcessTree:
    with (folder / "log").open("wb") as log:
        return ProcessTree([sys.executable, "-c", *words], folder, log, memory=memory)


def test_a_program_that_ends_takes_its_daemons_along(tmp_path: Path) -> None:
    with started(tmp_path, DETACHES, "0.2") as tree:
        wait_for(lambda: tree.code is not None)
        assert tree.code == 7
        assert (tmp_path / "ready").exists()
        assert not working_in(tmp_path)


def test_leaving_the_context_ends_all_processes(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), started(tmp_path, DETACHES, "600"):
        wait_for((tmp_path / "ready").exists)
        assert len(working_in(tmp_path)) == 5  # supervisor, program, three daemons
        raise KeyboardInterrupt
    assert not working_in(tmp_path)


def test_a_killed_hvr_leaves_no_process_and_no_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, DETACHES],
        cwd=tmp_path, env={**environment(), "TMPDIR": str(tmp_path)}, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path
    wait_for(lambda: not working_in(folder) and not folder.exists())


FOLDER = """
import os, signal, sys, time
from hvr.base.files import temporary_folder
with temporary_folder("hvr-test-") as name:
    open(os.path.join(name, "file"), "w").close()
    print(name, flush=True)
    sys.stdin.read()
"""


def test_folders_of_killed_processes_are_removed_later_and_others_are_not(tmp_path: Path) -> None:
    def start() -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen(
            [sys.executable, "-c", FOLDER], env={**environment(), "TMPDIR": str(tmp_path)},
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    alive, held = start()
    dead, abandoned = start()
    dead.kill()
    dead.communicate()
    foreign = [tmp_path / name for name in ("hvr-notes", f"hvr-test-{dead.pid}-0a1b2c3d-x")]
    for folder in foreign:
        folder.mkdir()
    link = abandoned.with_name(abandoned.name + "x")
    link.symlink_to(tmp_path / "hvr-notes")
    assert abandoned.is_dir()
    third, own = start()
    assert not abandoned.exists()
    assert (held / "file").exists() and (own / "file").exists()
    for process in (alive, third):
        process.communicate()
        assert process.returncode == 0
    assert sorted(tmp_path.iterdir()) == sorted([*foreign, link])


def test_the_memory_limit_counts_all_processes(tmp_path: Path) -> None:
    hungry = "import os, time; os.fork(); held = b'x' * (60 << 20); time.sleep(600)"
    with started(tmp_path, hungry, memory=100 << 20) as tree:
        wait_for(lambda: tree.code is not None)
        assert tree.code == OUT_OF_MEMORY
    with started(tmp_path, "held = b'x' * (60 << 20)", memory=100 << 20) as tree:
        wait_for(lambda: tree.code is not None)
        assert tree.code == 0


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("raise SystemExit(12)", 12),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", 128 + signal.SIGSEGV),
    ],
)
def test_exit_codes_pass_through(tmp_path: Path, program: str, code: int) -> None:
    with started(tmp_path, program) as tree:
        wait_for(lambda: tree.code is not None)
        assert tree.code == code


def test_temporary_files_go_into_the_folder(tmp_path: Path) -> None:
    with started(tmp_path, "import tempfile; print(tempfile.gettempdir())") as tree:
        wait_for(lambda: tree.code is not None)
    assert (tmp_path / "log").read_text().strip() == str(tmp_path)


def test_a_program_that_is_missing_is_an_exit_code_with_a_reason(tmp_path: Path) -> None:
    with (tmp_path / "log").open("wb") as log:
        tree = ProcessTree([str(tmp_path / "none")], tmp_path, log)
    with tree:
        wait_for(lambda: tree.code is not None)
        assert tree.code == 127
    assert "No such file" in (tmp_path / "log").read_text()


def test_used_processor_time_is_that_of_the_program(tmp_path: Path) -> None:
    with started(tmp_path, "while True: pass") as tree:
        wait_for(lambda: tree.cpu_seconds() > 0.1)
        assert os.getpid() not in working_in(tmp_path)
