"""Facts about this machine that matter to AI2-THOR."""

from __future__ import annotations

import ctypes.util
import os
import platform
import shlex
import shutil
import warnings
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path

from hvr.worlds.thor.options import ThorOptions

X_SOCKETS = Path("/tmp/.X11-unix")


@dataclass(frozen=True)
class Machine:
    """Facts, as found; nothing is judged.

    Args:
        system: `Linux`, `Darwin` or `Windows`.
        architecture: of the processor, such as `x86_64`.
        package: version of the package ai2thor; empty when it is not installed.
        commit: of the build that this version uses; empty when unknown.
        home: where AI2-THOR keeps its files.
        free: bytes free there.
        builds: names of the complete builds that are there.
        display: an X display that AI2-THOR's client takes; empty when there is none.
        display_trouble: why there is none.
        vulkan: the Vulkan loader is installed.
        vulkaninfo: so is the program of this name.
        gpus: device files of GPUs.
        cuda_devices: value of CUDA_VISIBLE_DEVICES when it names devices by number.
        executable: path of the program that the options name; empty when it cannot be run.
    """

    system: str
    architecture: str
    package: str
    commit: str
    home: Path
    free: int
    builds: tuple[str, ...]
    display: str
    display_trouble: str
    vulkan: bool
    vulkaninfo: bool
    gpus: tuple[str, ...]
    cuda_devices: str
    executable: str

    @property
    def usual_platform(self) -> str:
        """The build that the client chooses on this system."""
        return "OSXIntel64" if self.system == "Darwin" else "Linux64"


def look(options: ThorOptions) -> Machine:
    """Look at this machine. Nothing is downloaded or started; an X server may be asked."""
    home = ai2thor_home()
    package = _version()
    display, trouble = ("", "")
    if not options.executable and not options.headless and options.platform != "CloudRendering":
        display, trouble = _display(options, bool(package))
    cuda = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    return Machine(
        system=platform.system(),
        architecture=platform.machine(),
        package=package,
        commit=_commit() if package else "",
        home=home,
        free=shutil.disk_usage(next(p for p in (home, *home.parents) if p.exists())).free,
        builds=_builds(home / "releases"),
        display=display,
        display_trouble=trouble,
        vulkan=ctypes.util.find_library("vulkan") is not None,
        vulkaninfo=shutil.which("vulkaninfo") is not None,
        gpus=tuple(sorted(map(str, (*_devices("nvidia[0-9]*"), *_devices("dri/renderD*"))))),
        cuda_devices=cuda if any(part.strip().isdigit() for part in cuda.split(",")) else "",
        executable=_program(options.executable),
    )


def ai2thor_home() -> Path:
    """Return where AI2-THOR's client keeps builds and logs."""
    return Path("~/.ai2thor").expanduser()


def _version() -> str:
    try:
        return metadata.version("ai2thor")
    except metadata.PackageNotFoundError:
        return ""


def _commit() -> str:
    try:
        return str(import_module("ai2thor._builds").COMMIT_ID)
    except (ImportError, AttributeError):
        return ""


def _builds(releases: Path) -> tuple[str, ...]:
    # Without metadata.json the client downloads the build anew.
    return tuple(sorted(p.parent.name for p in releases.glob("thor-*/metadata.json")))


def _devices(pattern: str) -> list[Path]:
    return list(Path("/dev").glob(pattern))


def _program(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:  # an open quote
        return ""
    return (shutil.which(words[0]) or "") if words else ""


def _display(options: ThorOptions, has_package: bool) -> tuple[str, str]:
    """Return a display that the client accepts, or the reason why there is none."""
    wanted = options.display or os.environ.get("DISPLAY", "")
    wanted = f":{wanted}" if wanted and ":" not in wanted else wanted
    if platform.system() != "Linux":
        return "", ""
    sockets = sorted(X_SOCKETS.glob("X[0-9]*"))
    if not wanted and not sockets:
        return "", f"no X server: DISPLAY is not set and {X_SOCKETS} is empty"
    if not has_package:
        return wanted or f":{sockets[0].name[1:]}", ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            thor = import_module("ai2thor.platform")
            request = thor.Request("Linux", options.width, options.height, wanted, False)
            trouble = "; ".join(thor.Linux64.validate(request))
    except Exception as error:  # Xlib raises many kinds, also plain ones
        trouble = f"the X server cannot be asked: {error}"
    return ("", trouble) if trouble else (wanted or "found", "")
