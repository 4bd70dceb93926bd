"""A person without a mouse: keys alone, and after each a look at whether one sees where one is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import Locator, Page, expect

from tests.browser import Tab

MOST_TABS = 70
# What has the focus, whether something is drawn around it, and whether any of it can be seen (WCAG 2.4.7, 2.4.11).
LOOK = """async () => {
  const at = document.activeElement;
  const drawn = e => { const s = getComputedStyle(e);
    return s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1; };
  const open = () => [[.5, .5], [.1, .5], [.9, .5], [.5, .1], [.5, .9]].some(([x, y]) => {
    const box = at.getBoundingClientRect();
    const top = document.elementFromPoint(box.left + box.width * x, box.top + box.height * y);
    return top && (at.contains(top) || at.labels?.length && [...at.labels].some(l => l.contains(top)));
  });
  for (let frame = 0; frame < 3 && !open(); frame++) await new Promise(requestAnimationFrame);
  return {
    what: at.tagName.toLowerCase() + (at.id ? '#' + at.id : '') + ' ' + at.textContent.trim().slice(0, 30),
    nowhere: at === document.body,
    whole: at.id === 'main',
    drawn: drawn(at) || drawn(at.closest('label') ?? at),
    uncovered: open(),
  };
}"""


@dataclass(slots=True)
class Keys:
    """The keyboard of a page, and where its focus could not be seen."""

    tab: Tab
    unseen: list[str] = field(default_factory=list)

    @property
    def page(self) -> Page:
        return self.tab.page

    def go(self, path: str) -> None:
        """Open an address, as a bookmark would."""
        self.tab.go(path)

    def press(self, *names: str) -> None:
        """Press keys one after another."""
        for name in names:
            self.page.keyboard.press(name)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.page.keyboard.type(text)

    def look(self) -> None:
        """Note where the focus is, if that cannot be seen; `main` is the page itself and needs no frame."""
        found: dict[str, Any] = self.page.evaluate(LOOK)
        if not (found["nowhere"] or found["whole"]) and not (found["drawn"] and found["uncovered"]):
            self.unseen.append(f"{self.page.url.rsplit('/t/')[-1]}: {found}")

    def tab_to(self, goal: Locator, *, back: bool = False) -> None:
        """Walk there with Tab, looking at each step."""
        expect(goal).to_have_count(1)
        for _step in range(MOST_TABS):
            self.press("Shift+Tab" if back else "Tab")
            self.look()
            if goal.evaluate("e => e === document.activeElement"):
                return
        raise AssertionError(f"no way by Tab to {goal}")

    def use(self, goal: Locator, key: str = "Enter", *, back: bool = False) -> None:
        """Walk there and press it."""
        self.tab_to(goal, back=back)
        self.press(key)

    def skip(self) -> None:
        """Past the navigation, by the link that is there for it."""
        self.use(self.page.locator("a.skip"))
        expect(self.page.locator("#main")).to_be_focused()

    def landed(self, goal: Locator) -> None:
        """After a part of the page was exchanged: the focus is there, and one sees it."""
        expect(goal).to_be_focused()
        self.look()
