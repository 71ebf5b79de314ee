#!/usr/bin/python3
"""Takes out one rule after the other, and says which test notices: docs/reference/mutations.md.

The rules stand in mutations.toml beside this file. The tests are run in a copy of the project, so that nothing here is changed: first
without a mutation, then with each. A mutation whose text is not found once, or that does not compile, is a failure of the list. One whose
test still passes is a rule that nothing protects.

Example: crates/testkit/mutations/run.py --only wire
"""

import argparse
import dataclasses
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE.parents[2]
# A test that ran longer than that without its rule would not have ended by itself.
TEST_S = 180
BUILD_S = 1800


@dataclasses.dataclass(frozen=True)
class Edit:
    file: str
    text: str
    replacement: str

    @staticmethod
    def read(row: dict) -> "Edit":
        return Edit(row["file"], row["text"], row["replacement"])


@dataclasses.dataclass(frozen=True)
class Mutation:
    name: str
    what: str
    package: str
    target: str
    test: str
    spread: bool
    edits: tuple[Edit, ...]

    @staticmethod
    def read(name: str, row: dict) -> "Mutation":
        try:
            package, target, test = row["kills"].split()
            edits = tuple(Edit.read(edit) for edit in (row, *row.get("also", [])))
            return Mutation(name, row["what"], package, target, test, row.get("spread", False), edits)
        except (KeyError, ValueError):
            sys.exit(f"mutations.toml, [{name}]: it needs what, kills = 'PACKAGE TARGET TEST', file, text and replacement")


def mutations() -> list[Mutation]:
    rows = tomllib.loads((HERE / "mutations.toml").read_text())
    return [Mutation.read(name, row) for name, row in sorted(rows.items())]


def page(listed: list[Mutation]) -> str:
    rows = [f"| `{m.name}` | {m.what} | `{m.package}`, `{m.target}`: `{m.test}` |" for m in listed]
    return "\n".join(["| mutation | takes out | noticed by |", "|---|---|---|", *rows]) + "\n"


def sources() -> set[str]:
    """The project's files, without what is built; also where they are no clone."""
    listed = ["git", "-C", str(HOME), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    git = subprocess.run(listed, capture_output=True, check=False)
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
        return {name for name in names if name and (HOME / name).is_file()}
    names = set()
    for folder, folders, files in os.walk(HOME):
        folders[:] = [name for name in folders if name not in {"target", "node_modules", "dist", "build", ".git"}]
        names |= {str((pathlib.Path(folder) / name).relative_to(HOME)) for name in files}
    return names


class Copy:
    """The project's files in a folder of their own, with what is built of them in another."""

    def __init__(self) -> None:
        self.tree, self.built = (HOME / "target" / "mutations" / name for name in ("tree", "built"))
        wanted = sources()
        for name in wanted:
            self._refresh(name)
        for path in self.tree.rglob("*"):
            if path.is_file() and str(path.relative_to(self.tree)) not in wanted:
                path.unlink()
        # An empty folder of a crate that is gone would be a member of the workspace; the deepest come first.
        for path in sorted(self.tree.rglob("*"), reverse=True):
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        self._take_dependencies()

    def _take_dependencies(self) -> None:
        """What the project built of other people's code is not built again: it is the same, wherever the project stands."""
        built, taken = HOME / "target" / "debug", self.built / "debug"
        own = ("wattseal-", "rustls-webpki-")
        units = [path.name for path in built.glob(".fingerprint/*") if not path.name.startswith(own)]
        hashes = {name.rpartition("-")[2] for name in units}
        files = [path for name in units for folder in (".fingerprint", "build") for path in (built / folder / name).rglob("*")]
        files += [path for path in built.glob("deps/*") if path.name.partition(".")[0].rpartition("-")[2] in hashes]
        for path in files:
            copy = taken / path.relative_to(built)
            if path.is_file() and not copy.exists():
                copy.parent.mkdir(parents=True, exist_ok=True)
                # With its times, by which cargo knows what is older than what.
                shutil.copy2(path, copy)

    def _refresh(self, name: str) -> None:
        """What did not change stays, so that it need not be built again."""
        source, copy = HOME / name, self.tree / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            return
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        shutil.copymode(source, copy)

    def applies(self, mutation: Mutation) -> bool:
        files = [(self.tree / edit.file, edit.text) for edit in mutation.edits]
        return all(path.is_file() and path.read_text().count(text) == 1 for path, text in files)

    def mutate(self, mutation: Mutation) -> None:
        for edit in mutation.edits:
            path = self.tree / edit.file
            path.write_text(path.read_text().replace(edit.text, edit.replacement))

    def restore(self, mutation: Mutation) -> None:
        for edit in mutation.edits:
            self._refresh(edit.file)

    def cargo(self, mutation: Mutation, *more: str, seconds: int) -> subprocess.CompletedProcess[str] | None:
        """None: it did not end in time."""
        only = ["--lib"] if mutation.target == "lib" else ["--test", mutation.target]
        # By itself a package asks less of other people's code than all do, and has it built again.
        is_unique = len(list(self.tree.glob(f"crates/*/tests/{mutation.target}/main.rs"))) == 1
        packages = ["--workspace", "--exclude", "wattseal-python"] if is_unique else ["--package", mutation.package]
        command = ["cargo", "test", "--quiet", "--locked", *packages, *only, *more]
        # A folder of its own: cargo would take what it built of the copy for the project's.
        environment = {**os.environ, "CARGO_TARGET_DIR": str(self.built), "WATTSEAL_HOME": str(self.tree)}
        # A mutation is not linted; and most of what is built again is the same as before.
        environment.pop("RUSTC_WORKSPACE_WRAPPER", None)
        environment.pop("CARGO_INCREMENTAL", None)
        process = subprocess.Popen(
            command,
            cwd=self.tree,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            out, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None
        return subprocess.CompletedProcess(command, process.returncode, out, "")

    def builds(self, mutation: Mutation) -> str:
        """What the compiler says where it does not."""
        built = self.cargo(mutation, "--no-run", seconds=BUILD_S)
        if built is None:
            return f"building takes longer than {BUILD_S} s"
        return "" if built.returncode == 0 else built.stdout or f"cargo ended with {built.returncode}"

    def passes(self, mutation: Mutation) -> tuple[bool, str]:
        ran = self.cargo(mutation, "--", "--include-ignored", "--exact", mutation.test, seconds=TEST_S)
        if ran is None:
            return False, f"not at its end after {TEST_S} s"
        if "0 passed; 0 failed" in ran.stdout and " 1 passed" not in ran.stdout and "1 failed" not in ran.stdout:
            return True, f"there is no test {mutation.test}\n{ran.stdout}"
        return ran.returncode == 0, ran.stdout


def stale(listed: list[Mutation], copy: Copy) -> list[Mutation]:
    """Those that do not apply."""
    found = [m for m in listed if not copy.applies(m)]
    for m in found:
        print(f"{m.name}  does not apply: its text has to stand once in its file; write it anew", flush=True)
    return found


def run(listed: list[Mutation], copy: Copy) -> int:
    wrong = 0
    sound: dict[tuple[str, str, str], bool] = {}
    width = max(len(m.name) for m in listed)
    for m in listed:
        began = time.monotonic()
        where = (m.package, m.target, m.test)
        if where not in sound:
            said = copy.builds(m)
            passes, out = (False, said) if said else copy.passes(m)
            sound[where] = passes and " 1 passed" in out
            if not sound[where]:
                print(f"{m.name:{width}}  its test does not pass without it:\n{out}", flush=True)
        if not sound[where]:
            wrong += 1
            continue
        copy.mutate(m)
        try:
            said = copy.builds(m)
            survived, out = (True, f"it does not compile\n{said}") if said else copy.passes(m)
        finally:
            copy.restore(m)
        took = time.monotonic() - began
        if survived:
            wrong += 1
            print(f"{m.name:{width}}  NOT NOTICED by {m.test}\n{out}", flush=True)
        else:
            print(f"{m.name:{width}}  noticed by {m.target}: {m.test}, {took:.0f} s", flush=True)
    print(f"{len(listed) - wrong} of {len(listed)} mutations noticed", flush=True)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Takes out one rule after the other, and says which test notices: docs/reference/mutations.md.",
        epilog="Example: crates/testkit/mutations/run.py --only wire",
    )
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="those whose names begin with this")
    parser.add_argument("--spread", action="store_true", help="three of those that are quick to build, by WATTSEAL_SEED")
    parser.add_argument("--page", action="store_true", help="print the table of docs/reference/mutations.md, and run nothing")
    arguments = parser.parse_args()
    every = listed = mutations()
    if arguments.page:
        print(page(listed), end="")
        return 0
    if arguments.spread:
        seed = int(os.environ.get("WATTSEAL_SEED") or random.randrange(1 << 32))
        print(f"WATTSEAL_SEED={seed}", flush=True)
        listed = random.Random(seed).sample([m for m in listed if m.spread], 3)
    if arguments.only:
        listed = [m for m in listed if m.name.startswith(tuple(arguments.only))]
        if not listed:
            sys.exit("no mutation's name begins so; --page shows them all")
    copy = Copy()
    # All of them, whichever are run: one that does not apply says nothing of its rule any more.
    return 1 if stale(every, copy) or run(listed, copy) else 0


if __name__ == "__main__":
    sys.exit(main())
