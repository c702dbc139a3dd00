"""Checks of whether AI2-THOR can run on this machine, with advice where it cannot.

Nothing is downloaded, installed or started.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from hvr.worlds.thor.machine import Machine
from hvr.worlds.thor.options import ThorOptions

ROOM = 4 * 10**9
"""Bytes that should be free before a build is downloaded; a rule of thumb, not a measure."""

Status = Literal["ok", "missing", "unneeded"]


@dataclass(frozen=True)
class Check:
    """One thing that AI2-THOR needs.

    Args:
        name: what, in a word.
        status: there, needed and not there, or not needed with these options.
        found: what was found.
        advice: what to do; empty unless it is missing.
    """

    name: str
    status: Status
    found: str
    advice: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return asdict(self)


def ready(checks: tuple[Check, ...]) -> bool:
    """Return whether nothing is missing."""
    return all(check.status != "missing" for check in checks)


def judge(machine: Machine, options: ThorOptions) -> tuple[Check, ...]:
    """Return what AI2-THOR needs with these options, and whether this machine has it."""
    checks = [_package(machine), _system(machine, options)]
    if options.executable:
        return (*checks, _executable(machine, options))
    platform = options.platform or machine.usual_platform
    return (
        *checks,
        _display(machine, options, platform),
        _vulkan(machine, platform),
        _disk(machine),
        _build(machine, platform),
    )


def _check(name: str, good: bool, found: str, advice: str) -> Check:
    return Check(name, "ok" if good else "missing", found, "" if good else advice)


def _package(machine: Machine) -> Check:
    found = f"ai2thor {machine.package}" if machine.package else "the package ai2thor is not there"
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
        # Apple's own processors run the Intel build through Rosetta.
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
    if machine.executable:
        return Check(
            "executable", "ok", f"{options.executable}: no build, display or GPU is needed"
        )
    return Check(
        "executable",
        "missing",
        f"{options.executable}: no program of this name can be run",
        "give the whole path of a file that may be executed, arguments may follow it",
    )


def _display(machine: Machine, options: ThorOptions, platform: str) -> Check:
    if platform != "Linux64":
        return Check("display", "unneeded", f"{platform} needs no X server")
    if options.headless:
        return Check("display", "unneeded", "headless: no image is drawn")
    if machine.display:
        return Check("display", "ok", f"X server {machine.display}")
    advice = (
        "start an X server with GLX (with an NVIDIA GPU: sudo ai2thor-xorg start) and set "
        "DISPLAY; or draw without one on a GPU with Vulkan: option platform=CloudRendering; "
        "or do without images: option headless=true"
    )
    return Check("display", "missing", machine.display_trouble or "no X server", advice)


def _vulkan(machine: Machine, platform: str) -> Check:
    gpu = ", ".join(machine.gpus) or "no GPU device found"
    library = "libvulkan is there" if machine.vulkan else "libvulkan is not there"
    if platform != "CloudRendering":
        return Check("vulkan", "unneeded", f"only CloudRendering uses it; {library}; {gpu}")
    if not machine.vulkan:
        return Check(
            "vulkan",
            "missing",
            f"{library}; {gpu}",
            "install the Vulkan loader and the GPU's driver (Debian, Ubuntu: "
            "sudo apt-get install libvulkan1)",
        )
    if machine.cuda_devices and not machine.vulkaninfo:
        return Check(
            "vulkan",
            "missing",
            f"{library}; {gpu}; CUDA_VISIBLE_DEVICES={machine.cuda_devices}",
            "the client then asks the program vulkaninfo, which is not there: install it "
            "(Debian, Ubuntu: sudo apt-get install vulkan-tools) or unset CUDA_VISIBLE_DEVICES",
        )
    return _check(
        "vulkan",
        bool(machine.gpus),
        f"{library}; {gpu}",
        "use a machine with a GPU, and in a container pass it in (Docker: --gpus all)",
    )


def _disk(machine: Machine) -> Check:
    found = f"{machine.free / 1e9:.1f} GB free at {machine.home}"
    if machine.builds:
        return Check("disk", "unneeded", f"{found}; a build is there already")
    return _check(
        "disk",
        machine.free >= ROOM,
        found,
        f"make room for the download and what it unpacks to, some {ROOM / 1e9:.0f} GB",
    )


def _build(machine: Machine, platform: str) -> Check:
    wanted = f"thor-{platform}-{machine.commit}"
    if machine.commit and wanted in machine.builds:
        return Check("build", "ok", f"{wanted} in {machine.home / 'releases'}")
    others = f" (there are: {', '.join(machine.builds)})" if machine.builds else ""
    choice = f"platform='{platform}', " if platform == "CloudRendering" else ""
    return Check(
        "build",
        "missing",
        f"no build for {platform} in {machine.home / 'releases'}{others}",
        "let AI2-THOR's client download it once: python -c \"from ai2thor.controller import "
        f'Controller; Controller({choice}download_only=True)"; or point hvr at a process that '
        "speaks its protocol: option executable",
    )
