"""`mean` with its interval of Parquet on DuckDB, beside DuckDB's own average per task.

`python benchmarks/engines.py [ROWS] [FOLDER]`: each measured in a process of its own; the ratio is
of CPU seconds. Wanted of 10^8 rows (a file of 0.9 GB): at most 1.8 of rewards of 0 and 1, 3.1 where
all differ, 1 GB. Fewer rows show what is to be done once.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

import duckdb

import harbor_metrics

_FILES = 8
_REWARDS = {
    "binary": "(hash(i, 1) % 3 = 0)::int::double",
    "distinct": "(hash(i, 2) >> 11) / 2.0 ** 53",
}
_BY = "agent, model, dataset, task"


def write(folder: str, rows: int, reward: str) -> None:
    """20 groups of tasks of 100 attempts, spread over all files; 3 % have no reward."""
    os.makedirs(folder, exist_ok=True)
    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false; set memory_limit = '4GB'")
    for part in range(_FILES):
        # A stride that has no factor in common with the rows shuffles them.
        connection.execute(
            f"""copy (
              with t as (select (range * 1000003 + 12345) % {rows} as i
                         from range({part}, {rows}, {_FILES})),
                   g as (select i, i // {rows // 20} as g, i % {rows // 20} as place from t)
              select ['oracle', 'terminus'][g % 2 + 1] as agent,
                ['sail-1', 'sail-2'][g // 2 % 2 + 1] as model,
                ['buoys', 'charts', 'docks', 'gales', 'reefs'][g // 4 + 1] as dataset,
                'task-' || lpad((place // 100)::varchar, 6, '0') as task,
                place % 100 + 1 as attempt,
                if(hash(i, 3) % 33 = 0, null, {reward}) as reward
              from g) to '{folder}/{part}.parquet' (format parquet, compression zstd,
              row_group_size 500000)"""
        )


def average(folder: str) -> None:
    """The averages of tasks, and of those the mean, by DuckDB alone."""
    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    connection.execute(
        f"""select agent, model, dataset, avg(a), sum(n) from (
              select {_BY}, avg(reward) as a, count(*) as n
              from '{folder}/*.parquet' group by {_BY})
            group by agent, model, dataset"""
    ).fetchall()


def mean(folder: str, level: float | None) -> None:
    """`mean`, with or without its interval."""
    harbor_metrics.compute(f"{folder}/*.parquet", level=level)


def measure(what: str, folder: str) -> tuple[float, float, float]:
    """Wall and CPU seconds and megabytes of one of these, in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, what, folder], capture_output=True, text=True, check=True
    )
    wall, cpu, memory = map(float, done.stdout.split())
    return wall, cpu, memory


def main() -> None:
    """Measure, or be measured."""
    if sys.argv[1:2] in (["average"], ["mean"], ["totals"]):
        what, folder = sys.argv[1:]
        start = time.perf_counter()
        if what == "average":
            average(folder)
        else:
            mean(folder, 0.95 if what == "mean" else None)
        wall = time.perf_counter() - start
        used = resource.getrusage(resource.RUSAGE_SELF)
        print(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
        return
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**8
    with tempfile.TemporaryDirectory() as folder:
        print(f"{rows:,} rows  load {os.getloadavg()[0]:.1f}")
        for kind, reward in _REWARDS.items():
            place = os.path.join(sys.argv[2] if len(sys.argv) > 2 else folder, kind)
            if not os.path.exists(f"{place}/{_FILES - 1}.parquet"):
                write(place, rows, reward)
            _, alone, _ = measure("average", place)
            for what in ("mean", "totals"):
                wall, cpu, memory = measure(what, place)
                print(
                    f"{kind:<9} {what:<7} {wall:6.1f} s  CPU {cpu:6.1f} s  {memory:5.0f} MB  "
                    f"{cpu / alone:.2f} x DuckDB's average per task ({alone:.1f} s)"
                )


if __name__ == "__main__":
    main()
