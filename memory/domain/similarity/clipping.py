"""Whether a word is another one cut short or left without its vowels: "uni" for "university", "wk" for "week".

Only asked for words that stand at the same place of two texts which are otherwise the same, and never where
the short one is an English word of its own: a cat is no catalog, a port no portal.
"""

from functools import lru_cache

from memory.domain.similarity.language_hints import PLAIN_ENGLISH

_LONGEST = 6
_VOWELS = frozenset("aeiou")
# Words of their own that longer words begin with, beside those of `PLAIN_ENGLISH`.
_WORDS = frozenset(
    """
    act add age aid aim air ale all alt amp and ant any ape arc are arm art ash ask ate axe bad bag ban bar
    bat bay bed bee beg bet bid big bin bit bow boy bra bud bug bull bun bus but buy cab cake calm camp can
    cap cape car card care carp cart case cash cast cat cent char chart chat chip clan clay clip coal coat
    cob cod code coin con cone cook cop corn cot count cow crab crane cream crew crop cross cube cup cure
    curl cut dam dame date day deal dear deck den dent desk dial die diet dim dip dish disk dog doll don door
    dot down drag draw drip drop drug drum dry dual duck due duel dug dust duty ear earn east eat edge egg
    elm end ever evil eye fact fair fan far farm fast fat fee feed fell felt fern fig file fill film fin fir
    fire firm first fit five fix flag flat flow fly fog fold font foot for fore fork form fort foul four fox
    full fun fund fur gap gas gate gem gene get gift glass glove god gold golf good grad grain gram grand
    grass great grew grip ground gum gun gut hall ham hand hard harm harp hat hay head hear heart heat heel
    hem hen her hero hide high hill him hip his hit hog hold hole home hood hop horn horse host hot hour hull
    human hut ice ill imp ink inn inter intern into ion iron isle jam jar jaw jet job jog join joy jug just
    keen keep key kid kin kind king knit lace lad lake lamb land lap lard last late law lawn lay lead lean
    led leg lend lens less let lid lie life lift lime limp line link lion lip list live load loan lob lock
    log loop lot loud low lump lunch lung mad maid mail main man mar march mark mart mask mass mast mat mate
    may meal mean meat meet melon men mend mental met mid mild mile milk mill mind mine mint miss mist mix
    mob mod mole moo moon more most moth mount mouse mouth mud mug must nap near neck need net new nil nine nod
    noon nor norm north nose not note now nut oak oar oat odd off oil old one open oral orb order other our
    out oval oven over owl own pace pack pad page pain pair pal palm pan pant par park part party pass past
    pat path pay pea peg pen per perm pet pharm pie pig pin pine pink pit plan plane plant plat play plot
    plum plus poem pole pond pool pop port post pot pound press pro pub pull pulp pun pup pure put quarter
    rabbi race rack rag rail rain ram ran rang rank rap rat raw ray real red rent rest rib rice rid rim ring
    rip rite road rob rock rod roof root rope rot round row rub rug run rush sad safe sail salt sand sat
    saw say scar sea seal seat see seed sell set sew sex shed ship shoe shop short show sin sir sister sit
    site six skin sky slip slow small snow soap sock soil solo son song soul sound soup sour south spa span
    spar spark spat spin spot star stare start steam step stern stick still stock stone stop store storm
    stow straw such suit sum sun super sure swan sweet tab table tail tall tan tank tap tar task tax tea
    team tear tell ten tend tent test text than the them then there thin thing think thou thrill tie till
    tim time tin tip tire toe tom ton tone too tool top tore tort toss tour tow town toy track train tram
    trap tray tree trim trip trout true try tub tug tune turn twin two under until use van vein vest vial
    view vine war ward warm was wash wax way web wed weed well went west wet what wheel whip white who whole
    wide wig will win wind wine wing wire wit wood wool word work worm yard year you young zip
    """.split()
)
# Written like words, and nearly always the beginning of longer ones.
CLIPPED = (
    frozenset(
        """
    app art capt chap cons doc err exam freq gen gym lab math max med min nav prep prof prod ref sig rep
    sig sub temp uni univ vet veg
    """.split()
    )
    - _WORDS
)
_SUFFIXES = frozenset(
    """
    er ers or ors ing ings ed ion ions al als ist ists ive ism ness ful less ly ery age ant ants ent ment ments able
    ible ship hood dom ish ize ise ized ised ic ics ity en an ian ians ier ies ial ional ation ations ator ators ature
    """.split()
)
_OTHER_WORDS = (_WORDS | {word for word in PLAIN_ENGLISH if len(word) <= _LONGEST}) - CLIPPED


@lru_cache(maxsize=4096)
def is_short_for(short: str, full: str, *, marked: bool) -> bool:
    """Tell whether `short` can be `full` cut short. Marked: written with a full stop, or in capitals."""
    short = short.removesuffix("s") if len(short) > 2 and full.endswith("s") else short
    if not 2 <= len(short) <= _LONGEST or len(full) < len(short) + 2 or not (short + full).isalpha():
        return False
    if short[0] != full[0] or (short in _OTHER_WORDS and not marked):
        return False
    if full.startswith(short):
        rest = full[len(short) :]
        if marked or short in CLIPPED or (2 < len(short) < _LONGEST and rest not in _SUFFIXES):
            return True
    vowels = sum(letter in _VOWELS for letter in short)
    bare = not vowels or len(short) == 3 or (vowels == 1 and len(short) == 4 and len(full) > _LONGEST)
    return bare and len(full) <= (6 if marked else 4) * len(short) and _within(short, full)


def _within(short: str, full: str) -> bool:
    """Tell whether the letters of the one stand in the other, in their order."""
    rest = iter(full)
    return all(letter in rest for letter in short)
