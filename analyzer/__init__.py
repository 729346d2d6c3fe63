"""What a query means: catalog, SQL front end, immutable query IR, closure, boundedness, spans and
diagnostics.
"""
