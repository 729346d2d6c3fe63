"""Checks derivations: certificates of statements by the rules of operators.

A derivation is a tree of operations over the statement's tree of operators, and a log of facts. Each operation says its
rule, what is needed of its rows, and its states; each state why it has no more entries; each fact, of a column
at a node of the tree, of which facts before it. So there is nothing to search for: what a condition says of two columns
is a path of differences, each an atom of it or a fact, and the checker adds them up.

The checker binds the SQL again by the front end (statement, lowering, schema, blocks as queries, rewrites that need no
facts: shared, and guarded by running against other engines), and has a function for each rule, which compares: sums
along a path, whether a value set has another one in it, products. It knows nothing of how the judge found its facts,
and imports none of that. The tables of a select-project-join block are checked by `recheck.certificates` as those of a
query of its own.

What has no function here is *not checked*, which is said by operator: never accepted.
"""
