import { z } from 'zod'
import { MEMORY_SCOPES } from './types.ts'

const scope = z.enum(MEMORY_SCOPES)
const content = z.string().min(1).max(20_000)
const tags = z.array(z.string().min(1).max(64)).max(16)

/** Where a note comes from. */
export const noteOriginEntry = z.object({
  run: z.string().optional(),
  session: z.string().optional(),
  callId: z.string().optional(),
  caller: z.string().optional(),
  principal: z.string().optional(),
  /** Its run had read untrusted content, or that is unknown. */
  tainted: z.boolean(),
  /** A person has reviewed it. */
  reviewed: z.boolean(),
  promotedBy: z.string().optional(),
  importedBy: z.string().optional(),
  at: z.number(),
})

export const memoryNote = z.object({
  id: z.string(),
  scope,
  /** The scope and its run, session or agent: `agent:token:ci`. */
  key: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  createdAt: z.number(),
  updatedAt: z.number(),
  origin: noteOriginEntry,
})
export type MemoryNoteEntry = z.infer<typeof memoryNote>

/** Query of `GET /v1/memory/notes`. */
export const noteQuery = z.object({
  query: z.string().min(1).max(1_000).optional(),
  scope: scope.optional(),
  key: z.string().min(1).max(1_000).optional(),
  tag: z.string().min(1).max(64).optional(),
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(50),
})
/** `next` is the `before` of the next page. */
export const noteList = z.object({ notes: z.array(memoryNote), next: z.number().optional() })

export const memoryCandidate = z.object({
  id: z.string(),
  run: z.string(),
  scope,
  key: z.string(),
  content: z.string(),
  tags: z.array(z.string()),
  /** Id of the note that it replaces. */
  replaces: z.string().optional(),
  origin: noteOriginEntry,
  state: z.enum(['waiting', 'promoted', 'rejected']),
  review: z
    .object({ by: z.string(), at: z.number(), reason: z.string().optional(), note: z.string().optional() })
    .optional(),
})
export type MemoryCandidateEntry = z.infer<typeof memoryCandidate>

/** Query of `GET /v1/memory/candidates`. */
export const candidateQuery = z.object({
  run: z.string().min(1).max(64).optional(),
  state: z.enum(['waiting', 'promoted', 'rejected', 'all']).default('waiting'),
  limit: z.coerce.number().int().min(1).max(100).default(50),
})
export const candidateList = z.object({
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
