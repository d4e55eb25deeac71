#!/bin/sh
# Makes sure that a Chromium is there for the browser test: one that is installed, Debian's
# package when we may install it, or else Playwright's own.
set -eu
for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null 2>&1 && exit 0
done
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null
    exit 0
fi
"${PYTHON:-python3}" -m playwright install chromium ||
    echo "No browser could be installed: the browser test will be skipped." >&2
