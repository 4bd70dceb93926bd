"""The calls of the API, by what they are about.  A view reads the request, calls one service, shows the answer."""
