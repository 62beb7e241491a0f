import type { AbilityHost } from '../../contracts/ability.ts'
import type { MemoryNote } from '../../contracts/memory.ts'
import type { FoundNote } from '../../store-parts/memory.ts'
import type { Backend, BackendNote, BackendUse } from './backend.ts'
import { embedText } from './embed-text.ts'
import type { MemorySettings } from './memory-settings.ts'
import { mergeRanks } from './merge-ranks.ts'
import { isUntrusted, keepsUntrusted, toNote } from './stored-note.ts'

/** How far down each of the two lists is looked at, when notes are found by words and by meaning. */
const MERGED = 50

/** Notes in the store of the hub. */
export function createEmbeddedBackend(settings: MemorySettings, host: AbilityHost): Backend {
  const { memory } = host.store
  const { notesPerScope: mostInScope } = settings
  const embed = (text: string, { signal, notice }: BackendUse) => embedText(text, settings, { host, signal, notice })
  const find = async (id: string): Promise<MemoryNote | undefined> => {
    const note = await memory.find(id)
    return note && toNote(note)
  }
  return {
    name: 'embedded',
    own: { find },
    async recall({ query, keys, limit, tags }, use) {
      const asked = { scopes: keys, tags, now: host.clock.now(), text: query }
      const vector = await embed(query, use)
      if (!vector) return (await memory.search({ ...asked, limit })).map(toBackendNote)
      const byWords = await memory.search({ ...asked, limit: Math.max(MERGED, limit) })
      const byMeaning = await memory.nearest({ scopes: keys, tags, vector, limit: Math.max(MERGED, limit) })
      return mergeRanks<FoundNote>([byWords, byMeaning], ({ note }) => note.id)
        .slice(0, limit)
        .map(([{ note }, score]) => toBackendNote({ note, score }))
    },
    async write({ id, key, content, tags, origin }, use) {
      const vector = await embed(content, use)
      const at = { createdAt: origin.at, updatedAt: origin.at }
      const note = { id, scope: key, text: content, tags, origin: JSON.stringify(origin), ...at }
      await memory.add(note, { mostInScope, ...(vector && { vector }) })
      return id
    },
    async update({ id, key, content, tags, origin }, use) {
      const known = await find(id)
      if (known?.key !== key) return false
      const text = content ?? known.content
      const vector = await embed(text, use)
      const { createdAt } = known
      const kept = { scope: key, text, tags: tags ?? known.tags, createdAt, updatedAt: host.clock.now() }
      const tainted = origin.tainted || keepsUntrusted(known, { content, tags })
      const changed = { id, ...kept, origin: JSON.stringify({ ...origin, tainted }) }
      return memory.replace(changed, { mostInScope, ...(vector && { vector }) })
    },
    async forget({ id, key }) {
      return (await find(id))?.key === key && memory.remove(id)
    },
  }
}

/** What the owner is shown of a search, too. */
export function toBackendNote({ note, score }: FoundNote): BackendNote {
  const { id, key, content, tags, createdAt, origin } = toNote(note)
  return { id, key, content, tags, createdAt, score, isUntrusted: isUntrusted(origin) }
}
