"""Which characters a formula may hold."""

import sys
import unicodedata

import pytest

from agentltl.constraints.language.faults import Fault
from agentltl.constraints.language.lexicon import check_formula_text


def test_every_control_character_but_those_that_lay_out_a_text_is_refused() -> None:
    control = {chr(i) for i in range(sys.maxunicode + 1) if unicodedata.category(chr(i)) == "Cc"}
    assert len(control) == 65
    for char in control - set("\t\n\r"):
        with pytest.raises(Fault, match="control character") as fault:
            check_formula_text(f"a & {char}b")
        assert fault.value.start == 4
    check_formula_text("".join(chr(i) for i in range(sys.maxunicode + 1) if chr(i) not in control) + "\t\n\r")
