"""From the algebra's trees to circuits over Z-sets: one file a family of operators (DBSP, table 1, for bags)."""
