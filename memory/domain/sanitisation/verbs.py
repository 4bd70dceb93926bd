"""English verbs in their base form, as far as the recogniser of directives has to know them.

Two sets, because a clause that opens with one of the first can hardly be anything but an imperative, while
the second are nouns or adjectives as well ("Report", "Open") and need a look at what follows. The sets are
general vocabulary; no verb is here because an attack used it.
"""

from __future__ import annotations

from typing import Final


def word_set(words: str) -> frozenset[str]:
    """The words of a block of text, for tables that are read more often than they run."""
    return frozenset(words.split())


PLAIN_VERBS: Final = word_set(
    """
    abandon abolish absorb accelerate accept accommodate accompany accomplish achieve acknowledge acquire
    activate adapt add adhere adjust administer admit adopt advertise advise affirm agree align allege
    allocate allow allowlist alter amend amplify analyse analyze annotate announce anonymise anonymize
    anticipate apologise apologize append apply appoint appreciate apprise approve argue arrange ascertain
    ascribe ask assemble assert assess assign assist assume assure attach attain attempt attend attribute
    authenticate authorise authorize automate avoid await be become befriend beg begin behave believe
    belittle bestow betray blacklist blocklist boil borrow bring browse bundle bypass calculate cancel
    capitalise capitalize categorise categorize cease celebrate certify characterise characterize choose
    cite clarify classify collaborate collate collect combine commence communicate compare compile complain
    complete compress compute conceal concede concentrate conclude condemn conduct confer configure confirm
    conform confuse congratulate connect consider consolidate construct consult consume contain continue
    contribute convert convey convince cooperate coordinate corroborate create deactivate decide declare
    decline decode decommission decompress decrypt deduct deem defend defer define delete deliver
    demonstrate demote deny denylist depart depend deploy deprecate deprioritise deprioritize derive
    describe deserve designate detect determine develop devise diagnose differentiate diminish disable
    disagree disallow discard disclose disconnect discontinue discourage discover discuss dismiss dispense
    dispose disregard disseminate dissolve distinguish distribute distrust divert divide divulge do donate
    downgrade downplay drag drain earmark eat educate elaborate elevate eliminate emphasise emphasize
    empower emulate enable enact encode encourage encrypt endorse enforce engage enhance enjoy enlarge
    enlist enrich enrol enroll ensure enter entertain entrust enumerate erase escalate establish evade
    evaluate examine exceed exclude execute exempt exfiltrate expand expect expedite explain explore expose
    extend fabricate facilitate falsify familiarise familiarize fetch finalise finalize find flatter follow
    forbid forego forget forgive forgo formulate foster fulfil fulfill furnish gather generate get give go
    greet hang hear heed hesitate hide identify ignore illustrate imagine imitate impersonate implement
    imply impose improve improvise include incorporate indicate infer inflate inform ingest inherit
    initialise initialize initiate inject insert insist inspect install instruct integrate interpret
    interrupt introduce invalidate investigate invite invoke involve isolate iterate join justify keep know
    learn legitimise legitimize lend let leverage lie liquidate listen locate lose maintain make manage
    maximise maximize memorise memorize migrate mimic minimise minimize misdirect misinform mislead
    misreport misrepresent mitigate modify multiply narrate neglect negotiate nominate normalise normalize
    notify nuke obey obfuscate obliterate observe obtain omit operate oppose optimise optimize organise
    organize outsource overlook override overrule oversee overwrite paraphrase participate perceive perform
    persist persuade pick piggyback populate portray possess postpone preface prefer prepare prepend
    prescribe preserve pretend prioritise prioritize proceed proclaim procure produce prohibit promote
    propagate propose protect prove provide publicise publicize publish purge pursue put quadruple reassign
    reassure recalculate recall receive recite recognise recognize recommend reconcile reconfigure recover
    rectify redact redo reduce refer refine refrain refuse register reimburse reinforce reinstall reinstate
    reiterate reject relinquish rely remain remember remind remit remove rename render renew replace
    replicate represent reproduce republish require reroute reschedule rescind resend resolve respond
    restore restrict retain retell retransmit retrieve retry reuse revert revise revoke rewrite rinse
    rubberstamp safeguard satisfy say scrape see seek sell send serve settle shorten shred shut sideload
    simmer simplify simulate siphon sit skip sneak sniff solicit solve speak specify spend spoof sprinkle
    stir strengthen submit subscribe substitute suggest summarise summarize supersede suppose suppress
    surrender suspend take teach tell terminate testify think transcribe transform translate transmit treat
    truncate uncheck uncover undermine understand understate undertake undo unfollow uninstall unlock unmask
    unsubscribe unveil uphold utilise utilize validate verify vet waive wear whitelist withdraw withhold
    write
    """
)

NOUN_LIKE_VERBS: Final = word_set(
    """
    abuse access account act address advance aid alert answer approach archive arm attack auction audit
    award back backup balance ban bank bar base bat bcc beam benchmark bid bill blame blank blast bleed
    blend blind block blog book bookmark boost boot bootstrap bounce brand break brief broadcast buffer bug
    build bump burn buy cache call calm camp cap capture care carry cast catch cause caution cc center
    centre challenge change channel charge chart chase chat check chmod chop claim clean clear clone close
    cloud coach code color colour command comment commit compact compound compromise concern conflict
    contact content contract contrast control cook cool copy correct cost count counter couple cover crash
    credit cross cue curb curl cut cycle damage dare dash date deal debate debug decrease default delay
    delegate demand deposit design desire detail dial digest direct discount dispatch display dispute
    distance dm docker document double doubt download draft draw dream dress drift drive drop dry duplicate
    ease echo edit effect email employ empty encounter end escape estimate excuse exercise exit experience
    experiment exploit export express extract face fail fake fan favor favour fear feature feed feel field
    fight figure file fill filter finance fine finish fire fit fix flag flash float flood flow flush focus
    fold force fork form format forward frame free freeze fry fuel function fund gain gate gauge ghost git
    grab grade grant grill group grow guarantee guard guess guide halt hand handle harm harvest hash head
    heat hedge help highlight hint hire hit hold honor honour hook host house hurry impact import increase
    index influence input interest interface interview invoice iron issue jack jail judge jump key kick kill
    kubectl label land lapse last laugh launch lay lead leak lean lease leave level lift light limit line
    link list live load loan lock log long look loop lower mail map march mark market mask match mate matter
    mean measure meet mention merge message mind mine mirror miss mix mock model monitor motion mount move
    mute name nest note notice npm number object offer open order outline output own pack package page paint
    pair pan panic paper pardon park part partner pass paste pat patch pause pay peel peer permit phone
    picture pilot pin ping pip pipe pitch place plan plant play pledge plot plug point police poll pool pop
    port pose position post power practice practise praise prefix present press prevent preview price print
    prize probe process profile profit program programme progress project promise prompt proof protest puff
    pull pump purchase push quarantine query question queue quit quiz quote race raise rank rate reach read
    reason rebase rebuild record redirect reference refresh refund regard regret relay release rent repair
    repeat reply report repost request rescue research reserve reset resort respect rest restart result
    return reveal reverse review reward risk rm roast rob roll root rotate round route rule run rush salt
    sample sanction save scale scan schedule scope score scout screen screenshot script search season seat
    secure select sense sentence separate set setup shake shape share shield shift ship shop shout show side
    sign signal silence sink size sleep slice slip slow smile snap snapshot sort sound source space spare
    spec speed spell spike spin split sponsor spot spread squash ssh stack staff stage stake stamp stand
    star start stash state station stay steer step stick stock stop store strain stream stress stretch
    strike strip structure study style subject sudo sue suit sum summon supply support surprise survey
    suspect swap sweep swim swing switch syndicate tag tail talk tap target task taste tax team tear tempt
    term test text thank thread threat throw tick tie time tip title toast toggle top total touch tour trace
    track trade trail train transfer transport trap travel trick trigger trim triple trust try tune turn
    tweak tweet twist type update upgrade upload use value view visit voice volunteer vote vouch wager wait
    wake walk warm warn warrant wash watch water wave weigh welcome wget whisk whisper win wipe wire witness
    wonder work worry wrap wreck yield zip zone zoom
    """
)

IRREGULAR_PASTS: Final = word_set(
    """
    arose ate awoke became began bent bit blew bore bought bound broke brought built burnt came caught chose
    clung cost crept cut dealt did drank dreamt drew drove fed fell felt fled flew forbade forgave forgot
    fought found froze gave got grew ground had heard held hid hit hurt kept knew laid lay led left lent let
    lit lost made meant met misled mistook overcame overran overtook paid put quit ran rang read rewrote
    rode rose said sang sank sat saw sent set sewed shook shot shrank shut slept slid sold sought spent
    spoke sprang spread stole stood struck stuck stung swam swept swore swung taught thought threw told took
    tore understood underwent upheld was went were withdrew withheld woke won wore wove wrote
    """
)
