import { ToolError } from '../../../errors.ts'
import type { Jail } from '../jail/jail.ts'
import type { StartOrder } from './started.ts'

/**
 * Where a seed finds the pipes of its command, the line on which its jail's shell reports, and what that shell reads.
 * One digit each, as dash wants.
 */
export interface Descriptors {
  readonly stdin: number
  readonly stdout: number
  readonly stderr: number
  readonly report: number
  readonly script: number
}

/** What the shell writes on its report line when it waits for its command. */
export const READY = 'ready'
/** What it writes last before it becomes the command; without it, the line closes because the shell was killed. */
export const GOING = 'going'

/** The descriptors for a jail: those that its filter does not need. */
export function descriptorsFor(jail: { readonly seccomp?: { readonly fd: number } }): Descriptors {
  const [stdin, stdout, stderr, report, script] = [3, 4, 5, 6, 7, 8].filter((fd) => fd !== jail.seccomp?.fd)
  return { stdin: stdin!, stdout: stdout!, stderr: stderr!, report: report!, script: script! }
}

/** What the shell runs first of all, so that its jail is known to stand. */
export function readyScript({ report }: Descriptors): string {
  return `echo ${READY} >&${report}\n`
}

/**
 * The text that turns a waiting shell into the command. It is the one place where a text for a shell is made: what
 * comes from outside stands only inside single quotes, all else is constant.
 *
 * The report line says how it went: after the last word it closes without another when the command has taken the
 * shell's place, since the shell's own copies are closed on exec.
 */
export function launchScript(order: StartOrder): string {
  const fds = descriptorsFor(order.jail)
  const { report } = fds
  const program = quoteWord(order.words[0] ?? '')
  const words = order.pty ? terminalWords(order) : order.words
  return [
    `trap 'echo "exec $?" >&${report}' EXIT`,
    `refuse() { trap - EXIT; echo "$1" >&${report}; exit 125; }`,
    `cd ${quoteWord(order.cwd)} 2>/dev/null || refuse cwd`,
    'unset OLDPWD',
    ...Object.entries(order.env).map(([name, value]) => `export ${variable(name)}=${quoteWord(value)}`),
    ...(order.pty ? [...TERMINAL_CHECKS, `SHELL=/bin/sh; export SHELL`] : []),
    // Asked before, because some shells (bash) cannot say afterwards why exec failed.
    `case ${program} in`,
    `*/*) [ -e ${program} ] || refuse missing; [ ! -d ${program} ] || refuse directory; [ -x ${program} ] || refuse denied ;;`,
    `*) command -v ${program} >/dev/null 2>&1 || refuse missing ;;`,
    'esac',
    `echo ${GOING} >&${report}`,
    `exec ${words.map(quoteWord).join(' ')} ${moves(fds, order.pty || order.mergeStderr === true)}`,
    '',
  ].join('\n')
}

/** The text that starts a jail's companion, which writes a line on the shell's own output when it is ready, an empty one when it ended. */
export function companionScript(jail: Jail): string | undefined {
  if (jail.companion === undefined) return undefined
  const { stdin, stdout, stderr, report } = descriptorsFor(jail)
  const closed = `</dev/null 2>/dev/null ${stdin}<&- ${stdout}>&- ${stderr}>&- ${report}>&-`
  // Twice in the background, so that it is no child of the command, which may wait for all of its children.
  return `( ( ${jail.companion.map(quoteWord).join(' ')}; echo ) ${closed} & )\n`
}

/** A word as a shell reads it back, byte by byte. */
export function quoteWord(word: string): string {
  if (word.includes('\0')) {
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      'A word of the command holds a NUL character, which no program can get.',
    )
  }
  return `'${word.replaceAll("'", `'\\''`)}'`
}

const TERMINAL_CHECKS = [
  'command -v script >/dev/null 2>&1 || refuse no-terminal',
  'export TERM="${TERM:-xterm-256color}"',
]

function terminalWords({ words, env, jail }: StartOrder): readonly string[] {
  // `script` runs its line with $SHELL; the command must see its own again.
  const shell = env.SHELL ?? jail.env.SHELL
  const restored = shell === undefined ? 'unset SHELL' : `SHELL=${quoteWord(shell)}`
  const line = `${restored}; stty rows 24 cols 80 2>/dev/null; exec ${words.map(quoteWord).join(' ')}`
  return ['script', '-q', '-e', '-f', '-c', line, '/dev/null']
}

function moves({ stdin, stdout, stderr, report }: Descriptors, isMerged: boolean): string {
  const errors = isMerged ? stdout : stderr
  return `<&${stdin} >&${stdout} 2>&${errors} ${stdin}<&- ${stdout}>&- ${stderr}>&- ${report}>&-`
}

function variable(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) return name
  throw new ToolError('INPUT_SCHEMA_INVALID', `${JSON.stringify(name)} is no name for an environment variable.`, {
    hint: 'Names are made of letters, digits and _, and do not begin with a digit.',
  })
}
