import {
  type Capability,
  type Constraints,
  didYouMean,
  type Effect,
  type Rule,
  type SourcedRule,
  ToolError,
} from '@tool-hub/core'
import { refuseUnknownKeys } from './compile-rule.ts'
import { TARGET_KINDS } from './match/index.ts'

/** Where a policy.yaml stands and how to read it. */
interface PolicyYamlOptions {
  /** Named as the source of its rules. */
  readonly file: string
  /** The folder that relative paths in it start from. */
  readonly base: string
  readonly lineOf?: (path: (string | number)[]) => number | undefined
  /** `10MB` or a number to bytes; throws for anything else. */
  readonly parseSize: (value: string | number) => number
}

const ACTIONS = ['allow', 'ask', 'deny'] as const
const PATH_CAPABILITIES = (Object.keys(TARGET_KINDS) as Capability[]).filter((name) => TARGET_KINDS[name] === 'path')

/** Returns the rules of a policy.yaml: a default, and for each tool an action, constraints, a whitelist and a blacklist. */
export function fromPolicyYaml(document: unknown, options: PolicyYamlOptions): SourcedRule[] {
  const reader = new Reader(options)
  const { tools } = reader.object(document, [], ['tools'])
  const { default: fallback, ...entries } = reader.object(tools, ['tools'])
  const standard = reader.action(fallback, ['tools', 'default'])
  const rules = Object.entries(entries).flatMap(([tool, entry]) => rulesOfTool(reader, tool, entry, standard ?? 'ask'))
  if (standard === undefined) return rules
  return [...rules, { ...reader.rule(verb(standard, '*'), ['tools', 'default']), fallback: true }]
}

function rulesOfTool(reader: Reader, tool: string, value: unknown, standard: Effect): SourcedRule[] {
  const at = ['tools', tool]
  const entry = reader.object(value, at, ['action', 'constraints', 'whitelist', 'blacklist'])
  const within = [...at, 'constraints']
  const constraints = reader.object(entry.constraints ?? {}, within, [
    'max_size',
    'allowed_paths',
    'denied_paths',
    'max_results',
  ])
  const limit = reader.limit(constraints, within)
  const whitelist = reader.texts(entry.whitelist, [...at, 'whitelist'])
  const blacklist = reader.texts(entry.blacklist, [...at, 'blacklist'])
  const allowedPaths = reader.texts(constraints.allowed_paths, [...within, 'allowed_paths'])
  const deniedPaths = reader.texts(constraints.denied_paths, [...within, 'denied_paths'])

  const rules = [actionRule(reader, tool, entry.action, standard, whitelist, limit)]
  if (whitelist)
    rules.push({ ...reader.rule({ allow: tool, on: whitelist, limit }, [...at, 'whitelist']), about: ['exec'] })
  if (blacklist) rules.push({ ...reader.rule({ deny: tool, on: blacklist }, [...at, 'blacklist']), about: ['exec'] })
  if (allowedPaths) {
    const rule = reader.rule({ deny: tool, except: allowedPaths }, [...within, 'allowed_paths'])
    rules.push({ ...rule, about: PATH_CAPABILITIES })
  }
  if (deniedPaths)
    rules.push({
      ...reader.rule({ deny: tool, on: deniedPaths }, [...within, 'denied_paths']),
      about: PATH_CAPABILITIES,
    })
  return rules
}

/** Without an action the default decides what the lists leave open; a deny leaves the whitelist open. */
function actionRule(
  reader: Reader,
  tool: string,
  written: unknown,
  standard: Effect,
  whitelist: string[] | undefined,
  limit: Constraints | undefined,
): SourcedRule {
  const action = reader.action(written, ['tools', tool, 'action'])
  if (action === undefined)
    return { ...reader.rule({ ...verb(standard, tool), limit }, ['tools', tool]), fallback: true }
  const except = action === 'deny' ? whitelist : undefined
  return reader.rule({ ...verb(action, tool), except, limit }, ['tools', tool, 'action'])
}

function verb(effect: Effect, subject: string): Rule {
  if (effect === 'deny') return { deny: subject }
  return effect === 'ask' ? { ask: subject } : { allow: subject }
}

/** Takes values out of the document; what does not fit is refused with its file and line. */
class Reader {
  readonly #options: PolicyYamlOptions

  constructor(options: PolicyYamlOptions) {
    this.#options = options
  }

  rule(rule: Rule, path: string[]): SourcedRule {
    const { file, base, lineOf } = this.#options
    return { rule, source: { file, line: lineOf?.(path) }, base }
  }

  object(value: unknown, path: string[], known?: readonly string[]): Record<string, unknown> {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw this.#wrong(path, 'must be a map of keys')
    if (known) refuseUnknownKeys(value, known, (key) => this.#place([...path, key]))
    return value as Record<string, unknown>
  }

  action(value: unknown, path: string[]): Effect | undefined {
    if (value === undefined) return undefined
    const action = ACTIONS.find((known) => known === value)
    if (action) return action
    throw this.#wrong(
      path,
      `is ${JSON.stringify(value)}, but must be allow, ask or deny`,
      didYouMean(String(value), ACTIONS),
    )
  }

  texts(value: unknown, path: string[]): string[] | undefined {
    if (value === undefined) return undefined
    const isList =
      Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === 'string' && item !== '')
    if (!isList) throw this.#wrong(path, 'must be a list of texts, at least one')
    return value
  }

  limit({ max_size: size, max_results: results }: Record<string, unknown>, path: string[]): Constraints | undefined {
    if (size === undefined && results === undefined) return undefined
    const isCount = results === undefined || (Number.isSafeInteger(results) && Number(results) >= 0)
    if (!isCount)
      throw this.#wrong([...path, 'max_results'], `is ${JSON.stringify(results)}, but must be a whole number`)
    const maxBytes = this.#size(size, [...path, 'max_size'])
    return { maxBytes, maxFileBytes: maxBytes, maxResults: results as number | undefined }
  }

  #size(value: unknown, path: string[]): number | undefined {
    if (value === undefined) return undefined
    if (typeof value !== 'string' && typeof value !== 'number') throw this.#wrong(path, 'must be a size like 10MB')
    try {
      return this.#options.parseSize(value)
    } catch (cause) {
      throw this.#wrong(path, `is ${JSON.stringify(value)}, which is not a size`, 'Write it like 10MB.', cause)
    }
  }

  #wrong(path: string[], problem: string, hint?: string, cause?: unknown): ToolError {
    const where = path.length === 0 ? 'the document' : path.join('.')
    return new ToolError('CONFIG_INVALID', `${this.#place(path)}: ${where} ${problem}.`, {
      hint: hint || undefined,
      cause,
    })
  }

  #place(path: string[]): string {
    const line = this.#options.lineOf?.(path)
    return line === undefined ? this.#options.file : `${this.#options.file}:${line}`
  }
}
