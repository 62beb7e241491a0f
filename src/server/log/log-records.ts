import type { EventBody, HubChanged, RecordedLine } from '../../records/log/index.ts'
import type { Log } from './service-log.ts'

/** Who makes a call, by its id, until it ends: the end of a call does not repeat it. */
type Callers = Map<string, string>

const MAX_CALLERS = 10_000

/** Writes what matters of the records of a hub to the log: denials, failures, approvals, changes. */
export function createRecordLog(log: Log): (line: RecordedLine) => void {
  const callers: Callers = new Map()
  return ({ run, event }) => writeEvent(log, callers, run, event)
}

function writeEvent(log: Log, callers: Callers, run: string, event: EventBody): void {
  switch (event.type) {
    case 'call-started':
      if (callers.size >= MAX_CALLERS) callers.clear()
      callers.set(event.callId, event.principal ?? event.caller)
      return
    case 'call-ended': {
      const { callId, tool, status, durationMs, error, rule } = event
      const principal = event.principal ?? event.caller ?? callers.get(callId)
      callers.delete(callId)
      const fields = { run, callId, tool, principal, status, code: error?.code, durationMs }
      if (status === 'denied') log('warn', 'call-denied', `${tool} was denied.`, { ...fields, rule })
      else if (error?.code === 'INTERNAL') log('error', 'call-failed', `${tool} failed by a defect.`, fields)
      else if (status === 'ok' || status === 'pending') log('debug', 'call-ended', `${tool} ended.`, fields)
      else if (status === 'approval_required')
        log('info', 'call-needs-approval', `${tool} did not run: it needs an approval.`, fields)
      else log('info', 'call-failed', `${tool} ended with ${error?.code ?? status}.`, fields)
      return
    }
    case 'approval-requested': {
      const { callId, tool, approval, rule } = event
      log('info', 'approval-requested', `${tool} waits for an approval.`, { run, callId, tool, approval, rule })
      return
    }
    case 'approval-answered': {
      const { callId, tool, approval, decision, by, via } = event
      const fields = { run, callId, tool, approval, decision, by, via }
      if (decision === 'allow' || decision === 'deny')
        log('info', 'approval-answered', `The approval of ${tool} was answered: ${decision}.`, fields)
      // It may wait on for an answer that the same call uses later.
      else log('info', 'approval-unanswered', `${tool} ended before its approval was answered: ${decision}.`, fields)
      return
    }
    case 'hook-failed':
      log('error', 'hook-failed', `A hook failed during ${event.tool}.`, { run, callId: event.callId })
      return
    case 'records-lost':
      log('error', 'records-lost', `Events of run ${run} could not be recorded.`, { run })
      return
    case 'hub-changed':
      logChange(log, run, event)
      return
  }
}

function logChange(log: Log, run: string, { by, change, subject }: HubChanged): void {
  log('info', change, `${by}: ${change} ${subject}.`, { run, by, subject })
}
