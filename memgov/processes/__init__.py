"""The parts of `memgov up`: what is run, one supervised process, its log, the start's steps and words.

`memgov.supervisor` puts them together.  Only `prepare` (a process of its own) imports Django.
"""
