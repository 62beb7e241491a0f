import { z } from 'zod'
import { countSchema, duration, key, size, text, texts } from './schema-parts.ts'

const VERBS = ['allow', 'ask', 'deny'] as const

const when = z.strictObject({
  tainted: key(z.boolean(), 'The run has (true) or has not (false) read content from outside.'),
  caller: key(z.enum(['direct', 'script']), 'Who calls: the agent itself, or a script that the model wrote.'),
})

const limit = z.strictObject({
  timeout: key(duration, 'Longest time of such a call.'),
  maxBytes: key(size, 'Maximum number of bytes that such a call reads or writes in one operation.'),
  maxResults: key(countSchema, 'Most entries that such a call lists.'),
  retries: key(
    countSchema,
    'How often a POST with an idempotency key is repeated when it failed for a passing reason.',
  ),
})

/** One rule: a verb with its subject, optionally targets, conditions, a reason and bounds. */
export const ruleSchema = z
  .strictObject({
    allow: key(text, 'Lets through: a tool, a dialect name, group:NAME, a capability, or *.'),
    ask: key(text, 'Asks a person first; the same subjects.'),
    deny: key(text, 'Refuses; the same subjects. Wins over every allow and ask.'),
    on: key(texts, 'Targets it is about: path globs, URL globs, command words. Default: all.'),
    except: key(texts, 'Targets it is not about.'),
    when: key(when, 'Holds only then.'),
    reason: key(text, 'Told to the model and shown to the approver.'),
    limit: key(limit, 'Bounds on the calls it lets through.'),
  })
  .superRefine((rule, ctx) => {
    const verbs = VERBS.filter((verb) => rule[verb] !== undefined)
    if (verbs.length !== 1)
      ctx.addIssue(`a rule has one verb of allow, ask and deny, this one has ${verbs.join(' and ') || 'none'}.`)
  })
  .meta({ oneOf: VERBS.map((verb) => ({ required: [verb] })) })

const action = z.enum(VERBS)

const constraints = z.strictObject({
  max_size: key(size, 'Most bytes of a file.'),
  allowed_paths: key(z.array(text).min(1), 'Folders and globs it may touch.'),
  denied_paths: key(z.array(text).min(1), 'Globs it may not touch.'),
  max_results: key(countSchema, 'Most entries it lists.'),
})

const policyTool = z.strictObject({
  action: key(action, 'What happens to a call of this tool.'),
  constraints: key(constraints, 'What the calls are held to.'),
  whitelist: key(z.array(text).min(1), 'Commands that run unasked; a trailing " *" means any further words.'),
  blacklist: key(z.array(text).min(1), 'Commands that never run.'),
})

/** The `tools` of a policy.yaml: a default and an entry a tool. */
export const policyToolsSchema = z
  .object({ default: key(action, 'What happens to tools that have no entry.') })
  .catchall(policyTool)

/** A whole policy.yaml. */
export const policyFileSchema = z.strictObject({ tools: policyToolsSchema })
