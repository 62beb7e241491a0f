import type { HazardRow } from '../program-table.ts'
import { hiddenRow, reachRow } from '../row.ts'

/** The reason of options that verify what is signed. */
export const CHECKS_SIGNATURES = 'runs the program that checks signatures'

/** The reason of options that show a diff where none is expected. */
export const SHOWS_DIFF = 'shows a diff, with the converters that the configuration names'

/** What the diff options of git can do, wherever a command shows a diff. */
export const DIFF_ROWS: readonly HazardRow[] = [
  reachRow('--output=FILE', 'writes the diff to a file', '--output out.patch'),
  hiddenRow('--ext-diff', 'runs the diff program that the configuration names', '--ext-diff'),
  hiddenRow('--textconv', 'runs the converter that the configuration names', '--textconv'),
  reachRow('-O=FILE', 'reads a file that gives the order', '-Oorder.txt'),
  reachRow('--help', 'opens a viewer', '--help'),
]

/** Harmless diff options with a value. */
export const DIFF_TEXTS =
  '-G -S -l -I --inter-hunk-context --output-indicator-new --output-indicator-old --output-indicator-context ' +
  '--diff-algorithm --anchored --word-diff-regex --ws-error-highlight --diff-filter --find-object --rotate-to ' +
  '--skip-to --src-prefix --dst-prefix --line-prefix --stat-width --stat-name-width --stat-graph-width --stat-count ' +
  '--ignore-matching-lines --max-depth --color-moved-ws --diff-merges'

/** Harmless diff options whose value is attached. */
export const DIFF_MAYBES =
  '-U --unified -M --find-renames -C --find-copies -B --break-rewrites -X --dirstat --dirstat-by-file --stat ' +
  '--color --color-moved --word-diff --color-words --abbrev --relative --submodule ' +
  '--ignore-submodules --cumulative'

/** Harmless diff options without a value. */
export const DIFF_FLAGS =
  '-p -u --patch -s --no-patch --raw --patch-with-raw --patch-with-stat --indent-heuristic --no-indent-heuristic ' +
  '--minimal --patience --histogram --compact-summary --numstat --shortstat --summary -z --name-only --name-status ' +
  '--no-color --no-color-moved --no-color-moved-ws --no-renames --rename-empty --no-rename-empty --check --full-index ' +
  '--binary -D --irreversible-delete --find-copies-harder --pickaxe-all --pickaxe-regex -R --no-relative -a --text ' +
  '--ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W ' +
  '--function-context --exit-code --quiet -q --no-ext-diff --no-textconv --no-prefix --default-prefix -1 -2 -3 -0 ' +
  '--ita-visible-in-index --ita-invisible-in-index --base --ours --theirs -c --cc --combined-all-paths -m --no-diff-merges -t --no-abbrev ' +
  '--dd --remerge-diff --follow --no-follow --no-function-context --no-compact-summary --no-full-index --no-quiet ' +
  '--no-find-copies-harder --no-minimal --no-ignore-matching-lines --no-exit-code'
