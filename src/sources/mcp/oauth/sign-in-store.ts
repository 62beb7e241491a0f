import { join } from 'node:path'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { z } from 'zod'
import { type Awaitable, type SharedStore, type SourceHost, ToolError } from '../../../core/index.ts'
import { DocumentState, SealedFile, type State, sealForMachines } from '../../../store/index.ts'

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

/** Where the sign-ins of a hub are: in its data folder, or in a store that processes on several machines share. */
export type SignInPlace = Pick<SourceHost, 'data' | 'sharedStore'>

/** The sign-in of a server at one URL, where all processes of a hub see it. */
export interface SignIns {
  /** Whether processes on several machines share it. */
  readonly isShared: boolean
  /** Does the work on what is stored now; on a shared sign-in again, if another process has changed it meanwhile. */
  use<R>(work: (store: SealedSignInStore) => R): Awaitable<R>
}

export function openSignIns({ data, sharedStore }: SignInPlace, server: string, url: string): SignIns {
  if (sharedStore) {
    const state = openShared(sharedStore, server)
    return { isShared: true, use: (work) => state.use((each) => work(new SealedSignInStore(each, server, url))) }
  }
  const store = new SealedSignInStore(data, server, url)
  return { isShared: false, use: (work) => work(store) }
}

/** The sign-ins of a server at one URL, encrypted at rest. What was obtained for one URL is never used for another. */
export class SealedSignInStore {
  readonly #file: State<File>
  readonly #server: string
  readonly #url: string

  constructor(place: string | State<File>, server: string, url: string) {
    this.#file = typeof place === 'string' ? openFile(place) : place
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
export function forgetSignIns(place: string | State<File>, server: string, url?: string): boolean {
  const wanted = url === undefined ? undefined : resourceOf(url)
  const isMeant = (entry: Entry) => entry.server === server && (wanted === undefined || entry.url === wanted)
  const file = typeof place === 'string' ? openFile(place) : place
  if (!file.read().servers.some(isMeant)) return false
  file.update((before) => ({ ...before, servers: before.servers.filter((entry) => !isMeant(entry)) }))
  return true
}

/** The same, wherever they are. With `force`, sign-ins of a shared store are deleted that cannot be decrypted. */
export function forgetSignInsOf(
  { data, sharedStore }: SignInPlace,
  { server, url, force = false }: { readonly server: string; readonly url?: string; readonly force?: boolean },
): Awaitable<boolean> {
  if (!sharedStore) return forgetSignIns(data, server, url)
  const state = openShared(sharedStore, server)
  return force ? state.discard() : state.use((each) => forgetSignIns(each, server, url))
}

const WHAT = 'The sign-ins to MCP servers'
const NO_SIGN_INS: File = { version: 1, servers: [] }

function openFile(data: string): SealedFile<File> {
  const path = join(data, 'mcp-tokens')
  return new SealedFile<File>({
    path,
    schema: fileSchema,
    empty: NO_SIGN_INS,
    what: WHAT,
    hint: `Set TOOL_HUB_KEY to the key they were written with; or delete ${path} and sign in again: tool-hub mcp login.`,
    maxBytes: MAX_BYTES,
  })
}

/** One document for each server, so that a renewal does not wait for those of other servers. */
function openShared({ documents }: SharedStore, server: string): DocumentState<File> {
  const name = `mcp-sign-ins/${server}`
  const hint =
    `Set TOOL_HUB_KEY to the key that the other machines have; if it is lost: tool-hub mcp logout ${server} --force, ` +
    'then sign in again.'
  const seal = sealForMachines({ what: WHAT, name, hint })
  return new DocumentState<File>({ documents, name, schema: fileSchema, empty: NO_SIGN_INS, what: WHAT, hint, seal })
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
