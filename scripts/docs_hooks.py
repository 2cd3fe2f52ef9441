"""What MkDocs does besides: pages that lie outside of docs/ or are made from the code, links to
files that are no pages, and the names of files above blocks of code.

mkdocs.yml names this file; see https://www.mkdocs.org/user-guide/configuration/#hooks.
"""

from __future__ import annotations

import posixpath
import re
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import yaml
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OUTSIDE = {
    "models/README.md": "shipped/models.md",
    "assets/stimuli/README.md": "shipped/stimulus-sets.md",
    **{
        page.relative_to(ROOT).as_posix(): f"shipped/{page.parent.name}.md"
        for page in sorted(ROOT.glob("examples/*/README.md"))
    },
    "benchmarks/README.md": "shipped/benchmarks.md",
    **{
        f"benchmarks/{name}.md": f"shipped/{name.replace('_', '-')}.md"
        for name in (
            "simulated_studies",
            "forecast_power",
            "concept_studies",
            "concept_learners",
            "reproduce_metrics",
            "outside_tools",
        )
    },
    "CONTRIBUTING.md": "shipped/contributing.md",
    "CHANGELOG.md": "shipped/changelog.md",
}
"""Pages that stand beside what they are about, and where they are among the others."""
REFERENCE = "reference/README.md"
"""Its headings name the pages made from the code; a link to a heading leads to the page."""
CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)
LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<target>[^)\s#]*)(?P<heading>#[^)\s]*)?\)"
)
HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
NAMED = re.compile(r"^```(\w+) ([^\s{]+)$", re.MULTILINE)
LOADED = re.compile(r"""<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)=["']?(https?:[^\s"'>]+)""")
LESS_SOUGHT, LESS = ("adr/", "glossary", "shipped/", "recipes/", "architecture"), 0.3
"""Pages that come after others among the results of a search, and how much they count."""
QUERY = ".split(/\\s+/g).reduce("
KEPT = "(w,i,all)=>all.length<2||lunr.stopWordFilter(w.toLowerCase())"
ASKED = QUERY.replace(".reduce(", f".filter({KEPT}).reduce(")
"""Where the search splits a query. It puts a wildcard behind each word, so the "a" of "how do I
delete a session" would find every word that begins with it: such words are left out here."""
LEFT_OUT = ("assets/javascripts/lunr", "search/search_index.json", "sitemap.xml", "sitemap.xml.gz")
"""Of the site: the search in languages that no page has, and what only a server needs."""


sys.path.insert(0, str(ROOT))
from scripts.docs_reference import headings, pages  # noqa: E402


def on_files(files: Files, config: MkDocsConfig) -> Files:
    from mkdocs.structure.files import File

    made = {uri: (ROOT / source).read_text("utf-8") for source, uri in OUTSIDE.items()}
    for uri, content in {**made, **pages()}.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The page as MkDocs reads it; in the checkout it is as GitHub reads it."""
    uri = page.file.src_uri
    page.meta["tags"] = keywords().get(uri, [])  # which the search reads; pages do not show them
    if uri.startswith(LESS_SOUGHT):
        page.meta["search"] = {"boost": LESS}
    markdown = markdown.replace(")** · **[", ")** **[")  # which pages.css makes buttons
    sources = {made: source for source, made in OUTSIDE.items()}
    folder = posixpath.dirname(sources.get(uri, f"docs/{uri}"))
    if uri == REFERENCE:
        markdown = HEADING.sub(_headed, markdown)
    done, end = [], 0
    for code in CODE.finditer(markdown):
        done += [_linked(markdown[end : code.start()], uri, folder), _titled(code[0])]
        end = code.end()
    return "".join([*done, _linked(markdown[end:], uri, folder)])


@cache
def keywords() -> dict[str, list[str]]:
    """What people type who look for a page, by its name."""
    return dict(yaml.safe_load((ROOT / "docs" / "keywords.yaml").read_text("utf-8")))


@event_priority(-200)  # behind the plugin `offline`, which makes a script of the search's index
def on_post_build(config: MkDocsConfig) -> None:
    """Leave out what nobody who opens the pages from a disk is ever sent, and refuse pages that
    load something from elsewhere."""
    site = Path(config.site_dir)
    for page in site.rglob("*.html"):
        if loaded := LOADED.findall(page.read_text("utf-8")):
            raise PluginError(f"{page} asks a server for {', '.join(loaded)}")
    if not (site / "search" / "search_index.js").is_file():
        raise PluginError("the search would not work in pages that are opened from a disk")
    (worker,) = site.glob("assets/javascripts/workers/search.*.js")
    script = worker.read_text("utf-8")
    if script.count(QUERY) != 1:
        raise PluginError(f"{worker} takes queries apart in another way than before")
    worker.write_text(script.replace(QUERY, ASKED), "utf-8")
    for name in LEFT_OUT:
        path = site / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in site.rglob("*.map"):
        path.unlink()


def _headed(match: re.Match[str]) -> str:
    """A heading of the reference's first page, with a link to what it names."""
    return f"## [{match[1]}](README.md#{_slug(match[1])})"


def _slug(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _titled(code: str) -> str:
    """```yaml a.yaml becomes a block with the file's name above it."""
    return NAMED.sub(r'``` { .\1 title="\2" }', code)


def _linked(text: str, uri: str, folder: str) -> str:
    def link(match: re.Match[str]) -> str:
        target = match["target"]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = posixpath.normpath(posixpath.join(folder, target))
        heading = match["heading"] or ""
        page = OUTSIDE.get(path)
        if page is None and path.startswith("docs/"):
            page = path.removeprefix("docs/")
        if page is None:  # a file of the checkout, which is no page
            return (
                f"{match['text']} (`{path}`)" if match["text"].strip("`") != path else match["text"]
            )
        if page == REFERENCE and heading:  # the repository's own view has only the headings
            made = {f"#{_slug(head)}": uri for head, uri in headings().items()}
            page, heading = made[heading], ""
        relative = posixpath.relpath(page, posixpath.dirname(uri) or ".")
        return f"{match['image']}[{match['text']}]({relative}{heading})"

    return LINK.sub(link, text)
