"""Every address of the product."""

from django.urls import include, path
from django.views.generic import RedirectView

from memgov import process_endpoints as process

urlpatterns = [
    path("api/v1/", include("memory.api.urls")),
    path("livez", process.livez),
    path("readyz", process.readyz),
    path("metrics", process.metrics),
    path(".well-known/oauth-protected-resource", process.protected_resource),
    path("mcp", process.mcp_is_elsewhere),
    path("mcp/<path:rest>", process.mcp_is_elsewhere),
    # An address is proved by an invitation, never claimed: allauth would let an account take one that nobody verified.
    path("accounts/email/", RedirectView.as_view(pattern_name="pages:me")),
    path("accounts/", include("allauth.urls")),
    path("", include("memory.pages.urls")),
]

handler400 = "memory.api.problems.malformed"
handler404 = "memory.api.problems.not_found"
handler500 = "memory.api.problems.unforeseen"
