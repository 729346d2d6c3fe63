"""Punctuations: patterns in a stream that say which rows will not come any more, and what operators may do with them.

A punctuation is a tuple of patterns, one per attribute. A stream is grammatical when no row matches a punctuation that
came before it (Tucker, Maier, Sheard, Fegaras, "Exploiting punctuation semantics in continuous data streams", TKDE
15(3), 2003; Maier and Tucker, "Punctuations", Encyclopedia of Database Systems). For each operator there are three
invariants, functions of what has arrived so far:

- pass: the rows that can be output already;
- keep: the rows of the state that later output can still depend on;
- propagation: the punctuations that hold for the operator's own output once the rows of `pass` are out.

`match`, `combine`, the pass invariant of sort and the propagation invariants of sort and union are those of the pages
"Punctuated Data Streams" that accompany the paper (Functions, Pass Invariants, Propagation Invariants; Tucker, 2005).
The other invariants are stated and argued where they are; each is checked by enumeration in `tests/punctuation`.
"""
