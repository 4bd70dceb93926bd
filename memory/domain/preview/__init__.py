"""Trying a policy on what is stored and what was written, without writing anything: the pure part.

`gate` judges stored entries again, `replay` repeats writes against an imaginary store, `tally` counts and keeps the
samples that look most like a mistake.
"""
