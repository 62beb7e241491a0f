import { PLACE_KEY, PLACE_PATTERN } from '@tool-hub/core'
import { countSchema, duration, key, size, text, texts } from '@tool-hub/core/config'
import { z } from 'zod'

const VERBS = ['allow', 'ask', 'deny'] as const

const when = z.strictObject({
  tainted: key(z.boolean(), 'The run has (true) or has not (false) read content from outside.'),
  caller: key(z.enum(['direct', 'script']), 'Who calls: the agent itself, or a script that the model wrote.'),
})

const whereValue = z.union([
  z.string().describe('A value, a glob such as *@example.org, from-user or approved-before.'),
  z.number(),
  z.boolean(),
  z.null(),
  z.strictObject({
    min: key(z.number(), 'The smallest number that matches.'),
    max: key(z.number(), 'The largest number that matches.'),
  }),
])

const where = z.record(text, z.union([whereValue, z.array(whereValue).min(1)]))

const placeSchema = z
  .string()
  .regex(new RegExp(PLACE_PATTERN), 'write worker, worker:gpu or worker:gpu,eu: at most 8 labels in lower case.')

const limit = z.strictObject({
  timeout: key(duration, 'Time limit of such a call.'),
  maxBytes: key(size, 'Maximum number of bytes that such a call reads or writes in one operation.'),
  maxFileBytes: key(size, 'Size of the largest file that such a call reads, whole or in parts.'),
  maxResults: key(countSchema, 'Most entries that such a call lists.'),
  retries: key(countSchema, 'How often a POST with an idempotency key is retried after a temporary failure.'),
  [PLACE_KEY]: key(placeSchema, 'Which workers execute such a call: worker, worker:LABEL or worker:LABEL,LABEL.'),
})

/** One rule: a verb with its subject, optionally targets, conditions, a reason and bounds. */
export const ruleSchema = z
  .strictObject({
    allow: key(text, 'Allows calls. The subject is a tool, a dialect name, group:NAME, a capability, or *.'),
    ask: key(text, 'Asks a person first. Same subjects as allow.'),
    deny: key(text, 'Denies calls, and wins over every allow and ask. Same subjects as allow.'),
    on: key(texts, 'Targets that the rule applies to: path globs, URL globs, command words. Default: all.'),
    except: key(texts, 'Targets that the rule does not apply to.'),
    where: key(where, 'Arguments that the rule applies to, by name or JSON pointer. All must match.'),
    when: key(when, 'Condition under which the rule applies.'),
    reason: key(text, 'Reason, shown to the model and to the approver.'),
    limit: key(limit, 'Limits of the calls that the rule allows.'),
  })
  .superRefine((rule, ctx) => {
    const verbs = VERBS.filter((verb) => rule[verb] !== undefined)
    if (verbs.length !== 1)
      ctx.addIssue(`a rule has one verb of allow, ask and deny, this one has ${verbs.join(' and ') || 'none'}.`)
  })
  .meta({ oneOf: VERBS.map((verb) => ({ required: [verb] })) })

const action = z.enum(VERBS)

const constraints = z.strictObject({
  max_size: key(size, 'Size of the largest file that it reads, whole or in parts; also the most bytes that it writes.'),
  allowed_paths: key(z.array(text).min(1), 'Folders and globs that it may touch.'),
  denied_paths: key(z.array(text).min(1), 'Globs that it may not touch.'),
  max_results: key(countSchema, 'Most entries that it lists.'),
})

const policyTool = z.strictObject({
  action: key(action, 'What happens to a call of this tool.'),
  constraints: key(constraints, 'Constraints on the calls.'),
  whitelist: key(z.array(text).min(1), 'Commands that need no approval; a trailing " *" means any further words.'),
  blacklist: key(z.array(text).min(1), 'Commands that never run.'),
})

/** The `tools` of a policy.yaml: a default and one entry per tool. */
export const policyToolsSchema = z
  .object({ default: key(action, 'What happens to tools that have no entry.') })
  .catchall(policyTool)

/** The rules of a config: a list, or the path of a policy.yaml. */
export const rulesSchema = z.union([z.array(ruleSchema), text])

/** `policy` as a mapping. */
export const policySectionSchema = z.strictObject({
  rules: key(rulesSchema, 'The rules in force: a list of rules, or the path of a policy.yaml.'),
  shadow: key(text, 'The path of a file with rules to try: they decide every call a second time, without effect.'),
})

/** A whole policy.yaml. */
export const policyFileSchema = z.strictObject({ tools: policyToolsSchema })
