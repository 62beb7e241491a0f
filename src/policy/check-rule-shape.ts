import { CAPABILITIES, type SourcedRule, ToolError } from '../core/index.ts'
import { describeSource } from './describe-rule.ts'
import { refuseUnknownKeys } from './refuse-unknown-keys.ts'

const VERBS = ['allow', 'ask', 'deny'] as const
const RULE_KEYS = [...VERBS, 'on', 'except', 'when', 'reason', 'limit']
const WHEN_KEYS = ['tainted', 'caller']
const LIMIT_KEYS = ['timeoutMs', 'maxBytes', 'maxResults', 'retries']

/** Refuses a rule that is not of the documented form: rules also come from code without types. */
export function checkRuleShape({ rule, source, base, about }: SourcedRule): void {
  const where = `The rule at ${describeSource(source)}`
  if (!isObject(rule)) refuse(where, 'is not an object', 'Write { allow: "network", on: "https://api.github.com/**" }.')
  refuseUnknownKeys(rule, RULE_KEYS, () => where)
  const verbs = VERBS.filter((verb) => rule[verb] !== undefined)
  const subject = verbs.length === 1 ? rule[verbs[0]!] : undefined
  if (typeof subject !== 'string' || subject.trim() === '') {
    refuse(
      where,
      'needs exactly one of allow, ask, deny with a subject',
      'Subject: a tool, a dialect name, group:fs, a capability, "*".',
    )
  }
  if (!base.startsWith('/')) refuse(where, `has the base ${JSON.stringify(base)}`, 'Give an absolute folder as base.')
  for (const patterns of [rule.on, rule.except]) {
    const isFine = patterns === undefined || ([patterns].flat().length > 0 && [patterns].flat().every(isText))
    if (!isFine) refuse(where, 'has on or except without patterns', 'Give at least one pattern, or leave the key out.')
  }
  if (about !== undefined && !(about.length > 0 && about.every((name) => CAPABILITIES.includes(name)))) {
    refuse(where, 'is about capabilities that do not exist', `Capabilities: ${CAPABILITIES.join(', ')}.`)
  }
  checkWhen(rule.when, where)
  checkLimit(rule.limit, where)
}

function checkWhen(when: unknown, where: string): void {
  if (when === undefined) return
  if (!isObject(when)) refuse(where, 'has a when that is not an object', 'Write when: { tainted: true }.')
  refuseUnknownKeys(when, WHEN_KEYS, () => `${where}, when`)
  const { tainted, caller } = when as Record<string, unknown>
  if (tainted !== undefined && typeof tainted !== 'boolean')
    refuse(where, 'has a when.tainted that is not true or false', 'Write true or false.')
  if (caller !== undefined && caller !== 'direct' && caller !== 'script')
    refuse(where, 'has an unknown when.caller', 'Write direct or script.')
}

function checkLimit(limit: unknown, where: string): void {
  if (limit === undefined) return
  if (!isObject(limit)) refuse(where, 'has a limit that is not an object', 'Write limit: { maxBytes: 1000000 }.')
  refuseUnknownKeys(limit, LIMIT_KEYS, () => `${where}, limit`)
  for (const [key, value] of Object.entries(limit)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 0)) continue
    refuse(where, `has limit.${key} = ${String(value)}`, 'Give a whole number, 0 or more.')
  }
}

function refuse(where: string, what: string, hint: string): never {
  throw new ToolError('CONFIG_INVALID', `${where} ${what}.`, { hint })
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
