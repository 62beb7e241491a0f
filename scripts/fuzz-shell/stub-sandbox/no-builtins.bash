# BASH_ENV of every line: what bash would do by itself becomes a program, which is written down, as is what is missing.
command_not_found_handle() { /.driver/missing "$@"; }
# Bash parses the words after these in a way of their own as long as they are builtins: hidden, not taken away.
alias() { /stubs/alias "$@"; }
declare() { /stubs/declare "$@"; }
eval() { /stubs/eval "$@"; }
export() { /stubs/export "$@"; }
let() { /stubs/let "$@"; }
local() { /stubs/local "$@"; }
readonly() { /stubs/readonly "$@"; }
typeset() { /stubs/typeset "$@"; }
enable -n . : [ bg bind break builtin caller cd command compgen complete compopt continue dirs disown echo exec exit \
  false fc fg getopts hash help history jobs kill logout mapfile popd printf pushd pwd read readarray return set shift \
  shopt source suspend test times trap true type ulimit umask unalias unset wait enable
