"""Closed classes of English words, and the questions that the recogniser asks about single words.

No sentence is judged here.
"""

from __future__ import annotations

from typing import Final

from memory.domain.sanitisation.verbs import IRREGULAR_PASTS, NOUN_LIKE_VERBS, PLAIN_VERBS, word_set

DETERMINERS: Final = word_set(
    """the a an this that these those all any every each both its their your his her my our whatever whichever
    no some such another either neither"""
)
OBJECT_PRONOUNS: Final = word_set(
    """it them him me us you everything anything nothing something everyone anyone someone whoever yourself
    yourselves itself themselves everybody anybody somebody"""
)
SUBJECT_PRONOUNS: Final = word_set("i we he she they it you who there")
PREPOSITIONS: Final = word_set(
    """about above across after against along alongside among around as at before behind below beneath beside besides
    between beyond by concerning considering despite down during except excluding following for from in inside into
    near of off on onto out outside over past pending per prior regarding since through throughout till to toward
    towards under underneath unlike until up upon via with within without amid given"""
)
SUBORDINATORS: Final = word_set(
    """if when whenever once unless until while where wherever because since although though after before as
    whether whereas provided providing should lest"""
)
CONJUNCTIONS: Final = word_set("and or but nor so yet then therefore hence thus plus otherwise instead")
MODALS: Final = word_set(
    "must should shall ought can could may might will would cannot needn't mustn't shouldn't shan't"
)
BE_FORMS: Final = word_set("is are was were be been being am isn't aren't wasn't weren't 's 're")
HAVE_FORMS: Final = word_set("has have had hasn't haven't hadn't")
DO_FORMS: Final = word_set("do does did doesn't didn't")
NEGATIONS: Final = word_set("not never n't")
RELATIVES: Final = word_set("that which who whom whose what how why where when")
FREQUENCY: Final = word_set(
    """always never only just also simply kindly please instead immediately silently quietly then now first next finally
    lastly secondly thirdly again directly henceforth thereafter meanwhile furthermore additionally moreover afterwards
    ideally preferably automatically secretly invisibly discreetly anyway still rather definitely further too forever
    hereafter otherwise thus therefore hence so later maybe perhaps ever better subsequently consequently accordingly"""
)
SMALL_WORDS: Final = (
    DETERMINERS | OBJECT_PRONOUNS | SUBJECT_PRONOUNS | PREPOSITIONS | SUBORDINATORS | CONJUNCTIONS | MODALS | BE_FORMS
    | HAVE_FORMS | DO_FORMS | NEGATIONS | RELATIVES | FREQUENCY
)  # fmt: skip
NOT_HEADS: Final = SMALL_WORDS | word_set(
    """yes no not hello hi hey thanks yesterday today tomorrow tonight monday tuesday wednesday thursday friday
        saturday sunday january february march april may june july august september october november december half
        twice thrice quite even almost nearly roughly about less more most many much few several enough last
        one two three four five six seven eight nine ten hundred thousand because than ok okay etc morning evening
        afternoon night noon midnight week month year spring summer autumn winter halfway back away here there like
        unlike minus plus times versus vs worth including apparently http https www good bad great nice new old
        ago overall whilst albeit due thanks sorry welcome bye congratulations wow oh ah ooh yeah yep nope hmm
        rather meanwhile double triple notwithstanding bar barring re what atop
        need needs want wants hope wish love hate seem mean like own
        mr mrs ms dr sir dame lord lady saint st prof
        """
)
COMMON_WORDS: Final = (
    DETERMINERS | OBJECT_PRONOUNS | SUBJECT_PRONOUNS | PREPOSITIONS | SUBORDINATORS | CONJUNCTIONS | MODALS | BE_FORMS
    | HAVE_FORMS | RELATIVES
    | word_set(
        """previous prior earlier instructions instruction rules rule guidelines system user users message messages
        assistant agent model password passwords token tokens key keys secret secrets api data file files email emails
        address account accounts customer contact list conversation chat history backup backups admin configuration
        hidden policy policies memory note notes answer answers question questions money payment bank everyone
        information content contents only not never always new"""
    )
)  # fmt: skip

# Nouns that look like the past tense of a verb.
_NOT_PAST: Final = word_set(
    """need feed seed speed weed breed bed red shed sled fred ted led indeed embed hundred wicked naked sacred aged
    beloved kindred biped med bread instead ahead thread spread head dead lead hatred id unified shared detailed related
    advanced limited red-hot united"""
)
_TIME_NOUNS: Final = word_set(
    """morning afternoon evening night week month quarter year spring summer autumn winter season day weekend time
    monday tuesday wednesday thursday friday saturday sunday sprint release term"""
)


def is_known_verb(word: str) -> bool:
    return word in PLAIN_VERBS or word in NOUN_LIKE_VERBS


def is_plain_verb(word: str) -> bool:
    return word in PLAIN_VERBS and word not in NOUN_LIKE_VERBS


def is_time_noun(word: str) -> bool:
    return word in _TIME_NOUNS


def is_past(word: str) -> bool:
    """Whether `word` reads as a past tense or a past participle."""
    if word in IRREGULAR_PASTS:
        return True
    return len(word) > 3 and word.endswith("ed") and word not in _NOT_PAST


def is_third_person(word: str) -> bool:
    """Whether `word` may be a verb in the third person singular ("sends", "applies")."""
    if word in ("has", "does", "goes", "is", "says"):
        return True
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return False
    for stem in (word[:-1], word[:-2], word[:-3] + "y" if word.endswith("ies") else ""):
        if stem and is_known_verb(stem):
            return True
    return False


def is_auxiliary(word: str) -> bool:
    """Verb forms that can only be finite here, so that what comes before them is a subject."""
    return (
        word
        in ("is", "are", "was", "were", "has", "had", "does", "did", "isn't", "aren't", "wasn't", "weren't")
        or word in MODALS
        or word in ("hasn't", "hadn't", "doesn't", "didn't", "won't", "can't", "couldn't", "wouldn't")
    )
