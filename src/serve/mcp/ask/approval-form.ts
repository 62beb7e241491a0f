import type { ApprovalReply, ApprovalRequest } from '../../../result.ts'
import type { Form, FormAnswer } from './elicitation.ts'
import { shownJson, shownLine } from './shown-text.ts'

const MOST_HEAD_LINES = 15
const MOST_TAIL_LINES = 5
/** A command is read to its end before it is allowed. */
const MOST_TARGET_CHARS = 1_000
/** What changed in a tool is in the reason. */
const MOST_REASON_CHARS = 2_000

const CUT = /…\(\d+ characters\)…|: and \d+ more$/
const SEE_ALL =
  'Not all of it is shown here. Where approvals are kept (tool-hub serve, approvals.inbox), tool-hub approvals --full shows all of it.'

const ONCE = 'once: this call only.'
const SESSION = 'session: this very call again, until the client disconnects.'
const TOOL = 'tool: every call of this tool on the same targets, whatever else it says, until the client disconnects.'

/** The question whether a call may happen, as a form. Every text in it that is not ours is shown as it is, on one line. */
export function approvalForm(request: ApprovalRequest): Form {
  const { tool, targets, reason, rule, input, purpose, requests, caller } = request
  const lines = [
    `May ${shownLine(tool)} run?`,
    ...listed('Target', targets),
    `Reason: ${shownLine(reason, MOST_REASON_CHARS)}`,
    `Rule: ${shownLine(rule)}`,
    `Asked by: ${shownLine(caller)}`,
    ...(purpose === undefined ? [] : [`Purpose, as the caller says: ${shownLine(purpose)}`]),
    ...listed('Requested by a skill (information, not a permission)', requests),
    `Input: ${shownJson(input)}`,
  ]
  if (lines.some((line) => CUT.test(line))) lines.push(SEE_ALL)
  const canCoverTool = coversTool(request)
  return {
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', enum: ['allow', 'deny'] },
        remember: {
          type: 'string',
          title: 'Remember',
          description: [ONCE, SESSION, ...(canCoverTool ? [TOOL] : [])].join(' '),
          enum: ['once', 'session', ...(canCoverTool ? ['tool'] : [])],
          default: 'once',
        },
      },
      required: ['decision'],
    },
  }
}

/** What the person decided; anything but a clear yes is a no. */
export function readApproval({ action, content }: FormAnswer, by: string, request: ApprovalRequest): ApprovalReply {
  const whose = { by, via: 'mcp' }
  if (action !== 'accept')
    return { decision: 'deny', ...whose, reason: action === 'decline' ? 'declined' : 'dismissed' }
  const lasting = lastingOf(content?.remember, request)
  if (content?.decision === 'allow') return { decision: 'allow', ...lasting, ...whose }
  if (content?.decision === 'deny') return { decision: 'deny', ...lasting, ...whose }
  return { decision: 'deny', ...whose, reason: 'the client sent no decision' }
}

/** What was not offered was not chosen. */
function lastingOf(remember: unknown, request: ApprovalRequest): Pick<ApprovalReply, 'remember' | 'covers'> {
  if (remember === 'tool' && coversTool(request)) return { remember: 'session', covers: 'targets' }
  return { remember: remember === 'session' ? 'session' : 'once' }
}

/** The target of a command says nothing of its folder, variables and input: a yes to it is a yes to this very call. */
function coversTool({ targets }: ApprovalRequest): boolean {
  return !targets.some((target) => target.startsWith('exec '))
}

function listed(title: string, values: readonly string[]): string[] {
  const show = (value: string) => `${title}: ${shownLine(value, MOST_TARGET_CHARS)}`
  const left = values.length - MOST_HEAD_LINES - MOST_TAIL_LINES
  if (left <= 0) return values.map(show)
  return [
    ...values.slice(0, MOST_HEAD_LINES).map(show),
    `${title}: and ${left} more`,
    ...values.slice(-MOST_TAIL_LINES).map(show),
  ]
}
