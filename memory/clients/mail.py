"""Plain-text mail through the server that EMAIL_URL names."""

from __future__ import annotations

import logging
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

log = logging.getLogger(__name__)


def is_on() -> bool:
    """Whether there is a mail server.  Without one nothing is sent: a log is no place for links with secrets."""
    return bool(settings.EMAIL_BACKEND != "django.core.mail.backends.console.EmailBackend")


def send(to: str, subject: str, text: str) -> bool:
    """Hand one mail to the server, within `EMAIL_TIMEOUT` seconds; False when there is none or it refused."""
    if not is_on():
        return False
    line = " ".join(subject.split())  # a header has one line
    try:
        return EmailMessage(line, text, to=[to]).send() == 1
    except (SMTPException, OSError) as error:
        log.warning("mail was not sent: %s", type(error).__name__)
        return False
