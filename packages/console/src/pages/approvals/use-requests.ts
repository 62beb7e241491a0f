import { useMemo, useRef } from 'react'
import { useEvents } from '../../api/events.ts'
import { api } from '../../api/session.ts'
import { type Resource, useResource } from '../../api/use-resource.ts'
import { now } from '../../components/time.tsx'
import { useValue } from '../../lib/watched-value.ts'
import { type HumanRequest, isOfScript, type ScriptApproval, toRequests } from './human-request.ts'

/** The tabs: pending requests, or past ones. */
type RequestTab = 'waiting' | 'past'

/** The requests of a tab, in the order of `toRequests`. The navigation shares the pending ones for its count. */
export function useRequests(tab: RequestTab): Resource<HumanRequest[]> {
  const isPast = tab === 'past'
  const approvals = useResource(
    ['approvals', isPast ? 'all' : 'waiting'],
    () => (isPast ? api.approvals.list({ state: 'all', limit: 500 }) : api.approvals.list()),
    { refreshOn: ['approval'] },
  )
  const questions = useResource(
    ['questions', isPast ? 'all' : 'waiting'],
    () => (isPast ? api.questions.list({ state: 'all', limit: 500 }) : api.questions.list()),
    { refreshOn: ['question'] },
  )
  const data = useMemo(() => {
    if (!approvals.data || !questions.data) return undefined
    const requests = toRequests(approvals.data, questions.data, isPast)
    return isPast ? requests.filter(({ state }) => state !== 'waiting') : requests
  }, [approvals.data, questions.data, isPast])
  return {
    data,
    error: approvals.error ?? questions.error,
    isLoading: approvals.isLoading || questions.isLoading,
    refresh() {
      approvals.refresh()
      questions.refresh()
    },
  }
}

/**
 * A request. `known` is the item of the list, which is shown immediately unless it is truncated: nobody should approve
 * what is not shown completely. The request stays visible after it has left the list.
 */
export function useRequest(id: string, known: HumanRequest | undefined): Resource<HumanRequest> {
  const isQuestion = id.startsWith('question-')
  const query = useResource<HumanRequest>([isQuestion ? 'questions' : 'approvals', 'one', id], async () =>
    isQuestion
      ? { kind: 'question', ...(await api.questions.get(id)) }
      : { kind: 'approval', ...(await api.approvals.get(id)) },
  )
  useEvents(
    (event) => {
      if (event.type === 'approval' && event.approval.id === id) query.refresh()
      if (event.type === 'question' && event.question.id === id) query.refresh()
    },
    ['approval', 'question'],
  )
  return { ...query, data: query.data ?? (known?.isCut ? undefined : known) }
}

/**
 * The calls of a script that need approval, in the order of the script, each complete. Those that were pending since the
 * page is open stay visible when they are answered.
 */
export function useScriptRequests(script: string): Resource<ScriptApproval[]> {
  const seen = useRef(new Map<string, ScriptApproval>())
  return useResource(
    ['approvals', 'script', script],
    async () => {
      const pending = toRequests(await api.approvals.list(), []).filter(isOfScript)
      const ids = new Set([
        ...seen.current.keys(),
        ...pending.filter((one) => one.script.id === script).map(({ id }) => id),
      ])
      const read = async (id: string): Promise<ScriptApproval | undefined> => {
        const known = seen.current.get(id)
        if (known && known.state !== 'waiting') return known
        const request: HumanRequest = { kind: 'approval', ...(await api.approvals.get(id)) }
        return isOfScript(request) ? request : undefined
      }
      const found = (await Promise.all([...ids].map(read))).filter((request) => request !== undefined)
      seen.current = new Map(found.map((request) => [request.id, request]))
      return found.sort((a, b) => a.script.seq - b.script.seq)
    },
    { refreshOn: ['approval'] },
  )
}

/** Whether the request can no longer be answered, even if the server has not reported its expiry yet. */
export function useIsOver({ state, expiresAt }: HumanRequest): boolean {
  return useValue(now) >= Date.parse(expiresAt) || state !== 'waiting'
}
