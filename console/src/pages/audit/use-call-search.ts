import { spanLength } from '../../components/time-span.ts'
import { navigate, useSearchParam } from '../../router/router.ts'
import { useSettled } from '../../state/use-settled.ts'

/** The filters of the search, kept in the address, and what is asked once the typing pauses. */
export function useCallSearch() {
  const [text, setText] = useSearchParam('text')
  const [tool, setTool] = useSearchParam('tool')
  const [caller, setCaller] = useSearchParam('caller')
  const [status, setStatus] = useSearchParam('status')
  const [span, setSpan] = useSearchParam('within')
  const [approved, setApproved] = useSearchParam('approved')
  const asked = {
    text: useSettled(text),
    tool: useSettled(tool),
    caller: useSettled(caller),
    status,
    withinMs: spanLength(span),
  }
  return {
    text,
    setText,
    tool,
    setTool,
    caller,
    setCaller,
    status,
    setStatus,
    span,
    setSpan,
    approved,
    setApproved,
    asked,
    isApproved: approved === 'yes',
    isFiltered: [text, tool, caller, status, span, approved].some((value) => value !== ''),
    clear: () => navigate('/audit?view=calls', { replace: true }),
  }
}

/** The filters of the search with what changes them. */
export type CallSearchState = ReturnType<typeof useCallSearch>
