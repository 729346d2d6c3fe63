"""Write the pages of the documentation site, for mkdocs: python docs/write_site.py DIR."""

import re
import sys
from pathlib import Path
from shutil import copyfile

ROOT = Path(__file__).resolve().parents[1]
FILES = (
    "*.md", "LICENSE", "docs/*.md", "docs/*.css", "docs/*.svg", "docs/codes/*.md", "docs/schemas/*.json",
    "benchmarks/*.md", "examples/*/*.md", "examples/*/*.sql", "examples/*/*.toml", "tests/*/README.md",
)  # fmt: skip
_FILE = re.compile(r"^```(\w+) file=(\S+)$", flags=re.M)
_SPARK = re.compile(r"^```(\w+) spark$", flags=re.M)


def write_site(directory: Path) -> None:
    """Write every page, and what pages link to, below a directory: a block that is a file has its name as title."""
    for pattern in FILES:
        for file in ROOT.glob(pattern):
            target = directory / file.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file.suffix == ".md":
                target.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
            else:
                copyfile(file, target)


def page(text: str) -> str:
    """A page as mkdocs reads it.

    >>> page("```sql file=q.sql")
    '```sql title="q.sql"'
    """
    return _SPARK.sub(r"```\1", _FILE.sub(r'```\1 title="\2"', text))


if __name__ == "__main__":
    write_site(Path(sys.argv[1]))
