# Looks for the hub's variables in its own environment, in that of process 1 and on the command lines around it.
# Why: a child inherits everything unless somebody takes it away, and process 1 of a sandbox is a child as well.
# needs: any
# at-none: held because commands get a list of variables at every level, never the hub's own
. "$(dirname "$0")/attempt.sh"
steal env < <(env)
steal set < <(set)
steal own < <(cat /proc/self/environ /proc/$$/environ)
[ "$(cat /proc/1/comm)" = bwrap ] && steal first < <(cat /proc/1/environ /proc/1/cmdline)
steal shells < <(bash -lc env; sh -c set)
held 'only what is on the list'
