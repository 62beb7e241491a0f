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
  /** The rules, as a policy.yaml. */
  yaml: z.string().max(1_000_000),
  /** How many of the latest calls. Default: 1,000. */
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

/** `GET /v1/policy/suggestions`; `since` is a time such as `7d`: only approvals of that time count. */
export const suggestionQuery = z.object({ since: z.string().max(20).optional() })
/** Rules that would have made approvals unnecessary. */
export const policySuggestions = z.object({
  /** When the records were read, in milliseconds since 1970. */
  at: z.number(),
  /** How many runs are on record. */
  runs: z.number(),
  /** How many calls the rules were compared with. */
  calls: z.number(),
  /** How many approvals by people count. */
  approvals: z.number(),
  /** The suggestions, those that save most first. */
  rules: z.array(
    z.object({
      /** The rule as YAML; then the rules that belong to it, which ask for arguments that no call has used. */
      yaml: z.array(z.string()),
      /** How many approvals it would have saved. */
      saves: z.number(),
      /** The calls that would not have asked, at most 100. */
      calls: z.array(z.object({ run: z.string(), callId: z.string() })),
      /** Arguments that the rule does not restrict. */
      open: z.array(z.string()),
    }),
  ),
  /** Tools without suggestions, because the record lacks the arguments of a call that was not approved. */
  withheld: z.array(z.string()),
  /** Why other approvals have no rule, the most frequent reason first. */
  left: z.array(z.object({ reason: z.string(), approvals: z.number() })),
  /** Runs that cannot be read; nothing is suggested then. */
  unreadable: z.array(z.object({ run: z.string(), reason: z.string() })),
})
export type PolicySuggestions = z.infer<typeof policySuggestions>

const shadowExample = z.object({
  /** Id of the run. */
  run: z.string(),
  /** Id of the call. */
  callId: z.string(),
  /** When it was decided. */
  time: z.string(),
  /** The rule in force that decided. */
  rule: z.string(),
  /** The rule of the shadow policy that decides. */
  shadowRule: z.string(),
  /** What the call used later; absent if the decision before the call differs. */
  target: z.string().optional(),
})

/** Where the shadow policy differs from the policy in force. */
const shadowReport = z.object({
  /** When the comparison began: with the service, or when one of the two policies was changed. */
  since: z.string(),
  /** How many decisions were compared. */
  compared: z.number(),
  /** How often the shadow policy failed to decide. */
  failed: z.number(),
  /** By tool and decisions, the most frequent first. */
  differences: z.array(
    z.object({
      /** Canonical name of the tool. */
      tool: z.string(),
      /** What the policy in force decided. */
      effect,
      /** What the shadow policy decides. */
      shadowEffect: effect,
      /** How many calls. */
      count: z.number(),
      /** The latest of them, newest first. */
      examples: z.array(shadowExample),
    }),
  ),
})
export type ShadowReportEntry = z.infer<typeof shadowReport>

/** `GET /v1/policy/shadow`. */
export const shadowState = z.object({
  /** Absent without a shadow policy. */
  report: shadowReport.optional(),
})

/** Body of `PUT /v1/policy`. */
export const policySave = z.strictObject({ yaml: z.string().max(1_000_000), version: z.string() })
