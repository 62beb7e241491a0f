import { userInfo } from 'node:os'
import { basename, relative } from 'node:path'

/** How the person at the shell runs tool-hub, so that a printed command can be pasted: `npx tool-hub`, `tool-hub`, `node dist/…`. */
export function ownCommand(env: NodeJS.ProcessEnv = process.env, file = process.argv[1] ?? ''): string {
  const { npm_command, npm_lifecycle_event, INIT_CWD } = env
  if (npm_command === 'exec' || npm_lifecycle_event === 'npx') return 'npx tool-hub'
  // A script of npm finds the installed command, the shell behind it does not.
  if (basename(file) === 'tool-hub') return npm_lifecycle_event ? 'npx tool-hub' : 'tool-hub'
  if (file === '') return 'tool-hub'
  // npm runs scripts in the folder of the package, wherever the person is.
  return `node ${quoteShellWord(relative(npm_lifecycle_event && INIT_CWD ? INIT_CWD : process.cwd(), file))}`
}

/** A word, quoted for a shell if it needs to be. */
export function quoteShellWord(word: string): string {
  return /^[\w./@-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** The caller of the command line in the records: `cli:<user>`. */
export function callerName(): string {
  return `cli:${userName()}`
}

function userName(): string {
  try {
    return userInfo().username
  } catch {
    // A user without an entry in the password file, as in some containers, has only a number.
    return String(process.getuid?.() ?? 'unknown')
  }
}
