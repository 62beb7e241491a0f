import { join } from 'node:path'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ToolError } from '../../../core/index.ts'
import { SealedFile } from '../../../store/index.ts'

/** What is stored about one server at one URL. */
export interface SignInEntry {
  readonly tokens?: StoredOAuthTokens | undefined
  /** The client as the authorization server knows it; of a configured client only its authorization server. */
  readonly client?: StoredOAuthClientInformation | undefined
  /** Where the server sends people to sign in. */
  readonly discovery?: OAuthDiscoveryState | undefined
  /** Scope that a call lacked, to be requested at the next sign-in. */
  readonly lackingScope?: string | undefined
}

const MAX_SERVERS = 1_000
const MAX_BYTES = 4_000_000
/** Limit for one server, so that none can use the space of the others. */
const MAX_ENTRY_CHARS = 200_000

const NOTHING: SignInEntry = {}

const text = z.string().max(MAX_ENTRY_CHARS)
// Its content was checked before it was stored, and only this hub can write it.
const entrySchema = z.strictObject({
  server: text,
  url: text,
  tokens: z.custom<StoredOAuthTokens>(isObject).optional(),
  client: z.custom<StoredOAuthClientInformation>(isObject).optional(),
  discovery: z.custom<OAuthDiscoveryState>(isObject).optional(),
  lackingScope: text.optional(),
})
const fileSchema = z.strictObject({ version: z.literal(1), servers: z.array(entrySchema).max(MAX_SERVERS) })
type Entry = z.infer<typeof entrySchema>
type File = z.infer<typeof fileSchema>

/** The sign-ins of a server at one URL, encrypted at rest. What was obtained for one URL is never used for another. */
export class SealedSignInStore {
  readonly #file: SealedFile<File>
  readonly #server: string
  readonly #url: string

  constructor(data: string, server: string, url: string) {
    this.#file = openFile(data)
    this.#server = server
    this.#url = resourceOf(url)
  }

  read(): SignInEntry {
    return this.#file.read().servers.find((entry) => this.#isOurs(entry)) ?? NOTHING
  }

  /** Changes what is stored; a key set to `undefined` is deleted. */
  change(decide: (before: SignInEntry) => SignInEntry): void {
    this.#file.update((file) => {
      const known = file.servers.find((entry) => this.#isOurs(entry))
      const before = known ?? NOTHING
      const after = decide(before)
      if (after === before) return file
      const entry = { ...before, ...after, server: this.#server, url: this.#url }
      const chars = JSON.stringify(entry).length
      if (chars > MAX_ENTRY_CHARS) throw tooMuch(this.#server, chars)
      return { ...file, servers: [...file.servers.filter((other) => other !== known), entry] }
    })
  }

  #isOurs({ server, url }: Entry): boolean {
    return server === this.#server && url === this.#url
  }
}

/** Deletes the sign-ins of a server, at one URL or at all. Returns whether there was one. */
export function forgetSignIns(data: string, server: string, url?: string): boolean {
  const wanted = url === undefined ? undefined : resourceOf(url)
  const isMeant = (entry: Entry) => entry.server === server && (wanted === undefined || entry.url === wanted)
  const file = openFile(data)
  if (!file.read().servers.some(isMeant)) return false
  file.update((before) => ({ ...before, servers: before.servers.filter((entry) => !isMeant(entry)) }))
  return true
}

function openFile(data: string): SealedFile<File> {
  const path = join(data, 'mcp-tokens')
  return new SealedFile<File>({
    path,
    schema: fileSchema,
    empty: { version: 1, servers: [] },
    what: 'The sign-ins to MCP servers',
    hint: `Set TOOL_HUB_KEY to the key they were written with; or delete ${path} and sign in again: tool-hub mcp login.`,
    maxBytes: MAX_BYTES,
  })
}

/** The form of a URL that tokens are bound to. */
function resourceOf(text: string): string {
  const url = new URL(text)
  url.hash = ''
  return url.href
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function tooMuch(server: string, chars: number): ToolError {
  return new ToolError(
    'UPSTREAM_ERROR',
    `What ${server} says about signing in has ${chars} characters, the limit is ${MAX_ENTRY_CHARS}.`,
    { retryable: false },
  )
}
