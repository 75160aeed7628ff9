"""One call of the command line: what was asked for globally, the settings it leads to, and the memory it opens."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import InputError, SettingsError
from amem.interfaces.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    import typer

    from amem.memory import AsyncMemory
    from amem.rooms import Rooms
    from amem.settings import Settings

T = TypeVar("T")

CONFIG = Path("amem.toml")
DIRECTORY = Path("notes")


@dataclass(frozen=True)
class Call:
    """The global options of one run."""

    directory: Path | None = None
    """As given by option; None means AMEM_DIR or `./notes`."""
    home: Path = DIRECTORY
    """The directory to use where nothing was given by option."""
    box: str = "default"
    config: Path | None = None
    given: Mapping[str, Any] = field(default_factory=dict)
    """Settings given by option."""
    terminal: Terminal = field(default_factory=Terminal)

    @property
    def path(self) -> Path:
        """The memory's directory."""
        return self.directory or self.home

    def settings(self) -> Settings:
        """Return options over environment over `amem.toml` over defaults.

        Raises:
            SettingsError: a key is unknown, a value is bad, or the file cannot be read.
        """
        from amem.settings import Settings

        return Settings.load(toml=_config(self.config), **self.given)

    def run(self, work: Callable[[AsyncMemory], Awaitable[T]], *, create: bool = False) -> T:
        """Open the memory, do the work in its box, and close it.

        Args:
            work: gets the memory.
            create: make the memory where there is none; without it, that is an error.
        """

        async def within(rooms: Rooms) -> T:
            from amem.intake import box_name
            from amem.memory import AsyncMemory

            return await work(AsyncMemory(rooms, box_name(self.box), owner=False))

        return self.run_rooms(within, create=create)

    def run_rooms(self, work: Callable[[Rooms], Awaitable[T]], *, create: bool = False, rebind: bool = False) -> T:
        """Open the rooms of the memory, do the work, and close them; `rebind` accepts another embedding."""
        from amem.opening import open_rooms

        settings = self.settings()
        if not create:
            _must_exist(self.path, settings)
        return finish(lambda: open_rooms(self.path, settings, rebind=rebind), work)


def finish(opened: Callable[[], Rooms], work: Callable[[Rooms], Awaitable[T]]) -> T:
    """Open, work and close in one event loop; stopping it from the keyboard closes properly as well."""
    import asyncio

    async def whole() -> T:
        from amem.memory import AsyncMemory

        rooms = opened()
        async with AsyncMemory(rooms):
            return await work(rooms)

    return asyncio.run(whole())


def call_of(context: typer.Context) -> Call:
    """Return what the global options said."""
    call = context.obj
    assert isinstance(call, Call)
    return call


def _config(given: Path | None) -> Path | None:
    """Find the settings file, and check that it can be read."""
    import tomllib

    path = given or CONFIG
    if given is None and not path.is_file():
        return None
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path} cannot be read as TOML: {error}") from error
    return path


def _must_exist(path: Path, settings: Settings) -> None:
    from amem.opening import LEDGER_FILE

    if settings.database_url is None and not (path / LEDGER_FILE).is_file():
        raise InputError(
            f"there is no memory in {path}. `amem add` and `amem import` make one; "
            "--dir or AMEM_DIR says where another is."
        )


def settings_from(pairs: list[str], **named: str | float | None) -> dict[str, Any]:
    """Return the settings given by option: `--set name=value` under the named ones.

    Raises:
        InputError: a pair has no `=`, or holds the key, which other users of the machine could read.
    """
    given: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f"--set takes name=value, not {pair!r}")
        if name == "api_key":
            raise InputError("a command line can be read by others; give the key as AMEM_API_KEY")
        given[name] = value
    return given | {name: value for name, value in named.items() if value is not None}
