import process from 'node:process'

/** The standard output for one user alone. */
export interface OwnStdout {
  /** Calls back when it is out, or cannot be. */
  readonly write: (text: string, done: (error?: Error | null) => void) => void
  /** Gives it back to everybody. */
  release(): void
}

const CONSOLE_METHODS = ['log', 'info', 'debug'] as const

/**
 * Takes the process's standard output: what anybody else writes there from now on, with `console` or directly, goes to
 * stderr, where it cannot be taken for a message.
 */
export function ownStdout(): OwnStdout {
  const { stdout } = process
  const write = stdout.write
  const methods = CONSOLE_METHODS.map((name) => [name, console[name]] as const)
  // Whoever writes hears of it; without a listener it would end the process.
  const fail = () => {}
  stdout.on('error', fail)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  for (const name of CONSOLE_METHODS) console[name] = (...values) => console.error(...values)
  return {
    write: (text, done) => void write.call(stdout, text, 'utf8', done),
    release() {
      stdout.off('error', fail)
      stdout.write = write
      for (const [name, method] of methods) console[name] = method
    },
  }
}
