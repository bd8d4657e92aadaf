"""Hooks of mkdocs: what the site needs besides the pages as they are in docs/."""

import os
import posixpath
import re
from urllib.parse import urlsplit

from pymdownx.slugs import slugify

DOCS = os.path.join(os.path.dirname(__file__), "..", "..", "docs")
SOURCE = "https://github.com/sei-operator/sei-operator/blob/main/"
LINK = re.compile(r"(\[[^\]]*\]\()([^)\s]+)(\))")
FENCED = re.compile(r"(^ *```.*?^ *```)", re.M | re.S)


def on_config(config):
    # The ids of headings are those of GitHub, so that links to them lead there in both places.
    config["mdx_configs"]["toc"]["slugify"] = slugify(case="lower")
    config["nav"] = navigation(read("README.md"))
    return config


def navigation(index):
    """The index of the documentation, section by section, with runbooks and decisions."""
    nav = [{"Documentation": "README.md"}]
    for section in re.split(r"^## ", index, flags=re.M)[1:]:
        parts = re.split(r"^### ", section, flags=re.M)
        title, rows = parts[0].split("\n", 1)
        groups = [part.split("\n", 1) for part in parts[1:]]
        nav.append({title: pages(rows) + [{group: pages(table)} for group, table in groups]})
    for title, folder in (("Runbooks", "runbooks"), ("Decisions", "adr")):
        names = sorted(name for name in os.listdir(os.path.join(DOCS, folder)) if name != "README.md")
        nav.append({title: [f"{folder}/{name}" for name in names]})
    return nav


def pages(table):
    """The pages of docs/ that the rows of a table begin with."""
    links = re.findall(r"^\| \[([^\]]+)\]\(([^)]+\.md)\)", table, flags=re.M)
    return [{text: page} for text, page in links if not page.startswith("..")]


def on_files(files, config):
    for file in list(files):
        if file.src_path.endswith(".go"):
            files.remove(file)
    return files


def on_page_markdown(markdown, page, config, files):
    """Links to what is not in docs/ lead to the repository."""

    def target(match):
        url = match[2]
        path = urlsplit(url).path
        if urlsplit(url).scheme or not path:
            return match[0]
        full = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page.file.src_path), path))
        if full.startswith("docs/"):
            return match[0]
        return match[1] + SOURCE + full + url[len(path):] + match[3]

    parts = FENCED.split(markdown)
    parts[::2] = [LINK.sub(target, part) for part in parts[::2]]
    return "".join(parts)


def read(page):
    with open(os.path.join(DOCS, page), encoding="utf-8") as file:
        return file.read()
