import { useMemo } from 'react'
import { navigate, useSearchParam } from '../../router/router.ts'
import type { CallFilter } from './call-filter.ts'

/** The filter of the page, kept in the address. */
export function useCallFilter() {
  const [tool, setTool] = useSearchParam('tool')
  const [caller, setCaller] = useSearchParam('caller')
  const [status, setStatus] = useSearchParam('status')
  const [text, setText] = useSearchParam('text')
  const filter = useMemo<CallFilter>(() => ({ tool, caller, status, text }), [tool, caller, status, text])
  const setters: Record<keyof CallFilter, (value: string) => void> = {
    tool: setTool,
    caller: setCaller,
    status: setStatus,
    text: setText,
  }
  return {
    filter,
    isActive: Object.values(filter).some((value) => value !== ''),
    change: (name: keyof CallFilter, value: string) => setters[name](value),
    clear: () => navigate(window.location.pathname, { replace: true }),
  }
}
