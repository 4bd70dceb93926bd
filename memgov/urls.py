"""Every address of the product."""

from django.urls import path
from django.http import HttpResponse
urlpatterns = [path("livez", lambda r: HttpResponse("ok"))]
