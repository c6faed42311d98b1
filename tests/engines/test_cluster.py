"""Spark: a session of this process, and a cluster of two workers of which one is lost."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

import harbor_metrics

try:
    import pyspark
except ImportError:
    pyspark = None

WHY_NOT = "no pyspark here: uv sync --group cluster" if pyspark is None else ""
if not shutil.which("java"):
    WHY_NOT = "no Java here; .ci/prepare installs it"
pytestmark = [pytest.mark.cluster, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)]

HOST = "127.0.0.1"
METRICS = ["mean", "max", "pass@2", "mean-reward"]
N = 1_000_000


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """10^6 trials in sixteen files: rewards of 0 and 1, and of 53 bits; some have none."""
    folder = tmp_path_factory.mktemp("trials")
    for part in range(16):
        duckdb.sql(
            f"""select 'task-' || (range // 10) as task, range % 10 as attempt,
            'agent-' || (range // 10 % 2) as agent, 'd' as dataset,
            if(hash(range) % 33 = 0, null, (hash(range, 1) % 2)::double) as reward,
            if(hash(range) % 33 = 0, null, (hash(range, 2) >> 11) / 2.0 ** 53) as "reward.score"
            from range({N}) where range % 16 = {part}"""
        ).write_parquet(str(folder / f"{part}.parquet"))
    return folder


@pytest.fixture(scope="module")
def expected(trials: Path) -> Any:
    return harbor_metrics.compute(f"{trials}/*.parquet", metrics=METRICS)


class Cluster:
    """A master and two workers, each of one core."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = os.path.dirname(pyspark.__file__)
        self.port = 20_000 + random.Random(os.getpid()).randrange(20_000)
        self.env = {
            **os.environ,
            "SPARK_LOCAL_IP": HOST,
            "SPARK_HOME": self.home,
            "SPARK_LOCAL_DIRS": str(folder),
            "SPARK_DAEMON_MEMORY": "512m",
            "PYSPARK_PYTHON": sys.executable,
        }
        where = ("--port", str(self.port), "--webui-port", "0")
        self.master = self.start("master.Master", "master", *where)
        self.wait_for("master", "I have been elected leader")
        self.workers = [self.worker(number) for number in range(2)]
        for number in range(2):
            self.wait_for(f"worker{number}", "Successfully registered with master")

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self.port}"

    def start(self, kind: str, name: str, *more: str) -> subprocess.Popen[bytes]:
        command = [f"{self.home}/bin/spark-class", f"org.apache.spark.deploy.{kind}"]
        with (self.folder / f"{name}.log").open("ab") as log:
            # A group of its own, so that the whole worker can be lost at once.
            return subprocess.Popen(
                [*command, "--host", HOST, *more],
                stdout=log,
                stderr=log,
                env=self.env,
                start_new_session=True,
            )

    def worker(self, number: int) -> subprocess.Popen[bytes]:
        name = f"worker{number}"
        limits = ("-c", "1", "-m", "1200m", "-d", str(self.folder / name), "--webui-port", "0")
        return self.start("worker.Worker", name, *limits, self.url)

    def wait_for(self, name: str, words: str) -> None:
        log = self.folder / f"{name}.log"
        for _ in range(1200):
            if words in log.read_text(errors="replace"):
                return
            time.sleep(0.1)
        pytest.fail(log.read_text(errors="replace")[-2000:])

    def lose_a_worker(self) -> None:
        """Kill one with its executor, as a machine that is lost; another one joins."""
        self.kill(self.workers[1])
        self.workers[1] = self.worker(1)

    @staticmethod
    def kill(process: subprocess.Popen[bytes]) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def stop(self) -> None:
        for process in (*self.workers, self.master):
            self.kill(process)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    running = Cluster(tmp_path)
    yield running
    running.stop()


def session(master: str) -> Any:
    """The driver's end of Spark."""
    os.environ["SPARK_LOCAL_IP"] = HOST
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": HOST,
        "spark.driver.bindAddress": HOST,
        "spark.executor.memory": "1g",
        "spark.executor.cores": "1",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.files.maxPartitionBytes": "4m",
    }
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def end(spark: Any) -> None:
    """Stop Spark, and its JVM, which gives the cluster's address to every later session."""
    from pyspark import SparkContext

    spark.stop()
    SparkContext._gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None


def lose_once(cluster: Cluster, spark: Any, done: threading.Event, lost: list[str]) -> None:
    """Lose a worker while a stage has tasks that are done and tasks that run."""
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(0.02):
        for stage in tracker.getActiveStageIds():
            info = tracker.getStageInfo(stage)
            if info and info.numCompletedTasks >= 2 and info.numActiveTasks:
                cluster.lose_a_worker()
                lost.append(f"after {info.numCompletedTasks} of {info.numTasks} tasks")
                return


@pytest.mark.filterwarnings("ignore")
def test_a_lost_worker_changes_no_bit(cluster: Cluster, trials: Path, expected: Any) -> None:
    spark = session(cluster.url)
    done, lost = threading.Event(), []
    thread = threading.Thread(target=lose_once, args=(cluster, spark, done, lost))
    thread.start()
    try:
        found = harbor_metrics.compute(str(trials), metrics=METRICS, engine="spark")
    finally:
        done.set()
        thread.join()
        end(spark)
    assert lost
    assert found.groups == expected.groups
    assert found.sources[0].answers_sha256 == expected.sources[0].answers_sha256
    assert found.sources[0].engine.name == "spark"
