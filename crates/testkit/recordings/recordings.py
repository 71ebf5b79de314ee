#!/usr/bin/python3
"""Records what a rebuilding must not change, and compares two recordings.

    recordings.py record FOLDER     # with this checkout's ./target/release/wattseal, or the one that --program names
    recordings.py compare BEFORE AFTER

A recording is a folder of JSON files: `bench` of every row, `reproduce` of every paper, `ct` of a sample on each target, `simulate`
of every scenario with seeds 1 to 3. Host times are left out. Each file is written when it is complete; a second `record` into the
folder goes on where the first one ended. The recording of every row takes half an hour, the simulations take an hour.

Example: recordings.py record before --only ct
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

HOME = pathlib.Path(__file__).resolve().parents[3]
SEEDS = (1, 2, 3)
# Long scenarios, and how many days of them are recorded; the others are recorded whole.
DAYS = {"network-week": "0.25", "network-emulated": "0.0035"}
# Scenarios without random numbers.
SEEDLESS = {"configured"}
# Fields that say how fast the host was, and of which commit the program is.
OF_THE_HOST = {"wall_s", "meter_seconds_per_second", "provenance"}


def targets() -> list[str]:
    return sorted(path.stem for path in (HOME / "targets").glob("*.toml"))


def commands() -> dict[str, list[str]]:
    """What is recorded, by the name of its file."""
    wanted = {"reproduce": ["reproduce", "all"]}
    for target in targets():
        wanted[f"ct-{target}"] = ["ct", "--target", target, "--op", "aes128-*", "--op", "sha256", "--runs", "5", "--seed", "1"]
    for target in targets():
        wanted[f"bench-{target}"] = ["bench", "--target", target, "--runs", "10", "--seed", "1"]
    for scenario in sorted((HOME / "scenarios").glob("*.toml")):
        days = ["--days", DAYS[scenario.stem]] if scenario.stem in DAYS else []
        if scenario.stem in SEEDLESS:
            wanted[f"simulate-{scenario.stem}"] = ["simulate", str(scenario), *days]
            continue
        for seed in SEEDS:
            wanted[f"simulate-{scenario.stem}-{seed}"] = ["simulate", str(scenario), "--seed", str(seed), *days]
    return wanted


def without_the_host(value: object) -> object:
    if isinstance(value, dict):
        return {key: without_the_host(inner) for key, inner in value.items() if key not in OF_THE_HOST}
    if isinstance(value, list):
        return [without_the_host(inner) for inner in value if not is_native(inner)]
    return value


def is_native(value: object) -> bool:
    """True for a cell of a paper that was timed on the host."""
    return isinstance(value, dict) and value.get("kind") == "native"


def record(folder: pathlib.Path, program: pathlib.Path, only: list[str]) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, arguments in commands().items():
        path = folder / f"{name}.json"
        if path.exists() or (only and not any(name.startswith(prefix) for prefix in only)):
            continue
        began = time.monotonic()
        ran = subprocess.run(
            [str(program), *arguments, "--format", "json"],
            env={**os.environ, "WATTSEAL_HOME": str(HOME)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        try:
            data = without_the_host(json.loads(ran.stdout))
        except json.JSONDecodeError:
            failed += 1
            print(f"{name}: no JSON, exit code {ran.returncode}\n{ran.stderr}", file=sys.stderr, flush=True)
            continue
        text = json.dumps({"exit_code": ran.returncode, "data": data}, indent=0, sort_keys=True)
        draft = path.with_suffix(".draft")
        draft.write_text(text + "\n")
        draft.rename(path)
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failed else 0


def differences(before: object, after: object, where: str) -> list[str]:
    """Of what both have; fields may be added."""
    if isinstance(before, dict) and isinstance(after, dict):
        missing = [f"{where}.{key}: is gone" for key in before.keys() - after.keys()]
        return missing + [line for key in before.keys() & after.keys() for line in differences(before[key], after[key], f"{where}.{key}")]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        return [line for at, pair in enumerate(zip(before, after)) for line in differences(*pair, f"{where}[{at}]")]
    return [] if before == after else [f"{where}: {before!r:.120} became {after!r:.120}"]


def compare(before: pathlib.Path, after: pathlib.Path) -> int:
    wrong = 0
    equal = 0
    for path in sorted(before.glob("*.json")):
        other = after / path.name
        if not other.exists():
            print(f"{path.stem}: not in {after.name}")
            wrong += 1
            continue
        said = differences(json.loads(path.read_text()), json.loads(other.read_text()), path.stem)
        print("\n".join(said[:20]), end="\n" if said else "")
        wrong += len(said)
        equal += not said
    print(f"{equal} files equal, {wrong} differences")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Records what a rebuilding must not change, and compares two recordings.")
    commands_ = parser.add_subparsers(dest="command", required=True)
    recording = commands_.add_parser("record")
    recording.add_argument("folder", type=pathlib.Path)
    recording.add_argument("--program", type=pathlib.Path, default=HOME / "target" / "release" / "wattseal")
    recording.add_argument("--only", metavar="NAME", action="append", default=[], help="those whose names begin with this")
    comparing = commands_.add_parser("compare")
    comparing.add_argument("before", type=pathlib.Path)
    comparing.add_argument("after", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "record":
        return record(arguments.folder, arguments.program, arguments.only)
    return compare(arguments.before, arguments.after)


if __name__ == "__main__":
    sys.exit(main())
