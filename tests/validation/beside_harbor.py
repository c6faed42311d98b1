"""Is a verdict of `validate` ever milder than Harbor's own? Asks the real one.

    python tests/validation/beside_harbor.py PYTHON_WITH_HARBOR [REGISTRY...]

Spoils the registries that are given, and the project's own, and says of how many Harbor and
`validate` think alike; exit 1 where one is milder. `--record` keeps Harbor's verdicts of the
mutants that the tests look at.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

from validation.mutants import manifest_mutants, mutants  # noqa: E402

from harbor_metrics.documents.diagnostics import Severity  # noqa: E402
from harbor_metrics.validation.validation import Report, validate  # noqa: E402

RECORDED = HERE / "verdicts.json"
N_RECORDED, SEED_RECORDED = {"registry": 600, "manifest": 300}, 7
# What a note says where Harbor does not load a file, and where it cannot make a job of it.
WHERE = {"F": ("Harbor cannot load", "Harbor refuses"), "M": ("Harbor fails when it makes",)}


def own_texts(kind: str) -> list[str]:
    """The project's own registries or manifests without a mistake."""
    if kind == "manifest":
        return [(HERE / "manifest.toml").read_text()]
    return [(ROOT / "registry" / "registry.json").read_text()]


def spoilt(kind: str, texts: list[str], n: int, seed: int) -> Iterator[str]:
    """Mutants of registries or of manifests."""
    return (mutants if kind == "registry" else manifest_mutants)(texts, n, seed)


def lay_out(folder: Path) -> None:
    """The scripts that the project's own registries and manifests name."""
    script = (ROOT / "registry" / "metrics" / "spread.py").read_text()
    (folder / "metrics").mkdir()
    (folder / "metrics" / "spread.py").write_text(script)
    (folder / "metric.py").write_text(script)


def says_where(report: Report, verdict: str) -> bool:
    """Whether an error says that Harbor fails where it does."""
    errors = [d for d in report.found if d.severity is Severity.ERROR]
    return any(words in note for d in errors for note in d.notes for words in WHERE[verdict])


def verdicts(
    python: str, kind: str, texts: Iterable[str], folder: Path
) -> Iterator[tuple[str, str, Path]]:
    """Harbor's verdict on each text, its reason, and the file that holds the text meanwhile."""
    path = folder / ("registry.json" if kind == "registry" else "dataset.toml")
    command = [python, str(HERE / "ask_harbor.py")]
    with subprocess.Popen(
        command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as harbor:
        assert harbor.stdin is not None
        assert harbor.stdout is not None
        for text in texts:
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            harbor.stdin.write(f"{path}\n")
            harbor.stdin.flush()
            mark, reason = harbor.stdout.readline().rstrip("\n").split("\t", 1)
            yield mark, reason, path
        harbor.stdin.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("python")
    parser.add_argument("registry", nargs="*", type=Path)
    parser.add_argument("--registries", type=int, default=20_000)
    parser.add_argument("--manifests", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    milder = 0
    recorded = {}
    for kind, n in (("registry", options.registries), ("manifest", options.manifests)):
        texts = own_texts(kind)
        seed = options.seed
        if options.record:
            n, seed = N_RECORDED[kind], SEED_RECORDED
        elif kind == "registry":
            texts += [path.read_text() for path in options.registry]
            # The small ones several times, since a large one takes as long as many of them.
            texts = [text for text in texts for _ in range(max(1, min(6, 40_000 // len(text))))]
        counts: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            lay_out(Path(folder))
            marks = []
            for mark, reason, path in verdicts(
                options.python, kind, spoilt(kind, texts, n, seed), Path(folder)
            ):
                marks.append(mark)
                report = validate(path)
                counts[f"Harbor {mark}, validate {'fine' if report.ok else 'an error'}"] += 1
                if mark == "L":
                    continue
                if report.ok:
                    milder += 1
                    (Path(tempfile.gettempdir()) / f"milder-{milder}{path.suffix}").write_bytes(
                        path.read_bytes()
                    )
                    print(f"MILDER {kind} {mark} {reason}")
                elif not says_where(report, mark):
                    counts[f"Harbor {mark}, not said where"] += 1
                    if counts[f"Harbor {mark}, not said where"] < 4:
                        print(mark, reason[:120], [(d.rule, d.message) for d in report.found][:3])
        recorded[kind] = "".join(marks)
        print(kind, n, "mutants:", dict(sorted(counts.items())), flush=True)
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=0) + "\n")
    print(f"{milder} milder than Harbor")
    return 1 if milder else 0


if __name__ == "__main__":
    sys.exit(main())
