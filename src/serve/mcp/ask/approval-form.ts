import type { ApprovalReply, ApprovalRequest } from '../../../result.ts'
import { isPlainObject } from '../../../value/is-plain-object.ts'
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

type Lasting = Pick<ApprovalReply, 'remember' | 'covers'>

/**
 * The question whether a call may happen, as a form: what would be done, what is dangerous about it, why it
 * is asked, and for how long a yes holds.
 * To accept the form is the yes. Every text in it that is not ours is shown as it is, on one line.
 */
export function approvalForm(request: ApprovalRequest): Form {
  const { reason, purpose, requests, labels, risks = [], views } = request
  const lines = [
    ...whatHappens(request),
    ...listed('Risk', risks),
    ...listed(
      'Note',
      views.flatMap((view) => (view.kind === 'command' ? (view.notes ?? []) : [])),
    ),
    ...(labels.includes('untrusted') ? ['Warning: this session has read content from outside.'] : []),
    `Reason: ${shownLine(reason, MOST_REASON_CHARS)}`,
    ...(purpose === undefined ? [] : [`Purpose, as the caller says: ${shownLine(purpose)}`]),
    ...listed('Requested by a skill (information, not a permission)', requests),
  ]
  if (lines.some((line) => CUT.test(line))) lines.push(SEE_ALL)
  const choices = [...choicesOf(request).keys()]
  return {
    message: lines.join('\n'),
    requestedSchema: {
      type: 'object',
      properties: {
        allow: {
          type: 'string',
          title: 'Allow',
          description: 'How long the yes holds. To refuse, decline.',
          enum: choices,
          default: choices[0]!,
        },
      },
    },
  }
}

/** What the person decided: to accept is a yes for as long as was chosen, everything else a no. */
export function readApproval({ action, content }: FormAnswer, by: string, request: ApprovalRequest): ApprovalReply {
  const whose = { by, via: 'mcp' }
  if (action !== 'accept') {
    const reason = action === 'decline' ? 'the person said no' : 'the person closed the form'
    return { decision: 'deny', ...whose, reason }
  }
  // A client that shows a form of its own may say no in it.
  if (content?.decision === 'deny') return { decision: 'deny', ...whose }
  const choices = choicesOf(request)
  const { allow = [...choices.keys()][0] } = content ?? {}
  const lasting = choices.get(String(allow))
  // What was not offered was not chosen.
  if (!lasting) return { decision: 'deny', ...whose, reason: 'the client sent a choice that was not offered' }
  return { decision: 'allow', ...lasting, ...whose }
}

/** A command stands alone on its line; any other call is told by its targets and arguments. */
function whatHappens({ tool, targets, input }: ApprovalRequest): string[] {
  const [target, ...others] = targets
  if (!target?.startsWith('exec ') || others.length > 0)
    return [`May ${shownLine(tool)} run?`, ...listed('Target', targets), `Input: ${shownJson(input)}`]
  const command = target.slice('exec '.length)
  const { command: line, ...more } = isPlainObject(input) ? input : {}
  const rest = line === command ? more : input
  const hasMore = isPlainObject(rest) && Object.keys(rest).length > 0
  return [
    'Run a command?',
    '',
    shownLine(command, MOST_TARGET_CHARS),
    '',
    ...(hasMore ? [`With: ${shownJson(rest)}`] : []),
  ]
}

/** The answers that are offered, by the words in the form; the first is for this call alone. */
function choicesOf(request: ApprovalRequest): ReadonlyMap<string, Lasting> {
  const { pattern } = request.coverage
  const choices = new Map<string, Lasting>([['once', { remember: 'once' }]])
  if (pattern !== undefined) {
    const shown = shownLine(pattern, 100)
    choices.set(`${shown} this session`, { remember: 'session', covers: 'pattern' })
    choices.set(`${shown} always in this project`, { remember: 'always', covers: 'pattern' })
  } else choices.set('this very call again this session', { remember: 'session' })
  if (request.coverage.targets !== undefined)
    choices.set('this tool on the same targets this session', { remember: 'session', covers: 'targets' })
  return choices
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
