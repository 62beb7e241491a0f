import type { ReadFiles } from '../../core/handles.ts'
import { lazyModule } from '../../lib/lazy-module.ts'
import { readKept } from '../../records/undo/read-kept.ts'
import type { Step } from './judge-change.ts'

const loadDiff = lazyModule(() => import('diff'))

const MAX_BYTES = 1_000_000
const MAX_LINES = 60

/** What a forced step would change, as the first lines of a unified diff; undefined for what is no text or too large. */
export async function diffStep(files: ReadFiles, folder: string, step: Step): Promise<string | undefined> {
  if (step.do !== 'put-file' && step.do !== 'remove-file') return undefined
  try {
    const now = await presentText(files, step.path)
    const before = step.do === 'put-file' ? await keptText(folder, step.state) : ''
    if (now === undefined || before === undefined) return undefined
    const { createTwoFilesPatch } = await loadDiff()
    // An edit of everything would take minutes to compare, and nobody reads it.
    const patch = createTwoFilesPatch('now', 'after undo --force', now, before, undefined, undefined, {
      timeout: 1_000,
    })
    return patch && cut(patch)
  } catch {
    // Only a help for the reader: a secret is not shown, and what cannot be read is told by the refusal itself.
    return undefined
  }
}

async function presentText(files: ReadFiles, path: string): Promise<string | undefined> {
  const { content, bytes } = await files.readBytes(path, { maxBytes: MAX_BYTES })
  return bytes <= MAX_BYTES ? asText(content) : undefined
}

async function keptText(folder: string, state: { sha256: string; bytes: number; mode: number }) {
  if (state.bytes > MAX_BYTES) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of readKept(folder, state)) pieces.push(piece)
  return asText(Buffer.concat(pieces))
}

function asText(content: Uint8Array): string | undefined {
  if (content.includes(0)) return undefined
  return new TextDecoder('utf-8', { fatal: true }).decode(content)
}

function cut(patch: string): string {
  // The first line is a rule of equal signs.
  const lines = patch.replace(/\n$/, '').split('\n').slice(1)
  if (lines.length <= MAX_LINES) return lines.join('\n')
  return [...lines.slice(0, MAX_LINES), `… ${lines.length - MAX_LINES} more lines`].join('\n')
}
