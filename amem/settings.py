"""Settings: arguments > AMEM_* environment > amem.toml (command line only) > defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict, TomlConfigSettingsSource

from amem.errors import SettingsError

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic_settings import PydanticBaseSettingsSource

Strategy = Literal["paper", "fused", "atomic", "raw"]
LayerName = Literal["working", "buffer", "facts", "notes", "episodes"]


class Settings(BaseSettings):
    """All that can be set; every field may also be given as the environment variable AMEM_<NAME>."""

    model_config = SettingsConfigDict(env_prefix="AMEM_", frozen=True, extra="forbid")

    llm: str | None = None
    """A litellm model name; None stores notes without asking any model (strategy `raw`)."""
    api_base: str | None = None
    """Address of an OpenAI-compatible server, for local models."""
    api_key: str | None = Field(default=None, repr=False)
    """Only where the provider's own environment variable is not used."""
    strategy: Strategy = "fused"
    window: int = Field(default=8, ge=1, le=64)
    """Turns built by one call in `fused`."""
    neighbours: int = Field(default=5, ge=1, le=50)
    """Neighbours looked up for each new note (k of the paper)."""
    max_neighbours: int = Field(default=12, ge=1, le=100)
    """Neighbours shown to one call, over all notes of its window."""
    similarity_floor: float = Field(default=0.3, ge=-1, le=1)
    """A neighbour below this cosine is not shown, and no note is given a context below it (not in `paper`)."""
    max_keywords: int = Field(default=12, ge=1)
    max_tags: int = Field(default=12, ge=1)
    max_links: int = Field(default=8, ge=1)
    """Links one new note may receive from one call."""

    quarantine: Literal["off", "flagged", "untrusted"] = "flagged"
    """Whose links and changes wait for `review`: of no note, of notes below trust `user` that read like an instruction
    to a model, or of all notes of trust `tool` and `untrusted` besides."""

    temperature: float = Field(default=0.0, ge=0)
    max_tokens: int = Field(default=2048, ge=64)
    """Upper limit of one reply; a small window gets less."""
    timeout: float = Field(default=60.0, gt=0)
    """Seconds one attempt may take."""
    deadline: float = Field(default=180.0, gt=0)
    """Seconds one call may take with all its retries."""
    retries: int = Field(default=3, ge=0)
    """Attempts after the first, on transport errors only."""
    concurrency: int = Field(default=4, ge=1)
    """Calls in flight at once."""
    requests_per_minute: int | None = Field(default=None, ge=1)
    budget_calls: int | None = Field(default=None, ge=0)
    budget_tokens: int | None = Field(default=None, ge=0)
    budget_usd: float | None = Field(default=None, ge=0)

    retention_days: int | None = Field(default=None, ge=1)
    """What was learned longer ago is erased by `forget(expired=True)` and `amem forget --expired`; None keeps all."""

    upkeep_days: float = Field(default=30.0, gt=0)
    """Days after which a note that nobody recalls has lost 63 % of its importance (docs/upkeep.md)."""
    upkeep_weight: float = Field(default=0.3, ge=0)
    """What being recalled adds: so much times ln(1 + how often)."""
    upkeep_archive_below: float = Field(default=0.05, ge=0, le=1)
    """`upkeep` archives a note whose importance is lower; 0 archives none. The default: 90 days, and never recalled."""
    upkeep_likeness: float = Field(default=0.85, ge=-1, le=1)
    """Cosine from which notes with the same cues may be summarised together."""
    upkeep_span_days: float = Field(default=7.0, ge=0)
    """Days that may lie between the first and the last of notes that become one."""
    upkeep_together: int = Field(default=8, ge=2, le=32)
    """Notes that become one at most."""

    embedding: str = "minilm"
    """`minilm` (shipped, offline), `hash` (tests), `folder:<path>`, or `litellm:<model>`."""
    embedding_api_base: str | None = None
    tokenizer: str = "wordpiece"
    """What token budgets are counted with: `wordpiece` (shipped), or `file:<tokenizer.json>`."""

    fact_policy: Literal["newest", "keep_both", "ask"] = "newest"
    """What a fact does to another one of the same subject and predicate: ends it, leaves it, or waits for `review`."""
    session_buffer: int = Field(default=12, ge=1, le=200)
    """Turns of a session that stay verbatim before the oldest are built into notes."""
    session_shares: dict[LayerName, Annotated[float, Field(ge=0, le=1)]] = {}
    """Shares of a context's tokens that layers are given first, of those that shall differ from the default
    (docs/session.md); what one does not need goes to the others."""
    session_gate: Literal["off", "rules", "llm"] = "rules"
    """Whether rules keep turns of a session from being built: small talk, repeats, echoes. They stay, as raw notes.

    With `llm`, a model is asked about those that rules leave undecided: one small call for a window at most. Always off
    in `paper`; in `atomic` no such call is made, since distilling decides what a turn is worth.
    """

    prompts_version: str | None = None
    prompts_overrides: str | None = None
    """A folder whose templates shadow the shipped ones, one by one."""

    database_url: str | None = None
    """SQLAlchemy URL of the ledger; default: `ledger.db` in the memory's directory."""
    chroma: bool = True
    """False searches exactly over the ledger's vectors and never opens Chroma."""
    chroma_url: str | None = None
    """A Chroma server, instead of the embedded one."""
    max_collections: int = Field(default=64, ge=0, le=150)
    """Boxes that get a Chroma collection, first come; the others are searched exactly."""
    exact_up_to: int = Field(default=50_000, ge=0)
    """A box with at most so many vectors is searched exactly, which is faster there than Chroma, and never wrong."""
    index_batch: int = Field(default=256, ge=1, le=5000)
    """Notes that wait in the outbox before they go to Chroma together."""

    recall_links: int = Field(default=3, ge=0, le=50)
    """Notes at most that links bring into one `recall`; 0 follows none."""
    recall_links_share: float = Field(default=0.1, ge=0, le=1)
    """Share of `recall`'s token budget that they may take."""
    recall_recency: float = Field(default=0.0, ge=0)
    """What a note of this moment gains in score over one of long ago. Conversations of years ago want none."""
    recall_half_life_days: float = Field(default=30.0, gt=0)
    """After so many days half of that is left."""
    recall_rewrite: bool = False
    """Let the language model split each question into simpler ones before searching: one call."""
    recall_rerank: str = Field(default="none", pattern=r"^(none|llm|litellm:.+)$")
    """`none`, `llm` (one call), or `litellm:<rerank model>`: who puts the best candidates in their final order."""
    recall_rerank_api_base: str | None = None
    """Address of a server that reranks, for `litellm:`; its key stands in the provider's own variable."""
    recall_rerank_top: int = Field(default=20, ge=2, le=100)
    """Candidates that are reranked."""
    reconstruct: bool = False
    """Let cues bring back notes besides similarity (docs/recall.md): fused, it adds next to nothing on LoCoMo."""
    reconstruct_weight: float = Field(default=1.0, ge=0)
    """What full activation adds to a note's score."""
    reconstruct_threshold: float = Field(default=0.4, ge=0, le=1)
    """Theta: activation below this share of the maximum goes no further. On LoCoMo .2 finds a little more."""
    reconstruct_decay: float = Field(default=0.001, ge=0)
    """Lambda, a day: how fast an edge fades with the time between the note and what the question is about.

    No published value is known to us. On LoCoMo 0 finds most where the arm runs alone; fused it makes no difference.
    """
    reconstruct_levels: int = Field(default=3, ge=1, le=3)
    """Edges that activation follows: from a cue to notes, on to their cues and tags, and from there to notes."""
    reconstruct_calls: int = Field(default=0, ge=0)
    """Calls at most, one a box, in which the language model chooses which tags to open; else all active ones are."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic-settings' signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments, then the environment, then a TOML file where `load` named one."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)

    @classmethod
    def load(cls, *, toml: Path | None = None, **values: Any) -> Settings:
        """Build the settings; `toml` is a file to read beneath the environment.

        Raises:
            SettingsError: an unknown key or a bad value, with its name and what was expected.
        """
        source = cls if toml is None else _reading(toml)
        try:
            return source(**{k: v for k, v in values.items() if v is not None})
        except ValidationError as error:
            lines = [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
            known = ", ".join(sorted(cls.model_fields))
            msg = f"settings refused: {'; '.join(lines)}. Known settings: {known}."
            raise SettingsError(msg) from error


def _reading(toml: Path) -> type[Settings]:
    class FromFile(Settings):
        model_config = SettingsConfigDict(toml_file=toml)

    return FromFile
