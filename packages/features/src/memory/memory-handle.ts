import { randomBytes } from 'node:crypto'
import { type FeatureCall, type FeatureHost, ToolError } from '@tool-hub/core'
import type { CandidateArchive } from './candidates.ts'
import type { MemorySettings } from './memory-settings.ts'
import { cleanContent, cleanTags, keepsUntrusted, scopeKeys, scopeOf } from './note.ts'
import type { Backend, BackendUse } from './providers/backend.ts'
import { MEMORY_SCOPES, type MemoryHandle, type MemoryScope, type NoteOrigin, type WrittenNote } from './types.ts'

const MAX_RECALLED = 50

/** What the handle and the service of memory share. */
export interface MemoryContext {
  readonly settings: MemorySettings
  readonly backend: Backend
  readonly host: FeatureHost
  /** Notes that wait for review; `undefined` if the hub keeps no records. */
  readonly candidates: CandidateArchive | undefined
}

/** `ctx.memory` of one call: only its own scopes, within what policy allowed, recorded before anything changes. */
export function createHandle({ settings, backend, host, candidates }: MemoryContext, call: FeatureCall): MemoryHandle {
  const keys = scopeKeys(call)
  const keyOf = (scope: MemoryScope): string => {
    if (Object.hasOwn(keys, scope)) return keys[scope]
    throw wrong(`Unknown scope ${JSON.stringify(scope)}.`, `Use one of ${MEMORY_SCOPES.join(', ')}.`)
  }
  const use: BackendUse = {
    get signal() {
      return call.signal()
    },
    call: (tool, input) => call.call(tool, input),
    notice: (text) => call.notice(text),
    heardOutside: () => call.markUntrusted(),
    connected: (url, outcome) => call.recordConnection(url, outcome),
  }
  /** Notes of a run that has read untrusted content wait for review in every mode. */
  const mustWait = () => settings.writeMode === 'candidate' || call.isTainted
  const permit = (scope: MemoryScope) => call.permits('memory', mustWait() ? `candidate/${scope}` : scope)
  const clean = (content: string) => {
    const { content: kept, hidSecret } = cleanContent(content, settings, host)
    if (hidSecret) call.notice('The note contained a secret, which was removed before it was stored.')
    return kept
  }
  const origin = (): NoteOrigin => ({
    run: call.run,
    session: call.session,
    callId: call.callId,
    caller: host.redact(call.caller),
    ...(call.principal !== undefined && { principal: call.principal }),
    tainted: call.isTainted,
    reviewed: false,
    at: host.clock.now(),
  })
  const archive = async (
    note: { readonly scope: MemoryScope; readonly content: string; readonly tags: readonly string[] },
    change: { readonly replaces?: string; readonly isTainted?: boolean } = {},
  ): Promise<WrittenNote> => {
    if (!candidates) throw noArchive()
    const id = `${call.run}.${newId()}`
    const { replaces, isTainted = false } = change
    const from = origin()
    const whose = { run: call.run, key: keyOf(note.scope), origin: { ...from, tainted: from.tainted || isTainted } }
    const candidate = { ...note, id, ...whose, ...(replaces !== undefined && { replaces }) }
    await call.beforeEffect()
    await candidates.add(candidate, { maxInRun: settings.candidatesPerRun })
    host.emitChange('memory', id)
    return { id, scope: note.scope, state: 'candidate' }
  }

  return {
    provider: backend.name,
    async recall({ query, scope, limit = 10, tags = [] }) {
      assertEnabled(settings, 'recall')
      const scopes = scope === undefined ? MEMORY_SCOPES : [scope]
      for (const each of scopes) call.permits('memory', each)
      const most = Math.min(Math.max(1, Math.trunc(limit) || 1), MAX_RECALLED)
      const asked = { query, keys: scopes.map(keyOf), limit: most, tags }
      const notes = await backend.recall(asked, use)
      if (notes.some((note) => note.isUntrusted)) call.markUntrusted()
      return notes.map(({ key, ...note }) => ({ ...note, scope: scopeOf(key) ?? 'shared' }))
    },
    async write({ content, scope = 'agent', tags = [] }) {
      assertEnabled(settings, 'write')
      permit(scope)
      const note = { scope, content: clean(content), tags: cleanTags(tags, host) }
      if (mustWait()) return archive(note)
      await call.beforeEffect()
      const id = await backend.write({ ...note, id: `note-${newId()}`, key: keyOf(scope), origin: origin() }, use)
      host.emitChange('memory', id)
      return { id, scope, state: 'stored' }
    },
    async update({ id, scope, content, tags }) {
      assertEnabled(settings, 'update')
      permit(scope)
      const changed = {
        ...(content !== undefined && { content: clean(content) }),
        ...(tags && { tags: cleanTags(tags, host) }),
      }
      if (Object.keys(changed).length === 0) throw wrong('update needs content or tags.', 'Give at least one of them.')
      if (!mustWait()) {
        await call.beforeEffect()
        if (!(await backend.update({ ...changed, id, key: keyOf(scope), origin: origin() }, use))) throw gone(id, scope)
        host.emitChange('memory', id)
        return { id, scope, state: 'stored' }
      }
      const known = await backend.own?.find(id)
      if (backend.own && known?.key !== keyOf(scope)) throw gone(id, scope)
      const text = changed.content ?? known?.content
      if (text === undefined)
        throw wrong('update needs the content: this memory cannot be read by id.', 'Give the complete new text.')
      const isTainted = known !== undefined && keepsUntrusted(known, changed)
      return archive({ scope, content: text, tags: changed.tags ?? known?.tags ?? [] }, { replaces: id, isTainted })
    },
    async forget({ id, scope }) {
      assertEnabled(settings, 'forget')
      call.permits('memory', scope)
      await call.beforeEffect()
      if (!(await backend.forget({ id, key: keyOf(scope) }, use))) throw gone(id, scope)
      host.emitChange('memory', id)
    },
  }
}

/** The second half of the id of a candidate; the id of the promoted note contains it, too. */
function newId(): string {
  return randomBytes(8).toString('hex')
}

function assertEnabled({ isEnabled, writeMode }: MemorySettings, what: string): void {
  if (!isEnabled)
    throw new ToolError('TOOL_DISABLED', 'Memory is off: memory.enabled is false.', {
      fix: { key: 'memory.enabled', value: true, hint: 'Ask the owner to turn it on.' },
    })
  if (what === 'recall' || writeMode !== 'disabled') return
  throw new ToolError('TOOL_DISABLED', 'Memory is read-only: memory.write_mode is disabled.', {
    fix: { key: 'memory.write_mode', value: 'candidate', hint: 'Ask the owner to choose another mode.' },
  })
}

/** The same error for notes of other scopes, so that it does not reveal whether they exist. */
function gone(id: string, scope: MemoryScope): ToolError {
  return new ToolError('NOT_FOUND', `Note ${JSON.stringify(id)} not found in your scope ${scope}.`, {
    hint: 'Recall it, and use the id and the scope of the result.',
  })
}

function wrong(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}

function noArchive(): ToolError {
  return new ToolError('CONFIG_INVALID', 'This hub keeps no records, so notes cannot wait for review.', {
    fix: { key: 'runs', hint: 'Ask the owner to configure a folder for run records.' },
  })
}
