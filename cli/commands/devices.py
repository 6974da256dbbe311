"""The commands ``device list`` and ``device calibrate``, for this machine's devices and their measured peaks."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.machine import judge_settings
from cli.console import print_json, print_table, say
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.local_setup import local_settings

if TYPE_CHECKING:
    from judge.backends.registry import Backends
    from judge.gpu.calibration import Calibration
    from judge.judgement import DeviceInfo
    from judge.settings import JudgeSettings

app = typer.Typer(help="The devices of this machine.", no_args_is_help=True)

DataDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where it is kept; else the server's data folder.")]


@app.command("list")
def list_(data_dir: DataDir = None, as_json: options.Json = False) -> None:
    """The emulator and the GPUs, and whether their peaks have been measured."""
    settings = _settings(data_dir)
    backends = _backends()
    found = backends.list_devices(settings)
    calibrations = [_load(settings, device) for device in found]
    if as_json:
        print_json({"devices": [_as_json(*pair) for pair in zip(found, calibrations, strict=True)]})
        return
    rows = []
    for device, calibration in zip(found, calibrations, strict=True):
        needed = backends.of(device.kind).calibrator is not None
        state = "not needed" if not needed else "no" if calibration is None else calibration.date
        rows.append((backends.selector(device), device.key, device.name, device.compute_capability, state))
    print_table(("device", "key", "name", "capability", "calibrated"), rows)


@app.command()
def calibrate(
    device: Annotated[str, typer.Option("--device", "-d", help="cuda:0, or a GPU's key.")] = "cuda:0",
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Measure what a GPU can do: no submission is believed to be faster than that. Takes some ten seconds."""
    settings = _settings(data_dir)
    registry, errors = need("judge.backends.registry", "judge"), need("judge.errors", "judge")
    try:
        found = _backends().find_device(device, settings)
        calibrator = _backends().of(found.kind).calibrator
        if calibrator is None:
            raise UsageError(f"{device} is not a GPU: there is nothing to be measured")
        measured = calibrator.calibrate(found, settings, lambda doing: say(f"  {doing}"))
    except registry.UnknownDevice as error:
        raise UsageError(str(error)) from None
    except errors.InternalError as error:
        raise CliError(error.message, exit_code=FAILED, hint=error.remedy) from None
    if as_json:
        print_json(_as_json(found, measured))
        return
    print_table(("what", "measured"), _rows(measured), right=("measured",))


def _settings(data_dir: Path | None) -> JudgeSettings:
    return judge_settings() if data_dir is None else local_settings(data_dir)


def _backends() -> Backends:
    backends: Backends = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    return backends


def _rows(calibration: Calibration) -> list[tuple[str, str]]:
    rows = [
        ("reading memory", f"{calibration.read_bytes_per_s / 1e9:,.0f} GB/s"),
        ("copying memory", f"{calibration.copy_bytes_per_s / 1e9:,.0f} GB/s"),
    ]
    for name, rate in calibration.rates.items():
        note = "" if calibration.bounds(name) else " (no bound: this GPU has faster instructions)"
        rows.append((name, f"{rate / 1e12:,.1f} Tera-operations/s{note}"))
    return rows


def _load(settings: JudgeSettings, device: DeviceInfo) -> Calibration | None:
    calibrator = _backends().of(device.kind).calibrator
    return None if calibrator is None else calibrator.load(device, settings)


def _as_json(device: DeviceInfo, calibration: Calibration | None) -> dict[str, Any]:
    measured = None if calibration is None else dataclasses.asdict(calibration)
    return {
        "device": _backends().selector(device),
        "key": device.key,
        "name": device.name,
        "compute_capability": device.compute_capability,
        "calibration": measured,
    }
