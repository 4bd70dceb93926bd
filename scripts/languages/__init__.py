"""Catalogues of translations: collected, completed and compiled without any program of the system."""
