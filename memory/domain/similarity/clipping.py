"""Words cut short, and the one word that each stands for: "uni" for "university", "wk" for "week".

Only asked for words that stand at the same place of two texts which are otherwise the same.  A table and no rule: by
their letters "res" would be reservation and resolution, "SQL" would be sequel, and a wrong merge loses a fact.
"""

from __future__ import annotations

from typing import Final

from memory.domain.similarity.lexicon import pairs

_FULL: Final = pairs("""
uni = university; univ = university; exam = examination; lab = laboratory; labs = laboratories; math =
mathematics; maths = mathematics; freq = frequency; gym = gymnasium; prof = professor; capt = captain;
chap = chapter; prep = preparation; wk = week; wks = weeks; wkly = weekly; mth = month; mths = months; yr
= year; yrs = years; svc = service; svcs = services; sys = system; seq = sequence; sess = session; std =
standard; subj = subject; txn = transaction; tmp = temporary; usr = user; util = utility; vol = volume;
val = value; obj = object; loc = location; maint = maintenance; mktg = marketing; pct = percent; prem =
premium; proj = project; rcpt = receipt; reqs = requirements; sched = schedule; asst = assistant; bldg =
building; corp = corporation; dest = destination; amt = amount; assoc = association; tech = technology;
veg = vegetarian; vet = veterinarian; vocab = vocabulary; fridge = refrigerator; ad = advertisement; ads
= advertisements; memo = memorandum; gov = government; lang = language; kinder = kindergarten; undergrad
= undergraduate; intro = introduction; demo = demonstration; promo = promotion; limo = limousine; rhino =
rhinoceros; hippo = hippopotamus; cm = centimetre; dr = doctor; nr = number; ext = extension; fwd =
forward; rd = road; ave = avenue; blvd = boulevard
""")


def is_short_for(short: str, full: str) -> bool:
    """Tell whether `short` is the usual short form of `full`."""
    return _FULL.get(short) == full
