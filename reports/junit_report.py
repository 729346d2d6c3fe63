"""JUnit XML: a suite per file and a test per query, for servers that show test results.

A test fails where its query is not bounded, is an error where the query could not be analysed, and is skipped where
somebody accepted its findings.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from streambound.criteria.vocabulary import Verdict
from streambound.reports.outcome import Outcome
from streambound.reports.places import repository_path
from streambound.reports.text_report import bound_text, diagnostic_lines

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_report(outcomes: tuple[Outcome, ...], color: bool = False) -> str:
    """A document of suites; ``color`` is ignored."""
    files: dict[str, list[Outcome]] = {}
    for item in outcomes:
        files.setdefault(item.source.file, []).append(item)
    root = ET.Element("testsuites", {"name": "streambound", **_numbers(outcomes)})
    root.extend(_suite(file, tuple(items)) for file, items in files.items())
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode")


def _numbers(items: tuple[Outcome, ...]) -> dict[str, str]:
    results = [_result(item) for item in items]
    return {"tests": str(len(items)), "failures": str(results.count("failure")), "errors": str(results.count("error"))}


def _result(item: Outcome) -> str:
    """The element that says how a test went; empty for one that passed."""
    if item.passes:
        return "skipped" if item.suppressed else ""
    return "error" if item.verdict is Verdict.ERROR else "failure"


def _suite(file: str, items: tuple[Outcome, ...]) -> ET.Element:
    skipped = sum(_result(item) == "skipped" for item in items)
    name = _xml(repository_path(file))
    suite = ET.Element("testsuite", {"name": name, **_numbers(items), "skipped": str(skipped)})
    suite.extend(_case(name, item) for item in items)
    return suite


def _case(file: str, item: Outcome) -> ET.Element:
    case = ET.Element("testcase", {"name": _xml(item.name), "classname": file})
    lines = [line for found in item.diagnostics for line in (*diagnostic_lines(item, found, False), "")]
    text = _xml("\n".join((*lines, f"{item.verdict.value}{bound_text(item)}")))
    if result := _result(item):
        first = next(iter(item.diagnostics), None)
        kind, message = (f"{first.code} {first.code.slug}", first.message) if first else (item.verdict.value, "")
        ET.SubElement(case, result, {"type": kind, "message": _xml(message)}).text = text
    else:
        ET.SubElement(case, "system-out").text = text
    return case


def _xml(text: str) -> str:
    """The text without characters that XML has no way to write."""
    return _NOT_XML.sub("\ufffd", text)
