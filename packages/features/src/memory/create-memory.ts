import { type Feature, type FeatureHost, messageOf, ToolError } from '@tool-hub/core'
import { parseJson } from '@tool-hub/core/lib'
import { z } from 'zod'
import { openCandidates, openStoredCandidates } from './candidates.ts'
import { createHandle, type MemoryContext } from './memory-handle.ts'
import { isHttp, isMcp, type MemorySettings, readSettings } from './memory-settings.ts'
import { cleanContent, cleanTags, noteOrigin, noteTime, scopeOf, toNote } from './note.ts'
import { type Backend, type BackendUse, createEmbeddedBackend, createProviderBackend } from './providers/backend.ts'
import { createHttpProvider, createMcpProvider } from './providers/remote-providers.ts'
import { createReview } from './review.ts'
import type { StoredNote } from './store.ts'
import type { MemoryHandle, MemoryNote, MemoryOptions, MemoryScope, MemoryService, NoteOrigin } from './types.ts'

/** What agents remember: notes in scopes, in the store of the hub or at a provider. By default, new notes wait for review. */
export function createMemory(
  options: MemoryOptions,
  host: FeatureHost,
  candidates = host.archives &&
    (host.store.location === 'network' ? openStoredCandidates(host) : openCandidates(host.archives)),
): Feature<MemoryHandle, MemoryService> {
  const settings = readSettings(options)
  const parts = { settings, host, backend: openBackend(settings, host), candidates }
  return {
    handle: (call) => createHandle(parts, call),
    service: createService(parts),
    async endRun(run) {
      await host.store.memory.removeScope(`run:${run}`)
    },
    async close() {},
  }
}

function openBackend(settings: MemorySettings, host: FeatureHost): Backend {
  const { provider, timeoutMs } = settings
  if (provider === 'embedded') return createEmbeddedBackend(settings, host)
  if (isHttp(provider)) return createProviderBackend(createHttpProvider(provider, host, { timeoutMs }), settings, host)
  return createProviderBackend(isMcp(provider) ? createMcpProvider(provider) : provider, settings, host)
}

const PAGE = 500

const MAX_LINE_LENGTH = 200_000

/** An import stops after this many invalid lines. */
const MAX_BAD = 1_000

const line = z.strictObject({
  id: z.string().regex(/^[\w.:-]{1,200}$/, 'letters, digits, . : _ -'),
  key: z.string().min(1).max(1_000),
  content: z.string(),
  tags: z.array(z.string()).max(100).default([]),
  createdAt: noteTime.int(),
  updatedAt: noteTime.int().optional(),
  origin: noteOrigin.optional(),
})

const UNSEEN = { tainted: true, reviewed: false }

const TRUSTED = { tainted: false, reviewed: true }

const MAX_COUNT = 500
const NEVER = new AbortController().signal

type Filter = NonNullable<Parameters<MemoryService['search']>[0]>

/** `hub.memory`: all scopes, without approval; changes are recorded. */
function createService(parts: MemoryContext): MemoryService {
  const { settings, backend, host } = parts
  const useAs = (by: string): BackendUse => ({
    signal: NEVER,
    // Promoting a note approves the calls that store it.
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
      const limit = Math.min(Math.max(1, filter.limit ?? 100), MAX_COUNT)
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
      host.emitChange('memory', id)
      return true
    },
    async candidates({ run, state = 'waiting', limit = 100 } = {}) {
      const filter = { state, run, limit: Math.min(Math.max(1, limit), MAX_COUNT) }
      return (await parts.candidates?.list(filter)) ?? []
    },
    async candidate(id) {
      return parts.candidates?.find(id)
    },
    ...createReview(parts, useAs),
    ...createTransfer(parts),
  }
}

/** Newest first; `next` is the position of the last note. */
async function listNotes({ host }: MemoryContext, { scope, key, tags = [], before }: Filter, limit: number) {
  const within = key !== undefined ? { scope: key } : scope === undefined ? {} : withinScope(scope)
  const page = await host.store.memory.list({ ...within, before, limit })
  const notes = page.map(toNote).filter((note) => tags.length === 0 || tags.some((tag) => note.tags.includes(tag)))
  const last = page.at(-1)
  return { notes, ...(page.length === limit && last && { next: last.seq }) }
}

function withinScope(scope: MemoryScope) {
  return scope === 'shared' ? { scope } : { scopePrefix: `${scope}:` }
}

async function searchNotes({ host }: MemoryContext, { query = '', scope, key, tags = [] }: Filter, limit: number) {
  const scopes = key !== undefined ? [key] : scope === 'shared' ? ['shared'] : ('all' as const)
  const wanted = scopes === 'all' && scope !== undefined ? MAX_COUNT : limit
  const found = await host.store.memory.search({ scopes, tags, text: query, now: host.clock.now(), limit: wanted })
  const notes = found.map(({ note }) => toNote(note))
  return notes.filter((note) => scope === undefined || note.scope === scope).slice(0, limit)
}

/** A provider can only search one scope of one run, session or agent at a time. */
async function searchElsewhere({ backend }: MemoryContext, filter: Filter, limit: number, use: BackendUse) {
  const { query, scope, key = scope === undefined || scope === 'shared' ? 'shared' : undefined, tags = [] } = filter
  if (query === undefined || key === undefined)
    throw new ToolError(
      'INPUT_SCHEMA_INVALID',
      `The memory ${backend.name} can only be searched by words, in one scope.`,
      {
        hint: 'Give a query, and for scopes other than shared a key such as agent:token:ci.',
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

/** Exports and imports the notes of the hub's own store as lines of JSON. */
function createTransfer(parts: MemoryContext): Pick<MemoryService, 'export' | 'import'> {
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
          if (done.bad.length >= MAX_BAD) break
          continue
        }
        const isNew = await host.store.memory.add(note, { maxInScope: parts.settings.notesPerScope })
        done[isNew ? 'imported' : 'known']++
      }
      if (done.imported > 0) {
        await host.recordChange({ by, change: 'memory-imported', subject: `${done.imported} notes` })
        host.emitChange('memory', 'import')
      }
      return done
    },
  }
}

async function* exportLines({ host }: MemoryContext, scope: MemoryScope | undefined): AsyncGenerator<string> {
  for (let before: number | undefined; ; ) {
    const page = await host.store.memory.list({ before, limit: PAGE })
    for (const note of page.map(toNote)) {
      const { id, key, content, tags, createdAt, updatedAt, origin } = note
      if (scope !== undefined && note.scope !== scope) continue
      yield JSON.stringify({ id, key, content, tags, createdAt, updatedAt, origin })
    }
    before = page.at(-1)?.seq
    if (before === undefined) return
  }
}

/** Parses a line; returns the note, or why the line is invalid. */
function readLine(
  text: string,
  { settings, host }: MemoryContext,
  { by, trusted }: { readonly by: string; readonly trusted: boolean },
): StoredNote | string {
  if (text.length > MAX_LINE_LENGTH) return `has ${text.length} characters, the limit is ${MAX_LINE_LENGTH}`
  const json = parseJson(text)
  if (json === undefined) return 'is not JSON'
  const parsed = line.safeParse(json)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return `${issue?.path.join('.') || 'the line'}: ${issue?.message}`
  }
  const { id, key, createdAt, updatedAt = createdAt, origin: told } = parsed.data
  if (scopeOf(key) === undefined) return 'key: must be run:…, session:…, agent:… or shared'
  // The origins in a file count only if the owner trusts it.
  const believed = trusted ? { ...TRUSTED, at: createdAt, ...told } : { ...UNSEEN, at: createdAt }
  const origin: NoteOrigin = { ...believed, importedBy: by }
  try {
    const { content } = cleanContent(parsed.data.content, settings, host)
    const tags = cleanTags(parsed.data.tags, host)
    return { id, scope: key, text: content, tags, origin: JSON.stringify(origin), createdAt, updatedAt }
  } catch (error) {
    return messageOf(error)
  }
}

function elsewhere(name: string, what: string): ToolError {
  return new ToolError('CONFIG_INVALID', `The notes are stored by ${name}, so they cannot be ${what} here.`, {
    hint: 'Use the tools of that service.',
  })
}
