import type { CallEvent, ToolResult } from '../core/result.ts'
import type { AuditReport, Health, Me } from '../protocol/service.ts'
import type { ToolEntry } from '../protocol/tools.ts'
import { askAbilities, type FeatureResources } from './ask-abilities.ts'
import type { ClientOptions, ConnectOptions, RemoteCallOptions, ToolMap } from './client-options.ts'
import { type FollowedEvent, type FollowOptions, followEvents } from './follow-events.ts'
import { HttpRequests } from './http-requests.ts'
import { readSse } from './read-sse.ts'
import { askResources, type Resources } from './resources.ts'
import { HubSocket } from './socket/hub-socket.ts'

/** The bytes of an artifact to read: from, and to with it. */
export interface ArtifactPart {
  /** Offset of the first byte. */
  readonly from: number
  /** Offset of the last byte, which is included. Default: the end. */
  readonly to?: number
}

/** A client of a tool-hub service; made by `createClient`. */
export class HubClient<T extends ToolMap = ToolMap> implements Resources, FeatureResources {
  /** Calls that are on record. */
  readonly calls: Resources['calls']
  /** Runs: their records, changed files and undo. */
  readonly runs: Resources['runs']
  /** Approval requests, and how to answer them; answering needs the scope `approve`. */
  readonly approvals: Resources['approvals']
  /** Questions of tools, and how to answer them; answering needs the scope `approve`. */
  readonly questions: Resources['questions']
  /** Answers that are remembered. */
  readonly grants: Resources['grants']
  /** The owner's rules: read, explain, test, save. */
  readonly policy: Resources['policy']
  /** Who uses the hub, with their rights, budgets and runs. */
  readonly principals: Resources['principals']
  /** API tokens; needs the scope `admin`. */
  readonly tokens: Resources['tokens']
  /** Sessions of agents: their history, messages to them, and how to end one. */
  readonly agents: FeatureResources['agents']
  /** What agents show to people. */
  readonly canvases: FeatureResources['canvases']
  /** Messages of agents to people, and the channels. */
  readonly inbox: FeatureResources['inbox']
  /** Notes of agents, and those that wait for review. */
  readonly memory: FeatureResources['memory']
  /** Calls that are made later. */
  readonly schedules: FeatureResources['schedules']
  readonly #http: HttpRequests
  readonly #options: ClientOptions

  constructor(options: ClientOptions) {
    this.#options = options
    this.#http = new HttpRequests(options)
    const { calls, runs, approvals, questions, grants, policy, principals, tokens } = askResources(this.#http)
    this.calls = calls
    this.runs = runs
    this.approvals = approvals
    this.questions = questions
    this.grants = grants
    this.policy = policy
    this.principals = principals
    this.tokens = tokens
    const { agents, canvases, inbox, memory, schedules } = askAbilities(this.#http)
    this.agents = agents
    this.canvases = canvases
    this.inbox = inbox
    this.memory = memory
    this.schedules = schedules
  }

  /** The tools that this client sees; with `hidden`, also the others and why. */
  async tools({ hidden }: { readonly hidden?: boolean } = {}): Promise<ToolEntry[]> {
    const { tools } = await this.#http.json<{ tools: ToolEntry[] }>('GET', '/v1/tools', { query: { hidden } })
    return tools
  }

  /** The tools in the form that a provider's API takes. */
  async toolsFor(form: 'openai' | 'anthropic' | 'mcp', { dialect }: { readonly dialect?: string } = {}) {
    const answer = this.#http.json<{ tools: Record<string, unknown>[] }>('GET', '/v1/tools', {
      query: { form, dialect },
    })
    return (await answer).tools
  }

  /** Calls a tool. Never rejects for a tool's failure: look at `ok`. */
  call<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    { signal, ...options }: RemoteCallOptions = {},
  ): Promise<ToolResult<T[K]['output']>> {
    return this.#http.json('POST', callPath(tool), { body: { input, ...options }, signal })
  }

  /** The same, told as it goes; last `call-ended`. Whoever stops reading stops the call, unless it has an idempotency key. */
  async *stream<K extends keyof T & string>(
    tool: K,
    input: T[K]['input'],
    { signal, ...options }: RemoteCallOptions = {},
  ): AsyncGenerator<CallEvent<T[K]['output']>, void, undefined> {
    const headers = { accept: 'text/event-stream' }
    const response = await this.#http.send('POST', callPath(tool), { body: { input, ...options }, headers, signal })
    for await (const { data } of readSse(response)) yield JSON.parse(data) as CallEvent<T[K]['output']>
  }

  /** What happens on the service, as it happens; goes on by itself where it was when the connection drops. */
  events(options?: FollowOptions): AsyncGenerator<FollowedEvent, void, undefined> {
    return followEvents(this.#http, options)
  }

  /** Reads an artifact of a result, or a part of it. */
  async artifact(
    ref: string,
    { run, part, signal }: { run?: string; part?: ArtifactPart; signal?: AbortSignal } = {},
  ): Promise<Uint8Array> {
    const path = `/v1/artifacts/${encodeURIComponent(ref.replace(/^artifact:/, ''))}`
    const headers = part ? { range: `bytes=${part.from}-${part.to ?? ''}` } : undefined
    const response = await this.#http.send('GET', path, { query: { run }, headers, signal })
    return new Uint8Array(await response.arrayBuffer())
  }

  /** Checks the records of a run, or of all; `only: 'missing'` looks for runs that are gone and reads no record. */
  readonly audit = {
    verify: ({ run, only }: { readonly run?: string; readonly only?: 'missing' } = {}): Promise<AuditReport> =>
      this.#http.json('GET', '/v1/audit/verify', { query: { run, only } }),
  }

  /** How the service does: rates, failures, budgets, sandbox, servers; needs the scope `read`. */
  health(): Promise<Health> {
    return this.#http.json('GET', '/v1/health')
  }

  /** Who this client is to the service, and its scopes. */
  me(): Promise<Me> {
    return this.#http.json('GET', '/v1/me')
  }

  /** Signs in with a token, for a cookie: then the page needs to keep no secret. */
  async signIn(token: string): Promise<Me> {
    const me = await this.#http.json<Me>('POST', '/v1/sessions', { body: { token }, isOpen: true })
    this.#http.remember(me.csrf)
    return me
  }

  /** Ends the sign-in of this browser: its cookie is not valid any more. */
  async signOut(): Promise<void> {
    await this.#http.send('DELETE', '/v1/sessions')
    this.#http.remember(undefined)
  }

  /** Opens a session over a WebSocket, for many calls, own tools and approvals; it outlives dropped connections. */
  connect(options: ConnectOptions = {}): Promise<HubSocket<T>> {
    const { token, WebSocket = (globalThis as { WebSocket?: ClientOptions['WebSocket'] }).WebSocket } = this.#options
    if (!WebSocket) {
      throw new TypeError('There is no WebSocket here: give createClient the one of the package ws, { WebSocket }.')
    }
    const url = `${this.#http.base.replace(/^http/, 'ws')}/v1/ws`
    const protocols = ['tool-hub.v1', ...(token === undefined ? [] : [`bearer.${token}`])]
    return HubSocket.open<T>({ WebSocket, url, protocols }, options)
  }
}

function callPath(tool: string): string {
  return `/v1/tools/${encodeURIComponent(tool)}/call`
}
