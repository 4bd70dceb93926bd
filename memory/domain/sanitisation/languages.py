"""Directives in German, French, Spanish, Portuguese and Italian: a small rule set for each.

Formal and informal imperatives at the head of a clause, negated commands, modals with the assistant or
nobody as subject. Much smaller than what is done for English. Text in any other language is only scanned for
disguises, role marks and secrets.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from memory.domain.sanitisation.claim_words import Rule, rule
from memory.domain.sanitisation.verbs import word_set
from memory.domain.sanitisation.words import SMALL_WORDS

_Found = tuple[str, str, tuple[int, int]]

_STOP_WORDS: Final = {
    "de": """
        der die das und ist nicht ein eine den dem mit auf für von zu im wird wurde sich auch dass des bei
        nach immer alle muss sie bitte am seit keine niemals einen darf davon war an aus bis in es ich er
    """,
    "fr": """
        le la les et est une un des du de que qui dans pour sur avec pas ne au aux ce cette il elle vous
        nous toujours à doit être son sa ses par tout tous l' d' depuis l d n jamais chez
    """,
    "es": """
        el la los las y es una un de que en por para con no del al se su lo más todas todos siempre esta
        este debe como hay cada nunca desde a está sus cuando
    """,
    "pt": """
        o a os as e é uma um de que em por para com não do da dos das ao se sua seu mais sempre esta este
        deve como cada nunca todas todos foi no na à já usuário isto
    """,
    "it": """
        il la lo i gli le e è una un di che in per con non del della dei al si sua suo più sempre questa
        questo deve come ogni mai tutte tutti da nel alla sono all' dell' l' all dell l
    """,
}
# Small words that are English as well ("as", "come", "die") tell nothing.
_ENGLISH: Final = (SMALL_WORDS - word_set("am i d")) | word_set(
    "come die man war per sue no son use pay note"
)
_SETS: Final = {
    "en": _ENGLISH,
    **{language: frozenset(words.split()) - _ENGLISH for language, words in _STOP_WORDS.items()},
}
_SAMPLE: Final = 2000
_WORD: Final = re.compile(r"(?<!\w)[^\W\d_]+(?!\w)")
_HEAD: Final = (
    r"(?:^|[.!?;:\n,–—(\"«„“][ \t]*|\b(?:und|et|y|e|o|ou|oder|aber|mais|pero|mas|ma|dann|luego|puis|poi"
    r"|depois)\s+)"
)


def language_of(text: str) -> str:
    """The likeliest of the six languages by their small words; English unless another clearly leads."""
    if text.isascii() and len(text) < 8:
        return "en"
    words = [word.lower() for word in _WORD.findall(text[:_SAMPLE])]
    counts = {language: sum(word in small for word in words) for language, small in _SETS.items()}
    best = max(counts, key=lambda language: counts[language])
    if best == "en" or counts[best] <= counts["en"]:
        return "en"
    return best if counts[best] >= 2 or counts[best] * 4 >= len(words) else "en"


_DE_VERBS: Final = (
    r"(?:ignorier|vergiss|antwort|send|schick|schreib|lösch|leit|empfiehl|empfehl|merk|nenn|nutz|verwend"
    r"|benutz|öffn|überweis|zahl|gib|sag"
    r"|zeig|lies|nimm|halt|behalt|speicher|kopier|füg|häng|ruf|führ|setz|stell|mach|tu|geh|lass"
    r"|verschweig|bestätig|akzeptier|prüf|befolg"
    r"|beacht|beend|start|aktivier|deaktivier|erwähn|erwäg|such|frag|verrat|verheimlich|teil|übernimm"
    r"|bevorzug|wähl|ersetz|änder)"
)
_RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "de": (
        rule("imperative", "formal", r"\b[a-zäöüß]{3,}(?:en|ern|eln)\s+Sie\b(?![^.!]*\?)"),
        rule("imperative", "informal",
            rf"{_HEAD}(?:bitte\s+|immer\s+|nie(?:mals)?\s+|nun\s+|jetzt\s+)*{_DE_VERBS}(?:e|t|iere"
            rf"|iert)?\b(?!\s+(?:ich|er|sie|es|wir|man|der|die)\b)"),
        rule("imperative", "please", r"\bbitte\b"),
        rule("imperative", "infinitive",
            r"(?:^|[.!?:;][ \t]*)(?:alle|immer|nie(?:mals)?|keine[nrms]?|jede[nrms]?|nicht|stets"
            r"|unbedingt|künftig|ab\s+sofort)\b[^.!?]{3,}?\b\w+(?:en|eln|ern)\s*(?:[.!]|$)"),
        rule("obligation", "modal",
            r"\b(?:assistent\w*|agent(?:en)?|ki|modell\w*|bot|bots|du|sie|man|mitarbeiter\w*|antworten?"
            r"|alle\s+\w+|jede\w*\s+\w+|niemand|nutzer\w*|benutzer\w*|antwort)\s+(?:\w+\s+)?(?:muss"
            r"|müssen|musst|soll|sollen|sollst|sollten?|darf|dürfen|darfst|hat\s+zu|haben\s+zu)\b"),
        rule("obligation", "modal",
            r"\b(?:darf|dürfen|muss|müssen|soll(?:en)?)\s+(?:\w+\s+){0,2}?(?:nicht|nie|niemals|niemand"
            r"|nichts|immer|stets|der\s+assistent|die\s+ki|du)\b(?![^.]*\b(?:haben|sein|ausgefallen)\b)"),
        rule("trigger", "condition",
            r"\b(?:wenn|falls|sobald|immer\s+wenn)\b[^.]{0,50}\b(?:fragt|gefragt|erwähnt|nachfragt"
            r"|verlangt|sagt)\b"),
        rule("secrecy", "secrecy",
            r"\b(?:nutzer|benutzer|kunde\w*|betreiber)\b[^.]{0,40}\b(?:nicht|nichts|nie)\b[^.]{0,20}\b"
            r"(?:sagen|gesagt|erfahren|wissen|mitteilen|erwähnen)\b"),
    ),
    "fr": (
        rule("imperative", "formal",
            rf"{_HEAD}(?:ne\s+|n['’]|ensuite\s+|toujours\s+)?(?!chez|assez|nez\b|rez)"
            rf"(?:[a-zàâçéèêëîïôûùüÿœ]{{2,}}ez|dites|faites|soyez)\b(?!-vous\s+\w+\s*\?)"),
        rule("imperative", "informal",
            rf"{_HEAD}(?:ignore|oublie|envoie|réponds|recommande|supprime|garde|copie|ajoute|utilise"
            rf"|transfère|révèle|affiche|écris|dis|fais|suis|cite|donne|ouvre|exécute|appelle|mets|prends"
            rf"|va|sois|note|retiens|cache)\s+(?:toujours\s+|bien\s+|immédiatement\s+)?(?:le|la|les|l['’]"
            rf"|un|une|des|ce|cette|ces|tous|toutes|tout|toujours|à|au|aux|en|que|ton|ta|tes|votre|vos"
            rf"|jamais|pas|rien)\b"),
        rule("imperative", "infinitive",
            r"(?:^|[.!?:;][ \t]*)(?:ne\s+(?:pas|jamais)|toujours|merci\s+de|prière\s+de|il\s+faut"
            r"|veuillez)\b"),
        rule("obligation", "modal",
            r"\b(?:assistant|agent|modèle|ia|vous|tu|réponses?|on|bot|utilisateurs?|employés|chaque\s+\w+"
            r"|toutes?\s+les\s+\w+)\s+(?:ne\s+)?(?:doi(?:t|s|vent)|devez|devrai\w+|est\s+tenu|sont"
            r"\s+tenus|peu(?:t|x|vent)\s+désormais)\b"),
        rule("obligation", "impersonal",
            r"\bil\s+(?:faut|est\s+(?:impératif|obligatoire|essentiel|interdit|nécessaire|important)\s+"
            r"(?:de|d['’]|que))"),
        rule("trigger", "condition",
            r"\b(?:quand|lorsqu\w*|si|chaque\s+fois)\b[^.]{0,50}\b(?:demande\w*|mentionne\w*|interrog\w+"
            r"|pose)\b"),
    ),
    "es": (
        rule("imperative", "formal",
            rf"{_HEAD}(?:siempre\s+|nunca\s+|por\s+favor,?\s+)?(?:ignor[ea]|olvid[ea]|env[íi][ea]"
            rf"|respond[ae]|recomiend[ae]|elimin[ea]|borr[ea]|guard[ea]|copi[ea]|añad[ae]|agregu?[ea]"
            rf"|us[ea]|utili[zc][ea]|transfier[ae]|revel[ea]|muestr[ea]|escrib[ae]|di(?:ga)?|haz|haga"
            rf"|sig[ae]|cit[ea]|abr[ae]|ejecut[ea]|llam[ea]|pon(?:ga)?|ten(?:ga)?|mant[eé]n(?:ga)?"
            rf"|recuerd[ea]|ocult[ea]|pag[au]e?|aprueb[ea]|acept[ea]|descart[ea]|menciona|mencione"
            rf"|rechac[e]|adjunt[ea]|reenv[íi][ea])\s+(?!(?:que\s+)?(?:él|ella|ellos)\b)\w"),
        rule("imperative", "negated",
            rf"{_HEAD}(?:por\s+favor,?\s+)?(?:no|nunca|jamás)\s+(?:le\s+|lo\s+|la\s+|se\s+|les\s+)?\w+"
            rf"(?:es|as|e|a|en|an)\s+(?:esta|este|estas|estos|el|la|los|las|nada|a|al|ning\w+|que|tu|su"
            rf"|sus|nunca)\b"),
        rule("imperative", "enclitic", rf"{_HEAD}\w+[áéí]\w*(?:lo|la|los|las|me|nos|le|les)\b"),
        rule("obligation", "modal",
            r"\b(?:asistente|agente|modelo|ia|tú|usted|respuestas?|bot|empleados|usuarios|cada\s+\w+"
            r"|todas?\s+las?\s+\w+|todos\s+los\s+\w+)\s+(?:no\s+|siempre\s+)?(?:deben?|deberá\w*"
            r"|debería\w*|tienen?\s+que|han?\s+de|pueden?\s+ahora)\b"),
        rule("obligation", "impersonal",
            r"\b(?:hay\s+que|debes|tienes\s+que|es\s+(?:obligatorio|necesario|imprescindible|esencial"
            r"|importante)|queda\s+prohibido|se\s+(?:debe|deben))\b"),
        rule("trigger", "condition",
            r"\b(?:cuando|si|cada\s+vez\s+que|siempre\s+que)\b[^.]{0,50}\b(?:pregunt\w+|mencion\w+"
            r"|pid[ae]n?|consult\w+)\b"),
    ),
    "pt": (
        rule("imperative", "formal",
            rf"{_HEAD}(?:sempre\s+|nunca\s+|por\s+favor,?\s+)?(?:ignor[ea]|esqueça|envi[ea]|respond[ae]"
            rf"|recomend[ea]|exclu[ai]|apagu?[ea]|guard[ea]|copi[ea]|adicion[ea]|us[ea]|utiliz[ea]"
            rf"|transfir[ae]|revel[ea]|mostr[ea]|escrev[ae]|dig[ae]|faça|sig[ae]|cit[ea]|abr[ae]"
            rf"|execut[ea]|cham[ea]|coloqu[ea]|mantenha|lembr[ea]|ocult[ea]|pagu?[ea]|aprov[ea]|aceit[ea]"
            rf"|descart[ea]|mencion[ea]|anex[ea]|encaminh[ea]|remov[ae])\s+(?!(?:que\s+)?(?:ele|ela"
            rf"|eles)\b)\w"),
        rule("imperative", "negated",
            rf"{_HEAD}(?:por\s+favor,?\s+)?(?:não|nunca|jamais)\s+(?:lhe\s+|o\s+|a\s+|se\s+)?\w+(?:es|as"
            rf"|e|a|em|am)\s+(?:esta|este|estas|estes|o|a|os|as|nada|ao|à|nenhum\w*|que|seu|sua|isto"
            rf"|isso)\b"),
        rule("obligation", "modal",
            r"\b(?:assistente|agente|modelo|ia|você|tu|respostas?|bot|funcionários|usuários|cada\s+\w+"
            r"|todas?\s+as?\s+\w+|todos\s+os\s+\w+)\s+(?:não\s+|sempre\s+)?(?:devem?|deverá|deveria\w*"
            r"|tem\s+(?:que|de)|têm\s+(?:que|de)|precisam?)\b"),
        rule("obligation", "impersonal",
            r"\b(?:é\s+(?:preciso|obrigatório|necessário|essencial|importante|proibido)|deve-se|há"
            r"\s+que)\b"),
        rule("trigger", "condition",
            r"\b(?:quando|se|sempre\s+que|cada\s+vez\s+que)\b[^.]{0,50}\b(?:pergunt\w+|mencion\w+|ped(?:e"
            r"|ir)\w*|consult\w+)\b"),
    ),
    "it": (
        rule("imperative", "formal",
            rf"{_HEAD}(?:sempre\s+|per\s+favore,?\s+)?(?:ignor[ai]|dimentica|invi[ai]|rispond[ia]"
            rf"|consigli[ai]|elimin[ai]|cancell[ai]|conserv[ai]|copi[ai]|aggiung[ia]|us[ai]|utilizz[ai]"
            rf"|trasferisc[ia]|rivel[ai]|mostr[ai]|scriv[ia]|di['’]|fai|segu[ia]|cit[ai]|apr[ia]"
            rf"|esegu[ia]|chiam[ai]|mett[ia]|tien[ia]|ricord[ai]|nascond[ia]|pag[ah]?i?|approv[ai]"
            rf"|accett[ai]|scart[ai]|menzion[ai]|alleg[ah]?i?|inoltr[ai]|raccomand[ai])\s+(?!(?:che\s+)?"
            rf"(?:lui|lei|loro)\b)\w"),
        rule("imperative", "plural",
            rf"{_HEAD}(?:non\s+)?(?!state\b|parte\b|arte\b)[a-zàèéìòù]{{3,}}(?:ate|ete|ite)\s+(?:sempre"
            rf"|mai|il|la|lo|i|gli|le|che|tutt\w+|quest\w+|ai?|all\w*|un\w*)\b"),
        rule("imperative", "negated", rf"{_HEAD}(?:per\s+favore,?\s+)?non\s+\w+(?:are|ere|ire)\b"),
        rule("obligation", "modal",
            r"\b(?:assistente|agente|modello|ia|tu|lei|rispost[ea]|bot|dipendenti|utenti|ogni\s+\w+"
            r"|tutt[ei]\s+[gl]?[lie]+\s+\w+)\s+(?:non\s+|sempre\s+)?(?:dev[eio]|devono|dovr\w+|è"
            r"\s+tenut\w|sono\s+tenut\w)\b"),
        rule("obligation", "impersonal",
            r"\b(?:bisogna|occorre|è\s+(?:obbligatorio|necessario|essenziale|importante|vietato)|si\s+"
            r"(?:deve|devono))\b"),
        rule("trigger", "condition",
            r"\b(?:quando|se|ogni\s+volta\s+che)\b[^.]{0,50}\b(?:chied\w+|menzion\w+|domand\w+)\b"),
    ),
}  # fmt: skip


def foreign_directives(text: str, language: str) -> Iterator[_Found]:
    """(reason, rule, span) for the directives that the small rule set of `language` sees."""
    for each in _RULES[language]:
        match = each.pattern.search(text)
        if match is not None and "?" not in text[match.end() : match.end() + 80].split(".")[0]:
            yield each.reason, f"{language}_{each.name}", match.span()
