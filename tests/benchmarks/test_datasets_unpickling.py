from __future__ import annotations

import pickle
from collections import OrderedDict
from contextlib import suppress
from datetime import date
from pathlib import PurePosixPath

import pytest
from dialsim_support import fixture_parts
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

unpickling = benchmarks_module("datasets.unpickling")

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner) | st.tuples(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.sets(st.text())
    ),
    max_leaves=20,
)


@given(PLAIN, st.integers(0, pickle.HIGHEST_PROTOCOL))
def test_plain_values_come_back_from_a_pickle_of_any_protocol(value, protocol):
    assert unpickling.unpickle(pickle.dumps(value, protocol=protocol), "x") == value


class Calls:
    def __reduce__(self):
        return print, ("called",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("value", [OrderedDict(a=1), date(2001, 1, 1), PurePosixPath("a"), Calls(), {"a": [print]}])
def test_a_pickle_that_names_anything_to_import_is_refused_and_calls_nothing(value, protocol, capsys):
    with pytest.raises(InputError, match=r"^friends\.pickle asks for \S+\.\w+.* It was not read"):
        unpickling.unpickle(pickle.dumps(value, protocol=protocol), "friends.pickle")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "line", [b"cbuiltins\neval\n(S'1'\ntR.", b"cbuiltins\ngetattr\n.", b"cos\nsystem\n.", b"c__main__\nset\n."]
)
def test_no_name_but_that_of_a_set_passes(line):
    with pytest.raises(InputError, match="asks for"):
        unpickling.unpickle(line, "x")


GOOD = pickle.dumps(fixture_parts("friends_oracle_tkg")["friends_oracle_tkg"], protocol=4)


@given(st.integers(0, len(GOOD) - 1), st.binary(max_size=3), st.integers(0, 3))
def test_a_damaged_pickle_is_read_or_is_an_input_error(place, put, cut):
    data = GOOD[:place] + put + GOOD[place + cut :]
    with suppress(InputError):
        unpickling.unpickle(data, "x")
