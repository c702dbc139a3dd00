"""AI2-THOR's requirements, start arguments, and explanations of failed starts."""

from __future__ import annotations

import ctypes.util
import dataclasses
import difflib
import os
import platform
import shlex
import shutil
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, Literal

from hvr.base.texts import (
    MAX_INTEGER,
    MAX_REAL,
    check_integer,
    check_positive,
    parse_integer,
    parse_real,
)
from hvr.errors import MissingExtraError, SimulatorError, UsageError
from hvr.values import JsonObject

# Options ------------------------------------------------------------------------------------------
# Options of AI2-THOR, parsed from text.

PLATFORMS = ("Linux64", "OSXIntel64", "CloudRendering")
"""The builds of AI2-THOR that its Python client 5.0.0 knows and hvr can use."""

QUALITIES = ("Very Low", "Low", "Medium", "MediumCloseFitShadows", "High", "Very High", "Ultra")
SERVERS = ("fifo", "http")
ENVIRONMENT = "HVR_THOR"
EXECUTABLE = "HVR_THOR_EXECUTABLE"

_MOST_PIXELS = 16384
_YES = frozenset({"true", "yes", "on", "1"})
_NO = frozenset({"false", "no", "off", "0"})


@dataclass(frozen=True)
class ThorOptions:
    """Options for starting and using AI2-THOR.

    Args:
        executable: Command line of the simulator process in shell syntax; empty means the build in
            `~/.ai2thor/releases`.
        platform: One of `PLATFORMS`; empty means this system's default.
        display: X display, such as `:0`; empty means `$DISPLAY` or any other display.
        headless: Whether to render no images and return only metadata.
        server: `fifo` (pipes) or `http`.
        port: Port of the HTTP server; 0 means any free port.
        grid_size: Length of a step in metres.
        visibility_distance: Reach of the robot in metres.
        timeout: Time limit for one action in seconds.
        start_timeout: Time limit for the start in seconds.
        force_action: Whether to put objects down with AI2-THOR's `forceAction`.
        tries: Maximum number of places from which an interaction is attempted.
        pictures: Whether to keep the camera image of every action in the run folder.
        top_view: Whether to keep images from above of the first and the last state.
    """

    executable: str = ""
    platform: str = ""
    display: str = ""
    width: int = 300
    height: int = 300
    quality: str = "Ultra"
    headless: bool = False
    server: str = "fifo"
    port: int = 0
    grid_size: float = 0.25
    visibility_distance: float = 1.5
    timeout: float = 100.0
    start_timeout: float = 300.0
    force_action: bool = False
    tries: int = 3
    pictures: bool = True
    top_view: bool = True

    def __post_init__(self) -> None:
        for name, known in (
            ("platform", ("", *PLATFORMS)),
            ("quality", QUALITIES),
            ("server", SERVERS),
        ):
            value = getattr(self, name)
            if value not in known:
                listed = ", ".join(filter(None, known))
                raise UsageError(f"AI2-THOR option {name} must be one of {listed}, got {value!r}")
        for name, least, most in (
            ("width", 1, _MOST_PIXELS),
            ("height", 1, _MOST_PIXELS),
            ("tries", 1, MAX_INTEGER),
            ("port", 0, 65535),
        ):
            check_integer(f"AI2-THOR option {name}", getattr(self, name), least, most)
        for name in ("grid_size", "visibility_distance", "timeout", "start_timeout"):
            check_positive(f"AI2-THOR option {name}", getattr(self, name))


def read_options(
    texts: Iterable[str] = (), environment: Mapping[str, str] | None = None
) -> ThorOptions:
    """Parse `name=value` options, which override environment variables.

    Args:
        texts: Strings such as `platform=CloudRendering`; later ones win.
        environment: Environment variables; the process's own if None. `HVR_THOR` contains texts
            separated by commas, `HVR_THOR_EXECUTABLE` the command line of the simulator.

    Raises:
        UsageError: An option is unknown, or its value is missing or invalid.
    """
    environment = os.environ if environment is None else environment
    usual = [t for t in environment.get(ENVIRONMENT, "").split(",") if t.strip()]
    if environment.get(EXECUTABLE):
        usual.append(f"executable={environment[EXECUTABLE]}")
    values: dict[str, Any] = dict(_read(text) for text in (*usual, *texts))
    return ThorOptions(**values)


def option_texts(executable: str | None, texts: Iterable[str] | None) -> list[str]:
    return [*(texts or ()), *([f"executable={executable}"] if executable else ())]


def _read(text: str) -> tuple[str, object]:
    name, equals, value = (part.strip() for part in text.partition("="))
    fields = {field.name: field for field in dataclasses.fields(ThorOptions)}
    if not equals:
        raise UsageError(f"AI2-THOR option {text!r} has no value: write name=value")
    name = name.replace("-", "_")
    if name not in fields:
        near = difflib.get_close_matches(name, fields, n=1)
        hint = f"did you mean {near[0]}?" if near else f"options: {', '.join(fields)}"
        raise UsageError(f"unknown AI2-THOR option {name!r}; {hint}")
    read, expected = _READERS[type(fields[name].default)]
    try:
        return name, read(value)
    except ValueError:
        raise UsageError(f"AI2-THOR option {name} must be {expected}, got {value!r}") from None


def _flag(text: str) -> bool:
    if text.lower() in _YES:
        return True
    if text.lower() in _NO:
        return False
    raise ValueError


_READERS: Mapping[type, tuple[Callable[[str], object], str]] = {
    bool: (_flag, "true or false"),
    int: (partial(parse_integer, least=-MAX_INTEGER), "a whole number"),
    float: (partial(parse_real, least=-MAX_REAL), "a number"),
    str: (str, "a text"),
}


# Machine ------------------------------------------------------------------------------------------

X_SOCKETS = Path("/tmp/.X11-unix")


@dataclass(frozen=True)
class Machine:
    """Properties of this machine that decide whether AI2-THOR can run.

    Args:
        package: Version of the package ai2thor; empty if it is not installed.
        commit: Commit of the build that this version uses; empty if unknown.
        free: Free space in bytes on the disk of `home`.
        display: X display that AI2-THOR's client accepts; empty if there is none or none is needed.
        vulkan: Whether the Vulkan library is installed.
        vulkaninfo: Whether the program vulkaninfo is installed.
        cuda_devices: Value of CUDA_VISIBLE_DEVICES if it lists device numbers; otherwise empty.
        executable: Path of the program named in the options; empty if it cannot be run.
    """

    system: str
    architecture: str
    package: str
    commit: str
    home: Path
    free: int
    builds: tuple[str, ...]
    display: str
    display_problem: str
    vulkan: bool
    vulkaninfo: bool
    gpus: tuple[str, ...]
    cuda_devices: str
    executable: str

    @property
    def usual_platform(self) -> str:
        """The platform that AI2-THOR's client selects on this system."""
        return "OSXIntel64" if self.system == "Darwin" else "Linux64"


def inspect_machine(options: ThorOptions) -> Machine:
    """Inspect this machine. Nothing is downloaded or started, but an X server may be contacted."""
    home = ai2thor_home()
    package = _version()
    display, problem = ("", "")
    if not options.executable and not options.headless and options.platform != "CloudRendering":
        display, problem = _display(options, bool(package))
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
        display_problem=problem,
        vulkan=ctypes.util.find_library("vulkan") is not None,
        vulkaninfo=shutil.which("vulkaninfo") is not None,
        gpus=tuple(sorted(map(str, (*_devices("nvidia[0-9]*"), *_devices("dri/renderD*"))))),
        cuda_devices=cuda if any(part.strip().isdigit() for part in cuda.split(",")) else "",
        executable=_program(options.executable),
    )


def ai2thor_home() -> Path:
    """Return the folder where AI2-THOR's client keeps builds and logs."""
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
    # A build without metadata.json is incomplete: the client would repeat the download.
    return tuple(sorted(p.parent.name for p in releases.glob("thor-*/metadata.json")))


def _devices(pattern: str) -> list[Path]:
    return list(Path("/dev").glob(pattern))


def _program(command: str) -> str:
    try:
        words = shlex.split(command)
    except ValueError:  # unbalanced quotes
        return ""
    return (shutil.which(words[0]) or "") if words else ""


def _display(options: ThorOptions, has_package: bool) -> tuple[str, str]:
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
            problem = "; ".join(thor.Linux64.validate(request))
    except Exception as error:  # Xlib raises many types, even bare Exception
        problem = f"the X server cannot be queried: {error}"
    return ("", problem) if problem else (wanted or "found", "")


# Checks -------------------------------------------------------------------------------------------
# Requirements with advice where one is missing. Nothing is downloaded, installed or started.

MIN_FREE_BYTES = 4 * 10**9
"""Free bytes recommended for downloading a build; a rule of thumb."""

Status = Literal["ok", "missing", "unneeded"]


@dataclass(frozen=True)
class Check(JsonObject):
    """A requirement of AI2-THOR, and whether this machine meets it."""

    name: str
    status: Status
    found: str
    advice: str = ""

    json_shape = "*"


def is_ready(checks: tuple[Check, ...]) -> bool:
    return all(check.status != "missing" for check in checks)


def check_requirements(machine: Machine, options: ThorOptions) -> tuple[Check, ...]:
    checks = [_package(machine), _system(machine, options)]
    if options.executable:
        return (*checks, _executable(machine, options))
    platform = options.platform or machine.usual_platform
    return (
        *checks,
        _display_check(machine, options, platform),
        _vulkan(machine, platform),
        _disk(machine),
        _build(machine, platform),
    )


def _check(name: str, good: bool, found: str, advice: str) -> Check:
    return Check(name, "ok" if good else "missing", found, "" if good else advice)


def _package(machine: Machine) -> Check:
    found = (
        f"ai2thor {machine.package}" if machine.package else "the package ai2thor is not installed"
    )
    return _check(
        "package", bool(machine.package), found, "pip install '.[thor]' in a checkout of hvr"
    )


def _system(machine: Machine, options: ThorOptions) -> Check:
    found = f"{machine.system} {machine.architecture}"
    if options.executable:
        return _check(
            "platform",
            machine.system in ("Linux", "Darwin"),
            found,
            "the client starts processes only on Linux and macOS",
        )
    fits = (machine.system == "Linux" and machine.architecture in ("x86_64", "AMD64")) or (
        # Apple silicon runs the Intel build through Rosetta.
        machine.system == "Darwin" and options.platform in ("", "OSXIntel64")
    )
    return _check(
        "platform",
        fits,
        found,
        "there are builds for 64-bit Linux on x86 processors and for macOS (OSXIntel64); use "
        "such a machine, or hvr's kitchen, which needs none of this",
    )


def _executable(machine: Machine, options: ThorOptions) -> Check:
    good = bool(machine.executable)
    found = "no build, display or GPU is needed" if good else "not an executable program"
    advice = "give the full path of an executable file, optionally followed by arguments"
    return _check("executable", good, f"{options.executable}: {found}", advice)


def _display_check(machine: Machine, options: ThorOptions, platform: str) -> Check:
    if platform != "Linux64":
        return Check("display", "unneeded", f"{platform} needs no X server")
    if options.headless:
        return Check("display", "unneeded", "headless: no image is rendered")
    if machine.display:
        return Check("display", "ok", f"X server {machine.display}")
    advice = (
        "start an X server with GLX (with an NVIDIA GPU: sudo ai2thor-xorg start) and set "
        "DISPLAY; or render without one on a GPU with Vulkan: option platform=CloudRendering; "
        "or do without images: option headless=true"
    )
    return Check("display", "missing", machine.display_problem or "no X server", advice)


def _vulkan(machine: Machine, platform: str) -> Check:
    library = "libvulkan is installed" if machine.vulkan else "libvulkan is not installed"
    found = f"{library}; {', '.join(machine.gpus) or 'no GPU device found'}"
    if platform != "CloudRendering":
        return Check("vulkan", "unneeded", f"only CloudRendering uses it; {found}")
    advice = ""
    if not machine.vulkan:
        advice = (
            "install the Vulkan loader and the GPU's driver (Debian, Ubuntu: "
            "sudo apt-get install libvulkan1)"
        )
    elif machine.cuda_devices and not machine.vulkaninfo:
        found += f"; CUDA_VISIBLE_DEVICES={machine.cuda_devices}"
        advice = (
            "the client then asks the program vulkaninfo, which is not installed: install it "
            "(Debian, Ubuntu: sudo apt-get install vulkan-tools) or unset CUDA_VISIBLE_DEVICES"
        )
    elif not machine.gpus:
        advice = "use a machine with a GPU, and in a container pass it in (Docker: --gpus all)"
    return _check("vulkan", not advice, found, advice)


def _disk(machine: Machine) -> Check:
    found = f"{machine.free / 1e9:.1f} GB free at {machine.home}"
    if machine.builds:
        return Check("disk", "unneeded", f"{found}; a build already exists")
    return _check(
        "disk",
        machine.free >= MIN_FREE_BYTES,
        found,
        f"make room for the download and the unpacked files, about {MIN_FREE_BYTES / 1e9:.0f} GB",
    )


def _build(machine: Machine, platform: str) -> Check:
    wanted = f"thor-{platform}-{machine.commit}"
    if machine.commit and wanted in machine.builds:
        return Check("build", "ok", f"{wanted} in {machine.home / 'releases'}")
    others = f" (found: {', '.join(machine.builds)})" if machine.builds else ""
    choice = f"platform='{platform}', " if platform == "CloudRendering" else ""
    return Check(
        "build",
        "missing",
        f"no build for {platform} in {machine.home / 'releases'}{others}",
        "let AI2-THOR's client download it once: python -c \"from ai2thor.controller import "
        f'Controller; Controller({choice}download_only=True)"; or point hvr at a process that '
        "speaks its protocol: option executable",
    )


# Start --------------------------------------------------------------------------------------------

_SPECIFIC = (TimeoutError, BrokenPipeError)
_ADVICE = "`hvr doctor thor` checks the installation"


def require_ready(options: ThorOptions) -> None:
    """Raise an error if a requirement is missing.

    Raises:
        MissingExtraError: The package ai2thor is not installed.
        SimulatorError: Another requirement is missing; the message lists it with advice.
    """
    missing = [
        c for c in check_requirements(inspect_machine(options), options) if c.status == "missing"
    ]
    if any(check.name == "package" for check in missing):
        raise MissingExtraError("ai2thor", "thor")
    if missing:
        lines = [f"  {check.name}: {check.found}\n    {check.advice}" for check in missing]
        title = "AI2-THOR cannot be started with these options:"
        raise SimulatorError("\n".join([title, *lines]), field="thor", exit_code=2)


def client_arguments(options: ThorOptions, platforms: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of the client's `Controller`, without the scene and the server class.

    `platforms` contains the client's platforms by name.
    """
    arguments: dict[str, Any] = {
        "width": options.width,
        "height": options.height,
        "quality": options.quality,
        "headless": options.headless,
        "port": options.port,
        "server_timeout": options.timeout,
        "server_start_timeout": options.start_timeout,
        "gridSize": options.grid_size,
        "visibilityDistance": options.visibility_distance,
    }
    if options.platform:
        arguments["platform"] = platforms[options.platform]
    if options.display:
        arguments["x_display"] = options.display
    if options.executable:
        arguments["local_executable_path"] = options.executable
        # On this path, the client fails without a display, although none is contacted.
        arguments["x_display"] = options.display or os.environ.get("DISPLAY") or "0"
    return arguments


def log_file() -> Path:
    return ai2thor_home() / "log" / "unity.log"


def explain_failure(what: str, error: BaseException, options: ThorOptions, log_start: int) -> str:
    """Explain a failure of the simulator in one line.

    Args:
        what: The interrupted activity, such as `the start`.
        log_start: Size of the simulator's log before it started; later output is quoted.
    """
    chain: list[BaseException] = [error]
    while chain[-1].__context__ is not None:
        chain.append(chain[-1].__context__)
    specific = [e for e in chain if hasattr(e, "returncode") or isinstance(e, _SPECIFIC)]
    cause = specific[0] if specific else chain[-1]
    code = getattr(cause, "returncode", None)
    if isinstance(cause, TimeoutError):
        limits = f"timeout {options.timeout:g} s"
        if what == "the start":
            limits = f"start_timeout {options.start_timeout:g} s, {limits}"
        failure = (
            f"AI2-THOR did not answer in time during {what} ({limits}; "
            "if it needs longer, increase these options of AI2-THOR)"
        )
    elif code is not None or isinstance(cause, BrokenPipeError):
        ending = f" (exit code {code})" if code is not None else ""
        failure = f"the AI2-THOR process ended{ending} during {what}"
    else:
        reason = " ".join(str(cause).split()) or type(cause).__name__
        failure = f"AI2-THOR failed during {what}: {reason}"
    printed = _last_line(log_start)
    printed = f"; it printed: {printed}" if printed else ""
    return f"{failure}{printed}; its output is in {log_file()}; {_ADVICE}"


def _last_line(start: int) -> str:
    try:
        with log_file().open("rb") as file:
            file.seek(start)
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "")
