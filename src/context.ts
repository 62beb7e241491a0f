import type { Commands } from './contracts/commands.ts'
import type { GuardedFetch } from './contracts/handles.ts'
import type { Answer, AnyTool, BaseContext, Question } from './define.ts'
import { ToolError } from './errors.ts'
import type { Content, Evidence, ToolResult } from './result.ts'
import { askPerson } from './steps/ask-person.ts'
import type { Call } from './steps/call.ts'
import { blocks, mostChars } from './steps/content.ts'
import { execHandle } from './steps/exec-handle.ts'
import { filesHandle, networkHandle } from './steps/handles.ts'
import type { Parts, RunState } from './steps/parts.ts'
import { tell } from './steps/tell.ts'

/** How a nested `ctx.call` enters the road again. */
export type Enter = (tool: string | AnyTool, input: unknown, parent: Call) => Promise<ToolResult>

/**
 * Builds what `execute` gets: the handles of the declared capabilities and nothing else.
 * The getters keep a call that looks at nothing from paying for anything.
 */
export function buildContext(parts: Parts, run: RunState, call: Call, enter: Enter): BaseContext {
  const { capabilities } = call.tool!
  const hasFiles = capabilities.has('read:fs') || capabilities.has('write:fs')
  const hasNetwork = capabilities.has('network')
  const hasExec = capabilities.has('exec')
  if (hasFiles && hasNetwork) return new (hasExec ? FullExecContext : FullContext)(parts, run, call, enter)
  if (hasFiles) return new (hasExec ? FilesExecContext : FilesContext)(parts, run, call, enter)
  if (hasNetwork) return new (hasExec ? NetworkExecContext : NetworkContext)(parts, run, call, enter)
  return new (hasExec ? ExecContext : CallContext)(parts, run, call, enter)
}

/** For the classes below and nobody else: whoever could ask a context for its call could open any door. */
let ofCall: (context: CallContext) => [Parts, RunState, Call]

class CallContext implements BaseContext {
  static {
    ofCall = (context) => [context.#parts, context.#run, context.#call]
  }

  readonly callId: string
  readonly run: string
  readonly #parts: Parts
  readonly #run: RunState
  readonly #call: Call
  readonly #enter: Enter

  constructor(parts: Parts, run: RunState, call: Call, enter: Enter) {
    this.callId = call.id
    this.run = call.run
    this.#parts = parts
    this.#run = run
    this.#call = call
    this.#enter = enter
  }

  get signal(): AbortSignal {
    return this.#call.signal
  }

  get cache() {
    return this.#run.cache
  }

  get maxOutputChars(): number {
    return mostChars(this.#parts, this.#call)
  }

  get constraints() {
    return this.#call.decision?.constraints ?? {}
  }

  now(): number {
    return this.#parts.clock.now()
  }

  progress(update: Content): void {
    if (this.#call.ended) return
    const content = this.#parts.redactor.value(blocks(update))
    tell(this.#parts, this.#call, { type: 'call-progressed', callId: this.callId, content })
  }

  evidence(evidence: Evidence): void {
    this.#assertOpen()
    if (!isEvidence(evidence)) throw new TypeError('Evidence is { type, ref, summary }, each a text.')
    this.#call.evidence.push(evidence)
  }

  notice(text: string): void {
    this.#assertOpen()
    this.#call.notices.push(this.#parts.redactor.text(String(text)))
  }

  truncated(notice: string): void {
    this.notice(notice)
    this.#call.truncated ??= {}
  }

  async artifact(content: string | Uint8Array, options?: { readonly name?: string; readonly mediaType?: string }) {
    this.#assertOpen()
    const { records } = this.#run
    if (!records)
      throw new ToolError('RECORDS_UNAVAILABLE', 'This hub keeps no records, so there is no place for an artifact.', {
        hint: 'Make the hub with `runs` set to a folder.',
      })
    const kept = typeof content === 'string' ? this.#parts.redactor.text(content) : content
    const artifact = await records.putArtifact(kept, this.#parts.redactor.value(options))
    this.#call.artifacts.push(artifact)
    return artifact
  }

  pending(message: string): void {
    this.#assertOpen()
    const { id: callId, name: tool } = this.#call
    const told = this.#parts.redactor.text(String(message))
    this.#run.records?.append({ type: 'call-pending', callId, tool, message: told })
    tell(this.#parts, this.#call, { type: 'call-pending', callId, tool, message: told })
  }

  async ask(question: Question): Promise<Answer> {
    this.#assertOpen()
    return askPerson(question, this.#call, this.#parts)
  }

  async call(tool: string | AnyTool, input: unknown): Promise<ToolResult> {
    this.#assertOpen()
    return this.#enter(tool, input, this.#call)
  }

  /** A tool that kept its context has no more rights once the call is over; its file and network handles know by the signal. */
  #assertOpen(): void {
    if (this.#call.ended) throw this.#call.over()
  }
}

/** With files. A class for each set of handles: to define them call by call would cost more than most calls. */
class FilesContext extends CallContext {
  #fs: ReturnType<typeof filesHandle> | undefined

  get fs() {
    this.#fs ??= filesHandle(...ofCall(this))
    return this.#fs
  }
}

class NetworkContext extends CallContext {
  #fetch: GuardedFetch | undefined

  get fetch() {
    this.#fetch ??= networkHandle(...ofCall(this))
    return this.#fetch
  }
}

class FullContext extends FilesContext {
  #fetch: GuardedFetch | undefined

  get fetch() {
    this.#fetch ??= networkHandle(...ofCall(this))
    return this.#fetch
  }
}

/** The same with commands. */
function withExec(Base: typeof CallContext) {
  return class extends Base {
    #exec: Commands | undefined

    get exec() {
      this.#exec ??= execHandle(...ofCall(this))
      return this.#exec
    }
  }
}

const ExecContext = withExec(CallContext)
const FilesExecContext = withExec(FilesContext)
const NetworkExecContext = withExec(NetworkContext)
const FullExecContext = withExec(FullContext)

// One for all calls: a tool must not be able to change what others get.
const PLAIN = [CallContext, FilesContext, NetworkContext, FullContext]
const WITH_EXEC = [ExecContext, FilesExecContext, NetworkExecContext, FullExecContext]
for (const { prototype } of [...PLAIN, ...WITH_EXEC]) Object.freeze(prototype)

function isEvidence(evidence: Evidence): boolean {
  const { type, ref, summary } = evidence ?? {}
  return typeof type === 'string' && typeof ref === 'string' && typeof summary === 'string'
}
