"""Function words by which a short text gives its language away. A table and nothing else.

Words that are also English are left out of the other lists, words that are also foreign are weak in English.
"""

from memory.domain.similarity.language_words import EVERYDAY
from memory.domain.similarity.lexicon import EXCLUSIVE, NUMBER_WORDS, SPELLINGS, SYNONYMS, VERBS
from memory.domain.similarity.short_forms import SHORT_FORMS

STRONG_ENGLISH = frozenset(
    """
    about after always and are aren't been before can't cannot could didn't does doesn't don't every from
    hasn't have haven't her his into isn't its must never only our she should than that the their then there
    these they they're this those used user's uses using wasn't were what when where which who with won't
    would your
    """.split()
)
WEAK_ENGLISH = frozenset("is of to in for on at by a an as was it be we he no not do or my has if".split())

# Words of everyday facts that are English and little else; with a weak word, or alone, they are a hint.
_PLAIN = frozenset(
    """
    accent accepts access account accounts active address admin agent alerts allergic allergies allergy
    allowed amount analyst anniversary annual answer answers apartment application approval approves approx
    archive archived article asked assistant attachment audit aunt authentication available average avoids
    backlog backs backup backups bakes bandwidth bank batch bedroom bicycle bike bill billing birthday blood
    blue board boat body book books born boss box branch bread breakfast broken brother brown browser bucket
    budget bug bugs build building builds bus business button cache cached called calls cancelled capacity
    card cards carrier cars cases cat certificate chair chapter charge cheap checkout chief child children
    chocolate city class clean client clients climbs cloned closed cloud cluster code codebase coffee cold
    colleague collects color colour column command commands comments commit committing community commutes
    company complete component compressed concurrency condition conference config confirmed connection
    connections console contact contacts container contract contractor controller cookie cooks copies copy
    core corner cost costs country coupon course cousin cover crashes creates credential credentials credit
    critical cron currency current currently customer cycle cycles daily damage dark dashboard data database
    daughters day days dead deadline deal decision default degree delay delete deleted deletes deliverable
    delivery dependency deploy deployed deploys depot depth design designer desk desktop destination detail
    developer device diet dinner director directory disabled discount disk dislikes doctor document
    documents dog dogs dollars domain door download draft drinks drive driver duration early eats editor
    education elected email employee employees empty enabled encrypted endpoint ends engineer english enjoys
    entry environment epic error escalates escalation estimate eur euros evening event events exam example
    expires export external eye facility failed failure fallback family farm fast father favorite favourite
    feature fee feedback fees field file files filtering fine fiscal fish flag flight floor fluent folder
    font food forbidden forecast forked format formats former found founder framework free freeze freight
    frequency fresh friday friend front frontend full function future game garden gardens gateway gbp
    generates gets gives glasses goal goals gold grade graduated grant green grew grey gross ground group
    growth guide guitar gym habit half hand handler handles hangs happy hardware hashed hates headcount
    headquarters health heart heating height high hikes hobbies hobby holds holiday home hometown hosting
    hotfix hour hours house hundred husband image images incident income indentation index indexes industry
    infrastructure input inserts installed instance insurance integration interest internal interview
    inventory investor invited invoice invoiceable invoices issue job journey kanban keeps keyboard kids
    kitchen knits knowledge label labels laboratory lake lamp language laptop latency launch lawyer layer
    layout lead leader leads league leaks learning lease leave left letter level library licence license
    licenses lies lifetime likes limit limits line lines link links linter lints list listed listens live
    lived lives living load loan local location lock locked log login logs long loves low lunch machine mail
    mailing main maintenance makes manager manual map margin market married masked maths maximum meal
    measure meat meeting meetings member members memory menu merge merges message method middle migrated
    migration milestone million minimum minutes mirror mirrors mobile mode model module monday money monitor
    monitors month monthly morning mother motor mountain mounted mouse moved movie music name named native
    neighbour net network newsletter nickname night nightly node nodes note notes notice notification number
    nurse office officer offline older online open operating operator optional order orders organization
    origin output owned owner owns package page pages pagination paid paints parcel parents parking parser
    part partner parts party passport password patch patched path patient pattern paused paying payload
    payment pays peak peanuts pen pending pension people percent performance permission permissions pet
    phase phone photo piano pink pinned pipeline place plain plan planning platform player plays policy pool
    port positive postcode pounds power practice preference preferences preferred prefers premium prepaid
    president price pricing primary printer priority private process processes product production profile
    progress project pronounced pronouns proposal protocol provider proxy public published pull pulls
    purchase purple push pushes python quality quarterly queries question queue quota quotas quote raised
    range rate rates read reader reads ready reason receipt receives recipe record records reference
    referral refinement refund refunds region regions registry reimbursed rejects related relation release
    releases reminder remote removed renewal renews rent replicas replicates reply report reports repository
    request requests required requires research reserved reset resource resources response responses rest
    restarts restaurant restore result results retailer retention retired retries retro retrospective retry
    return returns revenue reverted review reviewer reviews reward rides right river road roadmap role roles
    rollback rollout rolls roof room root route router row rows rule rules runner runs runtime salary sale
    sales sample sandbox saturday scale scales schedule scheduled schema school scope score screen script
    search season seat seats second secret secrets section sector secure security segment sender sends
    sensor sentence server serves service session settings setup severity shift ship shipment shipped
    shipping ships shirt shoe shoes shop short signature signed single sings sister site sits size skill
    skills slot small software solution sons sorting source space speaker speaks speed spend split sport
    spring sprint stable stack staff stage staging standard stands standup starts state station status
    stayed step sticker stock storage store stored stores story strategy street string strong student
    studies studio study style subject subnet subscription success sugar suite summaries sunday supplier
    support supported surgery surname survey swims switch syncs table tag tagged tags takes target task
    tasks tax taxes teacher teaches team teams template tenant tenants tender term terms test tests theme
    thesis thousand thread threads threshold throttled throughput thursday ticket ticketing tickets tier
    time timeout timezone title today token tokens tokyo tool tools topic total tour tower town track trade
    traffic trail train training travel tree trial trigger triggers trip truck trunk trust tuesday tutorial
    type uncle unit university until update updates upload uptime usage usd user username users vacation
    validates validation value vegan vegetarian vehicle velocity vendor vendors version versions video view
    village visibility visit visited volume voucher wage waiting wall wants warehouse warning watch watches
    water weather web webhook website wedding wednesday week weekend weekly weeks weight wheel wholesale
    wife window windows winter worker workers workflow works workshop workspace write writes year yearly
    years yellow zone
    """.split()
)

_FROM_TABLES = frozenset(
    word
    for table in (SHORT_FORMS.values(), SPELLINGS, SPELLINGS.values(), SYNONYMS, NUMBER_WORDS, *EXCLUSIVE)
    for entry in table
    for word in entry.split()
    if len(word) > 3 and word.isalpha()
)
PLAIN_ENGLISH = _PLAIN | EVERYDAY | _FROM_TABLES | VERBS

_FOREIGN = {
    "de": """
        der das und ist nicht ein eine einen einem keinen keine mit für auf den dem des wird wurde
        werden hat haben sich auch nach bei aus zum zur vom ich wir ihr ihm mag seine ihre oder aber nur
        immer täglich arbeitet wohnt über
    """,
    "fr": """
        le les un une des du et est dans avec pour qui que ne pas il elle ils nous vous sont aux au à
        été très sans sous chez habite travaille préfère être avoir ses leur cette ce n'est
    """,
    "es": """
        el los las una unos y es en con para por que se del al su sus muy pero más está están tiene vive
        prefiere usuario cliente trabaja ser hay cada siempre nunca
    """,
    "it": """
        il lo gli uno una e è di che con per del della dei nel alla sono non ha più ogni sempre mai
        utente cliente lavora abita vive preferisce
    """,
    "pt": """
        o os as um uma e é em com para que do da dos das no na nos nas não se mais está são tem mora
        trabalha cliente usuário sempre nunca
    """,
    "nl": """
        het een en is niet van met voor op zijn heeft wordt naar bij uit maar ook altijd nooit gebruiker
        klant woont werkt geen deze dit zij wij of
    """,
    "sv": """
        och är inte en ett med för på till av som har att den det kund användare bor arbetar alltid
        aldrig ingen
    """,
    "da": """
        og er ikke en et med til af som har den det kunde bruger bor arbejder altid aldrig ingen på
    """,
    "fi": """
        ja ei ole hän se että joka kanssa asiakas käyttäjä asuu on
    """,
    "pl": """
        jest nie na do się że klient użytkownik mieszka pracuje zawsze nigdy ma lubi
    """,
    "cs": """
        je není na do se že zákazník uživatel bydlí pracuje vždy nikdy má
    """,
    "tr": """
        ve bir bu değil için ile çok kullanıcı müşteri her zaman asla
    """,
    "ro": """
        și este nu un o cu pentru pe din la în care client utilizator
    """,
    "hu": """
        és nem egy az van hogy ügyfél felhasználó mindig soha
    """,
    "id": """
        dan yang tidak di ke dari dengan untuk pengguna pelanggan adalah tinggal
    """,
    "vi": """
        và là không của với cho người dùng khách hàng
    """,
}
FOREIGN_WORDS = {
    code: frozenset(words.split()) - WEAK_ENGLISH - STRONG_ENGLISH for code, words in _FOREIGN.items()
}

# First letter and last letter of a script's range, and the language that it stands for.
SCRIPTS = (
    ("\u3040", "\u30ff", "ja"),
    ("\uac00", "\ud7a3", "ko"),
    ("\u4e00", "\u9fff", "zh"),
    ("\u0400", "\u04ff", "ru"),
    ("\u0370", "\u03ff", "el"),
    ("\u0590", "\u05ff", "he"),
    ("\u0600", "\u06ff", "ar"),
    ("\u0900", "\u097f", "hi"),
    ("\u0980", "\u09ff", "bn"),
    ("\u0b80", "\u0bff", "ta"),
    ("\u0e00", "\u0e7f", "th"),
    ("\u10a0", "\u10ff", "ka"),
    ("\u0530", "\u058f", "hy"),
)
