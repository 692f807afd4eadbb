"""Opens pages in a headless browser, runs a script in them, and returns what it found."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

#: Runs the given script after the page's own, and leaves its result and all errors in the page.
_PROBE = """\
<script>
const errors = [];
addEventListener("error", (event) => errors.push(event.message));
</script>
"""
_RUN = """\
<script>
(async () => {
  let found = null;
  try { found = await (async () => {%s})(); } catch (error) { errors.push(String(error)); }
  const holder = document.createElement("pre");
  holder.id = "found";
  holder.textContent = JSON.stringify({ found, errors });
  document.body.append(holder);
})();
</script>
"""
#: Shows a page in a frame of some width, and takes the result over when it is there.
_FRAME = """\
<iframe src="{name}" width="{width}" height="{height}"></iframe>
<script>
const wait = setInterval(() => {{
  const found = document.querySelector("iframe").contentDocument?.getElementById("found");
  if (found) {{ clearInterval(wait); document.body.append(found.cloneNode(true)); }}
}}, 20);
</script>
"""


def browser() -> str | None:
    """The path of a Chromium, if there is one."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def run_in_page(page: Path, script: str, *, width: int = 1300, height: int = 1000) -> Any:
    """What `script`, the body of an async function, returns in a page of that width.

    The page stands in a frame, since a browser's window has a least width.
    Raises AssertionError if anything raised in the page.
    """
    text = page.read_text(encoding="utf-8")
    text = text.replace("<head>", f"<head>{_PROBE}", 1).replace(
        "</body>", f"{_RUN % script}</body>"
    )
    inner, outer = (
        page.with_name(f"{page.stem}.probe.htm"),
        page.with_name(f"{page.stem}.frame.htm"),
    )
    inner.write_text(text, encoding="utf-8")
    outer.write_text(_FRAME.format(name=inner.name, width=width, height=height), encoding="utf-8")
    dumped = _headless("--virtual-time-budget=60000", "--dump-dom", outer.as_uri())
    match = re.search(r'<pre id="found">(.*?)</pre>', dumped, re.DOTALL)
    assert match is not None, dumped[-2000:]
    answer = json.loads(html.unescape(match.group(1)))
    assert not answer["errors"], answer["errors"]
    return answer["found"]


def screenshot(page: Path, picture: Path, *, width: int, height: int, dark: bool = False) -> None:
    """Take a picture of a page."""
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    _headless(
        "--hide-scrollbars",
        f"--window-size={width},{height}",
        *scheme,
        f"--screenshot={picture}",
        page.as_uri(),
    )


def _headless(*arguments: str) -> str:
    path = browser()
    assert path is not None
    done = subprocess.run(
        [
            path,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--allow-file-access-from-files",
            *arguments,
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=True,
    )
    return done.stdout


__all__ = ["browser", "run_in_page", "screenshot"]
