"""A report as numbers: what is written as JSON, and what the pages are made of."""

from __future__ import annotations

from amem.values import Frozen

from ..metrics.refusal import Refusals  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.bootstrap import Estimate  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.comparison import Comparison  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.cost import Cost, Latency  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.items import Summary  # noqa: TID252 - in a wheel, this package has another name


class Late(Frozen):
    """A time limit, and what it would cost."""

    limit: float
    """Seconds."""
    share: Estimate
    """Of the answers, later than that."""
    strict: Estimate
    """The strict accuracy, if late answers were wrong."""


class Lateness(Frozen):
    """How long questions took: storing one turn (the mean), searching and answering."""

    latency: Latency
    limits: tuple[Late, ...]


class Row(Frozen):
    """One system."""

    system: str
    about: str
    """What it is, in words."""
    run: str
    """The hash of its run's configuration."""
    asked: int
    """Questions that it should answer."""
    answered: int
    failed: int
    """Of those answered, how many replies of the reader's model could not be used: they count as wrong."""
    measures: dict[str, Summary]
    untuned: Summary | None
    """The first measure over LoCoMo's reporting conversations; None where no others were asked about."""
    refusals: Refusals | None
    """None where every question has an answer."""
    inverted: Estimate | None
    """`amem_c5_inverted`: what A-Mem reports for adversarial questions, 1 being the worst; in no mean."""
    trapped: Estimate | None
    """Share of the adversarial questions whose wrong answer was given."""
    context_tokens: Estimate | None
    cost: Cost
    search: Latency | None
    answer: Latency | None
    late: Lateness | None
    """Of DialSim only."""
    turns: int
    notes: int
    pending: int
    links: int


class Reference(Frozen):
    """What can be had without a memory."""

    name: str
    measure: str
    summary: Summary


class Sitting(Frozen):
    """When a process worked on a run, with what."""

    started: str
    ended: str | None
    seen: str | None
    """When it was last known to be at work."""
    code: str
    machine: str
    versions: dict[str, str]


class About(Frozen):
    """What was measured with what; no path, and nothing of the data."""

    name: str
    data: str
    data_format: str
    data_hashes: dict[str, str]
    category_names: dict[str, str]
    conversations: tuple[str, ...]
    questions: int
    choice: str
    """Which part of the data was asked, in words."""
    restricted: bool
    reader: str
    compat: str
    budget: int
    tokenizer: str
    embedding: str
    prompts: dict[str, str]
    """What systems write with, by system."""
    models: dict[str, str]
    """Who read and who wrote."""
    metrics: int
    seed: int
    config: tuple[str, ...]
    """The hash of each run's configuration."""
    sittings: tuple[Sitting, ...]
    warnings: tuple[str, ...]


class Judged(Frozen):
    """How far a judge is to be believed."""

    manner: str
    model: str
    prompt: str
    gold: float | None
    shuffled: float | None
    vague: float | None
    unreadable: int
    kappa: float | None
    """Its agreement with the other manner."""


class Report(Frozen):
    """The whole result."""

    about: About
    main: str
    """The first measure."""
    rows: tuple[Row, ...]
    references: tuple[Reference, ...]
    ours: str
    comparisons: dict[str, tuple[Comparison, ...]]
    """Of ours with each other system, by measure."""
    judges: tuple[Judged, ...]
    differences: tuple[str, ...]
    """In what the runs differ, where they were put together all the same."""
    unfinished: tuple[str, ...]
    """What of the runs is not done, system by system."""
    limits: tuple[str, ...]
    """What this does not show."""
