import { Download } from 'lucide-react'
import { useState } from 'react'
import { api } from '../../api/api.ts'
import type { CallEntry } from '../../api/types.ts'
import { Button } from '../../components/button.tsx'
import { saveFile } from '../../components/save-file.ts'
import { showFailure } from '../../components/show-failure.ts'
import { showToast } from '../../components/show-toast.ts'
import { collectCalls } from './collect-calls.ts'
import type { CallSearchState } from './use-call-search.ts'

/** Saves the calls that fit the filters as a file, a JSON value a line; not only those that are loaded. */
export function ExportCalls({ search }: { search: CallSearchState }) {
  const [isBusy, setBusy] = useState(false)
  // As the fields are now: the list may lag behind them for a moment.
  const { text, tool, caller, status, isApproved } = search
  const { withinMs } = search.asked
  const save = async () => {
    setBusy(true)
    try {
      const filter = { text: text || undefined, tool: tool || undefined, caller: caller || undefined }
      const { calls, isCut } = await collectCalls(
        (page) => api.calls.list({ ...filter, status: status || undefined, ...page }),
        {
          since: withinMs === 0 ? 0 : Date.now() - withinMs,
          fits: ({ approvedBy }: CallEntry) => !isApproved || approvedBy !== undefined,
        },
      )
      saveFile('calls.jsonl', new TextEncoder().encode(calls.map((call) => `${JSON.stringify(call)}\n`).join('')))
      const count = `${calls.length.toLocaleString('en')} ${calls.length === 1 ? 'call' : 'calls'}`
      const about = isCut
        ? 'There are more: only the newest were taken. Choose a shorter time for the rest.'
        : undefined
      showToast({ title: `Exported ${count}`, description: about, tone: isCut ? 'warn' : 'ok' })
    } catch (error) {
      showFailure('Not exported', error)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button icon={Download} isBusy={isBusy} title="The calls that fit the filters, a JSON value a line" onClick={save}>
      Export
    </Button>
  )
}
