import { z } from 'zod'
import { commandResult } from './command-result.ts'
import { showCommand } from './show-command.ts'

/** What each action of core/exec.process returns. */
export const processResult = z.strictObject({
  action: z.string().describe('What was done.'),
  sessionId: z.string().optional().describe('The command it was done to.'),
  sessions: z
    .array(
      z.strictObject({
        sessionId: z.string(),
        command: z.string(),
        status: z.enum(['running', 'exited', 'lost']),
        exitCode: z.int().optional(),
        durationMs: z.number().min(0),
        isWaiting: z.boolean(),
      }),
    )
    .optional()
    .describe('list: the background commands of this run.'),
  removed: z.int().min(0).optional().describe('clear, remove: how many were forgotten.'),
  log: z
    .strictObject({ text: z.string(), from: z.int(), to: z.int(), totalLines: z.int() })
    .optional()
    .describe('log: some lines of the output.'),
  command: commandResult.optional().describe('The command after what was done.'),
})

/** For a model: what it asked for, and how to go on. */
export function showProcess(result: z.infer<typeof processResult>): string {
  const { action, sessions, removed, log, command } = result
  if (sessions) return sessions.length === 0 ? 'No background commands.' : sessions.map(showSession).join('\n')
  if (log) return `[lines ${log.from} to ${log.to} of ${log.totalLines}]\n${log.text}`
  if (command) return command.status === 'exited' ? `${showCommand(command)}\n[ended]` : showCommand(command)
  return `${action}: ${removed} forgotten.`
}

type Session = NonNullable<z.infer<typeof processResult>['sessions']>[number]

function showSession({ sessionId, command, status, exitCode, durationMs, isWaiting }: Session): string {
  const end = exitCode === undefined ? status : `${status} ${exitCode}`
  const waiting = isWaiting ? ', waits for input' : ''
  return `${sessionId}  ${end}${waiting}  ${(durationMs / 1000).toFixed(1)} s  ${command}`
}
