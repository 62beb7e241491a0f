import type { MemoryDesk, MemoryNote, MemoryScope } from '../../contracts/memory.ts'
import { ToolError } from '../../errors.ts'
import type { BackendUse } from './backend.ts'
import type { MemoryParts } from './memory-handle.ts'
import { createReview } from './review.ts'
import { scopeOf } from './scope-keys.ts'
import { toNote } from './stored-note.ts'
import { createTransfer } from './transfer.ts'

const MOST = 500
const NEVER = new AbortController().signal

type Filter = NonNullable<Parameters<MemoryDesk['search']>[0]>

/** Memory as its owner uses it: all scopes, no questions asked, on record. */
export function createDesk(parts: MemoryParts): MemoryDesk {
  const { settings, backend, host } = parts
  const useAs = (by: string): BackendUse => ({
    signal: NEVER,
    // Whoever promotes a note has said yes to it going where it is kept.
    call: (tool, input) =>
      host.as({ caller: by }).call(tool, input, { approve: () => ({ decision: 'allow', by, via: 'memory' }) }),
    notice: (text) => host.warn(text),
    heardOutside() {},
    connected() {},
  })
  return {
    async status() {
      return { enabled: settings.isEnabled, writeMode: settings.writeMode, provider: backend.name }
    },
    async search(filter = {}) {
      const limit = Math.min(Math.max(1, filter.limit ?? 100), MOST)
      if (!backend.own) return { notes: await searchElsewhere(parts, filter, limit, useAs('owner')) }
      return filter.query === undefined
        ? listNotes(parts, filter, limit)
        : { notes: await searchNotes(parts, filter, limit) }
    },
    async find(id) {
      return backend.own?.find(id)
    },
    async forget(id, { by }) {
      const key = (await backend.own?.find(id))?.key ?? 'shared'
      const isGone = await backend.forget({ id, key }, useAs(by))
      if (!isGone) return false
      await host.recordChange({ by, change: 'memory-forgotten', subject: id })
      host.tellChange('memory', id)
      return true
    },
    async candidates({ run, state = 'waiting', limit = 100 } = {}) {
      const filter = { state, limit: Math.min(Math.max(1, limit), MOST) }
      return (await host.candidates?.list({ ...filter, ...(run !== undefined && { run }) })) ?? []
    },
    async candidate(id) {
      return host.candidates?.find(id)
    },
    ...createReview(parts, useAs),
    ...createTransfer(parts),
  }
}

/** The last written first; the place in that order is where the next page begins. */
async function listNotes({ host }: MemoryParts, { scope, key, tags = [], before }: Filter, limit: number) {
  const within = key !== undefined ? { scope: key } : scope === undefined ? {} : withinScope(scope)
  const page = await host.store.memory.list({ ...within, ...(before !== undefined && { before }), limit })
  const notes = page.map(toNote).filter((note) => tags.length === 0 || tags.some((tag) => note.tags.includes(tag)))
  const last = page.at(-1)
  return { notes, ...(page.length === limit && last && { next: last.seq }) }
}

function withinScope(scope: MemoryScope) {
  return scope === 'shared' ? { scope } : { scopePrefix: `${scope}:` }
}

async function searchNotes({ host }: MemoryParts, { query = '', scope, key, tags = [] }: Filter, limit: number) {
  const scopes = key !== undefined ? [key] : scope === 'shared' ? ['shared'] : ('all' as const)
  const wanted = scopes === 'all' && scope !== undefined ? MOST : limit
  const found = await host.store.memory.search({ scopes, tags, text: query, now: host.clock.now(), limit: wanted })
  const notes = found.map(({ note }) => toNote(note))
  return notes.filter((note) => scope === undefined || note.scope === scope).slice(0, limit)
}

/** A provider is asked for one scope of one agent at a time, which is all that it knows. */
async function searchElsewhere({ backend }: MemoryParts, filter: Filter, limit: number, use: BackendUse) {
  const { query, scope, key = scope === undefined || scope === 'shared' ? 'shared' : undefined, tags = [] } = filter
  if (query === undefined || key === undefined)
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `The memory ${backend.name} can only be searched: by words, in one scope.`,
      {
        hint: 'Give a query, and a key such as agent:token:ci where it is not shared.',
      },
    )
  const notes = await backend.recall({ query, keys: [key], limit: Math.min(limit, 50), tags }, use)
  return notes.map(
    ({ id, content, tags: own, createdAt, isUntrusted }): MemoryNote => ({
      id,
      scope: scopeOf(key) ?? 'shared',
      key,
      content,
      tags: own,
      createdAt,
      updatedAt: createdAt,
      origin: { tainted: isUntrusted, reviewed: !isUntrusted, at: createdAt },
    }),
  )
}
