# What every attempt in bash uses: the facts an attacker would know, and the one line at the end.
here=$(dirname "${BASH_SOURCE[0]}")
. "$here/facts.sh"
said=

# An escape with its evidence.
escaped() { finish ESCAPED "$1"; }

# An escape, if what is read holds something planted; else it goes on.
steal() {
  local found
  found=$(grep -aoEm1 'planted-[a-z]+-[0-9a-f]{24}' 2>/dev/null | head -n1)
  [ -z "$found" ] || escaped "$1: $found"
}

held() { finish HELD "$1"; }

finish() {
  said=1
  printf '%s: %s\n' "$1" "${2//$'\n'/ }"
  exit 0
}

trap '[ -n "$said" ] || echo "BROKEN: it ended without a verdict"' EXIT
