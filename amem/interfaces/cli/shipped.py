"""What ships beside the code: the benchmarks, and the demo's data; in a wheel, or in a checkout."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import amem

if TYPE_CHECKING:
    from types import ModuleType

_PACKAGE = Path(amem.__file__).resolve().parent
DEMO = _PACKAGE / "_data" / "demo"


def benchmarks_module(name: str) -> ModuleType:
    """Import a module of the benchmarks, such as `datasets.locomo`.

    In a wheel they are `amem._benchmarks`. In a checkout they are the folder `benchmarks` beside `amem`, which is
    loaded under the same name: another `benchmarks` on the path must not be taken for it.
    """
    package = f"{amem.__name__}._benchmarks"
    if package not in sys.modules and not (_PACKAGE / "_benchmarks").is_dir():
        folder = _PACKAGE.parent / "benchmarks"
        spec = spec_from_file_location(package, folder / "__init__.py", submodule_search_locations=[str(folder)])
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[package] = module
        spec.loader.exec_module(module)
    return import_module(f"{package}.{name}")
