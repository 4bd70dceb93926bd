"""Django's PostgreSQL backend with a cheaper look at whether a kept connection still lives."""
