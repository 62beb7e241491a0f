import { z } from 'zod'
import type { Clock } from '../clock.ts'
import { ToolError } from '../errors.ts'
import type { GrantStore, StoredGrant } from '../store.ts'
import { parseJson } from '../value/parse-json.ts'
import type { Grant } from './grants.ts'

const MOST_GRANTS = 10_000

const text = z.string().min(1).max(10_000)
const bodySchema = z.strictObject({
  effect: z.enum(['allow', 'deny']),
  covers: z.enum(['exact', 'targets', 'pattern']),
  hash: z.string().min(1).max(128),
  targets: z.array(text).max(10_000),
  pattern: z.strictObject({ on: z.array(text).min(1).max(100), shown: text, tools: text.optional() }).optional(),
  principal: z.string().max(200).optional(),
  until: z.iso.datetime().optional(),
  by: z.string().max(200),
  reason: z.string().max(2_000).optional(),
})

/** The grants in the store, which processes share. What cannot be read is told, not left out: it may be a no. */
export class SavedGrants {
  readonly #store: GrantStore
  readonly #clock: Clock

  constructor(store: GrantStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** Those that hold now, oldest first. */
  async list(filter?: { readonly tool: string }): Promise<Grant[]> {
    const now = this.#clock.now()
    const stored = await this.#store.list(filter)
    return stored.filter(({ expiresAt }) => expiresAt === undefined || expiresAt > now).map(readGrant)
  }

  /** Keeps one in the place of those that say the same. */
  async put(grant: Grant, isSame: (other: Grant) => boolean): Promise<void> {
    const { id, tool, createdAt, session: _, ...body } = grant
    const others = await this.list({ tool })
    if ((await this.#store.list()).length >= MOST_GRANTS) throw tooMany()
    const times = {
      createdAt: Date.parse(createdAt),
      ...(grant.until !== undefined && { expiresAt: Date.parse(grant.until) }),
    }
    await this.#store.put({ id, tool, body: JSON.stringify(body), ...times })
    for (const other of others) if (isSame(other)) await this.#store.remove(other.id)
  }

  async remove(id: string): Promise<boolean> {
    return this.#store.remove(id)
  }
}

function readGrant({ id, tool, body, createdAt }: StoredGrant): Grant {
  const parsed = bodySchema.safeParse(parseJson(body))
  if (!parsed.success) {
    throw new ToolError('CONFIG_INVALID', `The saved grant ${id} cannot be used: ${z.prettifyError(parsed.error)}`, {
      hint: `Take it back: tool-hub grants revoke ${id}. Until then every call of ${tool} that needs an approval asks.`,
    })
  }
  return { id, tool, ...parsed.data, createdAt: new Date(createdAt).toISOString() }
}

function tooMany(): ToolError {
  return new ToolError('FILE_TOO_LARGE', `The store holds ${MOST_GRANTS} grants already.`, {
    hint: 'Revoke some: tool-hub grants.',
  })
}
