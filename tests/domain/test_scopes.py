import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.domain.scopes import (
    GrantRule,
    Scope,
    ScopeKind,
    Verb,
    default_grants,
    matches,
    may,
    narrowest,
    parse_grant,
    parse_pattern,
    parse_scope,
    readable_patterns,
    why,
)

KEYED = [kind for kind in ScopeKind if kind not in (ScopeKind.SHARED, ScopeKind.GLOBAL)]
scopes = st.one_of(
    st.builds(Scope, st.sampled_from(KEYED), st.from_regex(r"[a-z0-9][a-z0-9._-]{0,20}", fullmatch=True)),
    st.sampled_from([Scope(ScopeKind.SHARED), Scope(ScopeKind.GLOBAL)]),
)
patterns = st.one_of(st.just("*"), st.sampled_from(KEYED).map(lambda k: f"{k}:*"), scopes.map(str))
rules = st.lists(st.builds(GrantRule, patterns, st.frozensets(st.sampled_from(Verb))), max_size=5)


@given(scopes)
def test_parse_scope__any_scope__is_read_back(scope: Scope):
    assert parse_scope(str(scope)) == scope


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("projct:alpha", "project:KEY"),
        ("", "unknown scope"),
        ("project", "needs a key"),
        ("project:", "needs a key"),
        ("shared:x", "has no key"),
        ("global:", "has no key"),
        ("project:*", "key of a scope"),
        ("project:a b", "key of a scope"),
        ("project:a\nb", "key of a scope"),
        ("project:" + "x" * 129, "at most 128"),
    ],
)
def test_parse_scope__malformed__says_what_was_expected(text: str, said: str):
    with pytest.raises(ValueError, match=said):
        parse_scope(text)


def test_may__agent_without_grants__has_its_own_and_reads_the_wide_scopes():
    own_task = parse_scope("task:t1")

    def can(verb: Verb, scope: str) -> bool:
        return may(verb, parse_scope(scope), agent_role="support", rules=(), owned={own_task})

    assert can(Verb.WRITE, "agent:support") and can(Verb.PROPOSE, "agent:support")
    assert can(Verb.READ, "task:t1") and can(Verb.WRITE, "task:t1")
    assert can(Verb.READ, "shared") and can(Verb.READ, "global")
    assert not can(Verb.WRITE, "shared") and not can(Verb.WRITE, "global")
    assert not can(Verb.READ, "task:t2")
    assert not can(Verb.READ, "agent:billing")
    assert not can(Verb.READ, "project:alpha")


def test_may__orchestrator__writes_shared_and_global():
    for scope in ("shared", "global"):
        assert may(Verb.WRITE, parse_scope(scope), agent_role="orchestrator", rules=())


def test_may__owned_as_a_test__is_asked_only_for_sessions_and_tasks():
    asked: list[Scope] = []

    def owned(scope: Scope) -> bool:
        asked.append(scope)
        return True

    assert may(Verb.READ, parse_scope("session:s1"), agent_role="a", rules=(), owned=owned)
    assert not may(Verb.READ, parse_scope("project:x"), agent_role="a", rules=(), owned=owned)
    assert asked == [parse_scope("session:s1")]


@given(scopes, rules)
def test_readable_patterns__any_grants__cover_exactly_what_may_be_read(scope: Scope, held: list[GrantRule]):
    owned = {parse_scope("session:s1")}
    found = readable_patterns("helper", held, owned)
    assert found.covers(scope) == may(Verb.READ, scope, agent_role="helper", rules=held, owned=owned)


def test_matches__wildcard_of_another_kind__does_not_match():
    alpha = parse_scope("project:alpha")
    assert matches("project:*", alpha) and matches("project:alpha", alpha) and matches("*", alpha)
    assert (
        not matches("task:*", alpha) and not matches("project:alph", alpha) and not matches("project:", alpha)
    )


def test_why__several_rules_allow__names_the_first():
    scope = parse_scope("project:alpha")
    held = [GrantRule("project:*", frozenset({Verb.READ})), GrantRule("*", frozenset({Verb.READ}))]
    assert why(Verb.READ, scope, agent_role="a", rules=held) == "grant on project:*"
    assert why(Verb.WRITE, scope, agent_role="a", rules=held) is None


def test_narrowest__task_session_agent__in_this_order():
    assert str(narrowest("s1", "t1", "a")) == "task:t1"
    assert str(narrowest("s1", None, "a")) == "session:s1"
    assert str(narrowest(None, None, "a")) == "agent:a"


def test_parse_grant__letters__give_verbs():
    assert parse_grant("project:alpha=rw") == GrantRule("project:alpha", frozenset({Verb.READ, Verb.WRITE}))
    assert parse_grant("user:a=b=r").pattern == "user:a=b"
    for text in ("project:alpha", "project:alpha=", "project:alpha=x", "nothing:*=r", "shared:*=r"):
        with pytest.raises(ValueError, match=r"grant|scope"):
            parse_grant(text)


@given(patterns)
def test_parse_pattern__valid_pattern__is_unchanged(pattern: str):
    assert parse_pattern(pattern) == pattern


def test_default_grants__every_role__owns_its_agent_scope_only():
    for rule in default_grants("support"):
        assert Verb.WRITE not in rule.verbs or rule.pattern == "agent:support"
