import type { ApprovalReply, ApprovalRequest } from '../../../result.ts'
import type { Form, FormAnswer } from './elicitation.ts'
import { shownJson, shownLine } from './shown-text.ts'

const MOST_LINES = 20

/** The question whether a call may happen, as a form. Every text in it that is not ours is shown as it is, on one line. */
export function approvalForm(request: ApprovalRequest): Form {
  const { tool, targets, reason, rule, input, purpose, requests, caller } = request
  const lines = [
    `May ${shownLine(tool)} run?`,
    ...listed('Target', targets),
    `Reason: ${shownLine(reason)}`,
    `Rule: ${shownLine(rule)}`,
    `Asked by: ${shownLine(caller)}`,
    ...(purpose === undefined ? [] : [`Purpose, as the caller says: ${shownLine(purpose)}`]),
    ...listed('Requested by a skill (information, not a permission)', requests),
    `Input: ${shownJson(input)}`,
  ]
  return {
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
        remember: {
          type: 'string',
          title: 'Remember',
          description: 'once: this call only. session: this very call again, until the client disconnects.',
          enum: ['once', 'session'],
          default: 'once',
        },
      },
      required: ['decision'],
    },
  }
}

/** What the person decided; anything but a clear yes is a no. */
export function readApproval({ action, content }: FormAnswer, by: string): ApprovalReply {
  if (action !== 'accept') return { decision: 'deny', by, reason: action === 'decline' ? 'declined' : 'dismissed' }
  const remember = content?.remember === 'session' ? 'session' : 'once'
  if (content?.decision === 'allow') return { decision: 'allow', remember, by }
  if (content?.decision === 'deny') return { decision: 'deny', remember, by }
  return { decision: 'deny', by, reason: 'the client sent no decision' }
}

function listed(title: string, values: readonly string[]): string[] {
  const shown = values.slice(0, MOST_LINES).map((value) => `${title}: ${shownLine(value)}`)
  const left = values.length - shown.length
  return left > 0 ? [...shown, `${title}: and ${left} more`] : shown
}
