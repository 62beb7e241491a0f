import { ToolError } from './errors.ts'

/** What the machine or this process has run out of, by the code of the system's or Node's error. */
const EXHAUSTED = new Map([
  ['EMFILE', 'this process has too many files and connections open'],
  ['ENFILE', 'the machine has too many files open'],
  ['ENOMEM', 'there is not enough memory'],
  ['EAGAIN', 'no more processes or threads can be started'],
  ['ERR_WORKER_INIT_FAILED', 'no thread could be started'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
])
const MAX_CAUSES = 8

/**
 * OUT_OF_RESOURCES if it is that already, or if something was thrown because descriptors, memory, processes or disk space ran out, also as the
 * cause of another error; `undefined` for anything else.
 * @param what What could not be done, as the beginning of a sentence.
 */
export function resourceError(thrown: unknown, what: string): ToolError | undefined {
  if (ToolError.is(thrown) && thrown.code === 'OUT_OF_RESOURCES') return thrown
  const why = exhaustedResource(thrown)
  return why === undefined ? undefined : new ToolError('OUT_OF_RESOURCES', `${what}: ${why}.`, { cause: thrown })
}

/** What ran out, in words; `undefined` if the error has another reason. */
function exhaustedResource(thrown: unknown): string | undefined {
  let error = thrown
  try {
    for (let depth = 0; depth < MAX_CAUSES && error instanceof Error; depth += 1) {
      const code = 'code' in error && typeof error.code === 'string' ? EXHAUSTED.get(error.code) : undefined
      if (code !== undefined) return code
      error = error.cause
    }
  } catch {
    // A thrown proxy, or a getter that throws: no error of the system.
  }
  return undefined
}
