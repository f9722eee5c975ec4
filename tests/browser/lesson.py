"""A lab as it is walked through, whichever it is: run, predicted, answered."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from kiplab.classroom.exercise_table import exercise
from tests.browser.lab_page import LabPage
from tests.labs.running import LAB_ANSWERS, answered, cells, exercises, ticket

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

ERRORS = '[data-mime-type="application/vnd.jupyter.error"]'


class Lesson(LabPage):
    """`name`: that of its notebook."""

    def __init__(self, page: Page, artefacts: Path, name: str) -> None:
        super().__init__(page, artefacts, name[:2])
        self.name = name

    def verdict(self, id: str = "lab") -> Locator:
        """What a Lab of it says about where it stands."""
        return self.cell(id).locator(".kiplab-verdict")

    def all_controls(self, id: str = "lab") -> None:
        """Press for more in a Lab until there is everything."""
        more = self.cell(id).get_by_role("button", name="More to do with it", exact=True)
        folds = self.cell(id).locator(".kiplab-fold")
        while not folds.count():
            more.click()
            self.python("pass")

    def expect_all_run(self) -> None:
        """No cell has raised, and no exercise is answered."""
        self.wait_until_done()
        assert self.page.locator(ERRORS).count() == 0
        for id in exercises(self.name):
            expect(self.cell(id)).to_contain_text("Not answered yet: give")

    def lock(self, id: str, choice: str) -> None:
        """Make a prediction."""
        question = self.cell(id)
        question.get_by_label(choice).check()
        question.get_by_role("button", name="Lock in my prediction").click()
        expect(question).to_contain_text(f"Locked in: “{choice}”")

    def lock_between(self) -> None:
        """Make the predictions between the first one and the exit ticket."""
        for id, source in cells(self.name, "code").items():
            asked = re.findall(r'kiplab\.predict\("([^"]+)"', source)
            if (
                asked
                and id not in ("lock", "exit-lock")
                and self.cell(id).locator("input:enabled").count()
            ):
                self.lock(id, exercise(asked[0]).comes_true)

    def answer_exercises(self) -> None:
        """Give the right answers in their cells: each is worth all its points."""
        source = cells(self.name, "code")
        for id in exercises(self.name):
            self.rewrite(id, answered(source[id]))
            self.run(id)
            expect(self.cell(id)).to_contain_text("Kept as attempt 1")
            shown = self.cell(id).locator(".jp-OutputArea").inner_text().strip()
            points, of = shown.split(maxsplit=1)[0].split(":")[0].rstrip(".").split("/")
            assert points == of, shown

    def compare_exit_ticket(self) -> None:
        """Lock it in: what the run found is then said below."""
        _, choice = ticket(self.name)
        self.lock("exit-lock", choice)
        expect(self.cell("exit-compare")).to_contain_text(LAB_ANSWERS[self.name].outcome)
