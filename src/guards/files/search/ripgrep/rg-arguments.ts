import type { Place } from '../engine.ts'
import { OWN_GLOBS, SECRET_GLOBS } from '../left-out.ts'
import type { FileChoice, SearchJob } from '../search-job.ts'

/** What ripgrep is started with: its arguments, and the texts it reads as ignore files, weakest first. */
export interface RgCommand {
  /** The arguments with the paths of the ignore files. */
  readonly args: (ignoreFiles: readonly string[]) => readonly string[]
  readonly ignoreFiles: readonly string[]
}

/** Looks into files. Values are joined to their options by `=`: whatever a model writes never is an option. */
export function searchCommand(place: Place, job: SearchJob): RgCommand {
  // One more than is asked for tells whether there are more.
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

/** Only names the files. */
export function findCommand(place: Place, choice: FileChoice): RgCommand {
  return command(place, choice, ['--files', '--null'])
}

function command(place: Place, choice: FileChoice, what: readonly string[]): RgCommand {
  const ignoreFiles = [choice.globRules, choice.includeIgnored ? '' : place.rulesAbove].filter((text) => text !== '')
  const args = (paths: readonly string[]) => [
    '--no-config',
    '--no-follow',
    '--color=never',
    '--hidden',
    ...(choice.includeIgnored ? ['--no-ignore'] : ['--no-require-git', '--no-ignore-dot', '--no-ignore-exclude']),
    '--no-ignore-global',
    // What is above the root is none of the caller's business, and what is between comes as an ignore file.
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
