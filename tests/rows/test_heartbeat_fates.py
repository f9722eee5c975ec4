"""What became of KIP-343's ideas, held to the ledger's rows."""

import kiplab
from tests.ledger.clauses import HERE, Becomes, seed_of

CLAUSES = {clause.id: clause for clause in seed_of(HERE / "kip-343.toml").clauses}


def test_what_nobody_built_is_never_built_in_the_ledger_too() -> None:
    never = {row.clause for row in kiplab.heartbeat_fates().rows if row.by is None}
    assert {CLAUSES[id].kafka for id in never} == {Becomes.NEVER}


def test_what_a_kip_brought_is_not_called_never_built() -> None:
    brought = {row.clause for row in kiplab.heartbeat_fates().rows if row.by is not None}
    assert Becomes.NEVER not in {CLAUSES[id].kafka for id in brought}


def test_each_idea_has_a_clause_of_its_own() -> None:
    ids = [row.clause for row in kiplab.heartbeat_fates().rows]
    assert len(ids) == len(set(ids))
    assert set(ids) <= set(CLAUSES)


def test_the_text_the_report_and_the_page_have_every_row() -> None:
    fates = kiplab.heartbeat_fates()
    assert len(fates.text().splitlines()) == len(fates.rows) == len(fates.report()["rows"])
    page = fates._repr_html_()
    assert page.count('<th scope="row">') == len(fates.rows)
    assert page.count("never") == sum(row.by is None for row in fates.rows)
