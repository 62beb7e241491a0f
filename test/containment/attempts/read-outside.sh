# Reads a file outside of the roots, by its full name.
# Why: it is the first thing that a stolen agent is told to do; everything else on the machine lies outside.
# needs: any
# at-none: escapes
. "$(dirname "$0")/attempt.sh"
steal "$secretFile" < <(cat "$secretFile")
steal grep < <(grep -ra planted- "$(dirname "$secretFile")")
held 'the file is not there'
