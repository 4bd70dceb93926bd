"""The demo: two plainly fictional tenants whose 90 days were lived, not inserted.

Everything goes through the services that agents and people use, under a moved clock.
"""
