import { z } from 'zod'
import type { MemoryDesk, MemoryScope, NoteOrigin } from '../../contracts/memory.ts'
import { messageOf, ToolError } from '../../errors.ts'
import type { StoredNote } from '../../store-parts/memory.ts'
import { parseJson } from '../../value/parse-json.ts'
import { cleanContent, cleanTags } from './clean-note.ts'
import type { MemoryParts } from './memory-handle.ts'
import { scopeOf } from './scope-keys.ts'
import { noteOrigin, noteTime, toNote } from './stored-note.ts'

const PAGE = 500
const LONGEST_LINE = 200_000
/** Beyond this many, a file is broken as a whole, and nobody reads more reasons. */
const MOST_BAD = 1_000

const line = z.strictObject({
  id: z.string().regex(/^[\w.:-]{1,200}$/, 'letters, digits, . : _ -'),
  key: z.string().min(1).max(1_000),
  content: z.string(),
  tags: z.array(z.string()).max(100).default([]),
  createdAt: noteTime.int(),
  updatedAt: noteTime.int().optional(),
  origin: noteOrigin.optional(),
})

/** All notes of the hub's own store as lines of JSON, and back. */
export function createTransfer(parts: MemoryParts): Pick<MemoryDesk, 'export' | 'import'> {
  const { backend, host } = parts
  const assertOwn = (what: string) => {
    if (!backend.own) throw elsewhere(backend.name, what)
  }
  return {
    async export({ scope } = {}) {
      assertOwn('exported')
      return exportLines(parts, scope)
    },
    async import(lines, { by, trusted = false }) {
      assertOwn('imported')
      const done = { imported: 0, known: 0, bad: [] as { line: number; why: string }[] }
      let number = 0
      for await (const each of lines) {
        number++
        if (each.trim() === '') continue
        const note = readLine(each, parts, { by, trusted })
        if (typeof note === 'string') {
          done.bad.push({ line: number, why: note })
          if (done.bad.length >= MOST_BAD) break
          continue
        }
        const isNew = await host.store.memory.add(note, { mostInScope: parts.settings.notesPerScope })
        done[isNew ? 'imported' : 'known']++
      }
      if (done.imported > 0) {
        await host.recordChange({ by, change: 'memory-imported', subject: `${done.imported} notes` })
        host.tellChange('memory', 'import')
      }
      return done
    },
  }
}

async function* exportLines({ host }: MemoryParts, scope: MemoryScope | undefined): AsyncGenerator<string> {
  for (let before: number | undefined; ; ) {
    const page = await host.store.memory.list({ ...(before !== undefined && { before }), limit: PAGE })
    for (const note of page.map(toNote)) {
      const { id, key, content, tags, createdAt, updatedAt, origin } = note
      if (scope !== undefined && note.scope !== scope) continue
      yield JSON.stringify({ id, key, content, tags, createdAt, updatedAt, origin })
    }
    before = page.at(-1)?.seq
    if (before === undefined) return
  }
}

/** A note, or why the line is none. */
function readLine(
  text: string,
  { settings, host }: MemoryParts,
  { by, trusted }: { readonly by: string; readonly trusted: boolean },
): StoredNote | string {
  if (text.length > LONGEST_LINE) return `has ${text.length} characters, the limit is ${LONGEST_LINE}`
  const json = parseJson(text)
  if (json === undefined) return 'is not JSON'
  const parsed = line.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return `${issue?.path.join('.') || 'the line'}: ${issue?.message}`
  }
  const { id, key, createdAt, updatedAt = createdAt, origin: told } = parsed.data
  if (scopeOf(key) === undefined) return 'key: none of run:…, session:…, agent:…, shared'
  // What a file says of itself counts only where its owner trusts it.
  const believed = trusted ? { ...TRUSTED, at: createdAt, ...told } : { ...UNSEEN, at: createdAt }
  const origin = { ...believed, importedBy: by } as NoteOrigin
  try {
    const { content } = cleanContent(parsed.data.content, settings, host)
    const tags = cleanTags(parsed.data.tags, host)
    return { id, scope: key, text: content, tags, origin: JSON.stringify(origin), createdAt, updatedAt }
  } catch (error) {
    return messageOf(error)
  }
}

const UNSEEN = { tainted: true, reviewed: false }
const TRUSTED = { tainted: false, reviewed: true }

function elsewhere(name: string, what: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The notes are kept by ${name}, so they cannot be ${what} here.`, {
    hint: 'Use the means of that service.',
  })
}
