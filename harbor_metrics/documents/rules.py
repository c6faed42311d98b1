"""The rules that are not functions: how grave each is where nothing else is said, and its meaning.

The rules of a registry are the functions of `validation/rules/`, and their docstrings stand for
what stands here. Whoever utters a rule takes its severity from here.
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Severity(StrEnum):
    """`error`: it is wrong; `warning`: it will probably hurt; `note`: good to know."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(msgspec.Struct, frozen=True):
    """How grave it is unless an utterance says otherwise, and what `explain` says of it."""

    severity: Severity
    paragraph: str


_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE

# What a document says that it may not: `validate` finds it, and so does what reads the document.
OF_DOCUMENTS = {
    "json-syntax": Rule(
        _ERROR, "The text is not JSON at this place; nothing behind it is certain."
    ),
    "json-comment": Rule(_ERROR, "JSON has no comments. Harbor cannot read a registry with one."),
    "trailing-comma": Rule(
        _ERROR, "A comma follows the last element. Harbor cannot read the registry."
    ),
    "duplicate-key": Rule(
        _ERROR,
        "A key stands twice in an object. Readers keep the last value and say nothing, so that a "
        "merge of two datasets into one object swallows the first. In a log of Inspect or lm-eval "
        'what is nested is named by its place, so that `{"acc": [1, 1], "acc/0": 0}` says twice '
        "what `acc/0` is: a sample whose scores do so is not read, and of metadata (a warning) "
        "such a name is no label.",
    ),
    "conflict-marker": Rule(_ERROR, "A merge was not finished: both sides stand in the file."),
    "not-json": Rule(
        _ERROR, "The file is a web page or XML, often an error page saved by mistake."
    ),
    "not-utf-8": Rule(_ERROR, "JSON is UTF-8. The place is that of the first byte that is not."),
    "byte-order-mark": Rule(
        _ERROR, "The file begins with a byte order mark, with which Harbor cannot read it."
    ),
    "lone-surrogate": Rule(
        _ERROR, "An escape gives half of a character, which cannot be written as UTF-8."
    ),
    "non-finite-number": Rule(
        _ERROR,
        "NaN and Infinity are not JSON. Harbor writes null for them and then cannot read the trial "
        "again. In a log of Inspect or lm-eval, which may hold them, an infinite score is an error "
        "and its sample does not count; a NaN is a score that is missing.",
    ),
    "number-out-of-range": Rule(_ERROR, "The number is larger than any that binary64 holds."),
    "too-deep": Rule(_ERROR, "Nested deeper than any of these documents is."),
    "toml-syntax": Rule(_ERROR, "The dataset.toml is not TOML at this place."),
    "missing-field": Rule(
        _ERROR,
        "A field that must be there is missing. Harbor loads no dataset of a registry with such an "
        "entry; `compute` does not count such a trial, and exits 1.",
    ),
    "wrong-type": Rule(
        _ERROR,
        "A field holds another type of value than it may. Harbor loads no dataset of a registry "
        "with such an entry; `compute` does not count such a trial, and exits 1.",
    ),
    "empty-field": Rule(
        _ERROR, "A name or a version is the empty string, by which nothing can be named."
    ),
    "schema": Rule(
        _ERROR, "The document's schema forbids this; `harbor-metrics schema` prints it."
    ),
    "not-a-registry": Rule(_ERROR, "A registry is an array of datasets at the top of the file."),
    "empty-registry": Rule(_WARNING, "The registry is an array without any dataset."),
    "not-json-lines": Rule(
        _ERROR, "Rewards and trials are JSONL: a document a line, no array around them."
    ),
    "invalid-rewards": Rule(_ERROR, "The rewards of a trial are an object of numbers, or null."),
    "invalid-reward": Rule(
        _ERROR,
        "A reward is a finite number. Harbor takes true for 1.0, and refuses others. `compute` "
        "does not count a trial with one, or a row of a CSV with another cell that is not what its "
        "column holds, and exits 1.",
    ),
}

# What becomes of sources, registries, metrics and scripts when they are used.
OF_RUNS = {
    # Folders where `validate` looks for documents.
    "ignored-registry": Rule(
        _NOTE,
        "Patterns of a .gitignore leave out a registry.json or a dataset.toml of a folder that "
        "`validate` was given, and git does not track it, so it is not looked at. What git's index "
        "has is looked at whatever the patterns say, as after `git add --force`. So is one in a "
        "repository of its own inside the folder, such as a submodule, not looked at. Name the "
        "file, or a pattern such as `'**/registry.json'`. Of what is left out the first 20,000 "
        "entries are gone through.",
    ),
    "unread-index": Rule(
        _WARNING,
        "Patterns of a .gitignore leave out something in a folder that `validate` was given, and "
        "git's index, which has what is tracked all the same, cannot be read or is damaged. Every "
        "registry.json and dataset.toml of the folder is looked at then.",
    ),
    # Sources.
    "repeated-source": Rule(
        _NOTE,
        "Two of the paths that were given lead to the same source. It is read once, so its trials "
        "count once.",
    ),
    "source-copied": Rule(
        _WARNING,
        "Two sources have the same bytes, and their trials have no ids by which each would count "
        "once, as trials of jobs do. They are as good as more attempts at the same tasks, and "
        "intervals are too narrow. Name one of them.",
    ),
    "file-not-read": Rule(
        _WARNING,
        "Of a folder some logs are left out: beside its jobs, in a job, in folders beside logs of "
        "its own, or, with `--as`, of other formats. Give each that is to be read by its own path.",
    ),
    "job-document": Rule(
        _WARNING,
        "The `config.json`, `result.json` or `harbor-metrics.snapshot.json` of a job cannot be "
        "read. Its trials still count, but what only that document says is not known: the "
        "registry, the job's own metrics, how many trials were planned, labels. Name the registry "
        "with `--registry`.",
    ),
    "unread-job": Rule(
        _ERROR,
        "A job in a directory of jobs cannot be opened, has no document that is whole, or is a "
        "link that leads out of the directory. The other jobs are read, this one does not count, "
        "and the exit code is 1. Make it readable, name the link itself, or name the other jobs "
        "alone.",
    ),
    "unread-file": Rule(
        _ERROR,
        "A file in a folder that was given, or one that a pattern fits, is a link that leads out "
        "of there. Whoever made the folder may not know what it leads to, so it does not count, "
        "and the exit code is 1. Name the link itself if it is yours, or copy the folder with "
        "`cp -RL`. Or it is called as Inspect or lm-eval call their logs, and is none: it is "
        "empty, or damaged where it begins. Copy it anew.",
    ),
    "unread-trial": Rule(
        _ERROR,
        "The `result.json` of a trial cannot be read as a trial result of Harbor. The trial counts "
        "as `unread`: none of its rewards does, the job is not complete, and the exit code is 1. "
        "Restore the file, or run the trial again.",
    ),
    "unread-line": Rule(
        _ERROR,
        "A line of a JSONL file is not what the file holds: rewards, trials or samples. It counts "
        "as `unread`, and the exit code is 1. Mend the line, or delete it.",
    ),
    "invalid-trial": Rule(
        _ERROR,
        "A row of a CSV, a line of lm-eval's samples or a sample of an Inspect log says too little "
        "to be a trial, or too much: it has no id, or more or fewer cells than the header. It "
        "counts as `unread`, and the exit code is 1.",
    ),
    "trial-without-result": Rule(
        _NOTE,
        "A trial of a job has a folder and no `result.json`: it is still running, or was "
        "interrupted. It does not count, and the job is not complete, which makes the exit code 1 "
        "with `--require-complete`.",
    ),
    "job-not-finished": Rule(
        _NOTE,
        "The job or the eval is still running, or was ended before it could say that it is "
        "finished. The numbers are over the trials that have ended. It is not complete, which "
        "makes the exit code 1 with `--require-complete`. Harbor reports pass@k only when a job "
        "has ended.",
    ),
    "trials-missing": Rule(
        _WARNING,
        "A job that is finished planned more trials than are on disk. The numbers are over those "
        "that are there, and the others do not count as 0. The job is not complete, which makes "
        "the exit code 1 with `--require-complete`. Look for folders that were deleted or not "
        "copied.",
    ),
    "trials-not-planned": Rule(
        _WARNING,
        "More trials of a job are on disk than its own `result.json` says that it has, or more "
        "samples than a results file of lm-eval counts; or trials that this `result.json` does not "
        "name, though it names as many as it has: then some that it names are not there, and the "
        "job is not complete. All of them count. Look for folders or lines that came to it later.",
    ),
    "trials-left-out": Rule(
        _WARNING,
        "Since 0.26 Harbor leaves trials without a valid reward out of all its numbers: those "
        "without rewards, and those that ended with an error of the sandbox, the model's provider, "
        "the verifier or Harbor itself. Before, a trial without "
        "rewards counted as 0. Each job counts as the Harbor that wrote its `result.json` counts, "
        "which has a `schema_version` since 0.26; what is left out is named, with its errors. "
        "`convert` keeps such trials, with `left_out`: remove that, and they count.",
    ),
    "reward-valid-differs": Rule(
        _WARNING,
        "The `reward_valid` of a trial is not what Harbor makes of it. Harbor does not read that "
        "field: it looks at the rewards, at the errors and at the `policy_override` of each, and "
        "so does every number here.",
    ),
    "older-result": Rule(
        _WARNING,
        "The `result.json` of a job has no `schema_version`, as before Harbor 0.26, and trials of "
        "it were written by 0.26 or later. An earlier Harbor has resumed the job, or the field was "
        "taken out: trials without a valid reward count, as they do in an earlier Harbor.",
    ),
    "repeated-trial": Rule(
        _NOTE,
        "The same trial was found more than once: by its id within one agent, model and dataset, "
        "or by its name within these and one task. It counts once. Where the contents differ the "
        "first counts, and that is an error, which names both sources: the exit code is 1.",
    ),
    "misplaced-reward": Rule(
        _WARNING,
        "The `verifier_result` of a trial has a `reward` itself, where Harbor reads `rewards` "
        "alone: the trial has no rewards, and counts as 0. Let the verifier write "
        '`{"rewards": {"reward": 1.0}}`.',
    ),
    "key-missing": Rule(
        _NOTE,
        "Some of the trials with rewards have a reward key that others lack. There it counts as "
        "`--missing` says: as 0 by default, as Harbor counts it.",
    ),
    "tasks-by-place": Rule(
        _WARNING,
        "Several files of one group name no tasks: a CSV without such a column, or arrays of "
        "evsys. What stands at the same place in them is taken for attempts at one task, as in "
        "runs over the same list. Where they are parts of one list, name the tasks: the number of "
        "tasks, standard errors and pass@k are others then. `convert` notes it of each such file, "
        "and of rewards, whose lines have names in what it writes.",
    ),
    "empty-rewards": Rule(
        _NOTE,
        "The rewards of a trial are an object without any key. It has been scored, and every key "
        "counts as 0, as Harbor counts it.",
    ),
    "task-without-rewards": Rule(
        _WARNING,
        "A task of an evsys file has an empty array of rewards. It is left out, as if it had not "
        "been asked for. Write null for a sample that has no reward.",
    ),
    "nothing-scored": Rule(
        _ERROR,
        "No trial of a group has rewards, or the sources have no trial at all: whatever number "
        "comes out is not a score. Harbor reports 0.0 in the first case, since 0.26 no "
        "number. The exit code is 1. Look at the exceptions of the trials: often the verifier "
        "never ran.",
    ),
    # Logs of Inspect.
    "odd-member": Rule(
        _WARNING,
        "An Inspect log, which is a zip archive, has a member whose name leads out of the archive, "
        "or two of one name. Inspect does not write such members. One that leads out is not read; "
        "of two with one name the last counts, as in Inspect.",
    ),
    "samples-missing": Rule(
        _WARNING,
        "An Inspect log has the summaries of more samples than it has samples. The summaries are "
        "believed, so all scores count. An error, with exit code 1, where samples are read for "
        "their texts, which summaries lack.",
    ),
    "summaries-differ": Rule(
        _ERROR,
        "A sample of an Inspect log has other scores, usage, metadata, times, limits or errors "
        "than its summary says, or has no summary: the log was changed after Inspect wrote it. The "
        "samples are believed, and the exit code is 1. Of large logs `compute` and `compare` look "
        "at some samples alone; `audit` and `convert` read all.",
    ),
    "unscored-samples": Rule(
        _NOTE,
        "Samples of an Inspect log have no score: they errored, or the scorer gave NaN or nothing. "
        "Here they count as 0, as a trial without a reward does in Harbor; Inspect leaves them "
        "out, and so does `--missing skip`.",
    ),
    "score-is-text": Rule(
        _WARNING,
        "Scores of an Inspect log are texts that do not stand for a number, as `C`, `I`, `yes` or "
        "`0.5` do. They count as 0, as in Inspect. The text itself is in the label "
        "`inspect/value`.",
    ),
    "log-not-finished": Rule(
        _WARNING,
        "The eval of an Inspect log failed or was cancelled. The numbers are over the samples that "
        "are there. Let Inspect finish it with `inspect eval-retry`.",
    ),
    # Logs of lm-eval.
    "task-without-samples": Rule(
        _WARNING,
        "The results file of a run of lm-eval counts the samples of tasks whose own samples file "
        "is not beside it: it was not copied, or has been removed. Nothing is computed of these "
        "tasks, and the run is not complete.",
    ),
    "other-results": Rule(
        _WARNING,
        "The results file beside lm-eval's samples is not of these samples, so it is not used: "
        "neither the model nor the reported numbers are known. An error, with exit code 1, where "
        "it names the task and another hash of its samples: one of the two was changed. lm-eval "
        "gives both files of a run one time in their names: of another time none is used. Without "
        "times in the names the hash of the samples decides, and of several that fit and differ "
        "none is used either. Put the results file of the same run beside the samples.",
    ),
    "metric-missing": Rule(
        _WARNING,
        "A metric of lm-eval has a number for some samples and none for others. For these it "
        "counts as a missing reward: as 0, or as `--missing` says.",
    ),
    "aggregation-unknown": Rule(
        _NOTE,
        "A run of lm-eval makes a number of a metric by code of the task's own, which the samples "
        "do not hold. It is not among what is computed by default; `--metric` names what runs.",
    ),
    # Registries.
    "dataset-not-said": Rule(
        _WARNING,
        "A registry was given, but the trials name no dataset, so no metrics of the registry run: "
        "`mean` does, which is Harbor's default. Name the dataset with `--dataset`.",
    ),
    "dataset-taken": Rule(
        _NOTE,
        "A registry of one dataset was given. Sources that name no dataset are taken to be of it, "
        "and pooled with those of the same agent and model that name it, if there are any.",
    ),
    "model-names-joined": Rule(
        _NOTE,
        "Since 0.25 Harbor writes a model's provider before its name, `acme/sail-1` where 0.24 "
        "wrote `sail-1`. Trials of jobs that were configured with the very same name are pooled "
        "under the short one. Within a job groups stay as Harbor has them.",
    ),
    "model-names-apart": Rule(
        _WARNING,
        "Trials of one source have a model's provider before its name, `acme/sail-1`, and those of "
        "another have `sail-1`, which its job did not configure as `acme/sail-1`: it may be "
        "another model. Or two models, `acme/sail-1` and `other/sail-1`, have one short name. Each "
        "keeps its name. Alone the first would be called `sail-1`, so `--only`, `--base` and gates "
        "that say `sail-1` now mean another one, or none. Name one of the sources, or each as a "
        "run: `NAME=SOURCE`.",
    ),
    "versions-pooled": Rule(
        _NOTE,
        "Jobs ran different versions of a dataset; who names none means the best one. Their trials "
        "are pooled, as Harbor does, and metrics that all these versions have run; those of one "
        "alone run where one job ran them all. `--dataset NAME@VERSION` says whose run. Compute "
        "the jobs one by one to keep them apart.",
    ),
    "registries-differ": Rule(
        _WARNING,
        "A job names its registry by a path from the folder that it ran in, several folders above "
        "the job have a file of that path, and their entries of the dataset are not the same. "
        "Where the job still lies as its `jobs_dir` says, that folder is known; else Harbor read "
        "one of them, and which nobody can tell from the files. Metrics run where all "
        "have them, labels that differ are refused, and the result names no registry. `--registry "
        "FILE` says which it was; without that, remove or rename the other.",
    ),
    # Of two runs that are compared.
    "tasks-unpaired": Rule(
        _WARNING,
        "A task is in one of two runs alone, or its version is not the same in both: Harbor writes "
        "a checksum of each task, and a task that has changed is not the same task. Such tasks are "
        "counted, named and left out of the comparison.",
    ),
    "task-versions-pooled": Rule(
        _WARNING,
        "Trials of a group say several versions of one task: a job of Harbor has a checksum of "
        "each task, lm-eval a hash of each document. A task that has changed is another task, and "
        "its trials count as attempts at one, as Harbor counts them; `compare` pairs no such "
        "tasks. Or runs of one group have other settings: Inspect's `task_args`, `task_version`, "
        "dataset and scorer, lm-eval's `n-shot`. Compute the jobs one by one.",
    ),
    "versions-not-said": Rule(
        _WARNING,
        "One of two runs says versions of its tasks and the other does not: a job of Harbor has a "
        "checksum of each task and lm-eval a hash of each document, trials files need not. Such "
        "tasks are paired by their names, and whether they are the same tasks is not checked. Give "
        "`task_version` to the trials that lack it, or compare what the harnesses wrote.",
    ),
    "gate-failed": Rule(
        _ERROR,
        "A gate that `compare` was given failed: the interval, or the number it is about, lies "
        "beyond what it allows. `compare` exits 1.",
    ),
    "gate-undecided": Rule(
        _WARNING,
        "A gate that `compare` was given could neither pass nor fail: the interval holds what "
        "passes and what fails, there is none, tasks are unpaired, or the candidate lacks a reward "
        "of the base that the gate is about. `compare` exits 1.",
    ),
    "several-gates": Rule(
        _NOTE,
        "At a level of 95 % a gate `no-worse` fails by chance in 2.5 of 100 comparisons of equal "
        "runs. Of several gates one of them fails more often: at most as often as all added up.",
    ),
    "direction-unused": Rule(
        _WARNING,
        "A name of `--higher-is-better` or of `--lower-is-better` is the name of no metric and no "
        "value of these runs, so it says of nothing which of two numbers is the better one.",
    ),
    "run-incomplete": Rule(
        _WARNING,
        "A run that is compared has fewer trials than were planned, because its job has not ended "
        "or trials could not be read. What ends first is often what is easy, and an interval holds "
        "what it promises when it is looked at once.",
    ),
    "paired-by-line": Rule(
        _NOTE,
        "Lines of a rewards file name no task, nor do rows of a table without a column of tasks or "
        "a bare array of rewards, so the first of one run is compared with the first of the other. "
        "Write a trials file, with `task`, where the order may differ.",
    ),
    "attempts-differ": Rule(
        _NOTE,
        "Two runs tried the tasks that they have in common a different number of times. Means of "
        "attempts (`mean`) then weigh the tasks differently in each; `mean-reward` does not.",
    ),
    "versions-differ": Rule(
        _WARNING,
        "Two runs name different versions of a dataset, or their logs say other settings by which "
        "tasks of the same names may be others: Inspect's `task_args`, `task_version`, dataset and "
        "scorer, lm-eval's `n-shot`. Tasks are still paired by their names; what was changed may "
        "be what makes the difference.",
    ),
    "plans-differ": Rule(
        _NOTE,
        "The registry or the job of a candidate names other metrics than those of the base. Those "
        "of the base are computed for both.",
    ),
    "missing-by-two-rules": Rule(
        _WARNING,
        "One run leaves trials without a valid reward out of its numbers, as jobs of Harbor do "
        "since 0.26, and the other counts them, as before. Equal runs then differ. Gates are "
        "undecided; `--missing skip` leaves those without rewards out of both.",
    ),
    "script-elsewhere": Rule(
        _WARNING,
        "A script that a registry names does not lie beside it, and one of that path lies in the "
        "current folder, as Harbor would take it; but the registry lies in neither. Whoever made "
        "the folder may have put it there. It runs where something confines it, without your "
        "logins, and what it says is not quoted. `--metric` names the script itself.",
    ),
    "scripts-differ": Rule(
        _WARNING,
        "Agents on one dataset have a metric of one name and the same kwargs, and not the same "
        "script, or scripts that could read other files beside them. Their numbers stand in "
        "columns of their own where the digests differ. `--registry FILE` says whose metrics run.",
    ),
    "label-left-out": Rule(
        _NOTE,
        "A registry, a snapshot or `task.toml` gives tasks a label that is called as a reward or a "
        "text of the trials, or `prediction` or `reference`. Metrics read these by name, so such a "
        "label would stand in for the reward or the answer where a trial has none: it is left out. "
        "Give it another name.",
    ),
    "copies-differ": Rule(
        _WARNING,
        "Trials were found in two jobs or runs that do not say the same: of models, metrics, which "
        "way is better, settings. The trials count once, and what both say counts for their group. "
        "Where one is a copy, and perhaps somebody else's, compute without it.",
    ),
    "labels-of-copy": Rule(
        _WARNING,
        "Trials were found in several jobs, of which some give their tasks a label, by a registry, "
        "a snapshot or `task.toml`, and others do not. The label counts. Where the other job is a "
        "copy, and perhaps somebody else's, compute without it.",
    ),
    "places-unknown": Rule(
        _NOTE,
        "Runs have places by a value where each has been compared with each other one, and it is "
        "said of all whether more is better. `--higher-is-better` and `--lower-is-better` say it.",
    ),
    "rewards-differ": Rule(
        _NOTE,
        "A reward of one run is missing in the other one altogether. It is not compared. A gate "
        "that is about a reward of the base is then undecided, unless `--unpaired drop`.",
    ),
    "registry-not-found": Rule(
        _WARNING,
        "The registry that a job names is not where it says (in the job or in a folder above it "
        "that is no home, not hidden there, in no other job), or would have to be fetched, which "
        "is never done. The registry's metrics do not run; `mean`, Harbor's default, does if the "
        "job has none of its own, and beside jobs whose registries are there only what these have "
        "of it. Pass the file with `--registry`.",
    ),
    "registry-changed": Rule(
        _NOTE,
        "The registry has other metrics or scripts for a dataset than it had when the job ran, by "
        "the job's snapshot (`harbor-metrics.snapshot.json`), or, where labels are asked for, "
        "other labels of tasks than the snapshot or than `task.toml` of the tasks. Those of today "
        "count. Without the registry at hand those of the snapshot, or of the tasks, would.",
    ),
    "not-grouped": Rule(
        _NOTE,
        "With `--group-by` every metric is computed for each group of trials, but a script is not: "
        "it is given all trials, and finds their labels in the file that HARBOR_METRICS_TRIALS "
        "names.",
    ),
    "invalid-registry": Rule(
        _ERROR,
        "An entry of a registry is not a dataset with a name, a version and arrays of metrics. "
        "Nothing is computed or changed, and the exit code is 3. `harbor-metrics validate` says "
        "everything that is wrong with the file.",
    ),
    # Metrics: each of these fails one metric, the others still run, and the exit code is 1.
    "missing-reward": Rule(
        _ERROR,
        "A metric with `missing` = `error` met a trial without the reward. The metric fails, the "
        "others still run, and the exit code is 1. With `zero` such trials count as 0, with `skip` "
        "not at all.",
    ),
    "missing-label": Rule(
        _ERROR,
        "A metric needs a label, a text or a second reward that a trial lacks, has twice or has as "
        "something else: to group by it, to weigh with it, to compare with it. The metric fails, "
        "the others still run, and the exit code is 1. `--labels FILE` labels the tasks.",
    ),
    "needs-rows": Rule(
        _ERROR,
        "A metric needs the trials themselves, and of Parquet and data frames an engine gives "
        "counts and sums. The metric fails before anything is asked, the others still run, and the "
        "exit code is 1. `convert` makes trials files, of which every metric can be computed.",
    ),
    "beyond-engine": Rule(
        _ERROR,
        "The rewards of one key, or amounts used, have magnitudes so far apart (more than 2^67) "
        "that an engine cannot add them up exactly by 64-bit integers. The metric fails, and the "
        "exit code is 1; of the trials themselves it can be computed. That amounts used cannot be "
        "added up, of the groups together, is a warning, and they are null.",
    ),
    "duplicate-output": Rule(
        _ERROR,
        "Two values of one metric would have the same name, so that one would hide the other. The "
        "metric fails, the others still run, and the exit code is 1. Rename the reward keys or the "
        "labels from which the names are made.",
    ),
    "metric-raised": Rule(
        _ERROR,
        "A metric or a reducer of a plugin or of a file raised an exception, or returned something "
        "else than finite numbers; or sacrebleu took more than ten minutes for the texts of one. "
        "The metric fails, the others still run, and the exit code is 1. "
        "`harbor_metrics.testing.check_metric` tries a metric on hard cases.",
    ),
    "not-installed": Rule(
        _ERROR,
        "A metric needs a package that is not installed. It fails, the others still run, and the "
        "exit code is 1. `bleu`, `chrf` and `ter` need `harbor-metrics[text]`.",
    ),
    "broken-plugin": Rule(
        _ERROR,
        "A plugin cannot be imported, or what it brings is not a function such as a metric or a "
        "reducer is. Its metrics fail, the others still run. `harbor-metrics list` says what is "
        "wrong with each plugin.",
    ),
    "clashing-plugins": Rule(
        _ERROR,
        "Several installed packages bring a metric or a reducer of the same name, and none of them "
        "counts. The metric fails, the others still run. Uninstall all but one of the packages.",
    ),
    # Scripts: as with metrics, but that some fail before they run.
    "script-missing": Rule(
        _ERROR,
        "The script of a `uv-script` cannot be found or read. It is looked for beside the "
        "registry, then in the current directory, where alone Harbor looks. The metric fails, the "
        "others still run, and the exit code is 1.",
    ),
    "script-outside": Rule(
        _ERROR,
        "A registry names a script outside its own folder and the current directory, or one there "
        "that does not end in `.py`, or a git repository by something else than https or ssh. A "
        "registry is data from elsewhere, so the script is not run: the metric fails. Of a folder "
        "below the current directory, or apart from it, scripts beside the registry have any name. "
        "`--allow-outside` permits it.",
    ),
    "script-git": Rule(
        _ERROR,
        "The git repository of a script could not be fetched, or git is not installed. The metric "
        "fails, the others still run, and the exit code is 1. git and ssh ask for nothing: a "
        "private repository must be open to your keys or to a credential helper.",
    ),
    "script-environment": Rule(
        _ERROR,
        "uv could not make the environment that a script's PEP 723 block asks for, is not "
        "installed, or is too old. The script is not run: the metric fails. The message says what "
        "uv said.",
    ),
    "script-sandbox": Rule(
        _ERROR,
        "`--sandbox require` was given, and this system has no sandbox for scripts. The script is "
        "not run: the metric fails. With `--sandbox auto` scripts run without what is missing.",
    ),
    "script-not-confined": Rule(
        _ERROR,
        "A script is named by a job, or by a registry that only the job names: it is data from "
        "elsewhere. Such a script runs where at least one layer of the sandbox stands whole, with "
        "its filter of system calls, and none does: on macOS, in some containers, with "
        "`--sandbox off`. It is not run: the metric fails. With `--registry FILE` the registry is "
        "your own word, and its scripts run as `--sandbox` says.",
    ),
    "job-script-not-run": Rule(
        _ERROR,
        "Only the configuration of a job names this script, and a job is data from elsewhere. The "
        "script is not run: the metric fails, the others still run, and the exit code is 1. "
        "`--job-scripts` runs such scripts, confined; they lie in the job's folder or the current "
        "directory, unless `--allow-outside` is given.",
    ),
    "metrics-differ": Rule(
        _ERROR,
        "Of sources that are pooled those metrics run that each of them would run alone, by its "
        "registry, its configuration or the default, and this one is not in all of them with the "
        "same kwargs and the same script. Where several folders above a job have a registry of the "
        "path that it names, the same holds of these. "
        "Equal scripts of different folders are the same only where nothing else lies in "
        "these that they could read. A source that brings no metrics (tasks of a folder, trials in "
        "a file, a job whose registry is not there) means `mean`, Harbor's default. What a metric "
        "of that name is worth over all their trials would be as one of the jobs says. The metric "
        "fails, those that all sources have still run, and the exit code is 1. `--registry "
        "FILE`, or `--dataset NAME@VERSION`, says whose metrics run, and `--metric` runs one for "
        "all; jobs that are computed one by one run their own.",
    ),
    "script-failed": Rule(
        _ERROR,
        "A script ended with an error, took too long, wrote no answer, or answered something else "
        "than a flat object of finite numbers. The metric fails, the others still run, and the "
        "exit code is 1. `harbor-metrics script check FILE` tries a script.",
    ),
    "script-not-repeatable": Rule(
        _WARNING,
        "With `--verify-repeat` a script ran twice over the same trials and gave other numbers. "
        "The first count. Seed what is random, and sort what has no order of its own.",
    ),
    "script-folder-left": Rule(
        _WARNING,
        "The temporary folder of a script could not be removed within five minutes, and stays: its "
        "disk does not answer, or who should remove it was stopped. What was computed holds. "
        "Remove the folder, or choose another disk (`TMPDIR`).",
    ),
    "sandbox-missing": Rule(
        _NOTE,
        "Scripts ran without a part of the sandbox, which this system lacks; the result says which "
        "parts each had. `--sandbox require` refuses to run them so.",
    ),
}

# The one of them that `validate` finds, of a folder and of no document.
OF_FOLDERS = ("ignored-registry", "unread-index")
RULES = {**OF_DOCUMENTS, **OF_RUNS}
