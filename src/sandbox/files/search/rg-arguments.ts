import type { SearchFolder } from './found-files.ts'
import type { FileChoice, SearchJob } from './search-job.ts'

/** A ripgrep command line: its arguments, and the texts it reads as ignore files, weakest first. */
export interface RgCommand {
  /** The arguments with the paths of the ignore files. */
  readonly args: (ignoreFiles: readonly string[]) => readonly string[]
  readonly ignoreFiles: readonly string[]
}

/** Searches the content of files. Values are joined to their options by `=`, so that no value can become an option. */
export function searchCommand(place: SearchFolder, job: SearchJob): RgCommand {
  // One more than the limit, to know whether there are more.
  const perFile = { lines: [`--max-count=${job.maxMatches + 1}`], files: ['--max-count=1'], counts: [] }[job.output]
  return command(place, job, [
    '--json',
    '--crlf',
    // A file that shrinks while it is mapped would kill the process.
    '--no-mmap',
    ...perFile,
    ...(job.isRegex ? [] : ['--fixed-strings']),
    ...(job.ignoreCase ? ['--ignore-case'] : ['--case-sensitive']),
    ...(job.multiline ? ['--multiline'] : []),
    ...(job.contextLines > 0 ? [`--context=${job.contextLines}`] : []),
    `--regexp=${job.pattern}`,
  ])
}

/** Lists the files. */
export function findCommand(place: SearchFolder, choice: FileChoice): RgCommand {
  return command(place, choice, ['--files', '--null'])
}

function command(place: SearchFolder, choice: FileChoice, what: readonly string[]): RgCommand {
  const ignoreFiles = [choice.globRules, choice.includeIgnored ? '' : place.rulesAbove].filter((text) => text !== '')
  const args = (paths: readonly string[]) => [
    '--no-config',
    '--no-follow',
    '--color=never',
    '--hidden',
    ...(choice.includeIgnored ? ['--no-ignore'] : ['--no-require-git', '--no-ignore-dot', '--no-ignore-exclude']),
    '--no-ignore-global',
    // Rules above the root do not apply; those between the root and the folder come as an ignore file.
    '--no-ignore-parent',
    '--no-ignore-messages',
    ...paths.map((path) => `--ignore-file=${path}`),
    ...(choice.includeHidden ? [] : ['--glob=!.*']),
    ...OWN_GLOBS.map((glob) => `--glob=!${glob}`),
    ...SECRET_GLOBS.map((glob) => `--iglob=!${glob}`),
    ...(choice.type === undefined ? [] : [`--type=${choice.type}`]),
    ...what,
    '--',
    place.file === undefined ? '.' : `./${place.file}`,
  ]
  return { args, ignoreFiles }
}

/**
 * Names that are never searched, as ripgrep globs that ignore case: secrets, and files that were set aside, which may be
 * secrets.
 */
export const SECRET_GLOBS = [
  ...['.ssh', '.gnupg', '.aws', '.env*'],
  ...['*.pem', '*.key', '*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx'],
  ...['id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'id_ecdsa_sk', 'id_ed25519_sk', 'id_rsa_sk', 'id_dsa_sk'],
  ...['.netrc', '.pgpass', '.git-credentials', '.pypirc', '.htpasswd'],
  '*.set-aside-????????',
] as const

/** Names that are never searched: the internals of git, and files that tool-hub is writing. */
export const OWN_GLOBS = ['.git', '.tool-hub-*.tmp'] as const
