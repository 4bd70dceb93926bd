"""Durable or transient: recognises text whose truth ends with the hour, by grammar and shape.

A report of the moment (present state of a run, a count, an activity under way, a turn of the conversation) is
transient. The same words in a rule, a habit or a condition are durable. English, except for the paths.
"""

from __future__ import annotations

import re
from typing import Final

from memory.domain.english import bare, standing

_RUNNER: Final = (
    r"(?:ci|build|builds|run|runs|job|jobs|pipelines?|workflows?|checks?|tests?|test\ suite|suites?|deploys?"
    r"|deployments?|release|migrations?|imports?|exports?|uploads?|downloads?|process|service|server|container"
    r"|pods?|nodes?|instance|worker|queue|branch|cluster|api|site|website|endpoint|database|db|pr|task|ticket)"
)
_RUN_STATE: Final = (
    r"(?:red|green|failing|failed|passing|broken|down|up|offline|online|unreachable|running|pending|stuck|queued"
    r"|blocked|building|deploying|hanging|restarting|in\ progress|under\ way|overloaded|unavailable|\d+\s?%)"
)
_AMID: Final = r"(?:still|now|currently|again|all|also|just|presently|already|at\ the\ moment)"
_GAUGE: Final = (
    r"(?:cpu|ram|memory\ (?:usage|use)|disk\ (?:usage|use|space)|load(?:\ average)?|backlog|battery|progress"
    r"|queue\ (?:depth|length|size)|uptime|open\ (?:tabs|connections))"
)
_WAITING: Final = (
    r"(?:pending|queued|unread|remaining|waiting|outstanding|in\ (?:the\ )?queue|in\ flight|in\ progress"
    r"|online)"
)
_MOMENTARY: Final = (
    r"(?:looking|listening|watching|reading|waiting|going|running|checking|debugging|editing|typing|eating|having"
    r"|heading|investigating|fixing|installing|downloading|uploading|browsing|searching|scrolling|asking|inquiring"
    r"|requesting|analy[sz]ing|reviewing|testing|deploying|compiling|opening|working\ on|celebrating"
    r"|(?:talking|chatting|speaking)\ (?:to|with)\ (?:the\ |an?\ )?(?:assistant|chatbot|bot|agent|ai))"
)
# What one asks an assistant for, and has once it was answered.
_INFORMATION: Final = (
    r"(?:examples?|specifications?|specs|information|info|details|help|advice|ideas?|recommendations?|suggestions?"
    r"|explanations?|links?|lyrics|translations?|lists?|directions|instructions|answers?|tips|summar(?:y|ies))"
)
_USER: Final = r"(?:the\ |this\ |our\ )?(?:user|human|assistant|agent)"

_RULES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (f"transient.{name}", re.compile(pattern, re.IGNORECASE | re.VERBOSE))
    for name, pattern in (
        (
            "run_state",
            rf"""\b{_RUNNER}\b[\ \w\#.:/-]{{0,40}}?\b(?:is|are|'s|keeps)\ (?:{_AMID}\ )*{_RUN_STATE}\b
            |^(?:all\ |the\ |\d+\ (?:of\ \d+\ )?)*(?:unit\ |integration\ )?tests?
            \ (?:passed|pass|failed|fail)\b
            |\b(?:status|state)\ *[:=]\ *{_RUN_STATE}\b""",
        ),
        (
            "count",
            rf"""\b\d[\d,.]*\ +(?:\w+\ ){{0,2}}(?:(?:is|are)\ )?(?:still\ |currently\ )?{_WAITING}\b
            |\b{_GAUGE}\b(?:\ on\ [\w-]+)?\ *(?:is|are|at|=|:)\ *(?:now\ |currently\ )?(?:at\ )?\d
            |\bqueue\ (?:has|holds|contains)\ \d""",
        ),
        (
            "present_moment",
            r"""\b(?:right\ now|at\ the\ moment|just\ now|as\ of\ now|at\ this\ (?:moment|point)
            |this\ (?:morning|afternoon|evening|minute)|tonight|(?:a\ (?:minute|moment)|\d+\ minutes?)\ ago
            |in\ a\ (?:minute|moment))\b|^(?:the\ |an?\ )?upcoming[ ]
            |(?:\b|^)(?-i:[Yy]esterday(?!['’]s\b))\b|\b(?:last\ night|(?:earlier|later)\ today)\b
            |(?:\b|^)(?-i:(?<!USA\ )(?<!Psychology\ )(?:[Tt]oday(?!['’]s\b)|[Tt]omorrow))\b""",
        ),
        (
            "activity",
            rf"""^(?:(?:i\ am|i'm|i’m|we\ are|we're|{_USER}\ is|is|are|currently)\ )?
            (?:(?:currently|now|still)\ )?
            {_MOMENTARY}\b(?!.*\b(?:is|are|was|were|has|helps|makes|takes|requires|needs|costs)\b)
            |^{_USER}\ (?:looks|stares|glances)\ at\ (?:(?:the|an?)\ )?\w+[.!]*$""",
        ),
        (
            "conversation_turn",
            rf"""^(?:{_USER}\ |i\ )?(?:just\ )?(?:asked|asks|requested|inquired|wondered|mentioned
            |greeted|thanked|(?:wants?|wanted|would\ like)\ to\ know|is\ (?:asking|inquiring|curious|wondering
            |requesting)|confused|misunderstood|misread|mistook|apologi[sz]ed
            |said\ (?:hi|hello|thanks|thank|bye|goodbye|ok|yes|no))\b
            (?!\ (?:to\ (?:be|stop|always|have|use|get)|that)\b)
            |^need\ (?:(?:some|more|the|any|a\ few|a)\ )*{_INFORMATION}\b""",
        ),
        (
            "undecided",
            rf"""^(?:(?:i|we|{_USER})\ )?(?:did\ not|didn['’]t|ha(?:s|ve)\ not|ha(?:s|ve)n['’]t)
            \ (?:yet\ )?(?:decided?|cho(?:o)?sen?|pick(?:ed)?|finish(?:ed)?|confirm(?:ed)?|settled?|book(?:ed)?
            |answer(?:ed)?|repl(?:y|ied)|respond(?:ed)?)\b""",
        ),
        (
            "next_step",
            r"""^(?:todo|wip|fixme|next\ steps?)\b\ *[:,-]|^(?:let\ me|let's|let’s|next,?\ i|now\ i
            |now,?\ let)\b
            |^(?:i'll|i’ll|i\ will|i\ am\ going\ to|i'm\ going\ to)\ (?:now|next|check|look|start|try|run|fix
            |update|continue|proceed|go\ ahead|take\ a\ look|open|read|write|search)\b""",
        ),
        (
            "status_note",
            r"""^(?:shipped|merged|deployed|pushed|committed|released|landed|reverted|rebased)\b
            .*(?:\#\d+|\b(?:pr|mr|commit|branch|main|master|staging|prod|production)\b|\b[0-9a-f]{7,40}\b)
            |^(?:done|completed|finished|fixed)\ *[:!✓✅.]""",
        ),
    )
)

# A place below a folder for temporary files; the name of the folder alone is not one.
_TEMPORARY_PATH = re.compile(
    r"""(?<![\w/.])(?:/private)?(?:/tmp|/var/tmp|/var/folders|/dev/shm|/run/user/\d+)/[\w.+@~-]+
    |[A-Z]:\\(?:[^\\\s]+\\)*Te?mp\\[^\\\s]+|%TE?MP%\\[^\\\s]+|\$(?:TMPDIR|\{TMPDIR\})/[\w.-]+
    |(?<![\w/.])/proc/\d+""",
    re.IGNORECASE | re.VERBOSE,
)

# Of these only an episode can speak: what happened keeps its date in the row.
_OK_IN_EPISODES: Final = frozenset(
    {
        "transient.present_moment",
        "transient.activity",
        "transient.conversation_turn",
        "transient.undecided",
        "transient.next_step",
        "transient.status_note",
    }
)


def transient(text: str, *, episode: bool = False) -> str | None:
    """The rule by which a text is transient, else None.

    `episode`: the text tells what happened at a time that the row records, so that deictic words stay true.
    """
    line = bare(text)
    if standing(line):
        return None
    for rule in _matching(line):
        if not (episode and rule in _OK_IN_EPISODES):
            return rule
    return None


def _matching(line: str) -> list[str]:
    found = [rule for rule, pattern in _RULES if pattern.search(line)]
    if _TEMPORARY_PATH.search(line):
        found.insert(0, "transient.temporary_path")
    return found
