"""Shapes of the secrets that known services hand out, each with the name that stands in the redaction.

A shape is a fixed prefix or layout that ordinary text does not have. Secrets without a shape of their own
(passwords, keys in prose) are told by their surroundings in `secret_context`.
"""

from __future__ import annotations

import re
from typing import Final


def _shape(rule: str, pattern: str, flags: int = 0) -> tuple[str, re.Pattern[str]]:
    return rule, re.compile(pattern, flags)


# The span redacted is the group `secret` where there is one, else the whole match.
SHAPES: Final[tuple[tuple[str, re.Pattern[str]], ...]] = (
    _shape(
        "private_key",
        r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]*?-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----|[A-Za-z0-9+/=\s\\:,.-]*)",
    ),
    _shape("putty_key", r"PuTTY-User-Key-File-\d[\s\S]*?Private-MAC: ?[0-9a-f]+"),
    _shape("memgov_key", r"\bmgk_[A-Za-z0-9_-]{8,}"),
    _shape("anthropic_key", r"\bsk-ant-[A-Za-z0-9]+-[A-Za-z0-9_-]{4,}|\bsk-ant-[A-Za-z0-9_-]{16,}"),
    _shape("openrouter_key", r"\bsk-or-(?:v\d-)?[A-Za-z0-9_-]{20,}"),
    _shape("openai_key",
        r"\bsk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{16,}|\bsk-[A-Za-z0-9]{20,}"),
    _shape("aws_access_key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    _shape("alibaba_key", r"\bLTAI[A-Za-z0-9]{12,26}\b"),
    _shape("tencent_key", r"\bAKID[A-Za-z0-9]{28,40}\b"),
    _shape("github_token", r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}"),
    _shape("gitlab_token", r"\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent|oas)-[A-Za-z0-9_.-]{16,}"),
    _shape("slack_token", r"\bxox[a-z]-(?:\d+-)?[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}"),
    _shape("slack_webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9_/+-]{16,})"),
    _shape("discord_webhook", r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{10,}/[\w-]{20,})"),
    _shape("teams_webhook", r"webhook\.office\.com/webhookb?2?/(?P<secret>[\w@/-]{30,})"),
    _shape("discord_token", r"\b[MNO][A-Za-z\d_-]{23,25}\.[A-Za-z\d_-]{6}\.[A-Za-z\d_-]{27,}"),
    _shape("telegram_token", r"\b\d{8,10}:[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])"),
    _shape("stripe_key", r"\b(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{16,}"),
    _shape("session_cookie",
        r"\b(?:j?session(?:_?id)?|phpsessid|connect\.sid|sid|auth|remember_token)=(?P<secret>[A-Za-z0-9%._-]{16,})",
        re.IGNORECASE),
    _shape("google_key", r"\bAIza[A-Za-z0-9_-]{30,}"),
    _shape("google_token",
        r"\bya29\.[A-Za-z0-9_.-]{16,}|\bGOCSPX-[A-Za-z0-9_-]{16,}|(?<!\d)1//0[A-Za-z0-9_-]{20,}"),
    _shape("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){1,3}"),
    _shape("npm_token", r"\bnpm_[A-Za-z0-9]{20,}"),
    _shape("pypi_token", r"\bpypi-[A-Za-z0-9_-]{16,}"),
    _shape("rubygems_key", r"\brubygems_[0-9a-f]{32,}"),
    _shape("crates_token", r"\bcio[A-Za-z0-9]{32}\b"),
    _shape("docker_token", r"\bdckr_(?:pat|oat)_[A-Za-z0-9_-]{16,}"),
    _shape("huggingface_token", r"\b(?:hf|api_org)_[A-Za-z0-9]{20,}"),
    _shape("azure_key", r"(?:AccountKey|SharedAccessKey|AccessKey)=(?P<secret>[A-Za-z0-9+/=]{20,})"),
    _shape("azure_signature", r"[?&]sig=(?P<secret>[A-Za-z0-9%+/=]{20,})"),
    _shape("azure_client_secret", r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}"),
    _shape("sendgrid_key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    _shape("mailgun_key", r"\bkey-[0-9a-f]{32}\b"),
    _shape("mailchimp_key", r"\b[0-9a-f]{32}-us\d{1,2}\b"),
    _shape("brevo_key", r"\bxkeysib-[A-Za-z0-9-]{40,}"),
    _shape("twilio_key", r"\bSK[0-9a-f]{32}\b"),
    _shape("shopify_token", r"\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{16,}"),
    _shape("square_token", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,}|\bEAAA[A-Za-z0-9_-]{56,}"),
    _shape("facebook_token", r"\bEAAC[A-Za-z0-9]{30,}"),
    _shape("digitalocean_token", r"\bdo[oprt]_v1_[0-9a-f]{32,}"),
    _shape("databricks_token", r"\bdapi[0-9a-f]{32}(?:-\d)?\b"),
    _shape("hashicorp_token",
        r"\bhv[sbr]\.[A-Za-z0-9_-]{20,}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{40,}"),
    _shape("grafana_token", r"\bgl(?:sa|c)_[A-Za-z0-9+/=_]{20,}"),
    _shape("newrelic_key", r"\bNR(?:AK|JS|RA|II)-[A-Za-z0-9]{20,}"),
    _shape("sentry_token", r"\bsntry[su]_[A-Za-z0-9+/=_-]{20,}"),
    _shape("linear_key", r"\blin_(?:api|oauth)_[A-Za-z0-9]{20,}"),
    _shape("notion_token", r"\bntn_[A-Za-z0-9]{20,}|\bsecret_[A-Za-z0-9]{40,}"),
    _shape("atlassian_token", r"\bAT(?:ATT|CTT|BB)[A-Za-z0-9_=-]{20,}"),
    _shape("airtable_token", r"\bpat[A-Za-z0-9]{14}\.[0-9a-f]{40,}"),
    _shape("postman_key", r"\bPMAK-[0-9a-f]{20,}-[0-9a-f]{20,}"),
    _shape("mapbox_token", r"\bsk\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{10,}"),
    _shape("doppler_token", r"\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]+\.)?[A-Za-z0-9]{30,}"),
    _shape("age_key", r"\bAGE-SECRET-KEY-1[0-9A-Z]{50,}"),
    _shape("figma_token", r"\bfig[dou]_[A-Za-z0-9_-]{20,}"),
    _shape("dropbox_token", r"\bsl\.[A-Za-z0-9_-]{60,}"),
    _shape("onepassword_token", r"\bops_eyJ[A-Za-z0-9_-]{50,}|\bA3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,6}){4,5}\b"),
    _shape("model_service_key",
        r"\b(?:gsk|xai|r8|pplx|nvapi|fw|csk|tgp_v1|jina|voyage|pa)[-_][A-Za-z0-9_-]{28,}"),
    _shape("service_key",
        r"\b(?:sbp|pscale_(?:tkn|pw|oauth)|fm[12]|rnd|vcp|nfp|phx|phc|re|dp|ddp|lsv2_[ps]t|eyxp|"
           r"prefect|pul|tk|pnu|sk|pat|apikey|api|key|secret|token)_[A-Za-z0-9_]*"
           r"(?=[A-Za-z_]*\d)[A-Za-z0-9]{24,}"),
    _shape("url_password",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"<>]{0,128}:(?P<secret>[^\s/@'\"<>]{3,256}?)@"
        r"(?=[\w\[])", re.IGNORECASE),
    _shape("url_password",
        r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"<>]{0,128}:(?P<secret>[^\s@'\"<>]{3,256}?)@"
        r"(?=[\w.-]+[:/])", re.IGNORECASE),
    _shape("authorization_header",
        r"\b(?:Basic|(?i:bearer)|Token|Digest|ApiKey)\s+(?P<secret>(?=[^\s'\"]*[\d=+/_.-])"
           r"[A-Za-z0-9+/=_.~-]{16,})"),
    # in small letters the words are ordinary ones, so the header's name or a long generated value is needed
    _shape("authorization_header",
        r"\bauthorization[\"']?\s*[:=]\s*[\"']?(?:basic|bearer|token|digest|apikey)\s+"
           r"(?P<secret>(?=[^\s'\"]*[\d=+/_.-])[A-Za-z0-9+/=_.~-]{12,})", re.IGNORECASE),
    _shape("authorization_header",
        r"\bbearer\s+(?P<secret>(?=[^\s'\"]*\d)(?=[^\s'\"]*[a-z])[A-Za-z0-9_.~+/=-]{20,})", re.IGNORECASE),
    _shape("session_cookie",
        r"\bcookie\s*[:=]\s*(?:[\w.-]{1,40}=[^\s;,]{0,200};\s*){0,6}?[\w.-]{1,40}="
           r"(?P<secret>(?=[^\s;,]*\d)[^\s;,\"']{16,})", re.IGNORECASE),
    _shape("session_cookie",
        r"\b(?:php|j)?sess(?:ion)?_?id=(?P<secret>(?=[^\s;,]*\d)[^\s;,&\"']{16,})", re.IGNORECASE),
    _shape("password_hash",
        r"\$(?:apr1|[1567y]|2[abxy]|gy|argon2(?:id?|d)|scrypt|pbkdf2[\w-]*)\$[A-Za-z0-9./+=,$-]{20,}"),
    _shape("wireguard_key",
        r"\b(?:PrivateKey|Pre[Ss]haredKey)\s*=\s*(?P<secret>[A-Za-z0-9+/]{42,43}=)"),
)  # fmt: skip

# Every shape above has a run this long without a space that is more than one plain word, so most texts need no
# closer look.
LONG_RUN: Final = re.compile(
    r"(?<![A-Za-z0-9+/=_.~:@-])(?![A-Za-z][a-z]*[.:]?(?![A-Za-z0-9+/=_.~:@-]))[A-Za-z0-9+/=_.~:@-]{12,}"
)
