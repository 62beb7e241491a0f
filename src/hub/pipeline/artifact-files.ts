import { ToolError } from '../../core/errors.ts'
import type { ReadFiles } from '../../core/handles.ts'
import { artifactHash } from '../../core/result.ts'
import type { Call } from './call.ts'
import { markUntrusted } from './mark-untrusted.ts'
import type { RunState } from './parts.ts'

const READS = ['readText', 'readFile', 'readBytes', 'readLines', 'stat', 'sha256', 'search'] as const

type Read = (path: string, options?: unknown) => Promise<unknown>

/**
 * The files of a call that states no file: it may read artifacts of its own run by their references. Policy does not judge
 * them again, since the run got their content before; artifacts of other runs are not there. Whether the content comes from
 * outside is known of the run, not of each artifact: what is read in a tainted run is labelled.
 */
export function withArtifacts<T extends Partial<ReadFiles>>(files: T, run: RunState, call: Call): T {
  const openArtifacts = () =>
    run.doors.artifacts()?.handle({
      signal: () => call.signal,
      isStopped: () => call.isStopped,
      canRead: true,
      canWrite: false,
      canOverwrite: false,
      maxBytes: call.decision?.constraints.maxBytes,
      mayRead: () => true,
      isUntrusted: () => run.tainted,
      onUntrusted: () => markUntrusted(run, call),
    })
  const reads = READS.map((name) => {
    const read: Read = async (path, options) => {
      const hash = artifactHash(path)
      if (hash === undefined) return (files[name] as Read).call(files, path, options)
      const artifacts = openArtifacts()
      if (!artifacts) throw missing(path)
      const found = await (artifacts[name] as Read)
        .call(artifacts, hash, options)
        .catch((error) => rethrow(error, path, hash))
      if (name === 'readFile' && (found as { sha256: string }).sha256 !== hash) throw changed(path)
      return found
    }
    return [name, read]
  })
  const others = { list: files.list?.bind(files), find: files.find?.bind(files) }
  return { ...files, ...others, ...Object.fromEntries(reads) }
}

/** The file is named after its hash; the caller knows it by its reference. */
function rethrow(error: unknown, ref: string, hash: string): never {
  if (!ToolError.is(error)) throw error
  if (error.code === 'NOT_FOUND') throw missing(ref)
  const { code, message, fix, retryable, details } = error
  throw new ToolError(code, message.replaceAll(JSON.stringify(hash), ref), { fix, retryable, details, cause: error })
}

function missing(ref: string): ToolError {
  return new ToolError('NOT_FOUND', `This run has no ${ref}.`, { hint: 'Artifacts belong to the run that made them.' })
}

function changed(ref: string): ToolError {
  return new ToolError('CONFLICT', `${ref} was changed after it was stored.`, {
    hint: 'Do not use it; make it again, and run audit verify.',
  })
}
