import { readLineRange } from '../git-paths.ts'
import { type HazardRow, hiddenRow, type ProgramTable, reachRow } from '../program-table.ts'

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

/** Options of diffs whose values name files, or files of a revision. */
export const NAMING_FILES = {
  files: '--rotate-to --skip-to',
  scripts: '-L --find-object',
  readScript: readLineRange,
} as const

/** Harmless diff options with a value. */
export const DIFF_TEXTS =
  '-G -S -l -I --inter-hunk-context --output-indicator-new --output-indicator-old --output-indicator-context ' +
  '--diff-algorithm --anchored --word-diff-regex --ws-error-highlight --diff-filter ' +
  '--src-prefix --dst-prefix --line-prefix --stat-width --stat-name-width --stat-graph-width --stat-count ' +
  '--ignore-matching-lines --max-depth --color-moved-ws --diff-merges'

/** Harmless diff options whose value is attached. */
const DIFF_MAYBES =
  '-U --unified -M --find-renames -C --find-copies -B --break-rewrites -X --dirstat --dirstat-by-file --stat ' +
  '--color --color-moved --word-diff --color-words --abbrev --relative --submodule ' +
  '--ignore-submodules --cumulative'

/** Harmless diff options without a value. */
const DIFF_FLAGS =
  '-p -u --patch -s --no-patch --raw --patch-with-raw --patch-with-stat --indent-heuristic --no-indent-heuristic ' +
  '--minimal --patience --histogram --compact-summary --numstat --shortstat --summary -z --name-only --name-status ' +
  '--no-color --no-color-moved --no-color-moved-ws --no-renames --rename-empty --no-rename-empty --check --full-index ' +
  '--binary -D --irreversible-delete --find-copies-harder --pickaxe-all --pickaxe-regex -R --no-relative -a --text ' +
  '--ignore-cr-at-eol --ignore-space-at-eol -b --ignore-space-change -w --ignore-all-space --ignore-blank-lines -W ' +
  '--function-context --exit-code --quiet -q --no-ext-diff --no-textconv --no-prefix --default-prefix -1 -2 -3 -0 ' +
  '--ita-visible-in-index --ita-invisible-in-index --base --ours --theirs -c --cc --combined-all-paths -m --no-diff-merges -t --no-abbrev ' +
  '--dd --remerge-diff --follow --no-follow --no-function-context --no-compact-summary --no-full-index --no-quiet ' +
  '--no-find-copies-harder --no-minimal --no-ignore-matching-lines --no-exit-code'

const HELP = reachRow('--help', 'opens a viewer', '--help')

const LOG = {
  rows: [
    ...DIFF_ROWS,
    hiddenRow('--show-signature', CHECKS_SIGNATURES, '--show-signature'),
    hiddenRow('--pretty --format[=TEXT]', CHECKS_SIGNATURES, '--pretty=%GK', /%[-+ ]?G/),
    reachRow('--stdin', 'reads its operands from its input', '--stdin'),
  ],
  texts:
    `${DIFF_TEXTS} -n --max-count --skip --since --after --until --before --since-as-filter --author --committer ` +
    '--grep-reflog --grep --max-age --min-age --date --glob --exclude --exclude-hidden --encoding --min-parents ' +
    '--max-parents --decorate-refs --decorate-refs-exclude',
  maybes: `${DIFF_MAYBES} --decorate --branches --tags --remotes --notes --show-notes --expand-tabs --ancestry-path`,
  flags: `${DIFF_FLAGS} -g -i -E -F -P --oneline --graph --all --follow --no-walk --reverse --source --merges --no-merges`,
  ...NAMING_FILES,
  operands: 'revisions',
} as const

/** The commands of git that only read; their operands are revisions or files, and a revision is a file that is not there. */
export const GIT_READING_COMMANDS: readonly ProgramTable[] = [
  {
    names: 'status',
    rows: [hiddenRow('-v --verbose', SHOWS_DIFF, '-v'), HELP],
    flags:
      '-s --short -b --branch --show-stash --long -z --ahead-behind --no-ahead-behind --renames ' +
      '--no-renames --no-column --no-branch --no-short --null --no-verbose --no-show-stash --no-porcelain --no-long ' +
      '--no-untracked-files --no-ignored --no-ignore-submodules',
    maybes: '-u --untracked-files --ignored --ignore-submodules --column -M --find-renames --porcelain',
    isClosed: true,
    operands: 'revisions',
  },
  {
    names: 'diff diff-index diff-tree diff-files range-diff',
    rows: [
      ...DIFF_ROWS,
      reachRow('--no-index', 'compares any two files, of the repository or not', '--no-index'),
      reachRow('--stdin', 'reads its operands from its input', '--stdin'),
    ],
    texts: `${DIFF_TEXTS} --creation-factor`,
    ...NAMING_FILES,
    maybes: DIFF_MAYBES,
    flags:
      `${DIFF_FLAGS} --cached --staged --merge-base --no-merge-base -r --root --no-commit-id --pretty -h ` +
      '--dual-color --no-dual-color --left-only --right-only -v',
    isClosed: true,
    operands: 'revisions',
    operandRows: [
      {
        like: /^\/dev\/null$/,
        kind: 'reach',
        reason: 'makes it compare any two files, of the repository or not',
        example: '/dev/null',
      },
    ],
    clean: '--stat --name-only -U5 HEAD~1 -- src/',
  },
  { names: 'log show whatchanged', ...LOG, clean: '--oneline -5 --since yesterday main -- src/' },
  {
    names: 'reflog',
    ...LOG,
    operandRows: [
      {
        to: 1,
        like: /^(?:expire|delete|drop|write)$/,
        kind: 'reach',
        reason: 'changes the reference log',
        example: 'expire',
      },
    ],
    clean: '-5',
  },
  {
    names: 'grep',
    rows: [
      hiddenRow('-O --open-files-in-pager[=TEXT]', 'starts a program with the files it found', '-Ovim'),
      hiddenRow('--textconv', 'runs the converter that the configuration names', '--textconv'),
      hiddenRow('--ext-grep', 'runs another grep', '--ext-grep'),
      reachRow('-f=FILE', 'reads its patterns from a file', '-f patterns.txt'),
      reachRow('--no-index', 'searches files that are not of the repository', '--no-index'),
      HELP,
    ],
    texts: '-e -A -B -C -m --max-count --after-context --before-context --context --max-depth --threads',
    maybes: '--color --column',
    flags: '--text --no-ext-grep --no-textconv --or --and --not --untracked --cached --only-matching --index',
    operands: { texts: 1, unless: '-e -f', then: 'revisions' },
    clean: '-n foo src/',
  },
  {
    names: 'blame annotate',
    rows: [
      reachRow('--contents=FILE', 'reads another file in place of the one it is asked for', '--contents other.txt'),
      reachRow('-S=FILE', 'reads revisions from a file', '-S revs.txt'),
      reachRow('--ignore-revs-file=FILE', 'reads revisions from a file', '--ignore-revs-file=revs.txt'),
      ...DIFF_ROWS,
    ],
    texts: '-L --since --date --ignore-rev --encoding',
    maybes: '-M -C --abbrev',
    operands: 'revisions',
    clean: '-L 1,20 src/main.go',
  },
  {
    names: 'cat-file',
    rows: [
      hiddenRow('--textconv', 'runs the converter that the configuration names', '--textconv'),
      hiddenRow('--filters', 'runs the filter that the configuration names', '--filters'),
      reachRow('--batch --batch-check --batch-command[=TEXT]', 'reads its operands from its input', '--batch'),
      HELP,
    ],
    operands: 'revisions',
    clean: '-p HEAD:README.md',
  },
  {
    names: 'ls-files ls-tree check-ignore check-attr',
    rows: [
      reachRow('-X --exclude-from=FILE', 'reads patterns from a file', '-X patterns.txt'),
      reachRow('--stdin', 'reads its operands from its input', '--stdin'),
      HELP,
    ],
    texts: '-x --exclude --exclude-per-directory --with-tree --format',
    maybes: '--abbrev',
    flags: '--exclude-standard',
    operands: 'revisions',
    clean: 'src/',
  },
  {
    names:
      'rev-parse rev-list describe shortlog merge-base name-rev show-ref for-each-ref show-branch count-objects ' +
      'cherry var version diff-pairs verify-pack get-tar-commit-id',
    rows: [
      reachRow('--stdin', 'reads its operands from its input', '--stdin'),
      reachRow('--resolve-git-dir=FILE', 'looks at another repository', '--resolve-git-dir=/x/.git'),
      // Those that walk revisions take the options of a diff as well, and open its output immediately.
      ...DIFF_ROWS,
      hiddenRow('--pretty[=TEXT]', CHECKS_SIGNATURES, '--pretty=%GK', /%[-+ ]?G/),
      hiddenRow('--format=TEXT', CHECKS_SIGNATURES, '--format=%GK', /%[-+ ]?G|%\(\*?signature/),
    ],
    operands: 'revisions',
    clean: '--all',
  },
]
