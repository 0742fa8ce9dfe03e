import pytest

from argfit.cli.say import say, shown


def test_what_is_said_goes_to_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    say("one line")
    assert capsys.readouterr() == ("", "one line\n")


def test_where_stderr_is_closed_nothing_is_said_and_above_all_not_on_stdout(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr", None)
    say("one line")
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("tool.json", "tool.json"),
        ("a b", "a b"),
        ("\u00e9", "\u00e9"),
        ("", "''"),
        ("a\nb", r"'a\nb'"),
        ("\0", r"'\x00'"),
    ],
)
def test_a_name_is_shown_so_that_it_stays_in_its_line(name: str, written: str) -> None:
    assert shown(name) == written
