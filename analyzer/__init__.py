"""What a query means: catalog, SQL front end, query IR, closure, boundedness, spans and diagnostics."""
