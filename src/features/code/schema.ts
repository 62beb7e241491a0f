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

/** A script with its source. */
export const scriptDetailSchema = scriptEntrySchema.extend({
  source: z.string().describe('Its source.'),
  calls: z.array(scriptCallSchema).describe('The calls that have ended, in the order of their ends.'),
})
