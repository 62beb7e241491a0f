import { type FeatureHost, ToolError, watchTopic } from '@tool-hub/core'
import { parseJson, sha256 } from '@tool-hub/core/lib'
import { compileSchema } from '@tool-hub/core/schema'
import { DEFAULT_SCRIPT_LIMITS, type ScriptEngine } from './engine/index.ts'
import { newSavedScript } from './schema.ts'
import type { NewSavedScript, SavedScript } from './types.ts'

const MAX_SAVED = 500
const MAX_SCHEMA_CHARS = 65_536
const SUBJECT = 'saved-script:'
const NO_ARGUMENTS = { type: 'object', properties: {}, additionalProperties: false }

/** Scripts that the owner saves as the tools `script/<name>`. Agents cannot save any. */
export class SavedScripts {
  readonly #host: FeatureHost
  readonly #engine: ScriptEngine
  #stopWatching: (() => void) | undefined

  constructor(host: FeatureHost, engine: ScriptEngine) {
    this.#host = host
    this.#engine = engine
  }

  async save(given: NewSavedScript, by: string): Promise<SavedScript> {
    const { name, description = `Run the saved script ${name}.`, inputSchema = NO_ARGUMENTS, ...from } = read(given)
    const source = await this.#sourceOf(from)
    if (this.#host.redact(source) !== source)
      throw invalid('The source contains a secret, which is not stored.', 'Read it from input, or use it in a tool.')
    await this.#checkSource(source)
    await checkSchema(inputSchema)
    const { store, clock } = this.#host
    const isTaken = this.#host.tools().some(({ tool }) => tool === `script/${name}`)
    if ((await store.savedScripts.list()).length >= MAX_SAVED)
      throw new ToolError('BUDGET_EXCEEDED', `There are ${MAX_SAVED} saved scripts, and at most ${MAX_SAVED}.`, {
        hint: 'Remove those that are not needed any more.',
      })
    const hash = sha256(source)
    const saved = { name, description, sha256: hash, source, inputSchema, savedBy: by, savedAt: clock.now() }
    if (isTaken || !(await store.savedScripts.add(saved)))
      throw new ToolError('CONFLICT', `There is a tool script/${name} already.`, {
        hint: `Remove it first with tool-hub code remove ${name}, or choose another name.`,
      })
    await this.#changed('script-saved', name, by)
    return saved
  }

  async list(): Promise<readonly SavedScript[]> {
    const saved = await this.#host.store.savedScripts.list()
    await this.#host.reloadTools('code')
    return saved
  }

  async remove(name: string, by: string): Promise<void> {
    if (!(await this.#host.store.savedScripts.remove(name)))
      throw new ToolError('NOT_FOUND', `Saved script ${JSON.stringify(name.slice(0, 100))} not found.`, {
        hint: 'List them with tool-hub code saved.',
      })
    await this.#changed('script-removed', name, by)
  }

  /** The script with this name and this hash; no other source is run. */
  async find({ name, sha256: pinned }: { readonly name: string; readonly sha256: string }): Promise<SavedScript> {
    const saved = await this.#host.store.savedScripts.find(name)
    if (saved?.sha256 !== pinned) await this.#host.reloadTools('code')
    if (!saved)
      throw new ToolError('TOOL_NOT_FOUND', `The script ${name} was removed.`, { hint: 'List the tools again.' })
    if (saved.sha256 !== pinned)
      throw new ToolError('CONFLICT', `The script ${name} was saved anew in the meantime.`, {
        hint: 'Look at its description and its arguments again, and repeat the call.',
      })
    if (sha256(saved.source) === pinned) return saved
    throw new ToolError('CONFLICT', `The stored source of the script ${name} is not the one that was saved.`, {
      hint: `It is not run. Tell the owner, who can look at it with tool-hub code saved --json and remove it.`,
    })
  }

  /** Offers and removes tools as other processes save and remove scripts. */
  follow(): void {
    this.#stopWatching ??= watchTopic(this.#host.store.events, 'feature', (body) => {
      const { feature, subject } = (parseJson(body) ?? {}) as { readonly feature?: unknown; readonly subject?: unknown }
      if (feature !== 'code' || !String(subject).startsWith(SUBJECT)) return
      this.#host.reloadTools('code').catch((error) => this.#host.warn(`Saved scripts cannot be read: ${error.message}`))
    })
  }

  close(): void {
    this.#stopWatching?.()
  }

  async #changed(change: 'script-saved' | 'script-removed', name: string, by: string): Promise<void> {
    await this.#host.recordChange({ by, change, subject: name })
    this.#host.emitChange('code', `${SUBJECT}${name}`)
    await this.#host.reloadTools('code')
  }

  async #sourceOf({ source, script }: Pick<NewSavedScript, 'source' | 'script'>): Promise<string> {
    if (source !== undefined) return source
    const stored = await this.#host.store.scripts.find(script!)
    if (!stored)
      throw new ToolError('NOT_FOUND', `Script ${JSON.stringify(script)} not found in the store.`, {
        hint: 'Only scripts that waited for an approval are kept. Save it from its source.',
      })
    if (stored.status !== 'completed')
      throw new ToolError(
        'CONFLICT',
        `The status of script ${script} is ${stored.status}; only completed scripts can be saved.`,
        {
          hint: 'Wait until it has completed, or save it from its source.',
        },
      )
    if (sha256(stored.source) === stored.sha256) return stored.source
    throw new ToolError('CONFLICT', `The stored source of script ${script} is not the one that ran.`)
  }

  /** Compiles the source without running it: it returns before its first statement. */
  async #checkSource(source: string): Promise<void> {
    const outcome = await this.#engine.run({
      source: `return null; ${source}`,
      input: null,
      now: this.#host.clock.now(),
      seed: '',
      limits: { ...DEFAULT_SCRIPT_LIMITS, maxCalls: 0 },
      tools: [],
      host: { call: async () => ({ ok: true, value: null }), log() {} },
      signal: new AbortController().signal,
    })
    if (outcome.status === 'completed') return
    const place = outcome.line === undefined ? '' : ` in line ${outcome.line}`
    throw invalid(
      `The source cannot be compiled${place}: ${outcome.message}`,
      'Run it once with tool-hub code run FILE.',
    )
  }
}

function read(given: NewSavedScript) {
  const parsed = newSavedScript.safeParse(given)
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!
    throw invalid(
      `Invalid script to save: ${path.join('.')}: ${message}.`,
      'A name looks like this: reconcile-invoices.',
    )
  }
  const { source, script } = parsed.data
  if ((source === undefined) === (script === undefined))
    throw invalid('A saved script is made of a source or of a completed script.', 'Give one of the two.')
  return parsed.data
}

async function checkSchema(schema: Readonly<Record<string, unknown>>): Promise<void> {
  if (schema.type !== 'object' || JSON.stringify(schema).length > MAX_SCHEMA_CHARS)
    throw invalid(
      `The schema of the arguments must have the type object and at most ${MAX_SCHEMA_CHARS} characters.`,
      'Describe each argument under properties.',
    )
  try {
    await compileSchema(schema, { side: 'input' }).validate({})
  } catch (cause) {
    throw invalid(`The schema of the arguments cannot be used: ${(cause as Error).message}`, 'Give a JSON Schema.')
  }
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint })
}
