import { join } from 'node:path'
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from '@modelcontextprotocol/client'
import { type SourceHost, ToolError } from '@tool-hub/core'
import {
  DocumentState,
  readOldState,
  removeOldState,
  type State,
  sealDocument,
  unsealFile,
} from '@tool-hub/runtime/store'
import { z } from 'zod'

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
const MAX_OLD_BYTES = 4_000_000
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

/** Where the sign-ins of a hub are. */
export type SignInStorage = Pick<SourceHost, 'data' | 'store'>

/** The sign-in of a server at one URL, where all processes of a hub see it. */
export interface SignIns {
  /** Does the work on what is stored now; again, if another process has changed it meanwhile. */
  use<R>(work: (store: SignInAccess) => R): Promise<R>
}

export function openSignIns(storage: SignInStorage, server: string, url: string): SignIns {
  const state = openState(storage, server)
  return {
    async use(work) {
      await takeOldSignIns(storage)
      return state.use((each) => work(new SignInAccess(each, server, url)))
    },
  }
}

/** The sign-in of a server at one URL, while it is used. What was obtained for one URL is never used for another. */
export class SignInAccess {
  readonly #file: State<File>
  readonly #server: string
  readonly #url: string

  constructor(file: State<File>, server: string, url: string) {
    this.#file = file
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

/**
 * Deletes the sign-ins of a server, at one URL or at all. With `force`, also those that cannot be decrypted. Returns whether
 * there was one.
 */
export async function forgetSignIns(
  storage: SignInStorage,
  { server, url, force = false }: { readonly server: string; readonly url?: string; readonly force?: boolean },
): Promise<boolean> {
  const state = openState(storage, server)
  if (force) {
    await takeOldSignIns(storage).catch(() => {})
    return state.discard()
  }
  await takeOldSignIns(storage)
  const wanted = url === undefined ? undefined : resourceOf(url)
  return state.use((file) => {
    const { servers } = file.read()
    const others = servers.filter((entry) => wanted !== undefined && entry.url !== wanted)
    if (others.length === servers.length) return false
    file.update((before) => ({ ...before, servers: others }))
    return true
  })
}

const WHAT = 'The sign-ins to MCP servers'
const NO_SIGN_INS: File = { version: 1, servers: [] }

/** One document for each server, so that a renewal does not wait for those of other servers. */
function openState({ store }: SignInStorage, server: string, first?: () => File): DocumentState<File> {
  const { documents, keyFolder } = store
  const name = `mcp-sign-ins/${server}`
  const forced = `if it is lost: tool-hub mcp logout ${server} --force, then sign in again.`
  const hint = keyFolder
    ? `Set TOOL_HUB_KEY to the key they were written with; ${forced}`
    : `Set TOOL_HUB_KEY to the key that the other machines have; ${forced}`
  const seal = sealDocument({ what: WHAT, name, hint, keyFolder })
  return new DocumentState({ documents, name, schema: fileSchema, empty: NO_SIGN_INS, first, what: WHAT, hint, seal })
}

/** Moves the sign-ins of a data folder of tool-hub 0.1.0 to the store, once; never to one that other machines read. */
async function takeOldSignIns(storage: SignInStorage): Promise<void> {
  const { data, store } = storage
  if (store.keyFolder === undefined) return
  const path = join(data, 'mcp-tokens')
  const hint = `Set TOOL_HUB_KEY to the key they were written with; or delete ${path} and sign in again: tool-hub mcp login.`
  const decode = (content: string) => unsealFile(content, path, hint)
  const old = readOldState<File>({ path, schema: fileSchema, what: WHAT, hint, maxBytes: MAX_OLD_BYTES, decode })
  if (!old) return
  for (const server of new Set(old.servers.map((entry) => entry.server))) {
    const servers = old.servers.filter((entry) => entry.server === server)
    // What somebody has signed in to since then is newer.
    await openState(storage, server, () => ({ version: 1, servers })).use(() => {})
  }
  removeOldState(path)
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
