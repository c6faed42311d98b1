"""What `explain` says of topics: questions that people ask who have read nothing else."""

from __future__ import annotations

import msgspec


class Topic(msgspec.Struct, frozen=True):
    """The question in one line, and the answer: paragraphs, and commands behind two spaces."""

    question: str
    answer: str


TOPICS = {
    "score": Topic(
        "What is the score of a job?",
        """\
`compute` prints every metric of the job's dataset, with a standard error, an interval, and how
many trials stand behind it. Without a SOURCE it takes the job below ./jobs that was started last.
`--dry-run` says first which metrics would run, and where each comes from.

  harbor-metrics compute jobs/new
  harbor-metrics compute jobs/new --dry-run
  harbor-metrics compute jobs/new -o result.json""",
    ),
    "low-score": Topic(
        "Why is my score lower than the leaderboard's, or expected?",
        """\
Look first at how many trials are missing or errored: in the second line above the table, or of
several agents in columns of their own. A trial without a reward counts as 0, as in Harbor; below
the table stands the mean over those that have rewards. `--missing skip` leaves them out. See
whether the other number falls into the interval: few tasks make it wide. See whether it is the
same metric: pass@1 of several attempts is not the best of them. `audit` says whether the number
that Harbor itself reported is that of its trials, and `compare` which tasks turned.

  harbor-metrics compute jobs/new --missing skip
  harbor-metrics compute jobs/new --metric pass@1 --metric 'accuracy reducer=max'
  harbor-metrics audit jobs/new
  harbor-metrics compare jobs/old jobs/new""",
    ),
    "missing": Topic(
        "What counts as what: missing rewards, errors, lost trials?",
        """\
A trial that has no rewards counts as 0 and stays in the denominator: Harbor's rule.
`missing=skip` leaves it out, `missing=error` refuses to give a number; `--missing` says it for
all metrics. A trial that was planned and is not there does not count; it is said, and
`--require-complete` exits 1. A trial that raised an error counts by its rewards, if it has any.
What cannot be known (the spread of one reward, pass@5 of three attempts) is null with a reason,
never 0.

  harbor-metrics compute jobs/new --missing skip --require-complete
  harbor-metrics compute jobs/new --metric 'mean missing=skip'""",
    ),
    "intervals": Topic(
        "What do stderr and the interval mean?",
        """\
They say how far the number would move if other tasks of the same kind had been drawn: tasks are a
sample (`--over tasks`), and attempts at one task are never taken for independent. `--over
attempts` asks about these very tasks: what would other attempts at them give? Of rewards between
0 and 1 the interval is Wilson's on as many independent rewards as would vary as much; of amounts,
such as seconds and dollars, it is t with Hall's transform for skewness. It never leaves what is
possible. `explain ci` says how often each method covers the truth.

  harbor-metrics compute jobs/new --level 0.9
  harbor-metrics compute jobs/new --over attempts
  harbor-metrics explain ci""",
    ),
    "attempts": Topic(
        "How do I have pass@k, and put it into my dataset?",
        """\
`pass@5` is the chance that one of five attempts passes, estimated without bias from all attempts
at each task; it needs five attempts. In a registry it stands in `extra_metrics`, which Harbor
ignores and `compute` runs. With `--for-harbor` it becomes a script that Harbor itself runs.

  harbor-metrics compute jobs/new --metric pass@2
  harbor-metrics add registry.json my-dataset pass@5
  harbor-metrics explain pass@5""",
    ),
    "sources": Topic(
        "What can be read besides Harbor's jobs?",
        """\
A folder of jobs; Inspect logs (.eval, .json) and folders of them; lm-eval's samples; evsys
rewards; CSV with a header line; rewards JSONL (an object of numbers or null a line); trials
JSONL, which any other harness can write: {"task": "t1", "rewards": {"reward": 1}} a line,
`harbor-metrics schema trials` says what else fits. The content says which it is; `--as` overrides
that. `convert` writes any of them as trials JSONL.

  harbor-metrics compute rewards.jsonl
  harbor-metrics compute scores.csv --columns task=problem,reward=score
  harbor-metrics convert jobs/new -o trials.jsonl""",
    ),
    "registry": Topic(
        "Where do the metrics come from that `compute` runs?",
        """\
From the dataset's entry in the registry that the job was run with (`--registry FILE` names
another): first its `metrics`, which hold Harbor's five types, then the job's own, then
`extra_metrics`, where all others belong: Harbor ignores that field, and one unknown type in
`metrics` would keep it from loading the whole file. Then come those of `--metric`. Where nobody
names any, the mean runs.

  harbor-metrics add registry.json my-dataset max
  harbor-metrics remove registry.json my-dataset max
  harbor-metrics validate registry.json""",
    ),
    "validate-in-ci": Topic(
        "How do I check every registry in CI?",
        """\
`validate` exits 1 where it finds an error, runs nothing and fetches nothing. Without a path, or of
a folder, it takes the files called registry.json and dataset.toml that git would list, and no
others: give others by name or by a pattern in quotes. `--format github` puts annotations on the
lines of a pull request, `--format sarif` feeds code scanning. `--fix` mends what has exactly one
right answer, such as a field with a letter too many; what it may only guess, such as the metric
that an unknown type was to be, it leaves to you.

In GitHub Actions, with the address of this project's repository (https://…) for REPOSITORY, and a
commit of it for COMMIT:

  # .github/workflows/registries.yml
  on: [push, pull_request]
  jobs:
    validate:
      runs-on: ubuntu-latest
      steps:
        - uses: actions/checkout@v4
        - uses: actions/setup-python@v5
          with:
            python-version: "3.12"
        - run: pip install "harbor-metrics @ git+REPOSITORY@COMMIT"
        - run: harbor-metrics validate --format github --isolated

`--isolated` reads no pyproject.toml: who opens a pull request could leave mistakes out by it.

Where that repository lies on GitHub, its action takes the place of the last two steps, and adds a
summary; OWNER/NAME is the repository there:

        - uses: OWNER/NAME@COMMIT
          with:
            files: . **/*.registry.json
            isolated: true

With pre-commit, for registry.json and dataset.toml, or what `files` says:

  # .pre-commit-config.yaml
  repos:
    - repo: REPOSITORY
      rev: COMMIT
      hooks:
        - id: harbor-metrics-validate
          args: [--isolated, --]

  harbor-metrics validate
  harbor-metrics validate . '**/*registry.json'
  harbor-metrics validate --format github
  harbor-metrics validate --format sarif > findings.sarif""",
    ),
    "comparing": Topic(
        "Is one agent better than another?",
        """\
`compare` pairs the tasks of two runs, the first being the base, and says how much every metric
differs, with an interval, and which tasks turned. Of one job with several agents or models, `--by
agent` or `--by model` tells them apart; `--only` chooses. `~` means that no difference is shown,
which is not the same as none: `--detect 0.1` says how many tasks would show one of 0.1. Gates
make it exit 1 where an agent got worse: `explain gates`.

  harbor-metrics compare jobs/old jobs/new
  harbor-metrics compare old=jobs/old new=jobs/new --metric pass@2 --detect 0.1
  harbor-metrics compare jobs --by model""",
    ),
    "gates": Topic(
        "How do I make CI fail where an agent got worse?",
        """\
With gates: `compare` tells each, and exits 1 where one fails or cannot be decided. Three ask the
interval of the difference, so that they seldom fail by chance; BY is in units of the metric.

  --no-worse mean           for every pull request: fails where a loss is shown,
  --no-worse mean:0.05      or one of more than 0.05
  --non-inferior mean:0.02  for a release or a cheaper model: fails unless it is
                            shown that less than 0.02 is lost
  --better mean             fails unless a gain is shown
  --fail-if 'errored > 5'   compares numbers as they are, such as counts and costs

`--no-worse` fails for 2.5 of 100 pairs of equal runs. That it passes proves only that no loss was
shown: with few tasks a loss hides in a wide interval. That `--non-inferior` or `--better` passes
does prove what it says, and one that is undecided says how many tasks would decide it.
`--fail-if 'mean < -0.02'` knows nothing of chance, and fails often for nothing. Tasks that only one
run has leave a gate undecided, unless `--unpaired drop`; so does a reward that the base has and the
candidate lacks, where the gate is about it. Nothing is corrected for several gates: each fails by
chance on its own.

  harbor-metrics compare jobs/old jobs/new --no-worse mean
  harbor-metrics compare jobs/old jobs/new --no-worse mean --fail-if 'tasks.worse > 3'
  harbor-metrics compare jobs/old jobs/new --no-worse mean --also markdown:comment.md""",
    ),
    "several-agents": Topic(
        "How do I put several agents and datasets into one table?",
        """\
Give all jobs, or the folder that they lie in. Each agent, model and dataset is a line, the best
of a dataset is marked, and `--sort` orders them. The same trial seen twice counts once.

  harbor-metrics compute jobs --sort mean
  harbor-metrics compute jobs/old jobs/new --format markdown
  harbor-metrics report jobs -o report.html""",
    ),
    "groups": Topic(
        "How do I have scores by category or any other label?",
        """\
`--group-by LABEL` computes each metric for every value of a label of the tasks, and over all.
Labels are the `[metadata]` of task.toml, those of the registry and of trials files, or a file
that you name with `--labels`: a CSV whose first column is `task`. In a registry the metric is
called `grouped`.

  harbor-metrics compute jobs/new --group-by category
  harbor-metrics compute jobs/new --group-by side --labels sides.csv
  harbor-metrics explain grouped""",
    ),
    "tables": Topic(
        "How do I have CSV, JSON, a DataFrame, or pictures?",
        """\
CSV is a line a value, with all digits. JSON is the result document, of which `harbor-metrics schema
result` explains every field. `report` draws one page of HTML. In Python
`harbor_metrics.compute("jobs/new")` gives the same as an object, which a notebook shows as a table
and a picture; with the extra `frames`, `.to_frame("pandas")` makes it a DataFrame with the columns
of the CSV. From the CSV itself, with pandas and matplotlib, a plot with error bars:

  import matplotlib.pyplot as plt, pandas
  rows = pandas.read_csv("result.csv", dtype={"version": str})
  rows = rows[(rows["name"] == "mean") & rows["low"].notna()]
  who = rows["agent"] + " on " + rows["dataset"]
  bars = [rows["value"] - rows["low"], rows["high"] - rows["value"]]
  plt.errorbar(rows["value"], who, xerr=bars, fmt="o")
  plt.savefig("mean.png", bbox_inches="tight")

  harbor-metrics compute jobs/new --format csv > result.csv
  harbor-metrics compute jobs/new --also csv:result.csv --also markdown:result.md
  harbor-metrics report jobs/new -o report.html""",
    ),
    "cost": Topic(
        "What does it cost to solve a task?",
        """\
`cost-per-solved-task` is the US dollars of all attempts, also the failed ones, for each task that
any of them solved; `tokens-` and `seconds-per-solved-task` are the same of tokens and time,
`cost-per-task` is the average attempt. They need what the harness wrote about usage, and say
where it is missing.

  harbor-metrics compute jobs/new --metric cost-per-solved-task --metric cost-per-task
  harbor-metrics compute jobs/new --metric 'usage-quantile of=seconds q=0.95'""",
    ),
    "own-metric": Topic(
        "How do I write a metric of my own?",
        """\
As a Python function. Its first parameter is the rewards, its keyword-only parameters are kwargs,
its docstring is its description; `rewards.values` are all rewards, `rewards.by_task` those of
each task:

  # my_metric.py
  from harbor_metrics import Column, Estimate, Undefined

  def worst_task(rewards: Column, *, skip: int = 0) -> float:
      \"\"\"Mean reward of the worst task.\"\"\"
      means = sorted(sum(task) / len(task) for task in rewards.by_task.values())
      return means[skip]

  def solved_twice(rewards: Column, *, times: int = 2) -> Estimate | Undefined:
      \"\"\"Share of tasks that were solved at least twice.\"\"\"
      return Estimate.of_tasks({
          task: sum(reward >= 1 for reward in attempts) >= times
          for task, attempts in rewards.by_task.items()
      })

A plain number has no standard error; `Estimate.of_tasks`, the mean of one number a task, has one,
and an interval, and `compare` pairs it. From its file a function runs with `--metric` alone. An
entry point in the pyproject.toml of its package, installed beside harbor-metrics, makes it a metric
like all others, which may stand in registries:

  [project]
  name = "my-metrics"
  version = "0.1"

  [project.entry-points."harbor_metrics.metrics"]
  solved-twice = "my_metric:solved_twice"

  [tool.setuptools]
  py-modules = ["my_metric"]

  harbor-metrics compute jobs/new --metric my_metric.py:worst_task
  harbor-metrics compute jobs/new --metric 'my_metric.py:solved_twice times=1'

As a script that goes with the dataset, and that Harbor runs, too: a Python program that reads
rewards from `-i` and writes an object of numbers to `-o`. `--new` writes one that works, to begin
with. What it gets, and how it knows of tasks, says `explain uv-script`.

  harbor-metrics add registry.json my-dataset uv-script -k script_path=metrics/mine.py --new
  harbor-metrics script check metrics/mine.py""",
    ),
    "scripts": Topic(
        "What can a metric script do, and what not?",
        """\
It runs in an empty folder, without your environment variables, for at most 60 seconds and with 4
GiB. On Linux a sandbox keeps it from your files and from the network; `--sandbox require` runs
nothing without it. Scripts that only a job's own configuration names run with `--job-scripts`
alone. `validate` runs none.

  harbor-metrics compute jobs/new --dry-run
  harbor-metrics cache
  harbor-metrics explain uv-script""",
    ),
    "inside-harbor": Topic(
        "How does all this run at the end of `harbor run`?",
        """\
Installed beside Harbor it is a plugin: `harbor run --plugin metrics …` shows the table when the
run ends and leaves harbor-metrics.json and harbor-metrics.md in the job's folder.""",
    ),
    "exit-codes": Topic(
        "What do the exit codes mean?",
        """\
0: fine; warnings and undefined values included. 1: something was found, such as an invalid
document, a failed metric, a trial that cannot be read, or nothing scored at all. 2: wrong usage.
3: it could not be done, because a source cannot be read or an output cannot be written. 130 and
143: interrupted, terminated. 141: whoever read the output closed the pipe.""",
    ),
}
