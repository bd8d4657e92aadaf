#!/usr/bin/python3
"""Fails if a link of the built site leads to no page or to no heading, or if a page loads something from elsewhere."""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.loads = set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.ids.add(attrs.get("id"))
        if tag == "a" and attrs.get("href"):
            self.links.append(attrs["href"])
        elif tag in ("script", "img", "iframe") and attrs.get("src"):
            self.loads.append(attrs["src"])
        elif tag == "link" and attrs.get("rel") not in ("canonical", "prev", "next"):
            self.loads.append(attrs["href"])


def read(site):
    """The pages of a site by their path."""
    pages = {}
    for folder, _, names in os.walk(site):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".html"):
                pages["/" + os.path.relpath(path, site)] = Page(path)
    return pages


def problems(site, pages):
    for here, page in pages.items():
        for url in page.links + page.loads:
            parts = urlsplit(urljoin(here, url))
            if parts.scheme or parts.netloc:
                if url in page.loads:
                    yield f"{here} loads {url}"
                continue
            path = unquote(parts.path)
            path += "index.html" if path.endswith("/") else ""
            if not os.path.isfile(site + path):
                yield f"{here} links to {url}, which does not exist"
            elif parts.fragment and path in pages and unquote(parts.fragment) not in pages[path].ids:
                yield f"{here} links to {url}, and there is no such heading"


def main():
    site = sys.argv[1]
    pages = read(site)
    found = sorted(set(problems(site, pages)))
    print(*found, sep="\n", end="\n" if found else "")
    if not pages or found:
        sys.exit(f"{len(found)} problems in {len(pages)} pages")
    print(f"{len(pages)} pages, {sum(len(p.links) for p in pages.values())} links: all lead somewhere")


main()
