"""A page in headless Chromium: what a script finds in it, and what the console says."""

import html
import json
import pathlib
import re
import shutil
import subprocess
import tempfile

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def look(text, width, probe):
    """(what `probe` finds in the page, shown in a frame of this width; what the console says)."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "page.html").write_text(text, encoding="utf-8")
        # A window cannot be as narrow as a telephone; a frame can.
        (folder / "frame.html").write_text(
            f"<!DOCTYPE html><body><iframe id=page width={width} height=2000 src=page.html></iframe><pre"
            f" id=found>nothing</pre><script>document.getElementById('page').onload = () => {{ {probe}"
            " };</script>",
            encoding="utf-8",
        )
        done = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--allow-file-access-from-files",
                f"--user-data-dir={folder / 'profile'}",
                "--enable-logging=stderr",
                "--window-size=1700,2200",
                "--virtual-time-budget=5000",
                "--dump-dom",
                f"file://{folder / 'frame.html'}",
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        )
    found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
    console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    return json.loads(html.unescape(found.group(1))), console
