import { z } from 'zod'

/** What became of one call of a script. */
export const scriptCallSchema = z.strictObject({
  seq: z.int().describe('Which call of the script it is, from 1.'),
  tool: z.string().describe('Canonical name of the tool; $search and $describe for those.'),
  line: z.int().optional().describe('The line of the script that made it.'),
  callId: z.string().optional().describe('Id of the call in the records.'),
  status: z.string().describe('How it ended: ok, error, denied, waiting for an approval, ….'),
  error: z.string().optional().describe('Code and message of its failure.'),
})

/** What a script used. */
export const scriptUsageSchema = z.strictObject({
  cpuMs: z.number().describe('Time in which the script itself computed.'),
  memoryBytes: z.number().describe('The most memory that it occupied at a time.'),
  calls: z.number().describe('How many calls it made.'),
})

/** The state of a script. */
export const scriptStatusSchema = z.enum(['completed', 'suspended', 'running', 'failed', 'cancelled'])

/** Why a script failed. */
export const scriptFailureKind = z.enum([
  'SYNTAX',
  'SCRIPT_ERROR',
  'TIMEOUT',
  'CPU_LIMIT',
  'MEMORY_LIMIT',
  'CALL_BUDGET',
  'POLICY_DENIED',
  'APPROVAL_DENIED',
  'ABORTED',
  'ENGINE_CRASH',
])

/** What `core/code.run`, `core/code.wait` and `core/code.cancel` return. */
export const scriptResultSchema = z.strictObject({
  script: z.string().describe('Id of the script, for core/code.wait and core/code.cancel.'),
  status: scriptStatusSchema.describe(
    'completed; suspended: people have to approve calls first, then use core/code.wait; running elsewhere; failed; cancelled.',
  ),
  value: z.unknown().optional().describe('The value of a completed script.'),
  logs: z.array(z.string()).readonly().describe('What the script wrote to its console.'),
  calls: z
    .array(scriptCallSchema.readonly())
    .readonly()
    .describe('All calls that were made, in the order of the script.'),
  artifacts: z.array(z.string()).readonly().describe('References of what its calls stored.'),
  approvals: z
    .array(z.string())
    .readonly()
    .optional()
    .describe('Of a suspended script: the requests that wait for people.'),
  kind: scriptFailureKind.optional().describe('Why a script failed.'),
  message: z.string().optional().describe('What went wrong.'),
  hint: z.string().optional().describe('What to do about it.'),
  line: z.int().optional().describe('Where in the script it failed, from 1.'),
  column: z.int().optional().describe('Where in the line, from 1.'),
  usage: scriptUsageSchema.optional().describe('What the script used.'),
})

/** A script that waits for people, or has, as lists show it. */
export const scriptEntrySchema = z.strictObject({
  id: z.string().describe('Id of the script.'),
  run: z.string().describe('Id of its run.'),
  caller: z.string().describe('Who started it.'),
  principal: z.string().optional().describe('The authenticated caller.'),
  status: scriptStatusSchema.describe('Its state.'),
  sha256: z.string().describe('SHA-256 of its source.'),
  approvals: z.array(z.string()).describe('The requests that it waits for.'),
  createdAt: z.number().describe('When it was started, in milliseconds.'),
  updatedAt: z.number().describe('When its state last changed, in milliseconds.'),
})

/** A call of a suspended script that waits for a person. */
export const scriptWaitSchema = z.strictObject({
  approval: z.string().describe('Id of the request.'),
  tool: z.string().describe('Canonical name of the tool.'),
  line: z.int().optional().describe('The line of the script that makes the call.'),
  state: z.enum(['waiting', 'answered', 'withdrawn', 'expired']).describe('Whether the request still waits.'),
})

/** A script with its source. */
export const scriptDetailSchema = scriptEntrySchema.extend({
  source: z.string().describe('Its source.'),
  waiting: z.array(scriptWaitSchema).describe('The calls that wait for people.'),
  calls: z.array(scriptCallSchema).describe('The calls that have ended, in the order of their ends.'),
})

/** A name of a saved script: with `script/` before it, it is the name of the tool. */
export const savedScriptName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,55}$/, 'must be letters, digits, - and _, beginning with a letter, at most 56')

/** A script that the owner saved as the tool `script/<name>`, as lists show it. */
export const savedScriptEntry = z.strictObject({
  name: savedScriptName.describe('Name of the script; its tool is script/<name>.'),
  description: z.string().describe('What models read about it.'),
  sha256: z.string().describe('SHA-256 of its source; another source is never run.'),
  inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema of its arguments, which it reads as input.'),
  savedBy: z.string().describe('Who saved it.'),
  savedAt: z.number().describe('When it was saved, in milliseconds.'),
})

/** A saved script with its source. */
export const savedScriptSchema = savedScriptEntry.extend({ source: z.string().describe('Its source.') })

/** A script to save: a source, or a completed script. */
export const newSavedScript = z.strictObject({
  name: savedScriptName.describe('Name of the script; its tool is script/<name>.'),
  source: z.string().min(1).max(262_144).optional().describe('JavaScript or TypeScript.'),
  script: z.string().min(1).max(200).optional().describe('Id of a completed script that was suspended before.'),
  description: z.string().min(1).max(1_000).optional().describe('What models read about it. Default: its name.'),
  inputSchema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('JSON Schema of its arguments, an object. Default: no arguments.'),
})

/** `GET /v1/scripts`: newest first; `next` is the `before` of the next page. */
export const scriptList = z.object({ scripts: z.array(scriptEntrySchema), next: z.number().optional() })
export type ScriptList = z.infer<typeof scriptList>

/** Query of `GET /v1/scripts`. */
export const scriptQuery = z.object({
  /** Only scripts of this run. */
  run: z.string().max(128).optional(),
  /** Only scripts with this status. */
  status: scriptStatusSchema.optional(),
  /** `next` of the page before. */
  before: z.coerce.number().int().optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})

/** `GET /v1/saved-scripts`: sorted by name. */
export const savedScriptList = z.object({ scripts: z.array(savedScriptSchema) })
