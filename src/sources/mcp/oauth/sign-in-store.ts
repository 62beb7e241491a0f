import { join } from 'node:path'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { ToolError } from '../../../core/index.ts'
import { SealedFile } from '../../../store/index.ts'

/** What is kept about one server at one URL. */
export interface SignInEntry {
  readonly tokens?: StoredOAuthTokens | undefined
  /** As the authorization server knows this client; of one that the owner named only whose it is. */
  readonly client?: StoredOAuthClientInformation | undefined
  /** Where the server sends anyone who signs in. */
  readonly discovery?: OAuthDiscoveryState | undefined
  /** What a call lacked, to be asked for at the next sign-in. */
  readonly lackingScope?: string | undefined
}

const MAX_SERVERS = 1_000
const MAX_BYTES = 4_000_000
/** Of one server, so that none can take the room of the others. */
const MAX_ENTRY_CHARS = 200_000

const NOTHING: SignInEntry = {}

const text = z.string().max(MAX_ENTRY_CHARS)
// What is in them was checked by anyone who put it here, and nobody else can have.
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

/** The sign-ins of a server at one URL, encrypted at rest. What was got for one URL is never seen under another. */
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

  /** Changes what is kept; what is set to undefined is forgotten. */
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

/** Forgets the sign-ins of a server, at one URL or at all; true when there was one. */
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

/** A URL as tokens are bound to it. */
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
