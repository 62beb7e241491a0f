import { z } from 'zod'
import { callEntry } from './calls.ts'
import { effect } from './shapes.ts'

/** A rule that holds, in the order of precedence. */
export const policyRule = z.object({
  /** Whose rule it is: of the shipped policy (`always`, `defaults`) or of the owner. */
  layer: z.enum(['always', 'owner', 'defaults']),
  /** What it decides. */
  effect,
  /** `deny "*" on ~/.ssh/**`. */
  text: z.string(),
  /** `tool-hub.yaml:12`. */
  source: z.string(),
  /** Why it is there. */
  reason: z.string().optional(),
})
export type PolicyRule = z.infer<typeof policyRule>

/** `GET /v1/policy`. */
export const policyState = z.object({
  /** All rules that hold. */
  rules: z.array(policyRule),
  /** What is allowed and hardly meant. */
  warnings: z.array(
    z.object({ level: z.string(), message: z.string(), source: z.string(), hint: z.string().optional() }),
  ),
  /** The owner's rules as YAML, to edit; `file` is where they are saved. */
  yaml: z.string(),
  /** Path of the config file. */
  file: z.string().optional(),
  /** Changes with the file; a save names the one it started from. */
  version: z.string(),
  /** Why it cannot be saved here, if so. */
  readOnly: z.string().optional(),
})
export type PolicyState = z.infer<typeof policyState>

/** Body of `POST /v1/policy/explain`. */
export const explainRequest = z.strictObject({ tool: z.string(), input: z.unknown(), run: z.string().optional() })
export const explanation = z.object({
  /** Canonical name of the tool. */
  tool: z.string(),
  /** What policy decides. */
  effect,
  /** The rule that decides. */
  rule: z.string(),
  /** Where the rule is: `tool-hub.yaml:12`. */
  source: z.string(),
  /** Why. */
  reason: z.string(),
  /** What the call would touch. */
  targets: z.array(z.object({ capability: z.string(), value: z.string() })),
  /** What is dangerous about the call, in words, the most dangerous first. */
  risks: z.array(z.string()).optional(),
  /** All of it, for people. */
  text: z.string(),
  /** What to change so that the call would work. */
  fix: z.string().optional(),
})
export type PolicyExplanation = z.infer<typeof explanation>

/** Body of `POST /v1/policy/test`: rules as YAML, tried on the latest recorded calls. */
export const policyTestRequest = z.strictObject({
  yaml: z.string().max(1_000_000),
  calls: z.number().int().min(1).max(10_000).default(1_000),
})
export const policyTestReport = z.object({
  /** How many calls were tried. */
  checked: z.number(),
  /** Calls whose arguments were not recorded whole, or whose tool is gone. */
  skipped: z.number(),
  /** Calls about which the rules decide otherwise. */
  changed: z.array(
    z.object({
      /** The call. */
      call: callEntry,
      /** What was decided. */
      before: effect,
      /** What the rules decide. */
      after: effect,
      /** The rule that decides. */
      rule: z.string(),
      /** Where the rule is. */
      source: z.string(),
      /** Why. */
      reason: z.string(),
    }),
  ),
})
export type PolicyTestReport = z.infer<typeof policyTestReport>

/** Body of `PUT /v1/policy`. */
export const policySave = z.strictObject({ yaml: z.string().max(1_000_000), version: z.string() })
