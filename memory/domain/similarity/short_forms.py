"""Short forms and set phrases of English, and what they stand for. Tables and nothing else.

A short form with two common meanings in facts is left out, or stands here for the one that a memory nearly
always means. A key may be a value elsewhere: each text is rewritten once, from left to right.
"""

from memory.domain.similarity.lexicon import pairs

# Written in capitals only: in small letters these are other words ("us", "it", "or", "pt").
CAPITAL_SHORT_FORMS = pairs("""
US = united states; U.S. = united states; IT = information technology; SF = san francisco; LA = los angeles;
PR = pull request; PRs = pull requests; MR = merge request; MRs = merge requests; OS = operating system; AI
= artificial intelligence; ML = machine learning; HR = human resources; VP = vice president; EOD = end of
day; OOO = out of office; PO = purchase order; POs = purchase orders; PTO = paid time off; QA = quality
assurance; CI = continuous integration; UI = user interface; LB = load balancer; EU = european union; ET =
eastern time; VM = virtual machine; VMs = virtual machines; TBD = to be determined; DR = disaster recovery;
Mac = macos; ER = emergency room; NE = northeast; NW = northwest; SE = southeast; SW = southwest; BP = blood
pressure; BR = bedroom; AC = air conditioning; CA = california; GF = gluten free
""")

SHORT_FORMS = pairs("""
db = database; dbs = databases; data base = database; postgres = postgresql; psql = postgresql; mongo =
mongodb; k8s = kubernetes; js = javascript; ts = typescript; py = python; golang = go; node.js = nodejs;
node js = nodejs; vs code = vscode; visual studio code = vscode; mac os = macos; nyc = new york city; uk =
united kingdom; usa = united states; u.s.a. = united states; uae = united arab emirates; gcp = google cloud
platform; aws = amazon web services; gha = github actions; sso = single signon; sign-on = signon; sign on =
signon; mfa = multi factor authentication; 2fa = 2 factor authentication; rbac = role based access control;
sla = service level agreement; slas = service level agreements; slo = service level objective; kpi = key
performance indicator; kpis = key performance indicators; okr = objective and key result; okrs = objectives
and key results; eta = estimated time of arrival; dob = date of birth; asap = as soon as possible; wfh =
work from home; nda = non disclosure agreement; ndas = non disclosure agreements; sow = statement of work;
poc = proof of concept; rfp = request for proposal; eol = end of life; ttl = time to live; oom = out of
memory; saas = software as a service; ceo = chief executive officer; cto = chief technology officer; cfo =
chief financial officer; coo = chief operating officer; ciso = chief information security officer; swe =
software engineer; swes = software engineers; sre = site reliability engineer; sres = site reliability
engineers; llm = large language model; llms = large language models; nlp = natural language processing; ux =
user experience; vpn = virtual private network; cdn = content delivery network; dns = domain name system;
sdk = software development kit; cli = command line interface; ide = integrated development environment; pii
= personally identifiable information; faq = frequently asked questions; iac = infrastructure as code; env
vars = environment variables; env var = environment variable; env = environment; envs = environments; repo =
repository; repos = repositories; app = application; apps = applications; config = configuration; configs =
configurations; cfg = configuration; docs = documentation; auth = authentication; authn = authentication;
authz = authorization; infra = infrastructure; hq = headquarters; prod = production; dev = development; devs
= developers; msg = message; msgs = messages; pwd = password; passwd = password; pw = password; admin =
administrator; admins = administrators; info = information; mgr = manager; mgmt = management; dept =
department; eng = engineering; acct = account; appt = appointment; org = organization; orgs = organizations;
creds = credentials; cert = certificate; certs = certificates; perf = performance; prefs = preferences; pref
= preference; param = parameter; params = parameters; lib = library; libs = libraries; pkg = package; dir =
directory; dirs = directories; deps = dependencies; spec = specification; specs = specifications; func =
function; impl = implementation; ops = operations; tz = timezone; time zone = timezone; lang = language; qty
= quantity; avg = average; max = maximum; min = minimum; approx =
approximately; roughly = approximately; circa = approximately; ca. = approximately; approx. = approximately;
vs = versus; vs. = versus; num = number; tel = telephone; phone = telephone; phones = telephones; cell phone
= mobile telephone; mobile phone = mobile telephone; addr = address; govt = government; intl =
international; bday = birthday; e-mail = email; e-mails = emails; e mail = email; front-end = frontend;
front end = frontend; back-end = backend; back end = backend; stand-up = standup; stand up = standup; set-up
= setup; log-in = login; sign-in = login; sign in = log in; signs in = logs in; wi-fi = wifi; web site =
website; code base = codebase; user name = username; on-call = oncall; on call = oncall; pull-request = pull
request; feature-flag = feature flag; check-in = checkin; mon = monday; tue = tuesday; tues = tuesday; wed =
wednesday; thu = thursday; thur = thursday; thurs = thursday; fri = friday; jan = january; feb = february;
apr = april; aug = august; sept = september; oct = october; nov = november; dec = december; pst = pacific
time; pdt = pacific time; est = eastern time; edt = eastern time; mst = mountain time; mdt = mountain time;
cet = central european time; cest = central european time; bst = british summer time; ist = india standard
time; america/new_york = eastern time; america/los_angeles = pacific time; america/chicago = us central
time; america/denver = mountain time; pacific standard time = pacific time; eastern standard time = eastern
time; w/o = without; w/ = with; at least = minimum; no less than = minimum; at minimum = minimum; at most =
maximum; no more than = maximum; up to = maximum; more than = over; less than = under; fewer than = under;
around = about; in order to = to; as well as = and; such as = like; have to = must; has to = must; needs to
= must; need to = must; ought to = must; is going to = will; are going to = will; would like to = wants to;
would like = wants; would rather have = prefers; would rather be = prefers; would rather = prefers; is
called = is named; are called = are named; called = named; name is = is named; used to = formerly; no longer
= not anymore; any more = anymore; once a day = daily; once a week = weekly; once a month = monthly; once a
year = yearly; once an hour = hourly; each = every; in front of = before; prior to = before; point of
contact = contact; because of = because; due to = because; is able to = can; are able to = can; does not
like = dislikes; do not like = dislikes; did not like = disliked; apt = apartment; biz = business; tix =
tickets; opex = operating expenses; prez = president; mono repo = monorepo; otel = opentelemetry; btw = by
the way; b/c = because; thru = through; tmrw = tomorrow; pls = please; pic = picture; pics = pictures; vid =
video; vids = videos; img = image; imgs = images; bbq = barbecue; tv = television; tvs = televisions; hi-vis
= high visibility; hi vis = high visibility; r&d = research and development; t&c = terms and conditions;
t&cs = terms and conditions; h&s = health and safety; b&b = bed and breakfast; a&e = accident and emergency;
icu = intensive care unit; gp = general practitioner; gps = general practitioners; cctv = closed circuit
television; vat = value added tax; pe = physical education; rx = prescription; pos = point of sale; bom =
bill of materials; sr. = senior; jr. = junior; co. = company; asst = assistant; mtg = meeting; mtgs =
meetings; natl = national; gluten-free = gluten free; no fewer than = minimum; not less than = minimum; a
minimum of = minimum; minimum of = minimum; a maximum of = maximum; maximum of = maximum; not more than =
maximum; no later than = by; no. of = number of; diy = do it yourself; eta = estimated time of arrival; fwd
= forward; rcvd = received; recd = received; cont'd = continued; incl = including; incl. = including; excl =
excluding; excl. = excluding; misc = miscellaneous; esp. = especially; e.g. = for example; i.e. = that is;
etc. = and so on
""")

# Short names that stand for one longer name only. Counted where a surname follows: Liz Chen is Elizabeth Chen.
SHORT_NAMES = pairs("""
Abby = Abigail; Andy = Andrew; Becky = Rebecca; Ben = Benjamin; Bill = William; Bob = Robert; Cathy = Catherine; Charlie
= Charles; Chuck = Charles; Cindy = Cynthia; Dan = Daniel; Danny = Daniel; Dave = David; Debbie = Deborah; Dick =
Richard; Don = Donald; Doug = Douglas; Ed = Edward; Frank = Francis; Fred = Frederick; Greg = Gregory; Jake = Jacob; Jen
= Jennifer; Jenny = Jennifer; Jeff = Jeffrey; Jim = James; Joe = Joseph; Josh = Joshua; Kate = Katherine; Kathy =
Katherine; Katie = Katherine; Ken = Kenneth; Larry = Lawrence; Liz = Elizabeth; Beth = Elizabeth; Maggie = Margaret;
Matt = Matthew; Meg = Margaret; Mike = Michael; Nate = Nathan; Nick = Nicholas; Pam = Pamela; Peggy = Margaret; Pete =
Peter; Phil = Philip; Ray = Raymond; Rob = Robert; Ron = Ronald; Sue = Susan; Steph = Stephanie; Ted = Theodore; Theo =
Theodore; Tim = Timothy; Toby = Tobias; Tom = Thomas; Tommy = Thomas; Tony = Anthony; Vicky = Victoria; Will = William;
Zach = Zachary
""")
