import { ToolError } from '@tool-hub/core'
import type { MemoryContext } from './memory-handle.ts'
import { cleanContent, cleanTags, scopeKeys, scopeOf } from './note.ts'
import type { BackendUse, BackendWrite } from './providers/backend.ts'
import type { MemoryCandidate, MemoryNote, MemoryService, Promotion } from './types.ts'

/** Promotes and rejects candidates; each is decided once, also if several people do so concurrently. */
export function createReview(
  parts: MemoryContext,
  useAs: (by: string) => BackendUse,
): Pick<MemoryService, 'promote' | 'reject'> {
  const { host } = parts
  const archive = () => {
    if (parts.candidates) return parts.candidates
    throw new ToolError('NOT_FOUND', 'This hub keeps no records, so no note waits for review.')
  }
  const announce = async (by: string, change: 'memory-promoted' | 'memory-rejected', id: string) => {
    await host.recordChange({ by, change, subject: id })
    host.emitChange('memory', id)
  }

  return {
    async promote(id, promotion) {
      const { by } = promotion
      if (await isUnseenNote(parts, id)) {
        const note = await acceptNote(parts, id, promotion, useAs(by))
        await announce(by, 'memory-promoted', id)
        return note
      }
      let promoted: MemoryNote | undefined
      const outcome = await archive().decide(id, async (candidate) => {
        const wish = toWrite(parts, candidate, promotion)
        // The id is the same if this is repeated after a crash, so the note is stored once.
        const note = await keep(parts, candidate, wish, useAs(by))
        promoted = noteOf(wish, note)
        return { id, decision: 'promoted', by, at: host.clock.now(), note }
      })
      if (!outcome.won) throw decided(outcome.candidate)
      await announce(by, 'memory-promoted', id)
      return promoted!
    },
    async reject(id, { by, reason }) {
      const outcome = await archive().decide(id, async (candidate) => {
        const at = host.clock.now()
        const note = await promotedNote(parts, candidate)
        // It was promoted, but the process stopped before the decision was recorded.
        if (note) return { id, decision: 'promoted', by: note.origin.promotedBy ?? 'unknown', at, note: note.id }
        return { id, decision: 'rejected', by, at, ...(reason !== undefined && { reason: host.redact(reason) }) }
      })
      const candidate = await archive().find(id)
      if (!outcome.won || candidate?.state !== 'rejected') throw decided(candidate!)
      await announce(by, 'memory-rejected', id)
      return candidate
    },
  }
}

/** The note that a candidate becomes, with the changes of the reviewer. */
function toWrite(
  { settings, host }: MemoryContext,
  candidate: MemoryCandidate,
  { by, scope, tags, content }: Promotion,
): BackendWrite {
  return {
    id: candidate.replaces ?? noteId(candidate),
    key: scope === undefined ? candidate.key : keyOf(candidate, scope),
    content: content === undefined ? candidate.content : cleanContent(content, settings, host).content,
    tags: tags ? cleanTags(tags, host) : candidate.tags,
    origin: { ...candidate.origin, reviewed: true, promotedBy: by },
  }
}

/** Stores a promoted note; it becomes a new note if the one to replace is gone, or has another scope. */
async function keep(
  { backend }: MemoryContext,
  candidate: MemoryCandidate,
  wish: BackendWrite,
  use: BackendUse,
): Promise<string> {
  if (candidate.replaces === undefined) return backend.write(wish, use)
  if (wish.key === candidate.key && (await backend.update(wish, use))) return wish.id
  return backend.write({ ...wish, id: noteId(candidate) }, use)
}

/** The note that a candidate has become already. */
async function promotedNote({ backend }: MemoryContext, candidate: MemoryCandidate): Promise<MemoryNote | undefined> {
  const { replaces, origin } = candidate
  const own = await backend.own?.find(noteId(candidate))
  if (own || replaces === undefined) return own
  const changed = await backend.own?.find(replaces)
  const isIt = changed?.origin.promotedBy !== undefined && changed.origin.callId === origin.callId
  return isIt && changed.origin.run === origin.run ? changed : undefined
}

/** Whether this is the id of a note that nobody has reviewed, such as an imported one. */
async function isUnseenNote({ backend }: MemoryContext, id: string): Promise<boolean> {
  const note = await backend.own?.find(id)
  return note !== undefined && !note.origin.reviewed
}

async function acceptNote(
  { settings, backend, host }: MemoryContext,
  id: string,
  { by, scope, tags, content }: Promotion,
  use: BackendUse,
): Promise<MemoryNote> {
  const note = (await backend.own!.find(id))!
  if (scope !== undefined && scope !== note.scope)
    throw new ToolError('INPUT_SCHEMA_INVALID', 'The scope of a stored note cannot be changed.', {
      hint: 'Forget it, and import it into the other scope.',
    })
  const origin = { ...note.origin, reviewed: true, promotedBy: by }
  const changed = {
    ...(content !== undefined && { content: cleanContent(content, settings, host).content }),
    ...(tags && { tags: cleanTags(tags, host) }),
  }
  await backend.update({ id, key: note.key, origin, ...changed }, use)
  return (await backend.own!.find(id))!
}

function noteOf({ key, content, tags, origin }: BackendWrite, id: string): MemoryNote {
  const { at } = origin
  return { id, scope: scopeOf(key) ?? 'shared', key, content, tags, createdAt: at, updatedAt: at, origin }
}

/** Contains the second half of the candidate's id. */
function noteId({ id }: MemoryCandidate): string {
  return `note-${id.slice(id.lastIndexOf('.') + 1)}`
}

/** The key of another scope of the writer. */
function keyOf({ run, origin }: MemoryCandidate, scope: NonNullable<Promotion['scope']>): string {
  const { session = run, caller = 'unknown', principal } = origin
  return scopeKeys({ run, session, caller, principal })[scope]
}

function decided({ id, state, review }: MemoryCandidate): ToolError {
  return new ToolError('CONFLICT', `${id} was ${state} by ${review?.by ?? 'somebody'} already.`, {
    hint: 'See the decision with tool-hub memory review --list --state all.',
  })
}
