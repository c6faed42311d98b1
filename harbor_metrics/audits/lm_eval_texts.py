"""lm-eval's scores of texts and their errors, by the metrics here."""

from __future__ import annotations

from ..catalogue.names import find_metric, meaning
from ..contract.spec import MetricSpec
from ..errors import MetricFailure
from ..readers.lm_eval import layout
from ..trials.table import Table
from ..trials.trial import GroupKey
from .lm_eval_samples import Samples
from .row import Answer, Known, Unknown
from .tables import measured

# lm-eval draws no more resamples of scores of texts, however many are asked for.
_FEW = 100


class Texts:
    """The scores of the texts of a run; metrics of the same texts are computed once."""

    def __init__(self, samples: Samples) -> None:
        self._samples = samples
        self._known: dict[tuple[object, ...], Answer] = {}

    def score(self, name: str, aggregation: str, group: GroupKey, draws: int | None) -> Answer:
        """The score of a metric, or where `draws` are given its error."""
        texts = {kind: layout.part(name, kind) for kind in (layout.REFERENCE, layout.PREDICTION)}
        if texts[layout.REFERENCE] not in self._samples.texts(group):
            texts = {}
        key = group, aggregation, draws, *texts.values()
        if key not in self._known:
            spec = meaning(f"lm-eval/{aggregation}", texts)
            assert spec is not None  # an alias of ours
            table = self._samples.table(group)
            self._known[key] = _score(spec, table) if draws is None else _error(spec, table, draws)
        return self._known[key]


def _score(spec: MetricSpec, table: Table) -> Answer:
    try:
        measurement = measured(spec, table)
    except MetricFailure as error:
        return Unknown(str(error))
    ((name, value),) = measurement.values.items()
    return Known(value, measurement.reasons.get(name, ""))


def _error(spec: MetricSpec, table: Table, draws: int) -> Answer:
    if draws < 1:
        return Unknown("the log does not say how many resamples were drawn")
    common = {k: v for k, v in spec.kwargs.items() if k in find_metric(spec.type).common}
    inner = {k: v for k, v in spec.kwargs.items() if k not in common}
    kwargs = {
        **common,
        "metric": {"type": spec.type, "kwargs": inner},
        "method": "lm-eval",
        "samples": min(draws, _FEW),
    }
    return _score(MetricSpec(type="bootstrap-stderr", kwargs=kwargs), table)
