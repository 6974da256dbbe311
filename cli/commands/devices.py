"""``device list`` and ``device calibrate``: the devices of this machine, and what its GPUs were measured to reach."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.local import local_settings
from cli.commands.machine import judge_settings
from cli.console import print_json, print_table, say
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need

if TYPE_CHECKING:
    from judge.devices.calibration import Calibration
    from judge.judgement import DeviceInfo
    from judge.settings import JudgeSettings

app = typer.Typer(help="The devices of this machine.", no_args_is_help=True)

DataDir = Annotated[Path | None, typer.Option(metavar="DIR", help="Where it is kept; else the server's data folder.")]


@app.command("list")
def list_(data_dir: DataDir = None, as_json: options.Json = False) -> None:
    """The emulator and the GPUs, and whether their peaks have been measured."""
    settings = _settings(data_dir)
    found = need("judge.devices.catalog", "judge").list_devices(settings)
    calibrations = [_load(settings, device) for device in found]
    if as_json:
        print_json({"devices": [_as_json(*pair) for pair in zip(found, calibrations, strict=True)]})
        return
    rows = []
    for device, calibration in zip(found, calibrations, strict=True):
        state = "not needed" if device.kind == "emulator" else "no" if calibration is None else calibration.date
        rows.append((selector(device), device.key, device.name, device.compute_capability, state))
    print_table(("device", "key", "name", "capability", "calibrated"), rows)


@app.command()
def calibrate(
    device: Annotated[str, typer.Option("--device", "-d", help="cuda:0, or a GPU's key.")] = "cuda:0",
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Measure what a GPU can do: no submission is believed to be faster than that. Takes some ten seconds."""
    settings = _settings(data_dir)
    catalog, errors = need("judge.devices.catalog", "judge"), need("judge.errors", "judge")
    try:
        found = catalog.find_device(device, settings)
        if found.kind != "cuda":
            raise UsageError(f"{device} is no GPU: there is nothing to be measured")
        measured = need("judge.devices.calibrate", "judge").calibrate(found, settings, lambda doing: say(f"  {doing}"))
    except catalog.UnknownDevice as error:
        raise UsageError(str(error)) from None
    except errors.InternalError as error:
        raise CliError(error.message, exit_code=FAILED, hint=error.remedy) from None
    if as_json:
        print_json(_as_json(found, measured))
        return
    print_table(("what", "measured"), _rows(measured), right=("measured",))


def _settings(data_dir: Path | None) -> JudgeSettings:
    return judge_settings() if data_dir is None else local_settings(data_dir)


def selector(device: DeviceInfo) -> str:
    """The name that commands of this machine take."""
    return "emulator" if device.kind == "emulator" else f"cuda:{device.details.get('ordinal', 0)}"


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
    loaded: Calibration | None = need("judge.devices.calibration", "judge").load_calibration(settings, device)
    return loaded


def _as_json(device: DeviceInfo, calibration: Calibration | None) -> dict[str, Any]:
    measured = None if calibration is None else dataclasses.asdict(calibration)
    return {
        "device": selector(device),
        "key": device.key,
        "name": device.name,
        "compute_capability": device.compute_capability,
        "calibration": measured,
    }
