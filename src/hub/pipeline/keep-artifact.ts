import { type Artifact, ToolError } from '../../core/index.ts'
import type { Call } from './call.ts'
import type { Parts, RunState } from './parts.ts'

/** Keeps something large with the run, redacted, and among the artifacts of the call's result. */
export async function keepArtifact(
  { redactor }: Parts,
  { records }: RunState,
  call: Call,
  content: string | Uint8Array,
  options?: { readonly name?: string; readonly mediaType?: string },
): Promise<Artifact> {
  if (call.ended) throw call.over()
  if (!records)
    throw new ToolError('RECORDS_UNAVAILABLE', 'This hub keeps no records, so there is no place for an artifact.', {
      hint: 'Make the hub with `runs` set to a folder.',
    })
  const kept = typeof content === 'string' ? redactor.text(content) : content
  const artifact = await records.putArtifact(kept, redactor.value(options))
  call.artifacts.push(artifact)
  return artifact
}
