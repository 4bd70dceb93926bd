"""English words too common to search by. A table and nothing else."""

_WORDS = """
a about above after again all also am an and any are aren arent as at be because been before being below
between both but by can cannot cant could couldnt d did didnt do does doesnt doing don dont down during
each few for from further had hadnt has hasnt have havent having he her here hers herself him himself his
how i if in into is isnt it its itself just let ll m me more most mustnt my myself no nor not now of off
on once or other ought our ours ourselves out over own re s same shant she should shouldnt so some such t
than that the their theirs them themselves then there these they this those through to too under until up
us ve very was wasnt we were werent what when where which while who whom why will with wont would wouldnt
you your yours yourself yourselves
"""
ENGLISH_STOP_WORDS = frozenset(_WORDS.split())
