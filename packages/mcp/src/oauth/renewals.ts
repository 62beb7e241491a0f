import { randomUUID } from 'node:crypto'
import type { StoredOAuthTokens } from '@modelcontextprotocol/client'
import { type Clock, type SourceHost, ToolError } from '@tool-hub/core'
import { z } from 'zod'
import { openSignIns, type SignIns } from './sign-in-store.ts'

/** A renewal that all processes which share a sign-in do once. */
export interface Renewal {
  /** The refresh token that this process has read. */
  readonly refreshToken: string
  /** Whether the server has rejected this access token. */
  readonly isRefused: (accessToken: string) => boolean
  /** Asks the authorization server. */
  readonly ask: (signal: AbortSignal) => Promise<Response>
}

/** Renews the tokens of a sign-in that several processes share, one process at a time. */
export type RenewTogether = (renewal: Renewal) => Promise<Response>

/** Longer than a renewal and the attempts to store its tokens take: a process that ended holds up others no longer. */
const LEASE_MS = 60_000
const ASK_MS = 30_000
const STORE_MS = 25_000
const POLL_MS = 150
const PAUSE_MS = 500

const renewedSchema = z.looseObject({
  access_token: z.string(),
  token_type: z.string(),
  refresh_token: z.string().optional(),
})

/**
 * Renews under a lease, and stores the new tokens before the lease ends: many authorization servers take the second use of
 * a refresh token for theft. A process that has to wait gets the tokens that another one has stored.
 */
export function renewTogether({
  server,
  url,
  host,
}: {
  readonly server: string
  readonly url: string
  readonly host: Pick<SourceHost, 'data' | 'store' | 'clock'>
}): RenewTogether {
  const { clock, store } = host
  const { slots } = store
  const signIns = openSignIns(host, server, url)
  const slot = `mcp-sign-in/${server}`
  const release = async (owner: string) => {
    try {
      await slots.release(slot, owner)
    } catch {
      // The lease expires by itself, and the tokens are stored.
    }
  }
  return async (renewal) => {
    const owner = randomUUID()
    const startedAt = clock.now()
    for (;;) {
      const now = clock.now()
      const isOurs = await slots.lease(slot, { owner, now, until: now + LEASE_MS })
      try {
        const known = await signIns.use((store) => store.read().tokens)
        if (!isCurrent(known, renewal)) return answerOf(known)
        if (isOurs) return await renew(renewal, { server, signIns, clock })
      } finally {
        if (isOurs) await release(owner)
      }
      if (now - startedAt > LEASE_MS + ASK_MS) throw busy(server)
      await wait(clock, POLL_MS)
    }
  }
}

/** Whether the tokens are still those that were to be renewed, and nobody has renewed them meanwhile. */
function isCurrent(known: StoredOAuthTokens | undefined, { refreshToken, isRefused }: Renewal): boolean {
  return known?.refresh_token === refreshToken && isRefused(known.access_token)
}

/** What the authorization server would answer; without tokens, somebody has signed out. */
function answerOf(known: StoredOAuthTokens | undefined): Response {
  return known ? Response.json(known) : Response.json({ error: 'invalid_grant' }, { status: 400 })
}

async function renew(
  { refreshToken, ask }: Renewal,
  { server, signIns, clock }: { readonly server: string; readonly signIns: SignIns; readonly clock: Clock },
): Promise<Response> {
  const response = await askInTime(ask, server, clock)
  if (!response.ok) return response
  const renewed = renewedSchema.safeParse(
    await response
      .clone()
      .json()
      .catch(() => undefined),
  )
  // The SDK says what is wrong with such an answer.
  if (!renewed.success) return response
  const store = () =>
    signIns.use((stored) =>
      stored.change((entry) => {
        // Somebody has signed in or out meanwhile.
        if (entry.tokens?.refresh_token !== refreshToken) return entry
        const tokens = { refresh_token: refreshToken, ...renewed.data, issuer: entry.tokens.issuer }
        return { ...entry, tokens, lackingScope: undefined }
      }),
    )
  await storeInTime(store, clock)
  return response
}

async function askInTime(ask: Renewal['ask'], server: string, clock: Clock): Promise<Response> {
  const limit = new AbortController()
  const tooSlow = new ToolError('UPSTREAM_ERROR', `The authorization server of ${server} took more than ${ASK_MS} ms.`)
  const cancel = clock.after(ASK_MS, () => limit.abort(tooSlow))
  try {
    return await ask(limit.signal)
  } catch (cause) {
    throw limit.signal.aborted ? tooSlow : cause
  } finally {
    cancel()
  }
}

/** The old refresh token is used up, so the new one must not be lost because the store is away for a moment. */
async function storeInTime(store: () => unknown, clock: Clock): Promise<void> {
  const startedAt = clock.now()
  for (;;) {
    try {
      await store()
      return
    } catch (error) {
      // Also after a commit whose outcome is unknown: what is stored already is not stored again.
      const isAway = ToolError.is(error) && (error.retryable || error.code === 'RECORDS_UNAVAILABLE')
      if (!isAway || clock.now() - startedAt > STORE_MS) throw error
      await wait(clock, PAUSE_MS)
    }
  }
}

function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.after(ms, resolve))
}

function busy(server: string): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `Other processes are renewing the sign-in to ${server}, and did not succeed.`,
    {
      hint: `Try again in a minute; if it stays so: tool-hub mcp login ${server}.`,
    },
  )
}
