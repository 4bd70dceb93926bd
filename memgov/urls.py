"""Every address of the product."""

from django.http import HttpResponse
from django.urls import path

urlpatterns = [path("livez", lambda r: HttpResponse("ok"))]
