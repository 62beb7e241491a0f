import process from 'node:process'
import { Writable } from 'node:stream'

/** The standard output for one user alone. */
export interface OwnStdout {
  readonly stream: Writable
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
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, encoding, done) {
      write.call(stdout, chunk, encoding, (error) => done(error))
    },
  })
  const fail = (error: Error) => stream.destroy(error)
  stdout.on('error', fail)
  stdout.write = process.stderr.write.bind(process.stderr) as typeof stdout.write
  for (const name of CONSOLE_METHODS) console[name] = (...values) => console.error(...values)
  return {
    stream,
    release() {
      stdout.off('error', fail)
      stdout.write = write
      for (const [name, method] of methods) console[name] = method
    },
  }
}
