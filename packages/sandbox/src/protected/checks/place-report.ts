import type { GitReport, GitVerdict } from '../git/index.ts'

/** Something at a protected place. */
export interface ProtectedPlace {
  readonly path: string
  /** Where it leads, if it is a link. */
  readonly link?: string
  /** A file of git: a command may create it as long as it runs nothing. */
  readonly isGit: boolean
  /** A link on the way to a protected place: its target may be changed, but the link may not. */
  readonly isOnWay?: boolean
  /** The link or the config that makes it protected: it is protected only if that one is the owner's. */
  readonly behind?: string
  /** Set for what is not closed to commands, because git writes it: identifies what was there when it was found. */
  readonly state?: string
  /** Why it may not stay, if that is known already. */
  readonly refusal?: string
  /** Its path as Latin-1, if it is not valid UTF-8; `path` only resembles it. */
  readonly bytes?: string
}

/** Something that a command may do, and that the owner should know about. */
export interface PlaceReport {
  /** The git folder, or the link. */
  readonly path: string
  readonly about: GitReport['about'] | 'checkout' | 'unread' | 'outside' | 'protected'
  /** The ref, the path in the work tree, or where the link leads. */
  readonly name: string
  /** The hash of its content, where another content is something new. */
  readonly hash?: string
}

const MAX_SHOWN = 5

/** Describes reports, one sentence for all of one kind. */
export function describeReports(reports: readonly PlaceReport[]): string[] {
  const groups = new Map<string, PlaceReport[]>()
  for (const report of reports) {
    const key = isLink(report) ? report.about : `${report.about} ${report.path}`
    const group = groups.get(key)
    if (group) group.push(report)
    else groups.set(key, [report])
  }
  return [...groups.values()].map((group) => SENTENCES[group[0]!.about](group[0]!.path, shown(group)))
}

function isLink({ about }: PlaceReport): boolean {
  return about === 'outside' || about === 'protected'
}

function shown(group: readonly PlaceReport[]): string {
  const names = group
    .slice(0, MAX_SHOWN)
    .map((report) => (isLink(report) ? `${report.path} → ${report.name}` : report.name))
  const more = group.length - names.length
  return JSON.stringify(names.join(', ')).slice(1, -1) + (more > 0 ? ` and ${more} more` : '')
}

const SENTENCES: Readonly<Record<PlaceReport['about'], (gitFolder: string, names: string) => string>> = {
  replace: (at, names) =>
    `A command made git show other commits in place of these in ${at}: ${names}. Undo it with git replace -d.`,
  shadow: (at, names) =>
    `A command created ${names} in ${at}, which git uses instead of the branch or tag of the same name.`,
  hidden: (at, names) =>
    `A command hid changes to these files from git status and git diff in ${at}: ${names}. Run touch on them, then git status shows them.`,
  'assume-unchanged': (at, names) =>
    `A command made git hide changes to these files in ${at}: ${names}. Undo it with git update-index --no-assume-unchanged.`,
  'skip-worktree': (at, names) =>
    `A command made git ignore these files of the work tree in ${at}: ${names}. Undo it with git update-index --no-skip-worktree.`,
  split: (at) =>
    `A command split the index in ${at}: it is not known whether git commit commits what git diff --cached shows. Build it anew with git update-index --no-split-index and git reset.`,
  submodule: (at, names) =>
    `A command added submodules to the index in ${at}: ${names}. Git enters them, and git fetch contacts their remotes.`,
  'run-later': (at, names) =>
    `A command staged ${names} in ${at}, which other programs run: git restore and git checkout would write it. Look at it with git diff --cached.`,
  cache: (at, names) =>
    `A command added to the index in ${at}: ${names}. What it leaves out, git status does not show. Undo it with git update-index --no-untracked-cache --no-fsmonitor.`,
  autostash: (at, names) =>
    `A command left stashed changes in ${at}, which git commit, git merge or git rebase writes to the working tree: ${names}. Look at them with git stash show -p and the hash in it, or remove it.`,
  exclude: (at, names) =>
    `A command changed ${names} in ${at}: git status does not show new files that match it. git status --ignored does.`,
  shallow: (at, names) =>
    `A command changed ${names} in ${at}: git log does not show commits before those in it. Remove it unless this is a shallow clone.`,
  unchecked: (at, names) =>
    `A command left more in ${at} than can be compared with its hashes: ${names}. Check it with git fsck, and files of the work tree with touch and git status.`,
  checkout: (at, names) =>
    `A command moved or created refs in ${at} that have files that other programs run, and that you do not have: ${names}. Your git checkout, git merge or git stash pop would write them. Look at them first with git show REF:PATH.`,
  unread: (at, names) =>
    `A command moved or created refs in ${at} whose files could not be read completely, or are too many: ${names}. Look at them with git diff --stat HEAD REF before you check them out or merge them.`,
  outside: (_at, names) =>
    `A command left links that lead out of the roots: ${names}. Programs that write there follow them.`,
  protected: (_at, names) =>
    `A command left links to protected paths: ${names}. Programs of yours that write there change what others run.`,
}

/** The reports of a verdict, for the git folder. */
export function reportsOf(gitFolder: string, verdict: GitVerdict): PlaceReport[] {
  if (verdict.is !== 'reported') return []
  return verdict.reports.map((report) => ({ path: gitFolder, ...report }))
}
