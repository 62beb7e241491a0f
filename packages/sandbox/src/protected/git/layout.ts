import { foldGitPath } from './entry-path.ts'
import { STATE_FILES } from './state-files.ts'

/** What git does with a path in a git folder, and so what a command may leave there. */
export type GitRule =
  /** Git runs or obeys it: existing ones are closed to commands, and new ones are judged by their content. */
  | 'closed'
  /** Git folders of submodules and of further worktrees. */
  | 'nested'
  | 'folder'
  | 'file'
  /** A file or a folder: git chooses the names. */
  | 'any'
  /** Files that git writes and obeys: judged by their content whenever they have changed. */
  | 'index'
  | 'packed-refs'
  | 'reftable'
  | 'state'
  | 'ref'
  /** A commit that git shows in the place of another. */
  | 'replace'
  /** A ref that comes before a branch of the same name. */
  | 'shadow'
  /** Git obeys it during ordinary work, and shows little or nothing of it. */
  | 'silent'
  /** Something that was renamed because it may not stay: no program reads it by that name. */
  | 'aside'
  /** Git writes nothing there. */
  | 'unknown'

const CLOSED = new Set(['hooks', 'config', 'config.worktree', 'commondir', 'gitdir'])
/** Git obeys these, and writes only the last of them: `git clone --shared`. */
const CLOSED_BELOW = new Set(['info/attributes', 'info/grafts', 'objects/info/alternates'])
const NESTED = new Set(['modules', 'worktrees'])
/** Folders in which git, or what comes with it, chooses the names. */
const TREES = new Set([
  ...['objects', 'refs', 'logs', 'rr-cache', 'lost-found', 'reftable', 'fsmonitor--daemon', 'NOTES_MERGE_WORKTREE'],
  ...['rebase-merge', 'rebase-apply', 'sequencer', 'lfs', 'subtree-cache', 'filter-repo'],
])
/** `git show NAME` tries a file of that name in the git folder first: only names that git itself uses may be there. */
const FILE = new RegExp(
  `^(${[
    '([A-Z]+_)+(EDIT)?MSG|MERGE_[A-Z]+|NOTES_MERGE_[A-Z]+|BISECT_[A-Z_]+',
    'EDIT_DESCRIPTION|REPLACE_EDITOBJ|ADD_EDIT\\.patch|addp-hunk-edit\\.diff|GITGUI_[A-Z]+',
    'description|locked|gc\\.log|gc\\.pid|rebased-patches|packed-refs\\.new|fast_import_crash_\\d+',
    'index\\.stash\\.\\d+|next-index-\\d+|history-split\\.index|(sharedindex|shallow)_\\w{6}',
    // What editors create next to the message of a commit.
    '\\.?[A-Z_]+(~|\\.sw[a-z])',
  ].join('|')})$|\\.lock$`,
)
/** Files at the top that git reads and writes as refs. */
const PSEUDO_REF = /^(HEAD|[A-Z]+(_[A-Z]+)*_HEAD|AUTO_MERGE|BISECT_EXPECTED_REV|NOTES_MERGE_(REF|PARTIAL))$/
const INFO_FILE = /^(exclude|sparse-checkout|refs)$|\.lock$/
/** By its path: what the result of a command says about it. */
const SILENT = new Map([
  ...['MERGE_AUTOSTASH', 'rebase-merge/autostash', 'rebase-apply/autostash'].map(
    (path) => [path, 'autostash'] as const,
  ),
  ...([
    ['info/exclude', 'exclude'],
    ['shallow', 'shallow'],
  ] as const),
])
/** The end of the name of what was set aside. */
export const SET_ASIDE = /\.set-aside-[0-9a-f]{8}$/
const INDEX = /^(index|sharedindex\.[0-9a-f]{40,64})$/

/** The rule for a path in a git folder, which has `/` between its names. */
export function gitRuleOf(path: string): GitRule {
  const [top = '', second, ...more] = path.split('/')
  if (SET_ASIDE.test(path)) return 'aside'
  if (second === undefined) return ruleOfTop(top)
  const folded = foldGitPath(path)
  if (CLOSED_BELOW.has(folded)) return 'closed'
  if (STATE_FILES.has(folded)) return 'state'
  if (SILENT.has(folded)) return 'silent'
  if (top === 'info') return second === 'fast-import' || INFO_FILE.test(second) ? 'any' : 'unknown'
  if (top === 'objects') return path === 'objects/info/http-alternates' ? 'unknown' : 'any'
  // Git writes a ref there before it renames it; no ref has such a name.
  if (top === 'refs' && path.endsWith('.lock')) return 'any'
  if (top === 'refs') return ruleOfRef(foldGitPath(second), more)
  if (top === 'reftable') return 'reftable'
  // Old forms of remotes.
  return top === 'branches' ? 'unknown' : 'any'
}

/** What to report about a path whose rule is `silent`. */
export function aboutSilent(path: string): 'autostash' | 'exclude' | 'shallow' {
  return SILENT.get(path) ?? SILENT.get(foldGitPath(path))!
}

function ruleOfTop(name: string): GitRule {
  const folded = foldGitPath(name)
  if (CLOSED.has(folded)) return 'closed'
  if (NESTED.has(folded)) return 'nested'
  if (TREES.has(name) || name === 'info' || name === 'branches') return 'folder'
  if (INDEX.test(name)) return 'index'
  if (name === 'packed-refs') return 'packed-refs'
  if (STATE_FILES.has(name)) return 'state'
  if (SILENT.has(name)) return 'silent'
  if (PSEUDO_REF.test(name)) return 'ref'
  return FILE.test(name) ? 'file' : 'unknown'
}

function ruleOfRef(second: string, more: readonly string[]): GitRule {
  if (second === 'replace') return more.length === 0 ? 'any' : 'replace'
  return more.length === 0 && second !== 'stash' ? 'shadow' : 'ref'
}

/** Whether git treats a folder with these names as a repository, on any disk: `.git`, a bare one, or that of a worktree. */
export function isGitFolder(names: ReadonlySet<string>): boolean {
  if (!names.has('HEAD') && !hasHead(names)) return false
  const folded = new Set([...names].map(foldGitPath))
  return (folded.has('objects') && folded.has('refs')) || folded.has('commondir')
}

/** Disks that ignore case find HEAD in any spelling. */
function hasHead(names: Iterable<string>): boolean {
  for (const name of names) if (name.length === 4 && name.toUpperCase() === 'HEAD') return true
  return false
}
