"""What the English rules know about words. Tables and nothing else: no code that decides.

Every table may only say what holds in any context. A short form with two common meanings (auth, dev, temp)
is left out or written out only where its shape decides; a missed merge costs a review, a wrong one a fact.
"""


def pairs(table: str) -> dict[str, str]:
    """Read `short = long` entries, separated by semicolons."""
    entries = (entry.split("=", 1) for entry in table.replace("\n", " ").split(";") if entry.strip())
    return {short.strip(): long.strip() for short, long in entries}


def _words(table: str) -> frozenset[str]:
    return frozenset(table.split())


# Whole words; `verbs` cuts both sides to their stems.
SPELLINGS = pairs("""
favourite = favorite; favour = favor; colour = color; behaviour = behavior; neighbour = neighbor; honour =
honor; labour = labor; humour = humor; rumour = rumor; organisation = organization; organise = organize;
centre = center; licence = license; defence = defense; offence = offense; practise = practice; catalogue =
catalog; dialogue = dialog; grey = gray; cheque = check; programme = program; analyse = analyze; authorise =
authorize; customise = customize; optimise = optimize; synchronise = synchronize; summarise = summarize;
prioritise = prioritize; recognise = recognize; containerise = containerize; anonymise = anonymize;
categorise = categorize; utilise = use; utilize = use; authorisation = authorization; customisation =
customization; optimisation = optimization; travelled = travel; travelling = travel; cancelled = cancel;
cancelling = cancel; labelled = label; modelling = model; theatre = theater; metre = meter; kilometre =
kilometer; litre = liter; tyre = tire; aluminium = aluminum; enrol = enroll; ageing = aging; fulfil =
fulfill; artefact = artifact; storey = story; kerb = curb
""")
# Words that mean the same in every fact one can think of. Near synonyms do not belong here.
SYNONYMS = pairs("""
reply = answer; response = answer; respond = answer; concise = short; brief = short; kid = child; commence =
start; begin = start; purchase = buy; relocate = move; reside = live; physician = doctor; mom = mother; mum
= mother; dad = father; movie = film; photograph = photo; bike = bicycle; reboot = restart; delete = remove;
apartment = flat; forbid = prohibit; permit = allow; execute = run; autumn = fall; lawyer = attorney; quick
= fast; assist = help; cellphone = telephone; advert = advertisement; allergic = allergy; colleague =
coworker
""")

_BELOW_TWENTY = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen
""".split()
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = {word: number for number, word in enumerate(_BELOW_TWENTY)}
NUMBER_WORDS |= {word: 10 * tens for tens, word in enumerate(_TENS, 2)}
SCALE_WORDS = {"dozen": 12, "hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}
ORDINALS = pairs("""
first = 1st; second = 2nd; third = 3rd; fourth = 4th; fifth = 5th; sixth = 6th; seventh = 7th; eighth = 8th;
ninth = 9th; tenth = 10th
""")
MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = _words("monday tuesday wednesday thursday friday saturday sunday")
TIME_NOUNS = WEEKDAYS | _words(
    "minute hour day night morning evening afternoon weekend week month quarter year sprint"
)
FREQUENCIES = pairs("""
nightly = every night; daily = every day; hourly = every hour; weekly = every week; monthly = every month;
quarterly = every quarter; yearly = every year; annually = every year; annual = every year
""")

# Words that carry no fact of their own. Everything else that is dropped or added must be named in a rule.
STOP = _words("""
the a an this that these those it its there so also too then which who whom whose am been be do does done
""")
GET = _words("get gets got getting")
BE_NOW = _words("is are am be 're 'm")
BE_PAST = _words("was were")
HAVE = _words("has have had having 've")
NEGATIONS = _words(
    "not no never n't none neither nor cannot without hardly rarely seldom barely nothing nobody"
)
ROLES = pairs("""
to = to; into = to; onto = to; towards = to; from = from; by = by; over = over; than = than; of = of; for =
for; with = with; as = as; via = via; through = via; using = via; about = on; in = in; on = on;
at = at; within = in; under = under
""")
TIME_ROLES = _words("day month part clock date")
# To leave these out changes no fact; to swap those in PLACES_IN does not either.
PLACING = _words("in on at with of for id") | TIME_ROLES | {""}
PLACES_IN = _words("in on at id") | TIME_ROLES
LOADED = _words("""
before after until till when being just per since above below over under than except unless only if while
during because although though despite instead whereas once whenever or versus between against among some
most many few several any either both half almost nearly partly partially mostly maybe perhaps possibly
probably likely supposedly apparently reportedly allegedly sometimes usually often occasionally generally
typically normally formerly previously originally initially eventually soon later temporarily permanently
anymore again yet ever even especially mainly primarily exclusively minimum maximum exactly approximately
about roughly least less more
""") - _words("about primarily mainly")
MODALS = pairs("""
must = duty; shall = duty; should = duty; ought = duty; may = leave; can = leave; might = chance; could =
chance; will = future; 'll = future; would = wish; 'd = wish
""")
PERSONS = pairs("""
i = me; me = me; my = me; mine = me; myself = me; we = us; us = us; our = us; ours = us; you = you; your =
you; yours = you; he = he; him = he; his = he; himself = he; she = she; her = she; hers = she; herself =
she; they = they; them = they; their = they; theirs = they
""")

# Scaffolding: what a longer wording adds around the same fact. Each kind counts only in its own position.
PEOPLE = _words("user customer client person")
PLACES = _words("project team company account organization repository codebase system application workspace")
DETERMINERS = _words("the our my this their your his her its")
REPORTING = _words("mention tell say state note report indicate confirm explain remember know inform")
ADVERBS = _words("currently presently now already please still simply actually kindly")
# Who a text is about, when a shorter wording of it leaves that out.
ACTORS = _words("""
player patient tenant student pupil guest employee member applicant candidate caller athlete buyer seller passenger
resident subscriber visitor colleague coworker musician candidate driver resident shopper participant learner traveller
""")
# Words that a longer wording adds and that keep no two facts apart, as long as they qualify no further noun.
LIGHT = _words("""
person position role job title place location name way manner kind type sort number amount case matter thing time
date people anyone everyone here there hold find use attend such far concern regard relate describe refer
write down particular actual respective follow question purpose belong exist involve set up
""")
LIGHT_VERBS = _words("attends attending holds holding attended")
LIGHT_NOUNS = _words("value setting option method")
EVENT_VERBS = _words("happen occur take run make perform do execute schedule hold")  # "runs at 02:00"
STATIVE = {"located": "in", "based": "in", "situated": "in", "set": "to", "subscribed": "to", "equal": "to"}

VERBS = _words("""
accept add administer agree allow answer approve ask attend avoid backup become begin belong bill book bring
build buy call cancel change check choose close collect come commit communicate complain complete confirm
connect contact contain cook cost create cycle deal decide delete depend deploy design dislike drink drive
eat email employ enjoy exclude expect expire export fail feel fetch fix fly follow get give go grow handle
hate have hear help hold host import include install invite join keep know lead learn leave let like limit
list live log look love maintain make manage meet merge migrate monitor move need offer open order own pay
plan play prefer print produce provide publish push put read receive record refuse reject release rely
remain remember remove renew rent replace reply report request require reside restart retry return review
rotate run save say schedule see sell send serve set share ship show sign sleep smoke speak spell spend
start stay stop store study subscribe suffer support take talk teach tell test think track train travel
trigger try type understand update upgrade upload use visit wait walk want watch wear wish work write
""")

# Two members of one class, one on each side, make two facts: they are kept apart without asking anyone.
EXCLUSIVE = tuple(
    _words(line)
    for line in """
monday tuesday wednesday thursday friday saturday sunday
january february march april may june july august september october november december
spring summer fall winter
minute hour day night week month quarter year annual
on off enabled disabled
open closed close resolved pending blocked merged
active paused inactive suspended cancelled expired trial
dark light
staging production development local sandbox
free pro basic starter business premium enterprise gold silver bronze
administrator viewer editor owner member guest maintainer
low medium high critical
debug info warning error
before after during until since
above below
over under
minimum maximum
read write
all some none most
required optional
succeed fail pass
allow prohibit refuse deny reject
include exclude
usd eur gbp jpy chf cad aud
blue green red yellow black white purple orange pink brown gray
english spanish portuguese french german italian japanese chinese dutch russian
python java javascript typescript go rust ruby php kotlin swift
pnpm yarn npm bun
email telephone sms slack letter
mother father brother sister son daughter wife husband uncle aunt
cat dog horse
frontend backend
unit integration
tab space
json xml csv yaml toml
pacific eastern mountain
born live
squash rebase
true false
yes no
internal external
public private
incoming outgoing
left right
first last
kilometer mile
north south east west
love hate like dislike
add remove
start stop end
amazon google azure
""".strip().splitlines()
)
ANTONYM_PREFIXES = ("un", "dis", "in", "non", "im", "ir", "de", "mis")
