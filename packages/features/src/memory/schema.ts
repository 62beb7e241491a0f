import { z } from 'zod'
import { MEMORY_SCOPES } from './types.ts'

const scope = z.enum(MEMORY_SCOPES)
const content = z.string().min(1).max(20_000)
const tags = z.array(z.string().min(1).max(64)).max(16)

/** Where a note comes from. */
export const noteOriginEntry = z.object({
  /** Run of the call that wrote it; absent for an import. */
  run: z.string().optional(),
  /** Session of that call, if it had one. */
  session: z.string().optional(),
  /** Id of that call in the records. */
  callId: z.string().optional(),
  /** The caller, as it named itself. */
  caller: z.string().optional(),
  /** The authenticated principal, if it is known. */
  principal: z.string().optional(),
  /** Its run had read untrusted content, or that is unknown. */
  tainted: z.boolean(),
  /** A person has reviewed it. */
  reviewed: z.boolean(),
  /** Who promoted it from the candidates. */
  promotedBy: z.string().optional(),
  /** Who imported it. */
  importedBy: z.string().optional(),
  /** When it was written, in milliseconds since 1970. */
  at: z.number(),
})

/** A note as the owner of the hub sees it. */
export const memoryNote = z.object({
  /** Unique id, to find, forget or promote it. */
  id: z.string(),
  /** Who can recall it. */
  scope,
  /** The scope and its run, session or agent: `agent:token:ci`, `shared`. */
  key: z.string(),
  /** The text, without secrets. */
  content: z.string(),
  /** Words to filter by; may be empty. */
  tags: z.array(z.string()),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Milliseconds since 1970; `createdAt` if it was never changed. */
  updatedAt: z.number(),
  /** Who wrote it, in which call, and whether a person has reviewed it. */
  origin: noteOriginEntry,
})

/** Query of `GET /v1/memory/notes`. */
export const noteQuery = z.object({
  /** What the notes are about; without it, all notes, newest first. */
  query: z.string().min(1).max(1_000).optional(),
  /** Only notes of this scope. */
  scope: scope.optional(),
  /** Only notes with this key. */
  key: z.string().min(1).max(1_000).optional(),
  /** Only notes with this tag. */
  tag: z.string().min(1).max(64).optional(),
  /** `next` of the page before. */
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
})
/** `next` is the `before` of the next page. */
export const noteList = z.object({ notes: z.array(memoryNote), next: z.number().optional() })

/** A note that waits for review, or was reviewed, in the archive of its run. */
export const memoryCandidate = memoryNote.omit({ createdAt: true, updatedAt: true }).extend({
  /** The run whose archive it is in. */
  run: z.string(),
  /** Id of the note that it replaces. */
  replaces: z.string().optional(),
  /** The decision of the reviewer; only `promoted` ones are recalled. */
  state: z.enum(['waiting', 'promoted', 'rejected']),
  /** Who decided, and when. */
  review: z
    .object({
      /** Who decided. */
      by: z.string(),
      /** When, in milliseconds since 1970. */
      at: z.number(),
      /** Why it was rejected, if the reviewer gave a reason. */
      reason: z.string().optional(),
      /** Id of the note that it became. */
      note: z.string().optional(),
    })
    .optional(),
})

/** Query of `GET /v1/memory/candidates`. */
export const candidateQuery = z.object({
  /** Only candidates of this run. */
  run: z.string().min(1).max(64).optional(),
  /** What became of them. Default: `waiting`. */
  state: z.enum(['waiting', 'promoted', 'rejected', 'all']).default('waiting'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
})
export const candidateList = z.object({
  /** Newest first. */
  candidates: z.array(memoryCandidate),
  /** The settings of memory. */
  memory: z.object({ enabled: z.boolean(), writeMode: z.string(), provider: z.string() }),
})

/** Body of `POST /v1/memory/candidates/{id}/promote`; the given properties replace those of the candidate. */
export const promotion = z.strictObject({ scope: scope.optional(), tags: tags.optional(), content: content.optional() })
export const promoted = z.object({ note: memoryNote })

/** Body of `POST /v1/memory/candidates/{id}/reject`. */
export const rejection = z.strictObject({ reason: z.string().max(2_000).optional() })
export const rejected = z.object({ candidate: memoryCandidate })

/** Query of `GET /v1/memory/export`. */
export const exportQuery = z.object({ scope: scope.optional() })
