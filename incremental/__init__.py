"""Queries as circuits over Z-sets: DBSP (Budiu et al., VLDB 2023), with SQL's bags, NULL and time."""
