"""Settings of the whole project, read once from the environment by the typed readers of `memgov.env`.

Names are those of the contract (docs/settings.md).  Without ``DATABASE_URL`` and ``REDIS_URL`` the
embedded servers that ``memgov up`` keeps running are used; their addresses stand in the data folder.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from csp.constants import NONCE, NONE, SELF, STRICT_DYNAMIC

from memgov import env
from memgov.embedded import runtime
from memory.domain.types import OutcomeKind, Status

BASE_DIR = Path(__file__).resolve().parent.parent
DATA_DIR = runtime.default_data_dir()

# --- Servers -------------------------------------------------------------------------------------

_running = runtime.read(DATA_DIR) or {}
DATABASE_URL = env.text("DATABASE_URL") or _running.get("app_url", "")
MIGRATION_DATABASE_URL = env.text("MIGRATION_DATABASE_URL") or _running.get("owner_url") or DATABASE_URL
REDIS_URL = env.redis_url(
    "REDIS_URL", env.text("REDIS_URL") or _running.get("redis_url") or "redis://127.0.0.1:6379/0"
)
# A command that needs no database (collectstatic, audit of a file) starts without one; the first query
# of any other then fails at this address with a message that `memgov doctor` explains.
_NO_DATABASE = "postgresql://memgov_app@127.0.0.1:1/memgov"

DATABASES = {
    "default": env.database("DATABASE_URL", DATABASE_URL or _NO_DATABASE)
    | {"CONN_MAX_AGE": 600, "CONN_HEALTH_CHECKS": True},
    "owner": env.database("MIGRATION_DATABASE_URL", MIGRATION_DATABASE_URL or _NO_DATABASE),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "memgov",
        "OPTIONS": {"SOCKET_CONNECT_TIMEOUT": 2, "SOCKET_TIMEOUT": 2, "IGNORE_EXCEPTIONS": True},
    }
}

# --- Identity and web ----------------------------------------------------------------------------

DEBUG = env.boolean("MEMGOV_DEBUG", False)
SECRET_KEY = env.secret("MEMGOV_SECRET_KEY") or runtime.secret_key(DATA_DIR)
ALLOWED_HOSTS = env.words("MEMGOV_ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
PUBLIC_URL = env.text("MEMGOV_PUBLIC_URL", "http://127.0.0.1:8000")
MCP_URL = (env.text("MEMGOV_MCP_URL") or f"{PUBLIC_URL}/mcp").rstrip("/")
HTTPS = urlsplit(PUBLIC_URL).scheme == "https"
CSRF_TRUSTED_ORIGINS = [PUBLIC_URL] if HTTPS else []
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
# Proxies of ours in front of the web: how many entries at the end of X-Forwarded-For are theirs.
MEMGOV_TRUSTED_PROXIES = ALLAUTH_TRUSTED_PROXY_COUNT = env.integer("MEMGOV_TRUSTED_PROXIES", 0, low=0, high=9)
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^livez$", r"^readyz$"]
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_ENGINE = "django.contrib.sessions.backends.cached_db"
X_FRAME_OPTIONS = "DENY"

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "csp",
    "pgtrigger",
    "django_prometheus",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "tenants",
    "memory",
]
# Calls of the API pass these alone; pages pass what `PAGE_MIDDLEWARE` names as well (`memgov.lanes`).
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "tenants.middleware.RequestIdMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "memgov.lanes.PageMiddleware",
    "allauth.account.middleware.AccountMiddleware",  # allauth wants to find it here
]
PAGE_MIDDLEWARE = [
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "tenants.middleware.AccountLanguageMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memory.pages.typed.TypedText",
]
# Django looks for these two in `MIDDLEWARE`: clickjacking and CSRF protection, which pages have and calls do not need.
SILENCED_SYSTEM_CHECKS = ["security.W002", "security.W003"]
ROOT_URLCONF = "memgov.urls"
WSGI_APPLICATION = "memgov.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
                "memory.pages.context.shell",
            ],
            "libraries": {"memgov_ui": "memory.pages.templatetags.memgov_ui"},
            "builtins": [
                "django.templatetags.static",
                "django.templatetags.i18n",
                "memory.pages.templatetags.literals",  # after the one whose tag it takes over
            ],
        },
    }
]
# `memgov.urls` hands out this same policy with one more style hash on pages that draw charts.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [NONCE, STRICT_DYNAMIC],
        "style-src": [SELF],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "manifest-src": [SELF],
    }
}
STATIC_URL = "/static/"
STATIC_ROOT = Path(env.text("MEMGOV_STATIC_ROOT") or DATA_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
WHITENOISE_MAX_AGE = 31_536_000
LANGUAGE_CODE = "en"
# Of the pages and mails; what the API says is English.
LANGUAGES = [("en", "English"), ("de", "Deutsch")]
LANGUAGE_COOKIE_NAME, LANGUAGE_COOKIE_AGE, LANGUAGE_COOKIE_SAMESITE = "language", 31_536_000, "Lax"
LANGUAGE_COOKIE_SECURE = HTTPS
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"
DATA_UPLOAD_MAX_MEMORY_SIZE = 10 * 1024 * 1024

# --- People --------------------------------------------------------------------------------------

AUTH_USER_MODEL = "tenants.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/tenants/"
ACCOUNT_ADAPTER = "tenants.accounts.AccountAdapter"
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/5m/key"}
ACCOUNT_FORMS = {
    "login": "memory.pages.sign_in_forms.SignInForm",
    "reset_password": "memory.pages.sign_in_forms.ResetPasswordForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_FORMS = {
    "add_webauthn": "memory.pages.passkey_forms.AddForm",
    "login_webauthn": "memory.pages.passkey_forms.LoginForm",
    "reauthenticate_webauthn": "memory.pages.passkey_forms.ReauthenticateForm",
}
USERSESSIONS_TRACK_ACTIVITY = False
if env.text("MEMGOV_OIDC_SERVER_URL"):
    SOCIALACCOUNT_PROVIDERS = {
        "openid_connect": {
            "APPS": [
                {
                    "provider_id": "oidc",
                    "name": env.text("MEMGOV_OIDC_NAME", "Single sign-on"),
                    "client_id": env.text("MEMGOV_OIDC_CLIENT_ID"),
                    "secret": env.text("MEMGOV_OIDC_CLIENT_SECRET"),
                    "settings": {"server_url": env.text("MEMGOV_OIDC_SERVER_URL")},
                }
            ]
        }
    }
EMAIL_CONFIG = urlsplit(env.text("EMAIL_URL", "console://"))
_MAIL = "smtp" if EMAIL_CONFIG.scheme.startswith("smtp") else "console"
EMAIL_BACKEND = f"django.core.mail.backends.{_MAIL}.EmailBackend"
EMAIL_HOST, EMAIL_PORT = EMAIL_CONFIG.hostname or "localhost", EMAIL_CONFIG.port or 25
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = (
    unquote(EMAIL_CONFIG.username or ""),
    unquote(EMAIL_CONFIG.password or ""),
)
EMAIL_USE_TLS = EMAIL_CONFIG.scheme == "smtp+tls"
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.text("MEMGOV_FROM_EMAIL", "memgov <memgov@localhost>")

# --- API -----------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["memory.api.authentication.AgentKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["memory.api.permissions.FromItsNetwork"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["memory.api.parsers.StrictJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "memory.api.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "memgov",
    "DESCRIPTION": "Governed long-term memory for AI agents.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    # Two fields are called `outcome`: that of a write, and that of a finished task.
    "ENUM_NAME_OVERRIDES": {
        "MemoryStatusEnum": [status.value for status in Status],
        "WriteOutcomeEnum": [kind.value for kind in OutcomeKind],
        "TaskOutcomeEnum": "memory.services.task_complete.OUTCOMES",
    },
}

# --- Background work -----------------------------------------------------------------------------

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 3600
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": 7200, "socket_timeout": 10}
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"

# --- Memory --------------------------------------------------------------------------------------

MEMGOV_EMBEDDER = env.text("MEMGOV_EMBEDDER", "minilm")
if MEMGOV_EMBEDDER not in {"minilm", "hash", "hash:dense", "none"} and not MEMGOV_EMBEDDER.startswith(
    "openai:http"
):
    raise env.SettingError("MEMGOV_EMBEDDER", "must be minilm, hash, none or openai:URL")
MEMGOV_PREPARED_STATEMENTS = env.boolean("MEMGOV_PREPARED_STATEMENTS", True)
MEMGOV_DURABLE_READS = env.boolean("MEMGOV_DURABLE_READS", False)
MEMGOV_LLM_URL = env.text("MEMGOV_LLM_URL")
MEMGOV_LLM_MODEL = env.text("MEMGOV_LLM_MODEL")
MEMGOV_WEBHOOK_NETWORKS = env.networks("MEMGOV_WEBHOOK_NETWORKS")
# How many visitors may have a copy of the demo of their own at a time; 0 switches the page off.
MEMGOV_DEMO_SANDBOXES = env.integer("MEMGOV_DEMO_SANDBOXES", 0, low=0, high=1000)
# Files that are imported or exported, where web and worker both reach them, and how large an import may be.
MEMGOV_FILES_DIR = Path(env.text("MEMGOV_FILES_DIR") or DATA_DIR / "files")
MEMGOV_IMPORT_BYTES = env.integer("MEMGOV_IMPORT_BYTES", 200 * 1024 * 1024, low=1024, high=2**31 - 1)
MEMGOV_CHECKPOINT_FILE = DATA_DIR / "audit-checkpoints.jsonl"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.text("MEMGOV_LOG_LEVEL", "INFO")},
    "loggers": {"httpx": {"level": "WARNING"}, "mcp": {"level": "WARNING"}},
}
