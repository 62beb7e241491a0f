import { EXIT } from './exit-code.ts'

let controller: AbortController | undefined
let code: number | undefined

/** Aborts at the first Ctrl-C or SIGTERM, so that work can end in good order; the second one ends the process immediately. */
export function interruptSignal(): AbortSignal {
  if (controller) return controller.signal
  controller = new AbortController()
  process.on('SIGINT', () => interrupt(EXIT.interrupted))
  process.on('SIGTERM', () => interrupt(EXIT.terminated))
  return controller.signal
}

/** Ends the work as Ctrl-C does; for prompts, which take the key themselves. */
export function interrupt(exitCode: number = EXIT.interrupted): void {
  if (code !== undefined) process.exit(code)
  code = exitCode
  controller?.abort()
}

/** The exit code of an interrupted command; nothing when it was not interrupted. */
export function interruptCode(): number | undefined {
  return code
}
