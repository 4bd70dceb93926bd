"""One straight function per use case, named <entity>_<verb>.

A service takes a principal and plain values, works inside the principal's tenant context, writes its audit
event in the same transaction, and returns an outcome.  It raises only where the caller cannot go on
(`memory.services.errors`).
"""
