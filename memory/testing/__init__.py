"""Memory tests: cases of what agents write and read, run against throw-away tenants, with assertions on what was stored
and injected rather than on what a model said.

`document` and `reading` make cases of a file, `world` is where one is lived, `steps` do, `expectations` compare, `run`
runs many, `reports` tell.  Agents act through the API's own views, so a case meets every rule that an agent meets.
"""
